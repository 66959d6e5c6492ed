"""Digests that can match nothing."""

import pytest
from locked import SHA, audited, told

from envdoctor.model import Severity
from envdoctor.probes.lock.malformed_hash import check

HEAD = 'lock-version = "1.0"\ncreated-by = "x"\n'


@pytest.mark.parametrize(
    "digest",
    ["sha256:xyz", f"sha256={'2' * 64}", "sha256:ABCD", f"md5:{'2' * 64}", f"crc:{'2' * 64}", f"sha384:{'2' * 64}"],
)
def test_what_is_no_digest(digest):
    (finding,) = found = audited(check, f"six==1.17.0 --hash={SHA}\nidna==3.10 --hash={digest}\n")
    assert (finding.severity, told(found)) == (Severity.ERROR, [("idna", 2)])
    assert finding.evidence["text"] == digest


def test_several_of_one_package_are_one_finding():
    (finding,) = audited(check, "idna==3.10 --hash=sha256:x --hash=sha256:y\n")
    assert (finding.evidence["count"], finding.evidence["lines"]) == (2, [1, 1])
    assert finding.message.endswith("(and 1 more)")


def test_one_without_a_requirement_is_the_files():
    assert told(audited(check, f"six==1.17.0 --hash={SHA}\n\n--hash={SHA}\n")) == [("/project/requirements.txt", 3)]


def test_one_of_a_file_that_is_named():
    wheel = 'wheels = [{ url = "https://x.example/six-1-py3-none-any.whl", hashes = { sha256 = "abc" } }]'
    text = f'{HEAD}[[packages]]\nname = "six"\nversion = "1"\n{wheel}\n'
    assert told(audited(check, text, "/project/pylock.toml")) == [("six", 4)]


@pytest.mark.parametrize("digest", [SHA, SHA.replace("1", "A"), f"sha512:{'2' * 128}", f"md5:{'2' * 32}"])
def test_what_is_one(digest):
    assert audited(check, f"six==1.17.0 --hash={digest}\n") == []

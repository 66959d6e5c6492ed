"""Digests that two files can share."""

import pytest
from locked import SHA, audited, told

from envdoctor.model import Severity
from envdoctor.probes.lock.weak_hash import check

MD5 = "0123456789abcdef" * 2


def pylock(hashes):
    sdist = f'sdist = {{ url = "https://files.example/demo-1.0.tar.gz", hashes = {{ {hashes} }} }}'
    return f'lock-version = "1.0"\ncreated-by = "x"\n[[packages]]\nname = "demo"\nversion = "1.0"\n{sdist}\n'


@pytest.mark.parametrize("hashes", [f'md5 = "{MD5}"', f'sha1 = "{MD5}01234567", md5 = "{MD5}"'])
def test_a_file_with_nothing_better(hashes):
    (finding,) = found = audited(check, pylock(hashes), "/project/pylock.toml")
    assert (finding.severity, told(found)) == (Severity.ERROR, [("demo", 4)])
    assert finding.evidence["text"].startswith(MD5)


def test_a_pin_with_nothing_better():
    assert told(audited(check, f"six==1.17.0 --hash={SHA}\ndemo==1.0 --hash=md5:{MD5}\n")) == [("demo", 2)]


@pytest.mark.parametrize("better", [f'sha256 = "{SHA[7:]}"', f'sha512 = "{"1" * 128}"', f'blake2b = "{"1" * 128}"'])
def test_md5_beside_something_better(better):
    assert audited(check, pylock(f'md5 = "{MD5}", {better}'), "/project/pylock.toml") == []


def test_none_at_all_and_an_address_are_other_rules():
    assert audited(check, f"six==1.17.0\ndemo @ https://x.example/demo-1.0.zip#md5={MD5}\n") == []

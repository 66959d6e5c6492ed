"""Characters that are not what they look like."""

import pytest
from locked import SHA, audited, read, told

from envdoctor.facts.lock_scan import scan
from envdoctor.model import Severity
from envdoctor.probes.lock.bad_encoding import check

PATH = "/project/requirements.txt"


def found_in(text):
    data = text if isinstance(text, bytes) else text.encode()
    return audited(check, data, lock_scan=scan(data, ""))


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        (b"six==1.17.0\n# caf\xe9\n", PATH),
        (f"idna==3.10\nsix==1.17.0 \\ \n    --hash={SHA}\n", PATH),
        ("idna==3.10\nnumpy==2.4.6\u200b\n", "numpy"),
        ("idna==3.10\nn\u0443mpy==2.4.6\n", "n\u0443mpy"),
    ],
    ids=["latin-1", "blank after backslash", "zero width", "Cyrillic letter"],
)
def test_what_breaks_a_line(text, subject):
    found = found_in(text)
    assert {finding.severity for finding in found} == {Severity.ERROR}
    assert (subject, 2) in told(found)


def test_an_encoding_that_installers_read_is_a_warning():
    (finding,) = found = found_in("six==1.17.0\n".encode("utf-16"))
    assert (finding.severity, told(found)) == (Severity.WARNING, [(PATH, 1)])


def test_each_kind_is_told_once():
    (finding,) = found_in("six==1.17.0\n" + "a==1 ; os_name == 'x\u200b'\n" * 3)
    assert (finding.evidence["count"], finding.evidence["lines"]) == (3, [2, 3, 4])


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffsix==1.17.0\n",
        "six==1.17.0\r\nidna==3.10\n",
        "# caf\u00e9, na\u00efve\u200b \\ \nsix==1.17.0  # \u200d\n",
        b"# -*- coding: latin-1 -*-\n# caf\xe9\nsix==1.17.0\n",
    ],
    ids=["BOM", "line ends", "comments", "declared"],
)
def test_what_harms_nothing(text):
    assert found_in(text) == []


def test_a_backslash_of_toml():
    text = b'version = 1\npackage = []\nx = """a \\ \n b"""\n'
    path = "/project/uv.lock"
    assert audited(check, text, path, lock_scan=scan(text, "", toml=read(text, path).format != "requirements")) == []

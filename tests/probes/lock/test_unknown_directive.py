"""Lines that installers do not know."""

import pytest
from locked import audited, told

from envdoctor.model import Severity
from envdoctor.probes.lock.unknown_directive import check


@pytest.mark.parametrize(
    ("line", "subject", "text"),
    [
        ("--frobnicate", "/project/requirements.txt", "--frobnicate"),
        ("--uploaded-prior-to 2026-10-01", "/project/requirements.txt", "--uploaded-prior-to"),
        ("numpy==2.4.6 --global-option=build_ext", "numpy", "--global-option"),
        ("torch 2.11.0", "torch", "torch 2.11.0"),
        ("Some words here.", "some", "Some words here."),
    ],
)
def test_a_line_that_is_none_of_pips(line, subject, text):
    (finding,) = found = audited(check, f"six==1.17.0\n{line}\n")
    assert (finding.severity, told(found), finding.evidence["text"]) == (Severity.ERROR, [(subject, 2)], text)


@pytest.mark.parametrize(
    "line", ["--only-final :all:", "--pre", "--all-releases torch", "-i https://index.example/simple", "b==1 -C a=b"]
)
def test_a_line_that_is(line):
    assert audited(check, f"six==1.17.0\n{line}\n") == []


def test_keys_of_toml_are_never_told():
    text = 'lock-version = "1.0"\ncreated-by = "x"\nfuture = 1\npackages = []\n[tool.x]\na = 1\n'
    assert audited(check, text, "/project/pylock.toml") == []

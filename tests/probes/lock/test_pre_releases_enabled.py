"""Options that let pre-releases in."""

import pytest
from locked import audited, package, told, uv

from envdoctor.model import Severity
from envdoctor.probes.lock.pre_releases_enabled import check


@pytest.mark.parametrize(
    ("line", "severity"),
    [
        ("--pre", Severity.WARNING),
        ("--all-releases :all:", Severity.WARNING),
        ("--all-releases torch,triton", Severity.NOTE),
    ],
)
def test_an_option_line(line, severity):
    (finding,) = found = audited(check, f"torch==2.11.0\n{line}\n")
    assert (finding.severity, told(found)) == (severity, [("/project/requirements.txt", 2)])
    assert finding.evidence["text"] == line


def test_how_uv_resolved():
    lock = uv('\n[options]\nprerelease-mode = "allow"\n', package("six"))
    (finding,) = found = audited(check, lock, "/project/uv.lock")
    assert (finding.severity, told(found)) == (Severity.WARNING, [("/project/uv.lock", 4)])
    assert finding.evidence["text"] == 'prerelease-mode = "allow"'


@pytest.mark.parametrize("mode", ["if-necessary", "explicit", "if-necessary-or-explicit", "disallow"])
def test_uvs_other_modes(mode):
    assert audited(check, uv(f'\n[options]\nprerelease-mode = "{mode}"\n', package("six")), "/project/uv.lock") == []


@pytest.mark.parametrize("line", ["--all-releases :none:", "--only-final :all:", "torch==2.15.0.dev1", ""])
def test_what_lets_none_in(line):
    assert audited(check, f"six==1.17.0\n{line}\n") == []

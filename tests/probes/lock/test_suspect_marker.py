"""Extras that nothing turns on."""

import pytest
from locked import SHA, audited, package, told, uv

from envdoctor.model import Severity
from envdoctor.probes.lock.suspect_marker import check

MADE_UP = "extra-8-nanochat-gpu"
PYLOCK = f"""
lock-version = "1.0"
created-by = "test"
[[packages]]
name = "torch"
version = "2.9.1"
marker = "{{}}"
wheels = [{{{{ url = "https://f.example/torch-2.9.1-py3-none-any.whl", hashes = {{{{ sha256 = "{SHA[7:]}" }}}} }}}}]
"""
UV = "/project/uv.lock"


@pytest.mark.parametrize("extra", [MADE_UP, "group-8-nanochat-dev", "gpu"])
def test_an_extra_in_a_requirements_lock(extra):
    text = f"six==1.17.0\ntorch==2.9.1 ; extra == '{extra}'\nnumpy==2.4.6 ; os_name == 'nt' and extra == '{extra}'\n"
    (finding,) = found = audited(check, text)
    assert (finding.severity, told(found)) == (Severity.WARNING, [("/project/requirements.txt", 2)])
    assert (finding.evidence["text"], finding.evidence["lines"]) == (extra, [2, 3])


def test_a_made_up_extra_in_a_pylock():
    found = audited(check, PYLOCK.format(f"extra == '{MADE_UP}'"), "/project/pylock.toml")
    assert told(found) == [("/project/pylock.toml", 4)]


@pytest.mark.parametrize("marker", ["'cpu' in extras", "sys_platform == 'linux'", "'dev' in dependency_groups"])
def test_what_a_pylock_may_ask(marker):
    assert audited(check, PYLOCK.format(marker), "/project/pylock.toml") == []


def test_uvs_own_lock_explains_it():
    edge = f"""[{{ name = "torch", marker = "extra == '{MADE_UP}'" }}]"""
    sets = '[[{ package = "nanochat", extra = "cpu" }, { package = "nanochat", extra = "gpu" }]]'
    lock = package("a", dependencies=edge), package("torch")
    assert audited(check, uv(*lock, conflicts=sets), UV) == []
    (finding,) = found = audited(check, uv(*lock), UV)
    assert (told(found), finding.evidence["text"]) == ([(UV, 4)], MADE_UP)
    plain = package("a", dependencies=edge.replace(MADE_UP, "gpu")), package("torch")
    assert audited(check, uv(*plain), UV) == []


@pytest.mark.parametrize("line", ["uvicorn[standard]==0.40.0", "torch==2.9.1 ; sys_platform == 'linux'"])
def test_other_markers(line):
    assert audited(check, f"{line}\n") == []

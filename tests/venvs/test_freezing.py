"""Real installers at a frozen venv, as root and as an ordinary user."""

import os
import stat
import subprocess
import sys

import pytest
from nobody import without_privilege

from envdoctor.wheels import Wheel, requirements_lock

pytestmark = pytest.mark.venv

LOCKED = (Wheel("numpy", "2.1.0", {"numpy/__init__.py": "pi = 3\n"}),)
NEW = Wheel("sglang", "0.5.9", {"sglang/__init__.py": ""})
PROBE = "environment/freeze-bypassed"
ROOT = os.geteuid() == 0
AS = {"an ordinary user": without_privilege if ROOT else None, **({"root": None} if ROOT else {})}


@pytest.fixture
def venv(tmp_path, new_venv):
    wheelhouse = tmp_path / "wheelhouse"
    wheelhouse.mkdir()
    for wheel in (*LOCKED, NEW):
        wheel.build(wheelhouse)
    venv = new_venv(tmp_path / "project", wheelhouse, requirements_lock(LOCKED))
    venv.uv("-r", venv.lock)
    return venv


@pytest.fixture
def frozen(venv, doctor):
    done = doctor("freeze", "--target", venv.prefix)
    assert (done.status, done.stderr) == (0, "")
    return venv


def run(venv, *argv, who="an ordinary user"):
    """Run a command as somebody, with no configuration but the venv's own; return its status and what it said."""
    env = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG")} | {"HOME": str(venv.project)}
    done = subprocess.run(
        [*map(str, argv)], env=env, stdin=subprocess.DEVNULL, capture_output=True, preexec_fn=AS[who], check=False
    )
    return done.returncode, (done.stdout + done.stderr).decode()


def pip(venv, *arguments, who="an ordinary user"):
    command = (sys.executable, "-m", "pip", "--python", venv.python, "--isolated", "--disable-pip-version-check")
    options = ("--no-index", "--no-cache-dir", "--find-links", venv.wheelhouse)
    return run(venv, *command, "install", *options, *arguments, who=who)


def uv(venv, *arguments, who="an ordinary user"):
    options = ("--offline", "--no-config", "--no-index", "--find-links", venv.wheelhouse, "--link-mode", "copy")
    cache = ("--cache-dir", venv.project / "cache")
    return run(venv, venv.uv_path(), "pip", "install", "--python", venv.python, *options, *cache, *arguments, who=who)


def contents(venv):
    """Return everything in a venv with its permissions, our own folder left out, and byte code with it."""
    found = {}
    for folder, folders, files in os.walk(venv.prefix):
        folders[:] = [name for name in folders if name not in (".envdoctor", "__pycache__")]
        for path in (folder, *(os.path.join(folder, name) for name in files)):
            found[path] = stat.S_IMODE(os.lstat(path).st_mode)
    return found


@pytest.mark.parametrize("who", AS)
def test_pip_refuses_a_careless_install(who, frozen, doctor):
    before = contents(frozen)
    status, said = pip(frozen, "sglang", who=who)
    assert status == 1
    assert "In --require-hashes mode, all requirements must have their versions pinned" in said
    assert contents(frozen) == before
    assert doctor.check(frozen.prefix, "--select", PROBE).report["findings"] == []


def test_without_the_freeze_pip_would_have_installed_it(venv):
    assert pip(venv, "sglang")[0] == 0


def test_with_hashes_an_ordinary_user_is_stopped_by_the_modes(frozen):
    before = contents(frozen)
    lock = frozen.project / "new.txt"
    lock.write_text(requirements_lock([NEW]))
    status, said = pip(frozen, "-r", lock)
    assert status == 1
    assert "Permission denied" in said
    assert contents(frozen) == before


def test_uv_is_stopped_by_the_modes_alone(frozen):
    before = contents(frozen)
    status, said = uv(frozen, "sglang")
    assert status != 0
    assert "Permission denied" in said
    assert contents(frozen) == before


@pytest.mark.skipif(not ROOT, reason="takes root, whom no mode stops")
def test_uv_as_root_is_not_stopped_and_a_check_tells(frozen, doctor):
    assert uv(frozen, "sglang", who="root")[0] == 0
    (found,) = [f for f in doctor.check(frozen.prefix).findings(PROBE) if "packages" in f["evidence"]]
    assert found["evidence"]["packages"] == ["sglang 0.5.9"]


def test_an_install_after_the_write_bits_were_taken_back_is_told(frozen, doctor):
    assert doctor.check(frozen.prefix).findings(PROBE) == []
    subprocess.run(["chmod", "-R", "u+w", frozen.prefix], check=True)
    (frozen.prefix / "pip.conf").unlink()
    status, said = pip(frozen, "--no-deps", "sglang")
    assert status == 0, said
    found = {f["subject"]: f for f in doctor.check(frozen.prefix).findings(PROBE)}
    assert found.keys() == {str(frozen.prefix), f"{frozen.prefix}/pip.conf"}
    both = [f["message"] for f in doctor.check(frozen.prefix).findings(PROBE)]
    assert any("sglang 0.5.9" in message for message in both)
    assert any("made writable" in message for message in both)
    assert doctor("thaw", "--target", frozen.prefix).status == 1


def test_thaw_gives_all_back(venv, doctor):
    before = contents(venv)
    doctor("freeze", "--target", venv.prefix)
    assert doctor("thaw", "--target", venv.prefix).status == 0
    assert contents(venv) == before
    assert pip(venv, "sglang")[0] == 0


@pytest.mark.parametrize(
    "clearing",
    [(sys.executable, "-m", "venv", "--without-pip", "--clear"), ("rm", "-rf")],
    ids=["venv --clear", "rm -rf"],
)
def test_an_ordinary_user_cannot_clear_it_away(clearing, frozen, doctor):
    before = contents(frozen)
    status, _ = run(frozen, *clearing, frozen.prefix)
    assert status != 0
    assert contents(frozen) == before
    assert run(frozen, frozen.python, "-c", "import numpy; print(numpy.pi)") == (0, "3\n")
    answer = doctor.check(frozen.prefix)
    assert (answer.report["verdict"], answer.findings(PROBE)) == ("healthy", [])
    assert PROBE in answer.report["passed"]


def test_an_ordinary_user_can_freeze_and_thaw_what_is_his(venv):
    before = contents(venv)
    command = (sys.executable, "-m", "envdoctor")
    for verb in ("freeze", "seal", "freeze", "thaw"):
        status, said = run(venv, *command, verb, "--target", venv.prefix)
        assert status == 0, said
        assert f" in {venv.prefix}/.envdoctor/seal.json" in said
        if verb == "seal":
            venv.prefix.chmod(0o755)
            (venv.prefix / "pip.conf").unlink()
            venv.prefix.chmod(0o555)
    assert contents(venv) == before

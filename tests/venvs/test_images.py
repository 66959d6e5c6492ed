"""A real venv, filled by real pip, in an unpacked image whose python is another machine's: judged as it was at home."""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest
from images import program

from envdoctor.wheels import Wheel, requirements_lock

pytestmark = pytest.mark.venv

MINOR = f"{sys.version_info.major}.{sys.version_info.minor}"
WHEELS = (
    Wheel("numpy", "2.1.0", {"numpy/__init__.py": "pi = 3\n"}, console_scripts={"f2py": "numpy:main"}),
    Wheel("requests", "2.32.5", {"requests/__init__.py": "x = 1\n", "requests/api.py": ""}, ("numpy",)),
    Wheel("sglang", "0.5.0", {"sglang/__init__.py": ""}),
)
AREAS = ("--select", "packages", "--select", "environment", "--format", "json")


@pytest.fixture
def venv(new_venv, tmp_path):
    """A real venv with damage of four kinds."""
    made = new_venv(tmp_path / "project", tmp_path / "wheels", requirements_lock(WHEELS[:2]))
    for wheel in WHEELS:
        wheel.build(made.wheelhouse)
    made.pip("install", *(f"{wheel.name}=={wheel.version}" for wheel in WHEELS))
    (made.site / "requests/__init__.py").write_text("x = 2  # edited\n")
    (made.site / "requests/api.py").unlink()
    (made.site / "gone.pth").write_text("/nowhere/at/all\n")
    return made


def into_image(venv, root):
    """Move the whole project into an image, to the path that it has here, and give it a python of another machine."""
    project = root / str(venv.project).lstrip("/")
    project.parent.mkdir(parents=True)
    base = root / "usr/bin" / f"python{MINOR}"
    base.parent.mkdir(parents=True)
    base.write_bytes(program())
    base.chmod(0o755)
    shutil.move(venv.project, project)
    prefix = project / venv.prefix.name
    for name in ("python", "python3", f"python{MINOR}"):
        (prefix / "bin" / name).unlink(missing_ok=True)
        (prefix / "bin" / name).symlink_to(f"/usr/bin/python{MINOR}")
    return prefix


def said(answer, root=""):
    """Return the findings with the image's names for what they are about."""
    found = answer.findings()
    return {(f["probe"], f["severity"], f["subject"].removeprefix(root), f["message"].replace(root, "")) for f in found}


def test_what_was_said_at_home_is_said_of_the_image(venv, doctor, tmp_path):
    before = doctor("check", "--target", venv.prefix, "--lock", venv.lock, *AREAS)
    root = tmp_path / "image"
    prefix = into_image(venv, root)
    lock = root / str(venv.lock).lstrip("/")
    after = doctor("check", "--root", root, "--target", prefix, "--lock", lock, *AREAS)
    assert {probe for probe, *_ in said(before)} >= {
        "packages/foreign",
        "packages/altered-file",
        "packages/missing-file",
        "environment/foreign-path",
    }
    assert said(after, str(root)) == said(before)
    assert after.report["target"]["python"] == ".".join(map(str, sys.version_info[:3]))
    assert after.report["crashed"] == []
    seen = json.loads(doctor("snapshot", "--root", root, "--target", prefix).stdout)
    assert seen["facts"]["interpreter"]["markers"]["platform_machine"] == "aarch64"
    assert not os.path.exists(venv.prefix)
    assert Path(prefix).is_dir()

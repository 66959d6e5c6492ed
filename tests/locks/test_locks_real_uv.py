"""What `uv export` installs from a lock that the real uv wrote, against our own walk of it."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile

import pytest

from envdoctor import locks

pytestmark = [
    pytest.mark.venv,
    pytest.mark.skipif(shutil.which("uv") is None, reason="no uv on PATH"),
]

WHEELS = (
    ("torch", "2.9.1+cpu", ()),
    ("torch", "2.9.1+cu128", ("cublas; sys_platform == 'linux'",)),
    ("cublas", "12.8", ()),
    ("serve", "1.0", ("base", "fast; extra == 'turbo'", "serve[turbo]; extra == 'all'", "child[x]; extra == 'all'")),
    ("child", "1", ("base", "winonly; sys_platform == 'win32'", "deep; extra == 'x'")),
    *((name, "1", ()) for name in ("base", "fast", "winonly", "deep", "pytest", "ruff", "np")),
    ("np", "2", ()),
)
PROJECT = """\
[project]
name = "My_Trainer"
version = "0.1"
requires-python = ">=3.11"
dependencies = ["serve[all]", "np==1; python_version < '3.12'", "np==2; python_version >= '3.12'"]
[project.optional-dependencies]
cpu = ["torch==2.9.1+cpu"]
gpu = ["torch==2.9.1+cu128"]
[dependency-groups]
dev = ["pytest"]
lint = ["ruff"]
[tool.uv]
no-index = true
find-links = ["../wheels"]
conflicts = [[{extra = "cpu"}, {extra = "gpu"}]]
"""


def wheel(folder, name, version, requires):
    extras = {part.split("extra == ")[1].strip("'") for part in requires if "extra == " in part}
    head = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    lines = [*(f"Provides-Extra: {extra}\n" for extra in extras), *(f"Requires-Dist: {part}\n" for part in requires)]
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        info = f"{name}-{version}.dist-info"
        archive.writestr(f"{info}/METADATA", head + "".join(lines))
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")


def uv(project, *arguments):
    done = subprocess.run(
        ["uv", *arguments, "--offline", "--python", sys.executable, "--project", project],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    root = tmp_path_factory.mktemp("uv")
    (root / "wheels").mkdir()
    for name, version, requires in WHEELS:
        wheel(root / "wheels", name, version, requires)
    (root / "project").mkdir()
    (root / "project/pyproject.toml").write_text(PROJECT)
    uv(root / "project", "lock")
    return root / "project"


@pytest.mark.parametrize("extra", [None, "cpu", "gpu"])
@pytest.mark.parametrize("group", [None, "lint"])
@pytest.mark.parametrize(("platform", "python"), [("linux", "3.12.3"), ("linux", "3.11.9"), ("win32", "3.12.3")])
def test_selection_agrees_with_uv_export(project, linux, tmp_path, extra, group, platform, python):
    target = {**linux, "sys_platform": platform, "python_full_version": python, "python_version": python[:4]}
    options = [*(["--extra", extra] if extra else []), *(["--group", group] if group else [])]
    exported = tmp_path / "exported.txt"
    exported.write_text(uv(project, "export", "--frozen", "--no-hashes", "--no-emit-project", *options))
    ours = locks.select(
        locks.read(str(project / "uv.lock")),
        target,
        extras=[extra] if extra else [],
        groups=[group] if group else [],
    )
    theirs = locks.select(locks.read(str(exported)), target)
    assert {name: p.version for name, p in ours.wanted.items()} == {
        name: p.version for name, p in theirs.wanted.items()
    }
    assert ours.conflicting == ()

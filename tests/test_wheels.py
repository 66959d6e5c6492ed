"""Wheels made from values are wheels to everybody else: checked by zipfile, packaging, pip and uv."""

import base64
import csv
import hashlib
import io
import os
import subprocess
import sys
import zipfile
from importlib.metadata import distributions
from pathlib import Path

import pytest
from packaging.metadata import Metadata
from packaging.pylock import Pylock
from packaging.tags import Tag
from packaging.utils import parse_wheel_filename

from envdoctor.wheels import Wheel, pylock, requirements_lock

FULL = Wheel(
    "Odd.Name_x",
    "1.0+cu128",
    files={"odd/__init__.py": "def main(): print('ran')\n", 'odd/a, "b".bin': b"\0\xff"},
    requires=("leaf>=1",),
    tag="py2.py3-none-any",
    build_number="1local",
    console_scripts={"odd": "odd:main"},
    requires_python=">=3.9",
    metadata=("Provides-Extra: more",),
    data={"scripts/odd-tool": "#!/bin/sh\necho tool\n"},
    top_level=("odd",),
)
LEAF = Wheel("leaf", "1.5", {"leaf.py": ""})


def members(wheel):
    with zipfile.ZipFile(io.BytesIO(wheel.archive())) as archive:
        assert archive.testzip() is None
        return {info.filename: (archive.read(info), info.external_attr >> 16) for info in archive.infolist()}


def test_record_lists_every_member_with_its_digest_and_size():
    found = members(FULL)
    record = "odd_name_x-1.0+cu128.dist-info/RECORD"
    rows = {path: (digest, size) for path, digest, size in csv.reader(io.StringIO(found[record][0].decode()))}
    assert rows.pop(record) == ("", "")
    digests = {
        path: (
            "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("="),
            str(len(content)),
        )
        for path, (content, _) in found.items()
        if path != record
    }
    assert rows == digests
    assert list(found)[-1] == record


def test_metadata_and_file_name_parse_under_the_standards():
    found = members(FULL)
    metadata = Metadata.from_email(found["odd_name_x-1.0+cu128.dist-info/METADATA"][0])
    assert (metadata.name, str(metadata.version)) == ("Odd.Name_x", "1.0+cu128")
    assert [str(requirement) for requirement in metadata.requires_dist] == ["leaf>=1"]
    name, version, build, tags = parse_wheel_filename(FULL.filename)
    assert (name, str(version), build) == ("odd-name-x", "1.0+cu128", (1, "local"))
    assert tags == {Tag("py2", "none", "any"), Tag("py3", "none", "any")}
    wheel = found["odd_name_x-1.0+cu128.dist-info/WHEEL"][0].decode().splitlines()
    assert {"Tag: py2-none-any", "Tag: py3-none-any", "Build: 1local", "Root-Is-Purelib: true"} <= set(wheel)


def test_only_scripts_are_executable():
    modes = {path: mode & 0o777 for path, (_, mode) in members(FULL).items()}
    assert modes.pop("odd_name_x-1.0+cu128.data/scripts/odd-tool") == 0o755
    assert set(modes.values()) == {0o644}


def test_compiled_wheel_is_not_pure():
    wheel = Wheel("torch", "2.11.0", tag="cp311-cp311-manylinux_2_28_x86_64")
    assert b"Root-Is-Purelib: false" in members(wheel)["torch-2.11.0.dist-info/WHEEL"][0]


def test_same_values_give_the_same_bytes(tmp_path):
    again = Wheel(**{name: getattr(FULL, name) for name in Wheel.__dataclass_fields__})
    assert Path(again.build(tmp_path / "made")).read_bytes() == FULL.archive()
    assert hashlib.sha256(FULL.archive()).hexdigest() == FULL.sha256
    assert Wheel("leaf", "1.5", {"leaf.py": "x"}).sha256 != LEAF.sha256


def test_pylock_is_valid_and_names_the_files():
    import tomllib

    lock = Pylock.from_dict(tomllib.loads(pylock([FULL, LEAF], "wheels")))
    assert [(package.name, str(package.version)) for package in lock.packages] == [
        ("odd-name-x", "1.0+cu128"),
        ("leaf", "1.5"),
    ]
    (wheel,) = lock.packages[1].wheels
    assert (wheel.path, wheel.size, wheel.hashes) == (
        f"wheels/{LEAF.filename}",
        len(LEAF.archive()),
        {"sha256": LEAF.sha256},
    )


@pytest.fixture
def venv(tmp_path):
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    return tmp_path / "venv"


def run(*argv):
    env = {"PATH": os.environ["PATH"], "HOME": os.devnull, "PIP_CONFIG_FILE": os.devnull}
    return subprocess.run([str(part) for part in argv], env=env, capture_output=True, text=True, check=False)


def pip(python, *rest):
    return run(sys.executable, "-m", "pip", "--python", python, "install", "--no-index", *rest)


def uv(python, *rest):
    return run(
        sys.executable,
        "-m",
        "uv",
        "pip",
        "install",
        "--python",
        python,
        "--no-config",
        "--no-cache",
        "--no-index",
        *rest,
    )


@pytest.mark.venv
@pytest.mark.parametrize("install", [pip, uv])
def test_real_installer_accepts_the_wheels_and_their_hashes(install, venv, tmp_path):
    lock = tmp_path / "lock.txt"
    lock.write_text(requirements_lock([FULL, LEAF]))
    for wheel in (FULL, LEAF):
        wheel.build(tmp_path / "wheels")
    found = ["--find-links", tmp_path / "wheels", "--require-hashes", "-r", lock]
    done = install(venv / "bin" / "python", *found)
    assert done.returncode == 0, done.stderr
    assert run(venv / "bin" / "odd").stdout == "ran\n"
    assert run(venv / "bin" / "odd-tool").stdout == "tool\n"
    (site,) = venv.glob("lib/python3*/site-packages")
    for dist in distributions(path=[str(site)]):
        assert dist.files
        assert all(file.locate().exists() for file in dist.files)


@pytest.mark.venv
@pytest.mark.parametrize("install", [pip, uv])
def test_real_installer_rejects_a_wheel_that_is_not_the_locked_one(install, venv, tmp_path):
    lock = tmp_path / "lock.txt"
    lock.write_text(requirements_lock([LEAF]))
    Wheel("leaf", "1.5", {"leaf.py": "changed"}).build(tmp_path / "wheels")
    done = install(venv / "bin" / "python", "--find-links", tmp_path / "wheels", "--require-hashes", "-r", lock)
    assert done.returncode != 0
    assert LEAF.sha256 in done.stderr


@pytest.mark.venv
def test_uv_installs_from_the_pylock(venv, tmp_path):
    LEAF.build(tmp_path / "wheels")
    lock = tmp_path / "pylock.toml"
    lock.write_text(pylock([LEAF], "wheels"))
    done = uv(venv / "bin" / "python", "--preview-features", "pylock", "-r", lock)
    assert done.returncode == 0, done.stderr
    assert list(venv.glob("lib/python3*/site-packages/leaf.py"))

"""What real resolvers write into comments, each in each of its layouts, is read as the same."""

import os
import subprocess
import sys

import pytest

from envdoctor import locks
from envdoctor.review.diff import diff
from envdoctor.wheels import Wheel

pytestmark = pytest.mark.venv

WHEELS = (
    Wheel("torch", "2.11.0", {"torch.py": ""}, ("Hugging_Face", "triton")),
    Wheel("triton", "3.6.0", {"triton.py": ""}, ("hugging-face",)),
    Wheel("hugging-face", "1.0", {"hf.py": ""}),
)
VIA = {"torch": {"-r train.in"}, "triton": {"torch"}, "hugging-face": {"torch", "triton", "-r more.in"}}
MINOR = f"{sys.version_info.major}.{sys.version_info.minor}"
UV = ("pip", "compile", "--python-version", MINOR, "--python-platform", "x86_64-manylinux_2_28")


@pytest.fixture(scope="module")
def compiled(tmp_path_factory, uv_path):
    """Return a function that compiles train.in and more.in and reads the lock."""
    folder = tmp_path_factory.mktemp("resolvers")
    for wheel in WHEELS:
        wheel.build(folder / "wheels")
    (folder / "train.in").write_text("torch\n")
    (folder / "more.in").write_text("hugging-face\n")
    commands = {"uv": (uv_path, *UV), "pip-compile": (sys.executable, "-m", "piptools", "compile")}

    def compiled(tool, *options):
        name = f"{tool}{len(list(folder.glob('*.txt')))}.txt"
        common = ("--quiet", "--no-index", "--find-links", "wheels", "train.in", "more.in", "--output-file", name)
        done = subprocess.run(
            [*commands[tool], *common, *options],
            cwd=folder,
            env={"PATH": os.environ["PATH"], "HOME": str(folder), "PIP_CONFIG_FILE": os.devnull, "UV_NO_CONFIG": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return locks.read(str(folder / name))

    return compiled


@pytest.mark.parametrize("tool", ["pip-compile", "uv"])
@pytest.mark.parametrize("style", ["split", "line"])
@pytest.mark.parametrize("hashes", [(), ("--generate-hashes",)])
def test_every_layout_says_who_asks(compiled, tool, style, hashes):
    lock = compiled(tool, "--annotation-style", style, *hashes)
    assert {package.name: set(package.via) for package in lock.packages} == VIA
    assert all(bool(package.hashes) == bool(hashes) for package in lock.packages)
    assert lock.header.python == MINOR
    assert lock.header.tool == ("uv pip compile" if tool == "uv" else tool)
    assert lock.header.platform == ("x86_64-manylinux_2_28" if tool == "uv" else "")


def test_both_resolvers_write_equal_pins(compiled):
    found = diff(compiled("pip-compile", "--generate-hashes"), compiled("uv", "--generate-hashes"))
    assert found.changes == ()
    assert "platform" in {difference.what for difference in found.whole}


def test_index_of_each_pin_is_read(compiled):
    lock = compiled("uv", "--emit-index-annotation")
    assert all(package.url.endswith("wheels") for package in lock.packages)

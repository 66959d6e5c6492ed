"""The payload that compiles, run as it is run in a venv: whole, passed over what is broken, and gone when killed."""

import importlib.util
import os
import select
import subprocess
import sys

import pytest

from envdoctor.installing.compiling import PAYLOAD


def argv(folder, cores=2):
    return [sys.executable, "-I", "-S", "-B", PAYLOAD, str(folder), str(cores)]


def test_every_source_is_compiled_once_and_broken_ones_are_passed_over(tmp_path):
    (tmp_path / "pack").mkdir()
    for name, text in {"a.py": "x = 1\n", "pack/b.py": "y = '\\d'\n", "pack/broken.py": "def (\n", "c.txt": ""}.items():
        (tmp_path / name).write_text(text)
    kept = importlib.util.cache_from_source(str(tmp_path / "a.py"))
    os.mkdir(os.path.dirname(kept))
    with open(kept, "wb") as stream:
        stream.write(b"from the wheel")
    (tmp_path / "linked").symlink_to("pack")
    done = subprocess.run(argv(tmp_path), capture_output=True, check=True)
    assert done.stdout.splitlines()[-1] == b"compiled 2 2"
    assert done.stderr == b""
    with open(kept, "rb") as stream:
        assert stream.read() == b"from the wheel"
    made = importlib.util.cache_from_source(str(tmp_path / "pack/b.py"))
    with open(made, "rb") as stream:
        header = stream.read(16)
    assert int.from_bytes(header[4:8], "little") == 0, "by time, whatever SOURCE_DATE_EPOCH says"
    assert int.from_bytes(header[12:16], "little") == len("y = '\\d'\n")
    assert not os.path.exists(importlib.util.cache_from_source(str(tmp_path / "pack/broken.py")))


def test_nothing_to_compile_is_well_done(tmp_path):
    assert subprocess.run(argv(tmp_path), capture_output=True, check=True).stdout == b""


@pytest.mark.parametrize("cores", [1, 3])
def test_workers_end_with_it_when_it_is_killed(cores, tmp_path):
    for number in range(400):
        (tmp_path / f"m{number}.py").write_text("x = [1, 2, 3, 4]\n" * 400)
    reading, writing = os.pipe()
    process = subprocess.Popen(argv(tmp_path, cores), stdout=subprocess.PIPE, pass_fds=[writing])
    os.close(writing)
    assert process.stdout.readline().startswith(b"compiled ")
    process.kill()
    process.wait()
    assert select.select([reading], [], [], 10)[0], "a worker still holds what it inherited"
    assert os.read(reading, 1) == b""
    os.close(reading)
    process.stdout.close()
    assert len(list(tmp_path.rglob("*.pyc"))) < 400

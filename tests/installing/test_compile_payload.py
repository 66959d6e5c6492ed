"""The payload that makes byte code: every source once, whoever takes it."""

import subprocess
import sys

from envdoctor.installing.compiling import PAYLOAD


def test_many_workers_share_small_sources_without_doing_one_twice(tmp_path):
    for number in range(40):
        (tmp_path / f"m{number}.py").write_text(f"x = {number}\n")
    for _ in range(25):
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-B", PAYLOAD, tmp_path, "8"], capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stdout.split()[-2:]) == (0, ["40", "40"]), done.stdout
        made = list((tmp_path / "__pycache__").iterdir())
        assert len(made) == 40
        for path in made:
            path.unlink()


def test_more_sources_than_a_pipe_holds(tmp_path):
    for number in range(300):
        (tmp_path / f"m{number}.py").write_text("")
    done = subprocess.run([sys.executable, "-I", "-S", "-B", PAYLOAD, tmp_path, "2"], capture_output=True, check=False)
    assert done.stdout.split()[-2:] == [b"300", b"300"]

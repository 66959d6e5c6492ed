import os
import sys
import time

from envdoctor.system.tool import TAIL, perform

ENV = {"PATH": os.environ["PATH"]}


def run(code, timeout=20.0, **env):
    return perform([sys.executable, "-I", "-c", code], env=ENV | env, cwd="/", timeout=timeout)


def test_both_streams_and_the_status_are_kept():
    done = run("import sys; print('out', flush=True); print('err', file=sys.stderr); sys.exit(3)")
    assert (done.status, done.stdout, done.problem) == (3, b"out\nerr\n", None)


def test_of_much_output_the_end_is_kept():
    done = run(f"print('x' * {TAIL * 4}); print('end')")
    assert done.stdout.endswith(b"x\nend\n")
    assert len(done.stdout) == TAIL


def test_it_gets_no_input_and_only_the_variables_it_is_given():
    done = run("import os, sys; print(sys.stdin.read() == '', sorted(set(os.environ) - {'LC_CTYPE'}))", A="1")
    assert done.stdout == b"True ['A', 'PATH']\n"


def test_what_takes_too_long_is_ended_with_its_children(tmp_path):
    child = f"import time; time.sleep(1.5); open({str(tmp_path / 'late')!r}, 'w')"
    code = f"import subprocess, sys; print('begun', flush=True); subprocess.run([sys.executable, '-c', {child!r}])"
    done = run(code, timeout=1.0)
    assert (done.status, done.stdout, done.problem) == (None, b"begun\n", "no end within 1 s")
    time.sleep(1.5)
    assert not (tmp_path / "late").exists()


def test_what_cannot_be_started_is_said():
    assert (
        perform(["/no/such/tool"], env=ENV, cwd="/", timeout=1.0).problem == "did not start: No such file or directory"
    )

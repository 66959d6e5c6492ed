"""A process that becomes a command is in all things as its caller made it."""

import json
import os
import signal
import subprocess
import sys

import pytest

from envdoctor.system import becoming

BECOME = """
import json, os, signal, sys
from envdoctor.errors import NotStartedError
from envdoctor.system.becoming import become
def handler(*_): pass
signal.signal(signal.SIGTERM, handler)
signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    become(sys.argv[1:], dict(os.environ))
except NotStartedError as error:
    print(error)
    sys.exit(error.status)
"""
SIGNALS = """
import json, re
status = open("/proc/self/status").read()
print(json.dumps({name: int(re.search(name + r":\\s*(\\w+)", status)[1], 16) for name in ("SigIgn", "SigBlk")}))
"""


def become(*argv, path=None, **options):
    env = {"PATH": path or os.defpath, "LANG": "C.UTF-8"}
    done = subprocess.run(
        [sys.executable, "-c", BECOME, *map(str, argv)],
        env=env,
        capture_output=True,
        text=True,
        check=False,
        timeout=20,
        **options,
    )
    assert done.stderr == "", done.stderr
    return done.returncode, done.stdout.strip()


def script(path, text, mode=0o755):
    path.write_text(text)
    path.chmod(mode)
    return path


def bits(*numbers):
    return sum(1 << (number - 1) for number in numbers)


def signals(*, ignored=(), blocked=()):
    """Return the ignored and blocked signals of a command that was started with these, as bits."""

    def prepare():
        for number in ignored:
            signal.signal(number, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, blocked)

    # grep and not Python, which would set its own
    status, said = become("grep", "-E", "^Sig(Ign|Blk):", "/proc/self/status", preexec_fn=prepare)
    assert status == 0
    found = dict(line.split(":\t") for line in said.splitlines())
    return {name: int(value, 16) for name, value in found.items()}


def test_signals_are_the_callers_and_what_python_ignores_is_not():
    assert signals() == {"SigBlk": 0, "SigIgn": 0}


def test_what_the_caller_ignores_or_blocks_stays_so():
    found = signals(ignored=[signal.SIGHUP, signal.SIGUSR1], blocked=[signal.SIGUSR2])
    assert found == {"SigIgn": bits(signal.SIGHUP, signal.SIGUSR1), "SigBlk": bits(signal.SIGUSR2)}


def test_the_status_is_the_commands():
    assert become("sh", "-c", "exit 7") == (7, "")


@pytest.mark.parametrize("name", ["nothing-of-that-name", "/nothing/of/that/name", ""])
def test_a_command_that_is_not_there_is_127(name):
    status, said = become(name)
    assert status == 127
    assert name in said


def test_a_file_that_may_not_be_executed_is_126_and_a_later_one_on_the_path_is_found(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    plain = script(first / "tool", "#!/bin/sh\necho first\n", 0o644)
    assert become(plain)[0] == become("tool", path=first)[0] == 126
    assert become("tool", path=f"{first}:/nowhere:{second}") == (126, f"{plain}: Permission denied")
    script(second / "tool", "#!/bin/sh\necho second\n")
    assert become("tool", path=f"{first}:/nowhere:{second}") == (0, "second")


def test_a_directory_of_the_name_is_passed_over(tmp_path):
    (tmp_path / "tool").mkdir()
    assert become("tool", path=tmp_path)[0] == 127


def test_a_script_whose_interpreter_is_gone_is_named_with_it(tmp_path):
    tool = script(tmp_path / "torchrun", "#!/srv/old/.venv/bin/python3 -s\n")
    gone = f"{tool}: its interpreter /srv/old/.venv/bin/python3 is not there"
    assert become(tool) == become("torchrun", path=tmp_path) == (126, gone)


def test_a_script_without_a_first_line_is_the_shells(tmp_path):
    tool = script(tmp_path / "tool", "echo $1 $#\n")
    assert become(tool, "a b", "c") == (0, "a b 2")


def test_a_program_of_another_machine_is_no_script(tmp_path):
    tool = tmp_path / "tool"
    tool.write_bytes(b"\x7fELF\x02\x01\x01\0" + bytes(80))
    tool.chmod(0o755)
    status, said = become(tool)
    assert (status, said) == (126, f"{tool}: Exec format error")


def test_too_much_for_the_kernel_is_said():
    status, said = become("true", "x" * 100_000)
    assert (status, said) == (0, "")
    code = BECOME.replace("sys.argv[1:]", "['true', *['x' * 100_000] * 100]")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, "Argument list too long" in done.stdout) == (126, True)


def environment(env, *, given=None, tmp_path=None):
    """Return what `inherited` gives a process that is started with this environment."""
    code = "import json; from envdoctor.system.becoming import inherited; print(json.dumps(inherited()))"
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.parametrize("env", [{}, {"LANG": "C"}, {"LC_CTYPE": "C"}, {"LC_ALL": "C"}, {"LC_CTYPE": "C.UTF-8"}])
def test_the_variables_are_those_that_the_caller_gave(env):
    assert environment(env) == env


def test_a_variable_without_a_name_is_left_out(monkeypatch):
    monkeypatch.setitem(os.environ, "A", "1")
    monkeypatch.setattr(os, "environ", {"": "x=1", "A": "1", "LC_CTYPE": "C.UTF-8"})
    assert becoming.inherited("/nowhere") == {"A": "1", "LC_CTYPE": "C.UTF-8"}

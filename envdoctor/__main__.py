"""The way in: `envdoctor` and `python -m envdoctor`."""

# Only what is built in is imported before `_alone`: PYTHONPATH is the job's, and may hold a typing.py of its own.
import sys


def _alone() -> None:
    """Start again without PYTHONPATH, PYTHONHOME and the current directory on the path, if they are.

    They stay in the environment, where `check` reads them as the job's. What Python sets itself (LC_CTYPE, PEP 538)
    and what has no name, which execve would refuse, does not.
    """
    import posix

    module = sys.argv[0].endswith("__main__.py")
    leaky = module or b"PYTHONPATH" in posix.environ or b"PYTHONHOME" in posix.environ
    if leaky and not sys.flags.ignore_environment:
        program = ["-m", "envdoctor"] if module else sys.argv[:1]
        env = {name: value for name, value in posix.environ.items() if name}
        posix.execve(sys.executable, [sys.executable, "-E", "-P", *program, *sys.argv[1:]], _as_given(env))


def _as_given(env: dict[bytes, bytes]) -> dict[bytes, bytes]:
    """Put LC_CTYPE back as this process was started with it."""
    if b"LC_CTYPE" not in env:
        return env
    try:
        with open("/proc/self/environ", "rb") as stream:
            given = [item[9:] for item in stream.read().split(b"\0") if item.startswith(b"LC_CTYPE=")]
    except OSError:
        return env
    del env[b"LC_CTYPE"]
    return {**env, b"LC_CTYPE": given[0]} if given else env


def main() -> None:
    """Import the command line and run it. An interrupt while modules load ends the process without a traceback.

    Where the caller has it ignored (a shell's background job), it stays so. SIGCHLD does not: the kernel forgets how
    children ended where that is ignored (waitpid(2)), and a job that failed would be taken for one that went well.
    """
    _alone()
    import signal

    if signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    heard = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if heard:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from envdoctor import cli

    if heard:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    cli.main()


if __name__ == "__main__":
    main()

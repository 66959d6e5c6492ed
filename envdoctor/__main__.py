"""The way in: `envdoctor` and `python -m envdoctor`."""

# Only what is built in is imported before `_alone`: PYTHONPATH is the job's, and may hold a typing.py of its own.
import sys


def _alone() -> None:
    """Start again without PYTHONPATH, PYTHONHOME and the current directory on the path, if they are.

    They stay in the environment, where `check` reads them as the job's.
    """
    import posix

    module = sys.argv[0].endswith("__main__.py")
    leaky = module or b"PYTHONPATH" in posix.environ or b"PYTHONHOME" in posix.environ
    if leaky and not sys.flags.ignore_environment:
        program = ["-m", "envdoctor"] if module else sys.argv[:1]
        posix.execve(sys.executable, [sys.executable, "-E", "-P", *program, *sys.argv[1:]], posix.environ)


def main() -> None:
    """Import the command line and run it. An interrupt while modules load ends the process without a traceback."""
    _alone()
    import signal

    signal.signal(signal.SIGINT, signal.SIG_DFL)
    from envdoctor import cli

    signal.signal(signal.SIGINT, signal.default_int_handler)
    cli.main()


if __name__ == "__main__":
    main()

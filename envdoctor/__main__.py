"""The way in: `envdoctor` and `python -m envdoctor`."""

from __future__ import annotations

import signal
from typing import NoReturn


def main() -> NoReturn:
    """Import the command line and run it. An interrupt while modules load ends the process without a traceback."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    from envdoctor import cli

    signal.signal(signal.SIGINT, signal.default_int_handler)
    cli.main()


if __name__ == "__main__":
    main()

"""Put a text in place only if it passes a test there: what is in place is never worse than before."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence

from envdoctor.errors import EnvDoctorError
from envdoctor.system.host import write_all, write_atomically


def place(
    path: str, text: str, scratch: str, check: Callable[[str], Sequence[str]], *, rejected: str
) -> tuple[str, ...]:
    """Write a text beside `path` under the name `scratch`, check it there, and rename it to `path` if it passes.

    Otherwise the text `rejected` becomes `<path>.rejected`, the file in place stays as it is, and what is wrong is
    returned.
    Raises EnvDoctorError if it cannot be written.
    """
    data, refused = text.encode(), rejected.encode()
    beside = os.path.join(os.path.dirname(path), scratch)
    try:
        write_atomically(beside, lambda descriptor: write_all(descriptor, data))
        problems = tuple(check(beside))
        if problems:
            write_atomically(beside, lambda descriptor: write_all(descriptor, refused))
        os.replace(beside, f"{path}.rejected" if problems else path)
        if not problems:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(f"{path}.rejected")
    except OSError as error:
        raise EnvDoctorError(f"{path}: cannot be written: {error.strerror or error}") from error
    finally:
        with contextlib.suppress(OSError):
            os.unlink(beside)
    return problems

"""What can stop the doctor itself; each becomes one line on stderr and an exit status."""

from __future__ import annotations

import os


class EnvDoctorError(Exception):
    """The doctor could not do its work: exit status 3."""

    status = 3


class UsageError(EnvDoctorError):
    """The caller asked for something that is not there or not valid: exit status 2."""

    status = 2


class LockError(UsageError):
    """A lock file that cannot be read as one.

    The place is part of the message, so that it can be clicked: `train.txt:12: ...`.
    """

    def __init__(self, path: str, problem: str, line: int | None = None) -> None:
        self.path = path
        self.problem = problem
        self.line = line
        super().__init__(f"{path}:{line}: {problem}" if line else f"{path}: {problem}")

    def __reduce__(self) -> tuple[type[LockError], tuple[str, str, int | None]]:
        """Keep all three arguments when the error crosses from a child process."""
        return type(self), (self.path, self.problem, self.line)


class DamagedSaveError(EnvDoctorError):
    """A save of a compile cache that is not what was written: exit status 1, as for any other finding."""

    status = 1


class RefusedLockError(EnvDoctorError):
    """No lock, or none that may be used, can be made of what was given: exit status 1, as for any other finding."""

    status = 1

    def __init__(self, message: str, details: tuple[str, ...] = ()) -> None:
        self.details = details
        """What a resolver said last, or what is wrong with the lock, a line each."""
        super().__init__(message)


class ResolverError(EnvDoctorError):
    """A resolver that could not do its work: exit status 3."""

    def __init__(self, message: str, details: tuple[str, ...] = ()) -> None:
        self.details = details
        """What it said last, a line each."""
        super().__init__(message)


class StepError(EnvDoctorError):
    """A step of long work that failed, with nothing of the caller's changed: exit status 3."""

    def __init__(self, step: str, message: str, details: tuple[str, ...] = (), advice: str = "") -> None:
        self.step = step
        self.details = details
        """What the tool that was at it said last, a line each."""
        self.advice = advice
        """What to do, one sentence; "" if the message says it."""
        super().__init__(f"{step}: {message}")


class NotStartedError(EnvDoctorError):
    """A command that was not started: exit status 127 if there is none, 126 if it cannot be run, as for env(1)."""

    def __init__(self, message: str, status: int) -> None:
        self.status = status
        super().__init__(message)


class PolicyError(UsageError):
    """A configuration file with a key or value that envdoctor does not know."""


def described(error: BaseException) -> str:
    """Name an unforeseen error and the line that raised it, for a bug report in one line."""
    place, trace = "", error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if not file.startswith("<frozen "):  # the import system's own: the import statement says more
            place = f" ({os.path.basename(file)}:{trace.tb_lineno})"
        trace = trace.tb_next
    return f"{type(error).__name__}: {error}{place}"

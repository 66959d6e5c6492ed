"""What a fact may ask of the machine, beside reading files."""

from __future__ import annotations

import contextlib
import math
import os
import selectors
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol

from envdoctor.errors import EnvDoctorError
from envdoctor.system.inhabitant import environment
from envdoctor.system.prctl import die_with_parent
from envdoctor.system.rooted import below, resolve

if TYPE_CHECKING:
    import subprocess  # noqa: TID251

OUTPUT_CAP = 1 << 20
"""Bytes of one stream that are kept of a process; one that prints more is ended."""
_shares_group = False
_binds_children = False


@dataclass(frozen=True, slots=True)
class Completed:
    """A process that ended, or was ended."""

    status: int | None
    """Exit status; negative for a signal; None if we ended it."""
    stdout: bytes
    problem: str | None = None
    """Why it was ended or never started."""

    @property
    def fault(self) -> str:
        """How it came to no good end, one phrase after its name; "" if it did."""
        if self.problem is not None:
            return self.problem
        status = self.status or 0
        return f"ended with status {status}" if status > 0 else f"was killed by signal {-status}" if status else ""


class Host(Protocol):
    """The machine as facts see it. Tests bring their own."""

    @property
    def env(self) -> Mapping[str, str]:
        """The caller's environment variables."""

    @property
    def cwd(self) -> str:
        """The caller's working directory."""

    @property
    def home(self) -> str:
        """The caller's home directory."""

    @property
    def name(self) -> str:
        """Host name."""

    @property
    def own(self) -> Mapping[str, str]:
        """Variables, HOME among them, that say where the doctor keeps its own things: never those of an image."""

    @property
    def root(self) -> str:
        """Directory below which the host's files lie (`--root`); "" for the running machine."""

    @property
    def still(self) -> str:
        """Why nothing of the target is to be started; "" where it may be."""

    def at(self, path: str) -> str:
        """Return where a host file (`/proc/mounts`, `/usr/local/cuda`) is to be opened."""

    def resolve(self, path: str) -> str:
        """Follow all links of a host path; return the host's own name for it."""

    def inhabited(self, prefix: str) -> Host:
        """Return this host as the jobs of an environment meet it; reads files below the root, if there is one."""

    def now(self) -> datetime:
        """Return the time, with UTC as its zone."""

    def run(self, argv: Sequence[str], *, timeout: float, env: Mapping[str, str] | None = None) -> Completed:
        """Run a process with no input; never raises, never outlasts `timeout` (seconds), output capped."""


@dataclass(frozen=True, slots=True)
class LocalHost:
    """This machine."""

    env: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    cwd: str = field(default_factory=lambda: _working_directory())
    patience: float = math.inf
    """Seconds that any one process may take at most: a hanging one leaves the rest of a short deadline to others."""
    root: str = ""
    caller: Mapping[str, str] | None = None
    """Variables of whoever runs the doctor, where `env` are somebody else's."""
    still: str = ""
    """Why nothing is started; "" where programs may be."""

    @property
    def home(self) -> str:
        """$HOME, else the home of the user's passwd entry."""
        return self.env.get("HOME") or os.path.expanduser("~")

    @property
    def own(self) -> Mapping[str, str]:
        """The caller's variables, HOME filled in."""
        env = self.env if self.caller is None else self.caller
        return env if env.get("HOME") else {**env, "HOME": os.path.expanduser("~")}

    @property
    def name(self) -> str:
        """The kernel's host name."""
        return os.uname().nodename

    def at(self, path: str) -> str:
        """Put an absolute path below the root."""
        return below(self.root, path)

    def resolve(self, path: str) -> str:
        """Follow links without leaving the root."""
        return resolve(self.root, path)

    def inhabited(self, prefix: str) -> LocalHost:
        """Put what a login there gives in the place of the caller's variables, if there is a root."""
        if not self.root:
            return self
        return replace(self, env=environment(self.root, prefix), cwd="/", caller=self.own)

    def now(self) -> datetime:
        """Return the system clock."""
        return datetime.now(UTC)

    def run(self, argv: Sequence[str], *, timeout: float, env: Mapping[str, str] | None = None) -> Completed:
        """Run a process and end it at the limit, with everything in its process group.

        Nothing is started where only the files of a machine are here (`root`).

        In a child of `forked.gather` it joins the child's group, which is ended as a whole, so that nothing outlives
        the child even if that is killed first.
        """
        import subprocess  # noqa: TID251 - this is the module that may; imported in children alone, where it is needed

        if self.root:
            return Completed(None, b"", "--root: nothing is started")
        if self.still:
            return Completed(None, b"", f"was not started: {self.still}")
        timeout = min(timeout, self.patience)
        end = time.monotonic() + timeout
        try:
            process = subprocess.Popen(
                argv,
                env=None if env is None else dict(env),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                process_group=None if _shares_group else 0,
                preexec_fn=die_with_parent if _binds_children else None,
            )
        except (OSError, ValueError) as error:  # ValueError: NUL in an argument
            return Completed(None, b"", f"did not start: {getattr(error, 'strerror', None) or error}")
        try:
            output, problem = _read_capped(process, end, timeout)
            if problem is None:
                try:
                    return Completed(process.wait(timeout=max(0.0, end - time.monotonic())), output)
                except subprocess.TimeoutExpired:
                    problem = f"no end within {timeout:g} s"
            return Completed(None, output, problem)
        finally:
            if not _shares_group:
                end_group(process.pid)
            process.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=0.5)


def _working_directory() -> str:
    """Return the current directory, `/` if it has been deleted under us."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        return "/"


def _read_capped(process: subprocess.Popen[bytes], end: float, timeout: float) -> tuple[bytes, str | None]:
    """Read standard output to its end; say what was wrong if that end never came."""
    if process.stdout is None:
        return b"", "no output stream"
    output = bytearray()
    with process.stdout as stream, selectors.DefaultSelector() as selector:
        selector.register(stream, selectors.EVENT_READ)
        while True:
            left = end - time.monotonic()
            if left <= 0 or not selector.select(left):
                return bytes(output), f"no answer within {timeout:g} s"
            block = os.read(stream.fileno(), 65536)
            if not block:
                return bytes(output), None
            output += block
            if len(output) > OUTPUT_CAP:
                return bytes(output), f"printed more than {OUTPUT_CAP >> 20} MiB"


def own_group(pid: int) -> bool:
    """Make a process just forked (0: this one) the leader of a group, unless this process shares one already.

    Returns whether it leads one. A child of a child stays in the first one's group: that one is ended as a whole.
    """
    if not _shares_group:
        with contextlib.suppress(OSError):
            os.setpgid(pid, pid)
    return not _shares_group


def share_group() -> None:
    """Let everything that this process starts from now on stay in its process group."""
    global _shares_group
    _shares_group = True


def bind_children() -> None:
    """Let the kernel end with this process whatever it starts from now on, and what that starts, however it ends."""
    global _binds_children
    _binds_children = True


def children_bound() -> bool:
    """Tell whether what this process starts is to end with it."""
    return _binds_children


def end_group(pid: int) -> None:
    """Kill a process group if it is still there."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def write_atomically(path: str, write: Callable[[int], None], *, mode: int = 0o644) -> None:
    """Replace `path` by what `write(descriptor)` writes: readers see the old bytes or the new ones, never a part.

    Raises EnvDoctorError, naming the path, if it cannot; then the old file is untouched.
    """
    import tempfile

    folder, name = os.path.split(path)
    temporary = None
    try:
        os.makedirs(folder, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(prefix=f".{name}.", dir=folder)
        try:
            write(descriptor)
            os.fchmod(descriptor, mode)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(temporary, path)
        temporary = None
    except OSError as error:
        raise EnvDoctorError(f"{path}: cannot be written: {error.strerror or error}") from error
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of it: one call of the kernel's may take a part. Raises OSError."""
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]

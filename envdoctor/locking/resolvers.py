"""The resolvers, how each is called, and what its failures mean.

pip-tools 7.6.2 resolves for the Python and the machine that it runs on and for no other, whatever it is told; uv 0.13.9
for any. Both keep to the pins of an old output file. Neither is given hashes of one: both would take them over unseen.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from envdoctor.errors import EnvDoctorError, RefusedLockError, ResolverError
from envdoctor.locking.platforms import Platform, for_uv
from envdoctor.printable import last_lines
from envdoctor.system.host import Completed, Host
from envdoctor.system.tool import perform

PATIENCE = 3600.0
"""Seconds for one resolving; pip-tools may have to fetch gigabytes of wheels to learn what they need."""
_NETWORK = re.compile(
    r"(?i)connection broken|NewConnectionError|Max retries|Failed to fetch|error sending request|dns error"
    r"|Read timed out|SSLError|CERTIFICATE_VERIFY|tls handshake|ProxyError|Name or service not known"
    r"|(?:401|403|5\d\d) (?:Client|Server) Error|status client error|status server error"
    r"|could not be queried|401 Unauthorized|403 Forbidden|\(from versions: none\)"
)
_UNSOLVABLE = re.compile(
    r"No solution found|ResolutionImpossible|No matching distribution found|Could not find a version"
    r"|DistributionNotFound|conflicting dependencies|requires a different Python|was not found in the package registry"
)
Format = Literal["requirements", "pylock"]


@dataclass(frozen=True, slots=True)
class Work:
    """What a resolver is to do."""

    folder: str
    """Its working directory, from which paths in reasons are counted."""
    sources: tuple[str, ...]
    """Requirements files, relative to `folder` where they lie below it."""
    output: str
    """Where it writes; a seed of old pins may lie there."""
    upgrade: tuple[str, ...] = ()
    deps: bool = True
    """False to lock what is named, and nothing that it needs."""
    overrides: str = ""
    """A file of what is to be taken instead of whatever a package asks for; for uv."""


@dataclass(frozen=True, slots=True)
class PipTools:
    """pip-compile, under the interpreter that the lock is for."""

    python: str
    version: str
    env: Mapping[str, str]

    def __str__(self) -> str:
        """Return name and version."""
        return f"pip-tools {self.version}"

    def argv(self, work: Work) -> list[str]:
        """Return its command line."""
        wanted = ["--generate-hashes", "--no-reuse-hashes", "--allow-unsafe", "--strip-extras", "--annotate"]
        silent = ["--no-header", "--no-emit-index-url", "--no-emit-trusted-host", "--no-emit-find-links", "--quiet"]
        form = ["--no-config", "--newline", "lf", "--annotation-style", "split", "--output-file", work.output]
        upgrade = [f"--upgrade-package={name}" for name in work.upgrade]
        return [self.python, "-I", "-m", "piptools", "compile", *wanted, *silent, *form, *upgrade, *work.sources]


@dataclass(frozen=True, slots=True)
class Uv:
    """`uv pip compile`, for any Python and platform; it needs some Python to build source distributions with."""

    path: str
    version: str
    env: Mapping[str, str]
    builder: str
    """That Python."""
    python: str
    """Version that the lock is for."""
    platform: Platform
    form: Format = "requirements"
    no_index: bool = False
    """True to look nowhere but in find-links; uv has no variable for that."""

    def __str__(self) -> str:
        """Return name and version."""
        return f"uv {self.version}"

    def argv(self, work: Work) -> list[str]:
        """Return its command line."""
        target = ["--python-version", self.python, "--python-platform", for_uv(self.platform)]
        here = ["--python", self.builder, "--no-python-downloads"]
        silent = ["--no-header", "--quiet", "--no-emit-index-url", "--no-emit-find-links", "--no-emit-index-annotation"]
        form = ["--format", "pylock.toml"] if self.form == "pylock" else ["--annotation-style", "split"]
        form += ["--generate-hashes", "--output-file", work.output]
        more = ["--no-annotate"] if work.overrides or not work.deps else []
        more += [] if work.deps else ["--no-deps"]
        more += [f"--upgrade-package={name}" for name in work.upgrade]
        more += ["--no-index"] if self.no_index else []
        more += ["--overrides", work.overrides] if work.overrides else []
        return [self.path, "pip", "compile", *target, *here, *silent, *form, *more, *work.sources]


Resolver = PipTools | Uv


def resolve(resolver: Resolver, work: Work) -> None:
    """Run it. Raises RefusedLockError if there is no solution, ResolverError if it could not do its work."""
    done = perform(resolver.argv(work), env=resolver.env, cwd=work.folder, timeout=PATIENCE)
    if done.problem is not None or done.status:
        raise failure(str(resolver), done)


def failure(name: str, done: Completed) -> EnvDoctorError:
    """Return the error that a failed run is: what was asked has no solution, or the tool could not do its work."""
    text = done.stdout.decode(errors="replace")
    lines = last_lines(text)
    if done.problem is None and _UNSOLVABLE.search(text) and not _NETWORK.search(text):
        return RefusedLockError(f"{name} finds no solution", lines)
    return ResolverError(f"{name} could not resolve: {done.fault}", lines)


def version_of(argv: list[str], host: Host) -> str:
    """Ask a tool for its version; "" if it does not say one."""
    done = host.run(argv, timeout=30.0, env=host.env)
    match = re.search(rb"\d+(?:\.\w+)+", done.stdout) if done.status == 0 else None
    return match[0].decode() if match else ""

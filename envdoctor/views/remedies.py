"""Commands that findings advise: for this target, with an installer that it really has, quoted for a shell."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from envdoctor.facts.distributions import Distributions
from envdoctor.facts.interpreter import Interpreter

_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?")
"""A normalised name (PEP 503). What metadata calls a name may be `-r/etc/passwd`; that enters no command."""
_REQUIREMENT = re.compile(r"[A-Za-z0-9][\w.-]*(?:\[[\w.,-]*\])?[ (]*(?:[<>=!~]=?=?[ ]*[\w*][\w.!+*-]*[ ,)]*)*")


@dataclass(frozen=True, slots=True)
class Remedies:
    """How packages are put into this environment and taken out."""

    python: str
    """Its interpreter."""
    installer: str
    """`pip` of its own, `uv`, or `other pip`: pip of another environment, told by --python (pip 22.3 and later)."""

    def _command(self, verb: str) -> str:
        python = shlex.quote(self.python)
        if self.installer == "uv":
            return f"uv pip {verb} --python {python}"
        return f"{python} -m pip {verb}" if self.installer == "pip" else f"pip --python {python} {verb}"

    def remove(self, names: Sequence[str]) -> tuple[str, ...]:
        """Advise to uninstall packages that own nothing of anybody else's."""
        proper = [name for name in names if _NAME.fullmatch(name)]
        return (f"{self._command('uninstall')} {' '.join(proper)}",) if proper else ()

    def install(self, requirement: str) -> tuple[str, ...]:
        """Advise to install what a requirement by name and version asks for; one by address is not passed on."""
        proper = _REQUIREMENT.fullmatch(requirement)
        return (f"{self._command('install')} {shlex.quote(requirement)}",) if proper else ()

    def reinstall(self, packages: Sequence[tuple[str, str | None]], *, over: bool = False) -> tuple[str, ...]:
        """Advise to put packages back at a version, whatever is there now; a plain install may find nothing to do.

        `over` is for what pip cannot uninstall.
        """
        pins = [f"{name}=={version}" if version else name for name, version in packages if _NAME.fullmatch(name)]
        wanted = " ".join(shlex.quote(pin) for pin in pins if _REQUIREMENT.fullmatch(pin))
        force = "--ignore-installed" if over and self.installer != "uv" else "--force-reinstall"
        return (f"{self._command('install')} {force} --no-deps {wanted}",) if wanted else ()


def view(interpreter: Interpreter, distributions: Distributions) -> Remedies:
    """Choose the installer: the target's own pip, else uv if uv filled it, else a pip from elsewhere."""
    if "pip" in distributions.active:
        return Remedies(interpreter.python, "pip")
    by_uv = any(item.installer == "uv" for item in distributions.own)
    return Remedies(interpreter.python, "uv" if by_uv else "other pip")

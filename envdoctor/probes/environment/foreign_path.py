"""A .pth file adds a directory outside the environment to the path.

Why it matters: everything in that directory can be imported as if it were installed, without a version, a RECORD or a
lock that covers it. When it is another environment's site-packages, two sets of packages are mixed, and whichever
package one lacks comes from the other.

What to do: remove the .pth file and install what was wanted from it. The line of an editable install is only noted.
"""

from __future__ import annotations

from collections.abc import Iterable
from os.path import basename
from shlex import quote

from envdoctor.facts.distributions import Distributions
from envdoctor.facts.owners import Owners
from envdoctor.facts.startup import Startup, StartupFile, StartupLine
from envdoctor.model import Finding, Severity, Unavailable


def check(
    startup: Startup, owners: Owners | Unavailable, distributions: Distributions | Unavailable
) -> Iterable[Finding]:
    """One finding a .pth file that adds paths, as bad as its worst line."""
    editable = _editable(distributions)
    sources = tuple(editable.values())
    for file in startup.files:
        owner = None if isinstance(owners, Unavailable) else owners.top_level.get(file.path)
        lines = [line for line in file.lines if line.path is not None]
        judged = [_judged(line, is_editable=owner in editable or _is_source(line, sources)) for line in lines]
        if judged:
            severity, text = max(judged, key=lambda pair: pair[0])
            message = f"{basename(file.path)} {text}"
            yield Finding(severity, file.path, message, _evidence(file, owner), _remedy(severity, file))


def _editable(distributions: Distributions | Unavailable) -> dict[str, str]:
    """Return the editable distributions and the folders of their projects (PEP 610)."""
    if isinstance(distributions, Unavailable):
        return {}
    return {d.name: d.direct_url.folder for d in distributions.items if d.direct_url and d.direct_url.editable}


def _is_source(line: StartupLine, sources: tuple[str, ...]) -> bool:
    """Tell whether a line names an editable project: easy-install.pth belongs to no distribution."""
    return any(source and f"{line.path}/".startswith(f"{source}/") for source in sources)


def _judged(line: StartupLine, *, is_editable: bool) -> tuple[Severity, str]:
    if line.kind == "dead":
        return Severity.NOTE, f"names {line.path}, which does not exist"
    if line.inside:
        return Severity.NOTE, f"adds {line.path}, inside the environment"
    if line.environment is not None:
        return Severity.ERROR, f"adds {line.path}, the packages of another environment ({line.environment})"
    if is_editable:
        return Severity.NOTE, f"adds {line.path}, the sources of an editable install"
    return Severity.WARNING, f"adds {line.path}, outside the environment"


def _evidence(file: StartupFile, owner: str | None) -> dict[str, object]:
    lines = [line for line in file.lines if line.path is not None]
    return {
        "owner": owner,
        "origin": file.origin,
        "paths": [line.path for line in lines[:50]],
        "lines": [line.number for line in lines[:50]],
        "count": len(lines),
    }


def _remedy(severity: Severity, file: StartupFile) -> tuple[str, ...]:
    if severity == Severity.NOTE:
        return ()
    return (f"rm {quote(file.path)}", "install what was wanted from there, from the lock", "envdoctor check")

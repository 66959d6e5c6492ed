"""Code runs whenever the environment's interpreter starts.

Why it matters: a line of a .pth file that begins with `import`, an entry point of a .start file (PEP 829),
sitecustomize and usercustomize are executed before the job's first line, in every worker and every compile process.
They can change sys.path, patch modules and set variables, and no requirement or lock shows them.

What to do: find out which package brought it; if none did, remove it. What known packages install (setuptools,
virtualenv, coverage, editable installs) is only noted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from os.path import basename
from shlex import quote
from typing import Any

from envdoctor import knowledge
from envdoctor.facts.owners import Owners
from envdoctor.facts.search_path import Origin
from envdoctor.facts.startup import Customize, Startup, StartupFile, StartupLine
from envdoctor.model import Finding, Severity, Unavailable

SHOWN = 5


def check(startup: Startup, owners: Owners | Unavailable) -> Iterable[Finding]:
    """One finding a file that runs code, and one a file that could not be read."""
    for file in startup.files:
        lines = [line for line in file.lines if line.kind in ("import", "entry-point")]
        if lines:
            yield _runs(file, lines, owners)
        elif file.problem:
            yield Finding(Severity.WARNING, file.path, f"{file.path} {file.problem}", {"problem": file.problem})
    for module in startup.customize:
        yield _customizes(module, owners)


def _owner(path: str, owners: Owners | Unavailable) -> str | None:
    return None if isinstance(owners, Unavailable) else owners.top_level.get(path)


def _runs(file: StartupFile, lines: list[StartupLine], owners: Owners | Unavailable) -> Finding:
    owner = _owner(file.path, owners)
    certain = not isinstance(owners, Unavailable) and file.origin == "site-packages"
    row = _known(file.path, owner, lines, certain=certain)
    brought = f"installed by {owner}" if owner else "belonging to no package" if certain else "of unknown owner"
    what = row["what"] if row else lines[0].text[:80]
    return Finding(
        Severity.NOTE if row else Severity.WARNING,
        file.path,
        f"{basename(file.path)}, {brought}, runs at every start: {what}",
        {
            "owner": owner,
            "lines": [{"line": line.number, "text": line.text} for line in lines[:SHOWN]],
            "count": len(lines),
            "origin": file.origin,
            "problem": file.problem,
            "known": row["source"] if row else None,
        },
        () if row else _remedy(file.path, file.origin, owner),
    )


def _known(path: str, owner: str | None, lines: list[StartupLine], *, certain: bool) -> Mapping[str, Any] | None:
    """Return the row of knowledge/startup.toml that file, owner and every line fit.

    Where the owners are not known (those of other site directories are not), file and lines must do.
    """
    for row in knowledge.rows("startup"):
        wanted = row["owner"]
        owned = not certain or (owner is not None if wanted == "*" else (owner or "") == wanted)
        fits = fnmatchcase(basename(path), row["file"]) and all(row["contains"] in line.text for line in lines)
        if owned and fits:
            return row
    return None


def _customizes(module: Customize, owners: Owners | Unavailable) -> Finding:
    owner = _owner(module.path, owners)
    distribution = module.origin == "stdlib"
    state = "is imported at every start" if module.imported else "would be imported if it came first on the path"
    brought = f"was installed by {owner}" if owner else "is not known to belong to a package"
    if distribution:
        brought = "comes with the interpreter"
    return Finding(
        Severity.NOTE if distribution else Severity.WARNING,
        module.path,
        f"{module.name} ({module.path}) {brought} and {state}",
        {"owner": owner, "size": module.size, "origin": module.origin, "imported": module.imported},
        () if distribution else _remedy(module.path, module.origin, owner),
    )


def _remedy(path: str, origin: Origin, owner: str | None) -> tuple[str, ...]:
    """Advise to look; to remove only what nobody owns in the environment itself, which others do not share."""
    look = f"less {quote(path)}"
    if owner:
        return (look, f"keep {owner} only if the job needs it")
    if origin == "system-site":
        return (look, "the file is the base interpreter's, which others use: switch include-system-site-packages off")
    if origin == "site-packages" and not path.startswith("/usr/"):
        return (look, f"rm {quote(path)}")
    return (look, "take it off the path if the job does not need it")

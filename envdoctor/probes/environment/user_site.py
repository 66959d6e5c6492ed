"""The user site (~/.local) holds packages that this environment reads, or would read if it were switched on.

Why it matters: outside a plain venv the user site comes before the environment's own site-packages in sys.path (PEP
370), so that a torch from a forgotten `pip install --user` is imported in place of the environment's. In a venv with
--system-site-packages it comes after, and fills every gap.

What to do: export PYTHONNOUSERSITE=1 in the job, and uninstall what lies there.
"""

from __future__ import annotations

from collections.abc import Iterable
from shlex import quote

from envdoctor.facts.interpreter import Interpreter
from envdoctor.facts.search_path import SearchPath
from envdoctor.model import Finding, Severity


def check(interpreter: Interpreter, search_path: SearchPath) -> Iterable[Finding]:
    """Call it an error where it is read, a note where this environment ignores it; say nothing where it is empty."""
    site, count = search_path.user_site, search_path.user_site_packages
    if site is None or not count:
        return
    held = f"{site} holds {count} package{'s' if count != 1 else ''}"
    evidence = {"path": site, "distributions": count, "read": search_path.user_site_enabled}
    if not search_path.user_site_enabled:
        yield Finding(Severity.NOTE, site, f"{held}, which this environment does not read", evidence)
        return
    place = "after" if interpreter.kind == "venv" else "before"
    yield Finding(
        Severity.ERROR,
        site,
        f"{held}, which are searched {place} the environment's own",
        evidence,
        ("export PYTHONNOUSERSITE=1", f"{quote(interpreter.python)} -m pip freeze --user", "uninstall what that lists"),
    )

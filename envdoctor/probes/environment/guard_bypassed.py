"""A variable switches off a check by which a package refuses a broken environment.

Why it matters: such checks (does the kernel package have the version of its Python half, does the toolkit fit torch)
turn a wrong environment into a clear error at start. With the check off the job starts, and fails later: illegal
memory accesses, missing kernels, wrong numbers.

What to do: unset the variable, start again, and mend what the check then names.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor import knowledge
from envdoctor.facts.variables import Variables
from envdoctor.model import Finding, Severity


def check(variables: Variables) -> Iterable[Finding]:
    """Compare each variable with the values that its package takes for yes."""
    for row in knowledge.rows("guards"):
        value = variables.get(row["variable"])
        if value and value.lower() in row.get("values", [value.lower()]):
            yield Finding(
                Severity.WARNING,
                row["variable"],
                f"{row['variable']}={value}: {row['guard']} no longer refuses {row['what']}",
                {"value": value, "guard": row["guard"], "source": row["source"]},
                (f"unset {row['variable']}", "envdoctor check"),
            )

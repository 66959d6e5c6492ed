"""The environment's bin/python leads nowhere, or what it leads to does not work.

Why it matters: a venv holds only a link to the Python it was made with. When that Python is upgraded in place, removed
or on a file system that is not mounted, nothing in the environment can start; packages and scripts look intact.

What to do: put that Python back, or make the environment anew from its lock with a Python that stays. The other
findings are judged from disk until the interpreter answers again.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.facts.interpreter import Interpreter
from envdoctor.model import Finding, Severity


def check(interpreter: Interpreter) -> Iterable[Finding]:
    """Speak when the interpreter did not answer."""
    if interpreter.answered or interpreter.problem is None:
        return
    last = interpreter.chain[-1] if interpreter.chain else interpreter.python
    version = interpreter.recorded_version or interpreter.version
    leads = f" (leads to {last})" if last != interpreter.python else ""
    yield Finding(
        Severity.ERROR,
        interpreter.python,
        f"{interpreter.python}{leads} {interpreter.problem or 'did not answer'}; the rest is judged from disk",
        {
            "chain": list(interpreter.chain),
            "problem": interpreter.problem,
            "recorded_version": interpreter.recorded_version,
            "home": interpreter.pyvenv.get("home"),
        },
        (
            f"put {f'Python {version}' if version else 'its Python'} back at {last}",
            "or make the environment anew from its lock",
        ),
    )

"""The environment's bin/python leads nowhere, or what it leads to does not work.

Why it matters: a venv holds only a link to the Python it was made with. When that Python is upgraded in place, removed
or on a file system that is not mounted, nothing in the environment can start; packages and scripts look intact.

What to do: put that Python back, or make the environment anew from its lock with a Python that stays. The other
findings are judged from disk until the interpreter answers again. In an image (--root), one in a folder that this user
may not look into is a note.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.facts.interpreter import UNSEEN, Interpreter
from envdoctor.model import Finding, Severity


def check(interpreter: Interpreter) -> Iterable[Finding]:
    """Speak when the interpreter did not answer."""
    if interpreter.answered or interpreter.problem is None:
        return
    last = interpreter.chain[-1] if interpreter.chain else interpreter.python
    version = interpreter.recorded_version or interpreter.version
    leads = f" (leads to {last})" if last != interpreter.python else ""
    if interpreter.problem == UNSEEN:
        yield Finding(
            Severity.NOTE,
            interpreter.python,
            f"{interpreter.python}{leads} {UNSEEN}, so whether it is there is not known",
            {"chain": list(interpreter.chain), "problem": UNSEEN},
            (f"check as a user who may read {last}",),
        )
        return
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

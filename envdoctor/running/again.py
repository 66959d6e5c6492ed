"""Command lines that a refusal names: they show the same findings, so that they say again what the caller said."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator

from envdoctor import workflows
from envdoctor.environ import Change
from envdoctor.locate import Wish
from envdoctor.model import Severity, Target
from envdoctor.running.asked import Asked


def check(target: Target, wish: Wish, selection: workflows.Selection, asked: Asked, changes: Iterable[Change]) -> str:
    """Return the check of this target; within the same `run` if what is found may come of an environment it changed."""
    line = f"envdoctor check{_options(target, wish, selection, asked)}"
    if all(each.rule == "activate" or each.before == each.after for each in changes):
        return line
    guard = (asked.guard,) if asked.guard else ()
    return f"envdoctor run --no-check{_said(**_where(target, wish), keep=asked.keep, guard=guard)} -- {line}"


def warm(target: str, wish: Wish, asked: Asked) -> str:
    """Return the warm-up of the same devices, by the same configuration."""
    given = {"entry": asked.warm, "devices": asked.devices, "target": target, "config": wish.config}
    return f"envdoctor warm{_said(**{name: (value,) for name, value in given.items() if value is not None})}"


def _options(target: Target, wish: Wish, selection: workflows.Selection, asked: Asked) -> str:
    level = () if asked.fail_on is Severity.ERROR else (asked.fail_on.name.lower(),)
    within = () if asked.deadline == workflows.DEADLINE else (f"{asked.deadline:g}",)
    return _said(
        **_where(target, wish),
        lock=() if wish.lock is None else (wish.lock,),
        group=wish.groups,
        extra=wish.extras,
        select=selection.select,
        ignore=selection.ignore,
        fail_on=level,
        deadline=within,
    )


def _where(target: Target, wish: Wish) -> dict[str, Iterable[str]]:
    return {"target": (target.prefix,), "config": () if wish.config is None else (wish.config,)}


def _said(**options: Iterable[str]) -> str:
    """Return options as they are typed, each with a blank before it."""
    return "".join(_words(options.items()))


def _words(options: Iterable[tuple[str, Iterable[str]]]) -> Iterator[str]:
    for name, values in options:
        for value in values:
            yield f" --{name.replace('_', '-')} {shlex.quote(value)}"

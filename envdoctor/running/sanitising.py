"""The list of what is sanitised: a rule a name, each a pure function from facts to changes, judged by the probes.

A rule asks for facts only where its variables are set (those that no variable switches on are always asked), and says
of what it cannot judge that it could not.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from importlib import import_module
from typing import Any

from envdoctor.environ import Change, Left
from envdoctor.model import Finding, Unavailable
from envdoctor.policy import Policy
from envdoctor.wiring import needs, supply


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing that is sanitised."""

    facts: tuple[str, ...]
    variables: tuple[str, ...] = ()
    """It is asked if one of these is set; always, if there is none."""


RULES: Mapping[str, Rule] = {
    "library-path": Rule(("loader", "variables"), ("LD_LIBRARY_PATH",)),
    "pythonpath": Rule(("startup", "distributions", "variables"), ("PYTHONPATH",)),
    "user-site": Rule(("interpreter", "search_path")),
    "cuda-home": Rule(
        ("toolkits", "torch_build", "distributions", "interpreter", "variables"), ("CUDA_HOME", "CUDA_PATH")
    ),
    "cache-dir": Rule(("variables",)),
}
"""Name, as `--keep` has it -> rule; its function is `changes` in the module of that name in `rules/`."""
ALL = "all"
"""`--keep all` leaves everything as it is."""
_PROBES = "envdoctor.probes."


@dataclass(frozen=True, slots=True)
class Scene:
    """All that a rule may look at."""

    env: Mapping[str, str]
    cwd: str
    facts: Mapping[str, Any]
    """By name; what could not be read is `Unavailable`."""
    policy: Policy
    moment: datetime

    def judged(self, check: Callable[..., Iterable[Finding]], **instead: object) -> tuple[Finding, ...] | Unavailable:
        """Ask a probe. What the configuration mutes is the user's wish, and no finding; `instead` are other facts."""
        arguments = supply(needs(check), {**self.facts, **instead})
        if isinstance(arguments, Unavailable):
            return arguments
        probe = check.__module__.removeprefix(_PROBES).replace(".", "/").replace("_", "-")
        found = check(*arguments)
        return tuple(each for each in found if not self.policy.mutes_finding(probe, each.subject, self.moment))


def asked(keep: Collection[str], env: Mapping[str, str]) -> list[str]:
    """Return the names of the rules to be asked."""
    return [
        name
        for name, rule in RULES.items()
        if not {name, ALL} & set(keep) and (not rule.variables or any(env.get(each) for each in rule.variables))
    ]


def facts(names: Iterable[str]) -> set[str]:
    """Return the facts that these rules ask for."""
    return {fact for name in names for fact in RULES[name].facts}


def sanitised(names: Iterable[str], scene: Scene) -> Iterator[Change | Left]:
    """Ask each rule."""
    for name in names:
        rule = import_module(f"envdoctor.running.rules.{name.replace('-', '_')}")
        yield from rule.changes(scene)


def not_judged(rule: str, missing: Unavailable) -> Left:
    """Say that a rule could not be judged."""
    return Left(rule, f"not judged: {missing.reason}")

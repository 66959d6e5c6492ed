"""What `envdoctor run` says: a line a change, and with --dry-run the whole environment. Secrets are hidden."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from envdoctor.environ import Change
from envdoctor.facts.variables import is_secret
from envdoctor.model import Report
from envdoctor.printable import clean, printable, redact
from envdoctor.running.workflow import Prepared

NAMED = 3
"""Findings that a refusal names."""
HIDDEN = "****"


def lines(prepared: Prepared, *, everything: bool = False) -> Iterator[str]:
    """Yield what to tell of a start, a line each."""
    activation = [each for each in prepared.changes if each.rule == "activate"]
    if activation:
        yield "activate: " + "; ".join(f"{each.variable} {each.what}" for each in activation)
    for each in prepared.changes:
        if each.rule == "guard":
            yield each.why
        elif each not in activation:
            yield _line(each)
    yield from (f"{each.rule}: nothing changed: {each.why}" for each in prepared.left if everything or not each.minor)
    yield from warnings(prepared)


def warnings(prepared: Prepared) -> Iterator[str]:
    """Yield what to tell in any case."""
    if prepared.elsewhere is not None:
        yield f"{prepared.elsewhere} is not of {prepared.target.prefix}: the command runs outside the target"


def refusal(prepared: Prepared) -> str:
    """Say why the command is not started."""
    report = prepared.report
    if report is None or not prepared.status:
        return ""
    ask = f"`{prepared.tells}` tells more, --no-check starts it anyway"
    if prepared.status == 3:
        return f"not started: not all could be judged: {_failed(report)}; {ask}"
    bad = [(probe, finding) for probe, finding in report.findings() if finding.severity >= prepared.fail_on]
    named = ", ".join(f"{finding.severity.name.lower()} {probe} ({finding.subject})" for probe, finding in bad[:NAMED])
    more = f" and {len(bad) - NAMED} more" if len(bad) > NAMED else ""
    return f"not started: {named}{more}; {ask}"


def dry(prepared: Prepared) -> str:
    """Return the environment for people, sorted and quoted as for a shell, changed ones marked; then the command."""
    changed = {each.variable for each in prepared.changes if each.before != each.after}
    told = [f"# {line}" for line in (*lines(prepared, everything=True), *_warming(prepared))]
    shown = [
        f"{'*' if name in changed else ' '} {name}={shlex.quote(value)}" for name, value in _shown(prepared.env).items()
    ]
    unset = [f"* {name} is unset" for name in sorted(changed - prepared.env.keys())]
    command = f"  {shlex.join(redact(word) for word in prepared.command)}"
    return "".join(f"{printable(line)}\n" for line in (*map(redact, told), *shown, *unset, "", command))


def _warming(prepared: Prepared) -> Iterator[str]:
    if prepared.warm is not None:
        where = f"--devices {prepared.devices}" if prepared.devices is not None else "the GPUs that no process uses"
        yield f"warm: before the command, {prepared.warm} would warm the compile cache on {where}"


def dry_json(prepared: Prepared) -> str:
    """Return the same as data: `changes` holds what was decided, `kept` what a rule could not judge or mend."""
    changes = [
        {
            "rule": each.rule,
            "variable": each.variable,
            "before": _hidden(each.variable, each.before),
            "after": _hidden(each.variable, each.after),
            "why": each.why,
        }
        for each in prepared.changes
        if each.before != each.after or each.rule == "guard"
    ]
    value: dict[str, Any] = {
        "target": prepared.target.prefix,
        "command": list(prepared.command),
        "elsewhere": prepared.elsewhere,
        "changes": changes,
        "kept": [{"rule": each.rule, "why": each.why} for each in prepared.left],
        "warm": prepared.warm,
        "verdict": prepared.report.verdict if prepared.report else None,
        "status": prepared.status,
    }
    return json.dumps(clean(value) | {"env": _names_made_safe(prepared.env)}, indent=2) + "\n"


def _names_made_safe(env: Mapping[str, str]) -> dict[str, str]:
    return {printable(name): printable(value) for name, value in _shown(env).items()}


def _line(each: Change) -> str:
    return f"{each.rule}: {each.variable} {each.what}: {each.why}"


def _failed(report: Report) -> str:
    reasons = [f"{fact}: {reason}" for fact, reason in report.failed.items()]
    reasons += [f"{each.probe} crashed: {each.crashed}" for each in report.outcomes if each.crashed]
    reasons += [
        f"{each.probe}: {each.skipped.reason}" for each in report.outcomes if each.skipped and each.skipped.failed
    ]
    return reasons[0] if reasons else "unknown"


def _shown(env: Mapping[str, str]) -> dict[str, str]:
    """Return variables sorted by name, with what may be secret hidden."""
    return {redact(name): _hidden(name, env[name]) or "" for name in sorted(env)}


def _hidden(name: str, value: str | None) -> str | None:
    """Hide a value by its variable's name, or what in it is known to be secret."""
    if value is None or not value:
        return value
    return HIDDEN if is_secret(name) else redact(value)

"""The machine's CUDA toolkits are not those that the seal recorded.

Why it matters: compiled extensions and kernel caches of the good state were made with the toolkit of that time. After
another one was installed, or a link moved, the next build takes other headers and another compiler, without a word.

What to do: point CUDA_HOME and PATH back at the recorded toolkit, or rebuild the extensions and seal again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from shlex import quote

from envdoctor.facts.cuda_tools import release
from envdoctor.facts.seal import Seal
from envdoctor.facts.toolkits import Toolkits
from envdoctor.model import Finding, Severity

BUILD = "build"
"""The entry of a seal that names the toolkit a build would take."""


def check(toolkits: Toolkits, seal: Seal) -> Iterable[Finding]:
    """Warn where a build would take another release than before; note any other change. A seal may hold none."""
    before, now = dict(seal.toolkits), dict(toolkits.record())
    if not before:
        return
    was, takes = before.pop(BUILD, None), now.pop(BUILD, None)
    if was is not None and was != takes:
        yield _moved(was, takes, before, now, seal.taken_at)
    yield from _changed(before, now, takes, seal.taken_at)


def _moved(was: str, takes: str | None, before: Mapping[str, str], now: Mapping[str, str], sealed: str) -> Finding:
    old, new = before.get(was, "unknown"), now.get(takes or "", "none")
    same = release(old) == release(new) is not None
    return Finding(
        Severity.NOTE if same else Severity.WARNING,
        takes or was,
        f"a build would take {takes or 'no toolkit'} ({new}), and took {was} ({old}) when the environment was sealed",
        {"before": {"prefix": was, "version": old}, "now": {"prefix": takes, "version": new}, "sealed_at": sealed},
        (f"export CUDA_HOME={quote(was)}",) if was in now else ("envdoctor seal",),
    )


def _changed(before: Mapping[str, str], now: Mapping[str, str], takes: str | None, sealed: str) -> Iterator[Finding]:
    for prefix in sorted(before.keys() | now.keys()):
        old, new = before.get(prefix), now.get(prefix)
        if old == new:
            continue
        replaced = prefix == takes and old is not None and release(old) != release(new)
        what = f"was {old}, is {new}" if old and new else f"is gone ({old})" if old else f"is new ({new})"
        yield Finding(
            Severity.WARNING if replaced else Severity.NOTE,
            prefix,
            f"the CUDA toolkit {prefix} {what} since the environment was sealed",
            {"before": old, "now": new, "sealed_at": sealed},
            ("rebuild what was compiled with it, then run: envdoctor seal",) if replaced else (),
        )

"""A package was installed from a directory, repository or file instead of the index release that the lock pins.

Why it matters: the version number may be the locked one, and the code is whatever lies at that place, today. An
editable install runs a working tree that changes under the job.

What to do: install the locked release by force. A wheel file of the locked version whose digest the installer did not
record may be the very one, and is a warning. The lock's own project, installed editable, is a note; so is any direct
install where there is no lock.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.facts.distributions import Distribution, Distributions
from envdoctor.model import Finding, Lock, LockedPackage, Severity, Unavailable
from envdoctor.views.blame import Blame, alternatives
from envdoctor.views.expected import Expected
from envdoctor.views.remedies import Remedies


def check(
    distributions: Distributions,
    remedies: Remedies,
    expected: Expected | Unavailable,
    lock: Lock | Unavailable,
    blame: Blame | Unavailable,
) -> Iterable[Finding]:
    """Compare origin (PEP 610) with what the lock says of the source."""
    for item in distributions.own:
        if item.direct_url is None:
            continue
        if isinstance(expected, Unavailable) or isinstance(lock, Unavailable):
            yield _note(item)
            continue
        pins = alternatives(expected, item.name)
        if item.name == lock.project or any(pin.source in ("editable", "directory") for pin in pins):
            yield _note(item)
        elif pins and not any(_same_source(item, pin) for pin in pins):
            yield Finding(
                Severity.WARNING if _perhaps_the_same(item, pins[0]) else Severity.ERROR,
                item.name,
                f"{item.label} is {_described(item)}, the lock pins {_pinned(pins[0])}",
                {
                    "url": item.direct_url.url,
                    "editable": item.direct_url.editable,
                    "locked": pins[0].version,
                    **({} if isinstance(blame, Unavailable) else blame.evidence(item.name)),
                },
                remedies.reinstall([(item.name, pins[0].version)]),
            )


def _note(item: Distribution) -> Finding:
    url = item.direct_url.url if item.direct_url else ""
    return Finding(Severity.NOTE, item.name, f"{item.label} is {_described(item)}", {"url": url})


def _described(item: Distribution) -> str:
    origin = item.direct_url
    if origin is None:
        return "from the index"
    return f"{'an editable install of' if origin.editable else 'installed from'} {origin.url}"


def _pinned(pin: LockedPackage) -> str:
    return f"{pin.url or pin.source}" if pin.source != "index" else f"release {pin.version} of an index"


def _same_source(item: Distribution, pin: LockedPackage) -> bool:
    """Tell whether a direct origin is the pinned one: the same archive, commit or digest."""
    origin = item.direct_url
    if origin is None:
        return pin.source == "index"
    hashes = set(pin.hashes) | {digest for file in pin.artifacts for digest in file.hashes}
    if origin.hashes and hashes:
        return bool(set(origin.hashes) & hashes)
    if origin.commit and pin.source == "vcs":
        return origin.commit in pin.url
    return pin.source == "url" and origin.url.partition("#")[0] == pin.url.partition("#")[0]


def _perhaps_the_same(item: Distribution, pin: LockedPackage) -> bool:
    """Tell whether a local file of the locked version was installed without a digest on record (uv writes none)."""
    origin = item.direct_url
    if origin is None or origin.editable or origin.hashes or pin.source != "index" or item.version != pin.version:
        return False
    return origin.url.startswith("file:") and origin.url.endswith((".whl", ".tar.gz", ".zip"))

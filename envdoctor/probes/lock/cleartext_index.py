"""Packages are fetched over a connection that is not encrypted.

Why it matters: whoever stands in between may answer something else. A digest on a file would notice; nothing notices on
an index, which also says which files there are. pip ignores such an index with a warning, uv connects.

What to do: use https.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.locks import addresses
from envdoctor.model import Finding, Lock, LockOption, Severity
from envdoctor.pointing import fault, many
from envdoctor.views.lock_origins import LockOrigins, Origin


def check(lock: Lock, lock_origins: LockOrigins) -> Iterable[Finding]:
    """Report each option line, and what packages name host by host; files that all have a digest are a warning."""
    groups: dict[tuple[str, int], list[Origin]] = {}
    for origin in lock_origins.origins:
        clear = addresses.scheme(origin.address) in addresses.CLEARTEXT and origin.kind != "annotation"
        if clear and not addresses.is_loopback(origin.host):
            line = origin.where.line if isinstance(origin.where, LockOption) else 0
            groups.setdefault((origin.host, line), []).append(origin)
    for (host, _), found in groups.items():
        places = list({(origin.where.file, origin.where.line): origin.where for origin in found}.values())
        scheme = addresses.scheme(found[0].address)
        yield fault(
            Severity.WARNING if all(origin.fixed for origin in found) else Severity.ERROR,
            lock,
            places[0],
            f"{host} is reached by {scheme}, without encryption: others may answer in its place",
            subject=host,
            text="" if isinstance(places[0], LockOption) else f"{scheme}://{host}",
            remedy=("use https",),
            **many(places),
        )

"""The lock takes packages from a host that is not listed, or from a test or nightly channel.

Why it matters: what a host serves is only as good as whoever runs it. Test and nightly channels delete and replace
their releases within weeks, and the lock dies.

What to do: lock from an index that is listed, or list the host: `hosts` in the configuration. That list decides,
wherever it is read. Without one the indexes that pip or uv is configured for count: those of the project as a warning,
those of this machine as a note, since another machine's are others. Without any, test and nightly channels alone are
reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from envdoctor.locks import addresses
from envdoctor.locks.torch_index import recognised
from envdoctor.model import Finding, Lock, LockedPackage, LockOption, Severity
from envdoctor.pointing import fault, many
from envdoctor.views.lock_hosts import LockHosts
from envdoctor.views.lock_origins import LockOrigins, Origin


def check(lock: Lock, lock_origins: LockOrigins, lock_hosts: LockHosts) -> Iterable[Finding]:
    """Report each host once, and each channel of a host that is not reported."""
    outside = [origin for origin in lock_origins.origins if lock_hosts.names and _is_outside(origin, lock_hosts)]
    for host, found in _grouped((origin.host, origin) for origin in outside).items():
        yield _unlisted(lock, lock_hosts, host, found)
    channels = ((_channel(origin), origin) for origin in lock_origins.origins if origin not in outside)
    for path, found in _grouped((path, origin) for path, origin in channels if path).items():
        yield _unreleased(lock, path, found)


def _is_outside(origin: Origin, hosts: LockHosts) -> bool:
    judged = origin.kind == "index" or not hosts.indexes_only
    return judged and not addresses.is_loopback(origin.host) and not hosts.allow(origin.host)


def _channel(origin: Origin) -> str:
    index = recognised(origin.address)
    return index.path if index is not None and index.channel else ""


def _grouped(pairs: Iterable[tuple[str, Origin]]) -> dict[str, list[Origin]]:
    groups: dict[str, list[Origin]] = {}
    for key, origin in pairs:
        groups.setdefault(key, []).append(origin)
    return groups


def _places(found: Sequence[Origin]) -> list[LockedPackage | LockOption]:
    return list({(origin.where.file, origin.where.line): origin.where for origin in found}.values())


def _unlisted(lock: Lock, hosts: LockHosts, host: str, found: Sequence[Origin]) -> Finding:
    places = _places(found)
    return fault(
        Severity.NOTE if hosts.local else Severity.WARNING,
        lock,
        places[0],
        f"the lock takes packages from {host}, which is not listed in {hosts.source}",
        subject=host,
        text="" if isinstance(places[0], LockOption) else host,
        listed=list(hosts.names),
        listed_in=hosts.source,
        remedy=("lock from a listed index", f'or list it in the configuration: hosts = ["{host}"]'),
        **many(places),
    )


def _unreleased(lock: Lock, path: str, found: Sequence[Origin]) -> Finding:
    places = _places(found)
    names = list(dict.fromkeys(where.name for where in places if isinstance(where, LockedPackage)))
    what = names[0] if len(names) == 1 else f"{len(names)} packages" if names else "packages"
    return fault(
        Severity.WARNING,
        lock,
        places[0],
        f"the lock takes {what} from {path}, a channel that deletes and replaces its releases",
        subject=names[0] if len(names) == 1 else path,
        text="" if isinstance(places[0], LockOption) else found[0].address,
        index=found[0].address,
        remedy=("lock a release from the index without /test or /nightly",),
        **many(places),
    )

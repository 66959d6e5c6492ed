"""The lock turns off the check of a host's certificate.

Why it matters: whoever stands between this machine and the index may answer in its place. Only digests on every line
would notice.

What to do: drop `--trusted-host`, or `verify_ssl = false` in the Pipfile; give pip the right authority with `--cert` or
PIP_CERT, on the machine.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.locks import addresses
from envdoctor.model import Finding, Lock, Severity
from envdoctor.pointing import fault


def check(lock: Lock) -> Iterable[Finding]:
    """Report each option line; a host that is this machine itself is left alone."""
    named = "verify_ssl = false" if lock.format == "pipfile" else "--trusted-host"
    for option in lock.options:
        host = addresses.host(f"https://{option.value}")
        if option.name == "--trusted-host" and not addresses.is_loopback(host):
            yield fault(
                Severity.ERROR,
                lock,
                option,
                f"{named} turns off the check of the certificate of {host}",
                subject=host,
                remedy=("drop it, and let pip know the authority: PIP_CERT",),
            )

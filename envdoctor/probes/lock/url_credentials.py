"""An address in the lock holds a password or token.

Why it matters: a lock is committed, copied and cached. Whoever can read it can use the secret, and it stays in the
history when the line is gone.

What to do: revoke the secret; keep the new one in netrc or a keyring. A `${VARIABLE}` in its place is a note: pip and
uv expand it, and carry on with nothing where it is not set. So is a name alone, which may be a token or may be none.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.facts.lock_scan import Address, LockScan
from envdoctor.model import Finding, Lock, LockProblem, Severity
from envdoctor.pointing import fault

KINDS = {
    "plain": (Severity.ERROR, "holds a password or token"),
    "variable": (Severity.NOTE, "takes its secret from a variable; installers go on without one where that is not set"),
    "user": (Severity.NOTE, "names a user, which is a secret if it is a token"),
}
"""Kind of secret, the worst first -> how bad it is, and what to say."""


def check(lock: Lock, lock_scan: LockScan) -> Iterable[Finding]:
    """Report each line once. The secret itself is not known here."""
    lines: dict[tuple[str, int], Address] = {}
    for address in sorted(lock_scan.addresses, key=lambda item: [*KINDS, ""].index(item.secret)):
        if address.secret:
            lines.setdefault((address.file, address.line), address)
    for address in sorted(lines.values(), key=lambda item: (item.file, item.line)):
        severity, said = KINDS[address.secret]
        yield fault(
            severity,
            lock,
            LockProblem(
                address.line, "", address.file, text=f"{address.scheme}://" if address.scheme else address.host
            ),
            f"an address of {address.host} {said}",
            subject=address.host,
            remedy=("revoke it, and keep the new one in netrc or a keyring",) if severity == Severity.ERROR else (),
        )

"""A locked file was uploaded only days ago.

Why it matters: a release by somebody who stole an account is mostly found out and deleted within days. Who waits that
long does not install it.

What to do: wait, or take the release before. The days are `cooldown` under `limits` of the configuration (7 by
default).
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from envdoctor.model import Finding, Lock, Severity
from envdoctor.pointing import fault
from envdoctor.policy import Policy
from envdoctor.views.lock_uploads import LockUploads

LONGEST = 36_500
"""Days; more than a hundred years is for ever."""


def check(lock: Lock, lock_uploads: LockUploads, policy: Policy, moment: datetime) -> Iterable[Finding]:
    """Report each package whose youngest file is younger than that."""
    days = min(policy.limits["cooldown"], LONGEST)
    for upload in lock_uploads.youngest:
        age = moment - upload.at
        if age < timedelta(days=days):
            package = upload.package
            yield fault(
                Severity.WARNING,
                lock,
                package,
                f"{package.name} {package.version} was uploaded on {upload.at:%Y-%m-%d}, less than {days} days ago",
                text=upload.file.name,
                uploaded=upload.file.uploaded,
                days=max(age.days, 0),
                remedy=(f"wait until {upload.at + timedelta(days=days):%Y-%m-%d}, or lock the release before",),
            )

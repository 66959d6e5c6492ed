"""A mute in the configuration is past its date, so the finding it hid counts again.

Why it matters: a mute with a date was a promise to look again by then. Kept for ever it hides the next fault as well.

What to do: mend what it hid and delete the entry, or give it a new date and say why.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from envdoctor.model import Finding, Severity
from envdoctor.policy import Policy


def check(policy: Policy, moment: datetime) -> Iterable[Finding]:
    """Judge each mute by its date."""
    for mute in policy.mutes:
        if not mute.holds(moment):
            yield Finding(
                Severity.WARNING,
                mute.probe,
                f"the mute of {mute.probe} for {'all subjects' if mute.subject == '*' else mute.subject} "
                f"ended on {mute.until}",
                {"subject": mute.subject, "until": str(mute.until), "why": mute.why, "file": policy.path},
                (f"edit {policy.path}: remove the mute, or move its date and say why",),
            )

"""Leave a cache alone that somebody is using."""

from __future__ import annotations

import os

from envdoctor.errors import UsageError
from envdoctor.facts import cache_users

SEARCH_SECONDS = 10.0


def refuse_in_use(root: str, what: str) -> None:
    """Raise UsageError naming the first process that has something of a cache open or mapped, as far as can be seen."""
    if not os.path.isdir(root):
        return
    found = cache_users.below(cache_users.users([root], seconds=SEARCH_SECONDS), root)
    if found:
        user = found[0]
        raise UsageError(
            f"{root}: is in use by process {user.pid} ({user.command}), which has {user.path} open; {what} once it ends"
        )

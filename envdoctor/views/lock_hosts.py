"""The hosts from which a lock may take packages: here those that the policy names."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase

from envdoctor.policy import Policy


@dataclass(frozen=True, slots=True)
class LockHosts:
    """A list, and where it was found."""

    names: tuple[str, ...] = ()
    """Hosts, or patterns of them, lower case; none if nothing says which."""
    source: str = ""
    """`/project/envdoctor.toml`, `PIP_INDEX_URL, /etc/pip.conf`."""
    indexes_only: bool = False
    """True for the configuration of an installer, which says where indexes are and nothing of files or repositories."""
    local: bool = False
    """True if it is this machine's own: on another one the same lock may be judged by another list."""

    def allow(self, host: str) -> bool:
        """Tell whether a host is among them."""
        return any(fnmatchcase(host, name) for name in self.names)


def view(policy: Policy) -> LockHosts:
    """Take those of the policy."""
    return LockHosts(policy.hosts, policy.path or "the policy")

"""What the locked releases require, as far as their metadata is at hand: here that of what is installed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from envdoctor.facts.distributions import Distributions
from envdoctor.versions import same_build


@dataclass(frozen=True, slots=True)
class Released:
    """The metadata of one release."""

    version: str
    requires: tuple[str, ...] = ()
    """Requires-Dist, as written."""
    requires_python: str | None = None


@dataclass(frozen=True, slots=True)
class LockMetadata:
    """Metadata by normalised name; of each name the versions that are at hand."""

    releases: Mapping[str, tuple[Released, ...]] = field(default_factory=dict)
    source: str = ""
    """Where it was read: `the target`, `the wheelhouse /w`."""

    def of(self, name: str, version: str | None) -> Released | None:
        """Return the metadata of a release; versions count as equal that PEP 440 calls so."""
        if version is None:
            return None
        return next((found for found in self.releases.get(name, ()) if same_build(found.version, version)), None)


def view(distributions: Distributions) -> LockMetadata:
    """Take what the target's own distributions say; where another version is locked, that says nothing."""
    found = {
        name: (Released(item.version, item.requires, item.requires_python),)
        for name, item in distributions.active.items()
        if item.version
    }
    return LockMetadata(found, "the target")

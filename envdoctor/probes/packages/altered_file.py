"""A file is not what its package installed.

Why it matters: somebody edited it, another package overwrote it, or a disk or copy failed. The job runs code that no
lock describes.

What to do: look at the difference; what should stay belongs into a package or a patch of your own. Then reinstall the
package by force. A plain check compares sizes, and hashes only files written after their package was installed or, with
a seal, changed since it was taken; `check --deep` hashes them all. A CA bundle that the site put in the place of
certifi's, links put in the place of files, and packages of the operating system, which strips files after RECORD was
written, are a note.
"""

from __future__ import annotations

from collections.abc import Iterable

from envdoctor.facts.comparison import DistributionFiles
from envdoctor.facts.distributions import Distribution, Distributions
from envdoctor.facts.files import Files
from envdoctor.facts.owners import Owners
from envdoctor.model import Finding, Severity, Unavailable
from envdoctor.views.remedies import Remedies

_HOW = {
    "content": "its content differs",
    "not a file": "it is no regular file",
    "link": "it is a link to a file with other bytes",
}
_UNHASHED = "files are younger than their package and too much to hash in a plain check"
_DEEP = ("envdoctor check --deep",)
CA_BUNDLE = "cacert.pem"
"""Sites replace certifi's and pip's copy by their own bundle, on purpose."""


def check(
    files: Files, distributions: Distributions, remedies: Remedies, owners: Owners | Unavailable
) -> Iterable[Finding]:
    """Report one finding for each distribution; what packages/file-collision explains is left to it."""
    by_metadata = {item.metadata: item for item in distributions.items}
    collided = set() if isinstance(owners, Unavailable) else {collision.path for collision in owners.collisions}
    for state in files.distributions:
        item = by_metadata.get(state.metadata)
        own = [altered for altered in state.altered if altered.path not in collided]
        if item is not None and own:
            yield _finding(item, state, [altered.path for altered in own], remedies)
    if files.index_lost and not files.deep:
        yield Finding(
            Severity.WARNING,
            "stat index",
            "the stat index of the seal is gone or damaged: edits that keep a file's size and time go unseen",
            {},
            ("envdoctor seal",),
        )
    if files.lost:
        yield Finding(Severity.NOTE, "unread files", f"not all was read: {files.lost}")
    if files.unverified:
        why = "digests are of an algorithm that is not known here" if files.deep else _UNHASHED
        said = f"{files.unverified} {why}"
        yield Finding(Severity.NOTE, "unverified files", said, {"count": files.unverified}, () if files.deep else _DEEP)


def _finding(item: Distribution, state: DistributionFiles, paths: list[str], remedies: Remedies) -> Finding:
    count = state.altered_count - (len(state.altered) - len(paths))
    hows = {altered.path: altered.how for altered in state.altered if altered.path in paths}
    expected = all(how == "link" or path.rpartition("/")[2] == CA_BUNDLE for path, how in hows.items())
    harmless = (expected and len(paths) == count) or item.by_system
    first = next(altered for altered in state.altered if altered.path == paths[0])
    how = _HOW.get(first.how, f"{first.size} bytes instead of {first.recorded_size}")
    more = f", and {count - 1} more of its files differ" if count > 1 else ""
    return Finding(
        Severity.NOTE if harmless else Severity.ERROR,
        item.name,
        f"{paths[0]} of {item.label} is not what was installed: {how}{more}",
        {
            "paths": paths,
            "count": count,
            "how": hows,
        },
        () if harmless else remedies.reinstall([(item.name, item.version)]),
    )

"""Pages of the Simple API: JSON (PEP 691, 700) and HTML (PEP 503, 592)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import cache
from html.parser import HTMLParser
from typing import Any

from envdoctor.locks.text import DIGEST_LENGTHS, file_name, name_and_version, normalised
from envdoctor.system.web import Page, UnreadError
from envdoctor.views.lock_online import Listed, ListedFile

JSON, HTML = "application/vnd.pypi.simple.v1+json", "application/vnd.pypi.simple.v1+html"
ACCEPT = f"{JSON}, {HTML};q=0.2, text/html;q=0.1"


def files(page: Page, name: str) -> tuple[ListedFile, ...]:
    """Read what a page lists of a project. Raises UnreadError for one that is no such page, or lists nothing."""
    if page.kind == JSON:
        found = tuple(_of_json(page.body))
    elif page.kind in (HTML, "text/html"):
        found = tuple(_of_html(page.body))
    else:
        raise UnreadError(f"answers with {page.kind}, which is no page of an index", otherwise=True)
    own = tuple(file for file in found if _is_of(file.name, name))
    if not own:
        raise UnreadError(f"answers with a page that lists no file of {name}", otherwise=True)
    return own


def _is_of(file: str, name: str) -> bool:
    named = name_and_version(file)
    return normalised(named[0]) == name if named is not None else normalised(file).startswith(f"{name}-")


def merged(files: Iterable[ListedFile]) -> Iterable[ListedFile]:
    """Take what several indexes list of the same file for one: a mirror may not know that it was yanked."""
    found: dict[tuple[str, tuple[str, ...]], ListedFile] = {}
    for file in files:
        other = found.setdefault((file.name, file.hashes), file)
        if other.yanked is None and file.yanked is not None:
            found[file.name, file.hashes] = file
    return found.values()


def release(version: str, listed: Iterable[ListedFile]) -> Listed | None:
    """Return the files that `==version` admits, None if there are none.

    A pin without a local label admits all builds of a release (PEP 440).
    """
    inside: list[ListedFile] = []
    others: list[str] = []
    for file in listed:
        named = name_and_version(file.name)
        fits = _admits(version, named[1]) if named is not None else None
        if fits:
            inside.append(file)
        elif fits is None:
            others += file.hashes
    return Listed(tuple(inside), tuple(others)) if inside else None


@cache
def _admits(pinned: str, version: str) -> bool | None:
    """Tell whether a pin takes a version, None for what is none."""
    from packaging.version import InvalidVersion, Version

    if pinned == version:
        return True
    try:
        found = Version(version)
    except (InvalidVersion, ValueError):
        return None
    try:
        wanted = Version(pinned)
    except (InvalidVersion, ValueError):
        return False
    return found == wanted or (wanted.local is None and found.local is not None and Version(found.public) == wanted)


def _of_json(body: bytes) -> Iterator[ListedFile]:
    try:
        document = json.loads(body)
        version, entries = str(document["meta"]["api-version"]), document["files"]
        if version.partition(".")[0] != "1":
            raise UnreadError(
                f"speaks version {version[:20]} of the Simple API, and this envdoctor knows 1", otherwise=True
            )
        for entry in entries:
            yield _entry(entry)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise UnreadError("answers with JSON that is no page of an index", otherwise=True) from error


def _entry(entry: Any) -> ListedFile:  # noqa: ANN401 - JSON
    yanked, uploaded = entry.get("yanked", False), entry.get("upload-time")
    return ListedFile(
        str(entry["filename"]),
        tuple(f"{algorithm}:{digest}".lower() for algorithm, digest in entry["hashes"].items()),
        yanked if isinstance(yanked, str) else "" if yanked else None,
        uploaded if isinstance(uploaded, str) else None,
    )


def _of_html(body: bytes) -> Iterator[ListedFile]:
    anchors = _Anchors()
    anchors.feed(body.decode("utf-8", "replace"))
    anchors.close()
    for attributes in anchors.found:
        address = attributes.get("href") or ""
        algorithm, _, digest = address.partition("#")[2].partition("&")[0].partition("=")
        hashes = (f"{algorithm}:{digest}".lower(),) if algorithm in DIGEST_LENGTHS else ()
        yanked = (attributes["data-yanked"] or "") if "data-yanked" in attributes else None
        yield ListedFile(file_name(address), hashes, yanked)


class _Anchors(HTMLParser):
    """Collects the attributes of all anchors."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[dict[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep those of an anchor."""
        if tag == "a":
            self.found.append(dict(attrs))

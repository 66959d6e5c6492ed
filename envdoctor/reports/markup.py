"""HTML and SVG that cannot be broken by what stands in it: every text is escaped, unless it is markup already."""

from __future__ import annotations

import html

from envdoctor.printable import printable, redact

VOID = frozenset({"meta", "link", "br", "hr"})
"""Elements without an end tag (HTML Living Standard, 13.1.2)."""


class Markup(str):
    """Text that is HTML; made by `element` and `joined` alone."""

    __slots__ = ()


Child = str | None
"""Plain text, which is escaped, or markup; None is nothing."""


def escaped(text: str) -> str:
    """Return a text for element content and quoted attributes: control characters are shown, secrets are not."""
    return html.escape(printable(redact(text)), quote=True)


def joined(*children: Child) -> Markup:
    """Put markup and plain text in a row."""
    return Markup("".join(each if isinstance(each, Markup) else escaped(each) for each in children if each is not None))


def element(name: str, /, *children: Child, **attributes: str | float | None) -> Markup:
    """Return an element. `class_` is the attribute class, `stroke_width` stroke-width; one that is None is left out.

    No attribute may hold a script, a style or an address but one within the page.
    """
    given = {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items() if value is not None}
    for key, value in given.items():
        if key.startswith("on") or key in ("style", "src") or (key == "href" and not str(value).startswith("#")):
            raise ValueError(f"{name} {key}: not within a page that loads and runs nothing")
    written = "".join(f' {key}="{escaped(str(value))}"' for key, value in given.items())
    if name in VOID:
        return Markup(f"<{name}{written}>")
    return Markup(f"<{name}{written}>{joined(*children)}</{name}>")

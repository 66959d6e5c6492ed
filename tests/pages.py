"""A page, read as a browser reads it: elements, their attributes and texts; what loads or runs something is a fault."""

import base64
import hashlib
from html.parser import HTMLParser

VOID = {"meta", "link", "br", "hr", "img", "input"}


class Reader(HTMLParser):
    """Holds what a page is made of. An element that is not closed, or closed twice, is an assertion error."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.elements, self.texts = [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        assert len(dict(attributes)) == len(attributes), f"{tag}: an attribute twice"
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if data.strip():
            self.texts.append((self.open[-1] if self.open else "", data))

    def of(self, tag):
        return [attributes for found, attributes in self.elements if found == tag]

    def text(self, *tags):
        return " ".join(data for tag, data in self.texts if not tags or tag in tags)


def harmless(text):
    """Read a page; fail if it could run, load or lead anywhere, or if its policy does not name its style."""
    page = Reader(text)
    for tag, attributes in page.elements:
        assert tag not in ("script", "link", "img", "iframe", "object", "embed", "form", "base", "foreignobject", "use")
        for name, value in attributes.items():
            assert not name.startswith("on"), name
            assert name not in ("style", "src", "srcset", "href", "xlink:href", "action", "data"), name
            assert "url(" not in (value or ""), value
    (style,) = [data for tag, data in page.texts if tag == "style"]
    assert "url(" not in style
    assert "@import" not in style
    policies = [a["content"] for a in page.of("meta") if a.get("http-equiv") == "Content-Security-Policy"]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policies == [f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"]
    return page

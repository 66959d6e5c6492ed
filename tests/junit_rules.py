"""What JUnit XML may hold: the rules of the schema that Jenkins' xunit plug-in holds such files against.

There is no standard. These are the rules of its `junit-10.xsd` (jenkinsci/xunit-plugin, the file as of commit 031e285,
read on 2026-11-30), in our own words, for the elements that our writer has; rerun and flaky elements are left out.
"""

import re

FREE = {"type", "message"}
ELEMENTS = {
    "testsuites": (set(), {"name", "time", "tests", "failures", "errors"}, {"testsuite"}),
    "testsuite": (
        {"name", "tests", "failures", "errors"},
        {"group", "time", "skipped", "timestamp", "hostname", "id", "package", "file", "log", "url"},
        {"testsuite", "properties", "testcase", "system-out", "system-err"},
    ),
    "properties": (set(), set(), {"property"}),
    "property": ({"name", "value"}, set(), set()),
    "testcase": (
        {"name"},
        {"time", "classname", "group"},
        {"skipped", "error", "failure", "system-out", "system-err"},
    ),
    "failure": (set(), FREE, set()),
    "error": (set(), FREE, set()),
    "skipped": (set(), FREE, set()),
    "system-out": (set(), set(), set()),
    "system-err": (set(), set(), set()),
}
"""Element -> attributes that it must have, those that it may have, and its children."""
TEXTS = {"failure", "error", "skipped", "system-out", "system-err"}
"""Elements that may hold text."""
TIME = re.compile(r"(([0-9]{0,3},)*[0-9]{3}|[0-9]{0,3})*(\.[0-9]*)?")


def broken_rules(root):
    """Return what is wrong with a whole document, an empty list if nothing is."""
    wrong = [] if root.tag in ("testsuites", "testsuite") else [f"the root is {root.tag}"]
    return wrong + [problem for element in root.iter() for problem in _of(element)]


def _of(element):
    if element.tag not in ELEMENTS:
        yield f"<{element.tag}> is unknown"
        return
    needed, allowed, children = ELEMENTS[element.tag]
    given = set(element.keys())
    yield from (f"<{element.tag}> lacks {name}" for name in needed - given)
    yield from (f"<{element.tag}> has {name}" for name in given - needed - allowed)
    yield from (f"<{element.tag}> holds <{child.tag}>" for child in element if child.tag not in children)
    loose = [element.text, *(child.tail for child in element)]
    if element.tag not in TEXTS and any(text and text.strip() for text in loose):
        yield f"<{element.tag}> holds text"
    if element.tag.startswith("testsuite") and not TIME.fullmatch(element.get("time", "")):
        yield f"<{element.tag}> takes {element.get('time')}"

"""What holds for every format: each finding is in it, whatever its evidence holds, and nothing in it can do harm."""

import json
import re
import unicodedata
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from junit_rules import broken_rules
from sarif_rules import is_taken_by_github, is_valid
from values import TARGET, outcome, report

from envdoctor.model import Finding, Severity
from envdoctor.printable import printable
from envdoctor.reports import json as as_json
from envdoctor.reports import junit, sarif, text

FORMATS = {"text": text, "json": as_json, "sarif": sarif, "junit": junit}
HOSTILE = "x\x1b[2J\u202e\udcff]]><b>&\"'{0}[a](b)\n::error::|"
KEYS = ("cause", "count", "family", "file", "installed_at", "installer", "last_lines", "line", "lines", "log", "moved")
KEYS += ("column", "how", "path", "paths", "printed", "rules", "signature", "stacks", "text", "added", "locked")
"""Keys of evidence that some report reads; a plug-in may put anything below them."""
values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 99) | st.floats(0, 9) | st.sampled_from(["six", "/a b", "a.txt:3", ""]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=2),
    max_leaves=4,
)
severities = st.sampled_from(Severity)
PROBES = ("packages/foreign", "packages/drifted", "lock/unhashed", "lock/faulty", "log/known-failure", "acme/badge")


def said(form, made):
    """Return what a person or program reads in a format, with its own escapes undone."""
    written = FORMATS[form].render(made)
    if form == "text":
        return written
    assert written.isascii()
    if form == "junit":
        return "\n".join(ET.fromstring(written).itertext())
    document = json.loads(written)
    if form == "json":
        return "\n".join(f"{f['subject']}\n{f['message']}" for f in document["findings"])
    messages = [result["message"]["text"] for result in document["runs"][0]["results"]]
    return "\n".join(messages).replace("{{", "{").replace("}}", "}")


@pytest.mark.parametrize("form", FORMATS)
@given(st.data())
def test_whatever_the_evidence_holds_each_finding_is_there(form, data):
    drawn = data.draw(st.lists(st.tuples(st.sampled_from(PROBES), severities, _evidence()), min_size=1, max_size=3))
    outcomes = [
        outcome(probe, Finding(severity, "six", f"message {number}.", evidence))
        for number, (probe, severity, evidence) in enumerate(drawn)
    ]
    shown = said(form, report(*outcomes))
    assert all(f"message {number}." in shown for number in range(len(drawn)))


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("probe", PROBES)
def test_no_key_of_evidence_is_taken_for_what_it_is_not(form, probe):
    for key in KEYS:
        for value in (3, -1.5, True, None, "x", [1, [2]], {"a": [1]}, []):
            found = Finding(Severity.ERROR, "six", "it is odd.", {key: value})
            assert found.message in said(form, report(outcome(probe, found)))


def _evidence():
    return st.dictionaries(st.sampled_from(KEYS), values, max_size=4)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("probe", ["packages/foreign", "lock/unhashed", "acme/badge"])
def test_hostile_text_is_shown_and_does_nothing(form, probe):
    """The judge makes all of it printable; a format then escapes what means something to whoever reads it."""
    shown = printable(HOSTILE)
    found = Finding(Severity.ERROR, shown, f"the name {shown} is odd", {"file": shown, "text": shown}, (f"rm {shown}",))
    made = report(outcome(probe, found), seen={"log": HOSTILE}, config=HOSTILE, host="node7")
    written = FORMATS[form].render(made)
    assert not [c for c in written if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Cs")]
    assert f"the name {shown} is odd".replace("](", "] (" if form == "sarif" else "](") in said(form, made)
    assert not re.search(r"^::", written, re.MULTILINE), "a line that a CI server takes for a command"


@given(st.lists(st.tuples(st.sampled_from(PROBES), severities, _evidence()), max_size=4))
def test_any_evidence_keeps_to_the_schemas(drawn):
    made = report(
        *(outcome(probe, Finding(severity, "six", "m", evidence)) for probe, severity, evidence in drawn), target=TARGET
    )
    document = json.loads(sarif.render(made))
    is_valid(document)
    assert all(is_taken_by_github(result) for result in document["runs"][0]["results"])
    assert broken_rules(ET.fromstring(junit.render(made))) == []

"""Folders and pages beside the index."""

import pytest
from locked import audited, told

from envdoctor.model import Severity
from envdoctor.probes.lock.find_links import check


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ("--find-links ./wheels", "./wheels"),
        ("-f https://a.example/whl/torch_stable.html", "a.example"),
        ("--find-links=/srv/wheels", "/srv/wheels"),
    ],
)
def test_each_line(line, place):
    (finding,) = found = audited(check, f"torch==2.11.0+cu128\n{line}\n")
    assert (finding.severity, told(found), finding.evidence["text"]) == (Severity.WARNING, [(place, 2)], line)


def test_a_header_is_obeyed_by_nobody():
    assert audited(check, "# pip-compile --find-links ./wheels in.txt\nsix==1.17.0\n") == []

"""The line of a monitoring plug-in, held against the guidelines' grammar."""

import re

import pytest
from rounds import FOREIGN, lost, round_, visit
from values import finding

from envdoctor.health import documents
from envdoctor.model import Severity
from envdoctor.reports import nagios

MILD = finding("six", Severity.WARNING, "six 1.0 is not the locked 1.17.0")
PERFORMANCE = re.compile(r"[a-z_]+=(?P<value>-?\d+(?:\.\d+)?)(?P<unit>s|%|B|c|)(?:;[\d.:~@]*){0,4}")


def line(*visits, **fields):
    document = documents.document(round_(*visits, **fields))
    text = nagios.render(document)
    assert text.count("\n") == 1
    assert text.endswith("\n")
    assert len(text.encode()) < 1024
    said, _, data = text.rstrip("\n").partition(" | ")
    assert "|" not in said + data
    for item in data.split():
        assert PERFORMANCE.fullmatch(item), item
    return nagios.status(document), said, dict(item.split("=") for item in data.split())


@pytest.mark.parametrize(
    ("visits", "status", "said"),
    [
        ([visit()], 0, "ENVDOCTOR OK: /env: healthy"),
        ([visit(MILD)], 1, "ENVDOCTOR WARNING: /env: six 1.0 is not the locked 1.17.0 [packages/foreign]"),
        (
            [visit(FOREIGN, MILD)],
            2,
            "ENVDOCTOR CRITICAL: /env: sglang 0.5.2 is not in the lock [packages/foreign] and 1 more",
        ),
        ([lost("no answer within 10 s")], 3, "ENVDOCTOR UNKNOWN: /env: no answer within 10 s"),
        ([], 3, "ENVDOCTOR UNKNOWN: no environment to look at"),
    ],
)
def test_one_environment(visits, status, said):
    assert line(*visits)[:2] == (status, said)


def test_the_worst_decides_and_is_named():
    visits = [visit(), visit(MILD, target="/mild"), lost(target="/lost"), visit(FOREIGN, target="/sick")]
    status, said, _ = line(*visits)
    assert status == 2
    assert said == (
        "ENVDOCTOR CRITICAL: 4 environments: 1 sick, 1 with warnings, 1 not judged, 1 healthy. "
        "/sick: sglang 0.5.2 is not in the lock [packages/foreign]"
    )


def test_what_is_not_judged_outranks_what_is_healthy_and_nothing_else():
    assert line(visit(), lost(target="/lost"))[0] == 3
    assert line(visit(MILD), lost(target="/lost"))[0] == 1


def test_a_run_that_another_one_prevented_knows_nothing():
    status, said, data = line(note="another run (process 7) has been under way for 3 s")
    assert (status, data) == (3, {})
    assert said == "ENVDOCTOR UNKNOWN: another run (process 7) has been under way for 3 s"


def test_performance_data():
    *_, data = line(visit(FOREIGN, MILD), lost(target="/lost"), seconds=1.25)
    assert data == {
        "environments": "2;;;0",
        "sick": "1;;0;0;2",
        "warnings": "0;0;;0;2",
        "unjudged": "1;;;0;2",
        "error_findings": "1;;;0",
        "warning_findings": "1;;;0",
        "note_findings": "0;;;0",
        "time": "1.250s;;;0",
    }


def test_of_findings_nothing_is_said_where_nothing_was_judged():
    *_, data = line(lost())
    assert "error_findings" not in data


def test_a_message_can_neither_end_the_line_nor_begin_the_data():
    evil = finding("x", message="all | well=1\nOK: fine\x1b[2J " + "x" * 5000)
    _, said, _ = line(*(visit(evil, target=f"/e|{n}") for n in range(40)))
    assert len(said) < nagios.LONGEST + 40


def test_a_run_that_could_not_be_made():
    assert nagios.failed("/etc/envdoctor.toml:3: no | such\nkey") == (
        "ENVDOCTOR UNKNOWN: /etc/envdoctor.toml:3: no / such key\n"
    )

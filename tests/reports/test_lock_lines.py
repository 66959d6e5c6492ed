"""Findings about lines of locks, as a person meets them: which file, which line, what stands there, what to do."""

import re
import time

import pytest
from values import TARGET, at, finding, outcome, report

from envdoctor.model import Severity
from envdoctor.reports import text
from envdoctor.reports.text import Style

UNPINNED, UNHASHED = "lock/unpinned", "lock/unhashed"
ERROR, WARNING, NOTE = reversed(Severity)
SEEN = {"locks": "train.txt, dev.txt", "pins": 1312, "judged for": "Python 3.12 on manylinux_2_28_x86_64"}


def render(*outcomes, width=None, colour=False, **fields):
    given = {"target": None, "python": None, "seen": SEEN} | fields
    return text.render(report(*outcomes, **given), Style(width, colour))


def lines(*outcomes, **fields):
    """Return the lines that lead with a place."""
    return [line for line in render(*outcomes, **fields).splitlines() if re.search(r"\.txt:\d", line)]


def test_a_whole_report_is_written_as_expected():
    said = render(
        outcome(UNPINNED, at("train.txt:12:1", "numpy>=1.26", message="numpy is not pinned", remedy=["pin numpy"])),
        outcome(UNHASHED, at("train.txt:3:1", "six==1.0", "six", severity=WARNING, message="six has no hash")),
        outcome("lock/orphan"),
    )
    assert said == (
        "SICK  1 error, 1 warning\n"
        "audited train.txt, dev.txt: 1,312 pins\n"
        "judged for Python 3.12 on manylinux_2_28_x86_64\n"
        "\n"
        "WARNING  train.txt:3:1  lock/unhashed  six has no hash\n"
        "         | six==1.0\n"
        "ERROR    train.txt:12:1  lock/unpinned  numpy is not pinned\n"
        "         | numpy>=1.26\n"
        "         next: pin numpy\n"
        "         see: envdoctor explain lock/unhashed (each rule has an entry)\n"
        "\n"
        "1 of 3 probes found nothing (0.31 s)\n"
    )


class TestHead:
    def test_a_clean_lock_is_said_to_be_audited(self):
        assert render(outcome(UNPINNED)).startswith("HEALTHY  nothing found\naudited train.txt, dev.txt: 1,312 pins\n")

    def test_what_is_not_known_is_not_said(self):
        head = render(outcome(UNPINNED), seen={"locks": "train.txt"}).partition("\n\n")[0]
        assert head == "HEALTHY  nothing found\naudited train.txt"

    def test_the_configuration_is_named(self):
        assert "\nconfigured by pyproject.toml\n" in render(outcome(UNPINNED), config="pyproject.toml")

    def test_a_check_of_a_target_audits_no_lock(self):
        assert "audited" not in text.render(report(outcome(UNPINNED), seen=SEEN))

    def test_many_locks_are_wrapped_and_names_are_data(self):
        said = render(outcome(UNPINNED), seen={"locks": ", ".join(["x\x1b.txt"] * 40)}, width=80)
        assert said.count(r"x\x1b.txt") == 40
        assert max(map(len, said.splitlines())) <= 80


class TestOrder:
    def test_findings_of_one_file_stand_together_by_line(self):
        found = [at("a.txt:20"), at("b.txt:3"), at("a.txt:3:9"), at("a.txt:3:1"), at("a.txt")]
        said = [line.split()[1] for line in render(outcome(UNPINNED, *found)).splitlines() if line.startswith("ERROR")]
        assert said == ["a.txt", "a.txt:3:1", "a.txt:3:9", "a.txt:20", "b.txt:3"]

    def test_of_one_line_the_worst_comes_first(self):
        said = lines(outcome("lock/a", at("a.txt:3", severity=NOTE)), outcome("lock/b", at("a.txt:3")))
        assert [line.split()[0] for line in said] == ["ERROR", "NOTE"]

    def test_the_file_with_the_worst_comes_first(self):
        said = lines(outcome(UNPINNED, at("a.txt:1", severity=WARNING), at("b.txt:1")))
        assert [line.split()[1] for line in said] == ["b.txt:1", "a.txt:1"]

    def test_other_findings_keep_their_place_between_them(self):
        other = outcome("cuda/wheel-mix", finding(severity=WARNING, message="mixed"))
        said = render(other, outcome(UNPINNED, at("a.txt:1"), at("b.txt:1", severity=NOTE)))
        assert said.index("a.txt:1") < said.index("mixed") < said.index("b.txt:1")


class TestWhatIsOne:
    def test_a_summary_of_the_area_without_a_line_is_a_block(self):
        summary = finding("train.txt", WARNING, "train.txt has 3 faults", file="train.txt")
        assert "WARNING  train.txt has 3 faults\n" in render(outcome("lock/faulty", summary), target=TARGET)

    def test_what_a_check_says_of_a_line_leads_with_it(self):
        assert "ERROR    a.txt:3  lock/no-wheel  six is" in render(
            outcome("lock/no-wheel", at("a.txt:3")), target=TARGET
        )

    def test_in_an_audit_a_finding_about_a_whole_file_stands_with_it(self):
        assert "ERROR    a.txt  lock/over-limit  six is" in render(outcome("lock/over-limit", finding(file="a.txt")))

    def test_a_package_that_is_not_as_a_line_of_the_lock_says_is_a_block(self):
        drifted = at("/project/train.txt:7", "x", message="numpy is 2.0, the lock says 1.0")
        assert "ERROR    numpy is 2.0, the lock says 1.0\n" in render(outcome("packages/drifted", drifted))


class TestText:
    def test_what_the_sentence_quotes_is_not_repeated(self):
        assert "|" not in render(outcome(UNPINNED, at("a.txt:1", "numpy>1", message="numpy>1 is not pinned")))

    def test_it_is_cut_to_the_width_and_whole_in_a_pipe(self):
        found = outcome(UNHASHED, at("a.txt:1", "--hash=sha256:" + "0" * 64))
        assert f"         | --hash=sha256:{'0' * 52}...\n" in render(found, width=80)
        assert f"         | --hash=sha256:{'0' * 64}\n" in render(found)

    def test_lists_of_evidence_are_shown(self):
        assert "         pins: 1.0, 2.0\n" in render(
            outcome("lock/conflicting-pins", at("a.txt:1", pins=["1.0", "2.0"]))
        )

    @pytest.mark.parametrize(
        ("lines", "said"),
        [
            ([3, 9], "lines: 3, 9\n"),
            (["b.txt:3", 9], "lines: b.txt:3, 9\n"),
            (list(range(1, 10)), "lines: 1, 2, 3, 4, 5, 6, 7, 8 and 132 more\n"),
        ],
    )
    def test_a_finding_about_many_lines_lists_them(self, lines, said):
        count = 140 if len(lines) > 8 else len(lines)
        assert f"         {said}" in render(outcome(UNHASHED, at("a.txt:3", lines=lines, count=count)))

    @pytest.mark.parametrize("lines", [[], [3], "3"])
    def test_one_line_is_not_listed(self, lines):
        assert "lines" not in render(outcome(UNHASHED, at("a.txt:3", lines=lines, count=1)))


class TestSteps:
    def test_one_that_many_need_is_printed_once_a_file(self):
        found = [at(f"{name}.txt:{line}", remedy=["lock again"]) for name in "ab" for line in (1, 2)]
        assert render(outcome(UNPINNED, *found)).count("next: lock again\n") == 2

    def test_commands_can_be_copied(self):
        command = "envdoctor lock compile train.in -o train.txt " + "--upgrade-package numpy " * 4
        said = render(outcome(UNPINNED, at("a.txt:1", remedy=[command])), width=80)
        assert f"         next: $ {command}\n" in said


@pytest.mark.parametrize(
    ("severity", "count", "shown"),
    [(ERROR, 20, 20), (ERROR, 21, 20), (WARNING, 500, 20), (NOTE, 3, 3), (NOTE, 4, 3)],
)
def test_many_of_one_rule_are_cut_and_counted_in_each_file(severity, count, shown):
    found = [at(f"{name}.txt:{n + 1}", severity=severity) for name in "ab" for n in range(count)]
    assert len(lines(outcome(UNHASHED, *found))) == 2 * shown
    said = render(outcome(UNHASHED, *found))
    more = f"         and {count - shown} more of lock/unhashed (all of them: --format json)\n"
    assert said.count(more) == (2 if count > shown else 0)


class TestStyle:
    FOUND = outcome(
        UNPINNED,
        at(
            "lockfiles/train-cu128.txt:1204:17",
            "numpy>=1.26,<3",
            message="numpy is not pinned, so that each rebuild may install another release of it",
            remedy=["name one release, or lock again with the tool that wrote the file, and audit what it wrote"],
        ),
    )

    @pytest.mark.parametrize("width", [80, 120])
    def test_a_width_holds_and_places_are_never_broken(self, width):
        said = render(self.FOUND, width=width)
        assert max(map(len, said.splitlines())) <= width
        assert "ERROR    lockfiles/train-cu128.txt:1204:17  lock/unpinned  numpy is" in said

    def test_a_pipe_has_a_line_a_finding(self):
        (line,) = lines(self.FOUND)
        assert line.endswith("another release of it")

    def test_colour_is_on_the_severity_alone(self):
        assert "\033" not in render(self.FOUND)
        said = render(self.FOUND, width=80, colour=True)
        assert "\033[31;1mERROR   \033[0m lockfiles/train-cu128.txt:1204:17  lock/unpinned" in said


def test_a_lock_of_thousands_of_faults_is_rendered_in_no_time():
    found = [outcome(f"lock/{rule}", *(at(f"a.txt:{n + 1}:1", "six") for n in range(5000))) for rule in "abc"]
    began = time.process_time()
    render(*found)
    assert time.process_time() - began < 1.0

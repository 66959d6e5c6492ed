"""Which snapshots are meant by what is said, over the history of a scripted week."""

from datetime import UTC, datetime, timedelta

import pytest
from patients import Patient
from weeks import BEGIN, record_weeks

from envdoctor.changes.telling import diff
from envdoctor.errors import UsageError
from envdoctor.locate import Wish
from envdoctor.system.host import LocalHost

CONTAMINATED = {("packages", "sglang"): "added", ("packages", "transformers"): "changed"}
WIPED = {("caches", "inductor cache"): "removed"}
SWAPPED = {("toolkit", "build"): "changed", ("variables", "CUDA_HOME"): "changed"}


class Ward:
    """An environment with such a week behind it."""

    def __init__(self, folder):
        self.patient = Patient(folder / "project")
        self.host = LocalHost({"HOME": str(folder), "XDG_STATE_HOME": str(folder / "state")}, cwd=str(folder))
        self.state = folder / "state" / "envdoctor" / f"{self.host.name}.sqlite"
        self.state.parent.mkdir(parents=True, mode=0o700)
        record_weeks(self.state, str(self.patient.prefix), self.host.name)

    def diff(self, *asked, target=None):
        return diff(*asked, Wish(target or str(self.patient.prefix)), self.host)

    def story(self, *asked):
        """Return {(area, subject): kind} of what is told that is more than a detail."""
        told = self.diff(*asked)
        assert told.status == bool(told.document["events"])
        events = told.document["events"]
        return {(e["area"], e["subject"]): e["kind"] for e in events if e["weight"] != "detail"}


@pytest.fixture(scope="module")
def ward(tmp_path_factory):
    return Ward(tmp_path_factory.mktemp("ward"))


@pytest.mark.parametrize(
    ("asked", "story"),
    [
        (("2026-06-02", "2026-06-02"), CONTAMINATED),
        (("2026-06-03", "2026-06-03"), WIPED),
        (("2026-06-04", "2026-06-04"), SWAPPED),
        (("2026-06-05", "2026-06-05"), {}),
        (("2026-06-02", "2026-06-05"), CONTAMINATED | WIPED | SWAPPED),
        (("2026-06-02", "2026-06-07"), {}),
        (("2026-06-03T10:59Z", "2026-06-03T14:01Z"), WIPED),
        (("2", "9"), CONTAMINATED),
    ],
)
def test_a_scripted_week_is_told_right(ward, asked, story):
    """Healthy, contaminated, the cache wiped, the toolkit swapped, rebuilt: days, times and runs."""
    assert ward.story(*asked) == story


def test_healthy_is_the_last_healthy_run_and_runs_bear_their_ids(ward):
    document = ward.diff("healthy", "1").document
    assert [document[side]["run"] for side in ("before", "after")] == [27, 1]
    assert (document["before"]["source"], document["before"]["asked"]) == ("history", "healthy")
    assert document["notes"] == ["the first one is the younger one"]


def test_the_run_of_a_time_is_named(ward):
    assert ward.diff("2026-06-02T09:00Z", "2026-06-03").document["before"]["run"] == 5


def test_an_age_is_counted_from_now(ward):
    now = datetime.now(UTC)
    days = (now - datetime(2026, 6, 4, 3, tzinfo=UTC)).days
    assert ward.diff(f"{days}d", "2026-06-07").document["before"]["taken_at"].startswith("2026-06-0")


def test_an_environment_that_is_gone_has_its_history(ward, tmp_path):
    gone = tmp_path / "gone"
    record_weeks(ward.state, str(gone), ward.host.name, until=BEGIN + timedelta(hours=1))
    assert ward.diff("1d", "1d", target=str(gone)).document["before"]["target"] == str(gone)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("nothing.json", "now"), "nothing.json: No such file or directory; a snapshot is a file, a time, "),
        (("1700", "now"), "1700: no snapshot of "),
        (("2001-01-01", "now"), "2001-01-01: no snapshot of "),
        (("2026-13-45", "now"), "'2026-13-45' is no time"),
        (("-", "-"), "standard input is one snapshot"),
    ],
)
def test_what_is_not_there_is_one_line(ward, asked, said):
    with pytest.raises(UsageError) as raised:
        ward.diff(*asked)
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)

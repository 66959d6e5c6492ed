"""Files that were uploaded only days ago."""

import pytest
from locked import audited, files, package, read, target, told, uv
from values import NOW

from envdoctor.model import Severity, Unavailable
from envdoctor.policy import LIMITS, Policy
from envdoctor.probes.lock.too_new import check
from envdoctor.views import lock_uploads

WHEEL = "https://files.example/demo-1.0-{}.whl"
UV = "/project/uv.lock"


def demo(*wheels, sdist=None):
    """Return a lock with wheels, given as (tags, upload time)."""
    listed = "[" + ", ".join(files(WHEEL.format(tags), upload_time=time)[1:-1] for tags, time in wheels) + "]"
    more = {"sdist": files("https://files.example/demo-1.0.tar.gz", upload_time=sdist)[1:-1]} if sdist else {}
    return uv(package("demo", wheels=listed, **more))


def test_a_file_within_the_cooldown():
    (finding,) = found = audited(check, demo(("py3-none-any", "2026-06-01T00:00:00Z")), UV)
    assert (finding.severity, told(found)) == (Severity.WARNING, [("demo", 4)])
    assert finding.message == "demo 1.0 was uploaded on 2026-06-01, less than 7 days ago"
    assert finding.evidence["text"] == "demo-1.0-py3-none-any.whl"
    assert finding.remedy == ("wait until 2026-06-08, or lock the release before",)


@pytest.mark.parametrize(("days", "count"), [(2, 0), (3, 1), (0, 0)])
def test_the_configuration_says_how_many_days(days, count):
    policy = Policy(limits={**LIMITS, "cooldown": days})
    assert len(audited(check, demo(("py3-none-any", "2026-06-01T00:00:00Z")), UV, policy=policy, moment=NOW)) == count


def test_the_youngest_file_counts_among_those_that_fit():
    old, new = (
        ("cp312-cp312-manylinux_2_28_x86_64", "2026-01-01T00:00:00Z"),
        ("cp315-cp315-win_amd64", "2026-06-02T00:00:00Z"),
    )
    assert len(audited(check, demo(old, new), UV)) == 1
    assert audited(check, demo(old, new), UV, lock_targets=target()) == []
    assert audited(check, demo(old, sdist="2026-06-02T00:00:00Z"), UV, lock_targets=target()) == []
    (finding,) = audited(check, demo(new, sdist="2026-06-02T00:00:00Z"), UV, lock_targets=target())
    assert finding.evidence["text"] == "demo-1.0.tar.gz"


def test_files_without_a_time_and_old_ones():
    lock = uv(package("a", wheels=files("https://f.example/a-1.0-py3-none-any.whl")))
    assert lock_uploads.view(read(lock, UV), Unavailable("")) == Unavailable("the lock records no upload times")
    assert audited(check, lock + demo(("py3-none-any", "2026-05-01T00:00:00Z")).removeprefix("version = 1\n"), UV) == []

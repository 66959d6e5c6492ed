"""Rules by which old files are removed."""

import pytest
from fakes import FakeHost

from envdoctor.facts.cache_cleaners import cleaners, of, seconds

DAY = 86400


@pytest.fixture
def judge(tmp_path):
    """Return a function that writes files of a host below a root, and says what cleans a path."""

    def rule_for(path, **files):
        for name, text in files.items():
            file = tmp_path / name.replace("__", "/").replace("_dot_", ".").lstrip("/")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return of(path, *cleaners(FakeHost(root=str(tmp_path))))

    return rule_for


@pytest.mark.parametrize(
    ("text", "age"),
    [
        ("10d", 10 * DAY),
        ("1h30min", 5400),
        ("aAmM:12h", 43200),
        ("~2w", 14 * DAY),
        ("0", 0),
        ("5", 5),
        *((text, None) for text in ("-", "x", "", "10y")),
    ],
)
def test_ages(text, age):
    assert seconds(text) == age


TMP = "usr__lib__tmpfiles_dot_d__tmp_dot_conf"


def test_a_rule_with_an_age_cleans_what_is_below(judge):
    found = judge(
        "/tmp/torchinductor_me", **{TMP: "# comment\nq /tmp 1777 root root 10d\nq /var/tmp 1777 root root 30d\n"}
    )
    assert (found.path, found.age, found.file) == ("/tmp", 10 * DAY, "/usr/lib/tmpfiles.d/tmp.conf")


@pytest.mark.parametrize(
    "line", ["D /tmp 1777 root root -", "d /tmp 1777 root root", "f /tmp/x 0644 root root 10d", "q"]
)
def test_one_without_an_age_or_for_a_file_does_not(judge, line):
    assert judge("/tmp/torchinductor_me", **{TMP: line}) is None


def test_other_directories_are_not_cleaned(judge):
    assert judge("/home/me/c", **{TMP: "q /tmp 1777 root root 10d"}) is None
    assert judge("/tmpfoo/c", **{TMP: "q /tmp 1777 root root 10d"}) is None


def test_a_file_in_etc_hides_the_one_of_its_name(judge):
    texts = {TMP: "q /tmp 1777 root root 10d", "etc__tmpfiles_dot_d__tmp_dot_conf": "q %T 1777 root root -"}
    assert judge("/tmp/c", **texts) is None


def test_what_is_excluded_is_spared(judge):
    spared = {TMP: "q /tmp 1777 root root 10d", "etc__tmpfiles_dot_d__x_dot_conf": "x /tmp/torchinductor_*"}
    assert judge("/tmp/torchinductor_me", **spared) is None
    assert judge("/tmp/other", **spared) is not None


@pytest.mark.parametrize(("warning", "cleans"), [("true", False), ("false", True)])
def test_tmpreaper_works_once_its_warning_is_off(judge, warning, cleans):
    text = f"SHOWWARNING={warning}\nTMPREAPER_TIME=7d\nTMPREAPER_DIRS='/tmp/. /scratch/.'\n"
    found = judge("/scratch/c", etc__tmpreaper_dot_conf=text)
    assert (found is not None) == cleans
    assert found is None or (found.path, found.age) == ("/scratch", 7 * DAY)

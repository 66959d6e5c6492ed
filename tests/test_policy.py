"""Configuration: every key, and one clear line for each mistake."""

from datetime import UTC, date, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from envdoctor.errors import PolicyError
from envdoctor.model import Severity
from envdoctor.policy import LIMITS, Mute, Policy, parse

FULL = """
target = ".venv"
lock = "lockfiles/train.txt"
groups = ["dev"]
extras = ["cuda"]
allow = ["My_Package", "NVIDIA_*"]
severity = { "packages" = "warning", "packages/foreign" = "error" }

[[mute]]
probe = "packages/altered-file"
subject = "certifi"
until = 2026-12-31
why = "company CA bundle"
[[mute]]
probe = "environment/*"
why = "known"
"""
JUNE_3 = datetime(2026, 6, 3, 23, 59, tzinfo=UTC)


def test_every_key_is_read():
    assert parse(FULL, "/p/envdoctor.toml") == Policy(
        "/p/envdoctor.toml",
        ".venv",
        "lockfiles/train.txt",
        ("dev",),
        ("cuda",),
        ("my-package", "nvidia-*"),
        (
            Mute("packages/altered-file", "company CA bundle", "certifi", date(2026, 12, 31)),
            Mute("environment/*", "known"),
        ),
        {"packages": Severity.WARNING, "packages/foreign": Severity.ERROR},
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", None),
        ("tool = 3", None),
        ("[tool.ruff]\ntarget = 'x'", None),
        ("[tool.envdoctor]\n", Policy("pyproject.toml")),
        ("[tool]\nenvdoctor = { lock = 'a' }", Policy("pyproject.toml", lock="a")),
    ],
)
def test_a_pyproject_is_read_for_its_own_table(text, expected):
    assert parse(text, "pyproject.toml") == expected


def test_threads_are_those_of_the_job_only_where_it_says_so():
    assert parse("threads = true", "envdoctor.toml") == Policy("envdoctor.toml", threads=True)
    assert not Policy().threads


def test_an_empty_file_of_ours_is_a_policy():
    assert parse("", "envdoctor.toml") == Policy("envdoctor.toml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\n\n\nfoo = 1", "4: unknown key foo; known are allow, extras, groups, hosts, limits, lock, mute, plugins, "),
        ("lock = 'a'\n[foo]\n", "2: unknown key foo"),
        ('# foo = 2\n"foo" = 1', "2: unknown key foo"),
        ("zoo = 1\nbar = 1", "2: unknown key bar"),
        ("lock = 3", "1: lock must be a non-empty string"),
        ("\ntarget = ''", "2: target must be a non-empty string"),
        ("groups = 'dev'", "1: groups must be a list of names"),
        ("extras = [1]", "1: extras must be a list of names"),
        ("allow = ['']", "1: allow must be a list of names"),
        ("plugins = 'no'", "1: plugins must be true or false"),
        ("\nthreads = 2", "2: threads must be true or false"),
        ("mute = 'x'", "1: mute must be a list of tables"),
        ("mute = ['x']", "1: mute must be a list of tables"),
        ("[mute]\nprobe = 'x'", "1: mute must be a list of tables"),
        ("\n[[mute]]\nprobe = 'x'", "2: a mute needs probe and why"),
        ("[[mute]]\nprobe = 'x'\nwhy = 'y'\n\n[[mute]]\nwhy = 'y'", "5: a mute needs probe and why"),
        ("[[mute]]\nprobe = 'x'\nwhy = ''", "3: why must be a non-empty string"),
        ("[[mute]]\nprobe = 1", "2: probe must be a non-empty string"),
        ("[[mute]]\nprobe = 'x'\nwhy = 'y'\nuntill = 2026-01-01", "4: unknown key mute.untill"),
        ("mute = [{ probe = 'x', why = 'y', when = 'z' }]", "1: unknown key mute.when"),
        ("[[mute]]\nprobe = 'x'\nwhy = 'y'\nuntil = 'soon'", "4: until must be a date such as 2026-12-31"),
        ("[[mute]]\nprobe = 'x'\nwhy = 'y'\nuntil = 3", "4: until must be a date such as 2026-12-31"),
        ("[[mute]]\nprobe = 'x'\nwhy = 'y'\nuntil = 07:32:00", "4: until must be a date such as 2026-12-31"),
        (
            "[[mute]]\nprobe = 'x'\nwhy = 'y'\nuntil = 2026-01-01\n[[mute]]\nprobe = 'x'\nwhy = 'y'\nuntil = 'soon'",
            "8: until must be a date",
        ),
        ("severity = 'error'", "1: severity must be a table"),
        ("[severity]\n'packages/foreign' = 'fatal'", "2: severity of packages/foreign must be note, warning or error"),
        ("[severity]\npackages = ['error']", "2: severity of packages must be note, warning or error"),
        ("lock = \n", "1: not TOML: "),
        ("a = 1\nb = [\n\n", "4: not TOML: "),
        ("\ufefflock = 'a'", "1: not TOML: "),
        ("a = " + "[" * 5000, "1: not TOML: "),
        ("a = " + "1" * 5000, "1: not TOML: "),
        ("a = 2026-13-45", "1: not TOML: "),
    ],
)
def test_a_mistake_names_its_line(text, message):
    with pytest.raises(PolicyError) as caught:
        parse(text, "envdoctor.toml")
    assert str(caught.value).startswith(f"envdoctor.toml:{message}")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[dependency-groups]\ngroups = ['x']\nlock = 1\n[tool.envdoctor]\nlock = 2", 5),
        ("[project]\ntarget = 1\n\n[ tool . envdoctor ]\n\n\ntarget = 2", 7),
        ("[tool]\nenvdoctor = 3", 2),
    ],
)
def test_in_a_pyproject_the_line_is_of_our_own_table(text, line):
    with pytest.raises(PolicyError, match=rf"^pyproject\.toml:{line}: "):
        parse(text, "pyproject.toml")


@pytest.mark.parametrize("until", ["2026-06-03", "'2026-06-03'", "2026-06-03T00:00:00Z", "'20260603'"])
def test_until_is_a_date_or_a_text(until):
    (mute,) = parse(f"[[mute]]\nprobe = 'x'\nwhy = 'y'\nuntil = {until}", "envdoctor.toml").mutes
    assert mute.until == date(2026, 6, 3)


@pytest.mark.parametrize(("until", "holds"), [(None, True), (date(2026, 6, 3), True), (date(2026, 6, 2), False)])
def test_a_mute_holds_until_its_last_day_is_over(until, holds):
    policy = Policy(mutes=(Mute("packages", "y", until=until),))
    assert policy.mutes_finding("packages/foreign", "sglang", JUNE_3) is holds


@pytest.mark.parametrize(
    ("probe", "subject", "covered"),
    [
        ("packages/foreign", "*", True),
        ("packages", "*", True),
        ("packages/", "*", True),
        ("packages/*", "sgl*", True),
        ("*", "sglang", True),
        ("pack", "*", False),
        ("packages/fore", "*", False),
        ("packages/foreign-x", "*", False),
        ("packages/foreign", "vllm", False),
    ],
)
def test_a_mute_covers_an_id_a_prefix_or_a_pattern(probe, subject, covered):
    assert Mute(probe, "y", subject).covers("packages/foreign", "sglang") is covered


@pytest.mark.parametrize(
    ("probe", "severity"),
    [
        ("packages/foreign", Severity.ERROR),
        ("packages/missing", Severity.NOTE),
        ("packagesx/missing", Severity.WARNING),
        ("cuda/x", Severity.WARNING),
    ],
)
def test_the_longest_entry_sets_the_severity(probe, severity):
    policy = Policy(severity={"packages/": Severity.NOTE, "packages/foreign": Severity.ERROR, "pack": Severity.ERROR})
    assert policy.severity_of(probe, Severity.WARNING) == severity


def test_the_allow_list_takes_names_and_patterns():
    policy = parse("allow = ['Foo.Bar', 'nvidia-*']", "envdoctor.toml")
    assert [policy.allows(name) for name in ("foo-bar", "nvidia-nccl", "foo", "nvidia")] == [True, True, False, False]


KEYS = st.sampled_from(
    ["target", "lock", "groups", "allow", "mute", "severity", "probe", "why", "until", "x", "[[mute]]"]
)
LINES = st.builds(
    "{} = {}".format, KEYS, st.sampled_from(["1", "'a'", "['a']", "[{}]", "{ a = 'b' }", "2026-01-01", "nan"])
)


@given(
    st.lists(LINES | st.just("[[mute]]") | st.text(max_size=8)).map("\n".join),
    st.sampled_from(["envdoctor.toml", "pyproject.toml"]),
)
@example("[tool.envdoctor]\n[[tool.envdoctor.mute]]\n", "pyproject.toml")
def test_no_text_breaks_it(text, path):
    try:
        assert isinstance(parse(text, path), Policy | None)
    except PolicyError as error:
        line = int(str(error).split(":")[1])
        assert 1 <= line <= text.count("\n") + 1


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        ("limits.shm = '16GiB'", {"shm": 16 << 30}),
        ("[limits]\nnofile = 65536\ndisk = '500 MiB'", {"nofile": 65536, "disk": 500 << 20}),
    ],
)
def test_limits_are_numbers_or_sizes_and_the_others_stay(text, limits):
    found = parse(text, "envdoctor.toml").limits
    assert found == {**LIMITS, **limits}


@pytest.mark.parametrize("value", ["'16 parsecs'", "-1", "true", "1.5"])
def test_a_limit_that_is_no_number_names_its_line(value):
    with pytest.raises(PolicyError, match=r"envdoctor.toml:2: shm must be a whole number"):
        parse(f"[limits]\nshm = {value}", "envdoctor.toml")


def test_an_unknown_limit_is_named():
    with pytest.raises(PolicyError, match=r"unknown key limits.ram"):
        parse("limits.ram = 1", "envdoctor.toml")

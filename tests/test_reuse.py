"""A verdict answers for others as long as what it depends on is the same, and it is young enough."""

import os
from dataclasses import replace
from datetime import timedelta

import pytest
from fakes import NOW, FakeHost

from envdoctor import registry, reuse
from envdoctor.errors import UsageError
from envdoctor.facts.variables import ALLOWED, BESIDE, PER_RANK, read_by_facts
from envdoctor.model import Finding, Outcome, Report, Severity, Target, Unavailable
from envdoctor.policy import Policy
from envdoctor.system import shelf

AGE = timedelta(minutes=10)
FOUND = Report(
    None, None, "node7", NOW, 0.3, (Outcome("cuda/gpu-missing", (Finding(Severity.ERROR, "cuda:0", "gone"),)),)
)
INCOMPLETE = replace(FOUND, failed={"driver": "no answer within 10 s"})


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 90), ("30s", 30), ("10m", 600), ("2h", 7200), ("1d", 86400), ("0.5", 0.5), (" 5m ", 300)],
)
def test_an_age_is_read(text, seconds):
    assert reuse.age_of(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize("text", ["", "0", "-1", "m", "10 m", "2d", "1e3", "nan", "9" * 400, "10min"])
def test_what_is_no_age_is_a_usage_error(text):
    with pytest.raises(UsageError, match="is no age of up to a day; say 30s, 10m or 2h"):
        reuse.age_of(text)


class Checks:
    """Count the checks that were really made."""

    def __init__(self, tmp_path):
        self.env = {"XDG_RUNTIME_DIR": str(tmp_path)}
        self.made = 0
        self.depends = []

    def __call__(self, *, after=timedelta(), report=FOUND, key="a" * 64, env=None):
        moment = NOW + after

        def check():
            self.made += 1
            return replace(report, taken_at=moment), self.depends

        host = FakeHost(env=self.env if env is None else env, moment=moment)
        return reuse.look(key, AGE, host) or reuse.shared(key, AGE, 0.1, host, check)


@pytest.fixture
def checks(tmp_path):
    return Checks(tmp_path)


def test_a_young_verdict_is_taken_and_said_to_be_one(checks):
    assert checks() == FOUND
    again = checks(after=timedelta(seconds=75))
    assert again == replace(FOUND, seen={"reuse": "of a verdict that is 75 s old"})
    assert checks.made == 1


@pytest.mark.parametrize("after", [timedelta(minutes=10, seconds=1), timedelta(minutes=-1)])
def test_an_old_one_and_one_of_the_future_are_not(checks, after):
    checks()
    assert "reuse" not in checks(after=after).seen
    assert checks.made == 2


@pytest.mark.parametrize(
    "change",
    [
        lambda path: path.write_text("click==1.0\n"),
        lambda path: path.unlink(),
        lambda path: (path.unlink(), path.mkdir()),
    ],
)
def test_what_it_depends_on_besides_has_to_be_the_same(change, checks, tmp_path):
    (tmp_path / "base.txt").write_text("click==8.1\n")
    checks.depends = [str(tmp_path / "base.txt"), str(tmp_path / "not-there")]
    checks()
    assert "reuse" in checks().seen
    change(tmp_path / "base.txt")
    assert "reuse" not in checks().seen


def test_what_was_not_there_has_to_stay_away(checks, tmp_path):
    checks.depends = [str(tmp_path / "pyproject.toml")]
    checks()
    (tmp_path / "pyproject.toml").touch()
    assert "reuse" not in checks().seen


def test_another_key_is_another_verdict(checks):
    checks()
    checks(key="b" * 64)
    assert checks.made == 2


def test_one_that_is_not_complete_answers_for_nobody_later(checks):
    checks(report=INCOMPLETE)
    checks(after=timedelta(seconds=1))
    assert checks.made == 2


def test_damage_is_no_verdict(checks, tmp_path):
    checks()
    (path,) = tmp_path.rglob("a" * 64)
    for data in (b"", b"{", b"[]", b'{"host": 3}', b'{"report": {}, "depends": []}', b"\xff"):
        path.write_bytes(data)
        assert checks().seen == {}


def test_where_nothing_can_be_shared_it_is_checked_and_said(checks, monkeypatch):
    monkeypatch.setattr("envdoctor.system.shelf.MEMORY", "/nowhere")
    assert checks(env={}).seen["reuse"].startswith("nothing is shared: /nowhere/envdoctor-")


def test_who_waits_in_vain_checks_by_itself(checks, monkeypatch):
    """Another process holds the lock and gives no answer."""
    monkeypatch.setattr("envdoctor.system.shelf._tried", lambda *_: False)
    assert checks() == FOUND
    assert checks() == FOUND
    assert checks.made == 2, "what was checked without the lock is not shared"


def test_who_waited_takes_even_what_is_not_complete(checks, monkeypatch):
    """Or sixty-four ranks would wait for a dead driver one after the other."""
    host = FakeHost(env=checks.env, moment=NOW - timedelta(seconds=5))
    tried = shelf._tried

    def ended(*lock):
        """The other process ends while we wait."""
        checks(report=INCOMPLETE)
        host.moment = NOW + timedelta(seconds=1)
        return tried(*lock)

    monkeypatch.setattr(shelf, "_tried", lambda *lock: (monkeypatch.undo(), ended(*lock))[1])
    assert reuse.shared("a" * 64, AGE, 0.1, host, lambda: pytest.fail("checked again")).failed


@pytest.fixture
def target(tmp_path):
    site = tmp_path / "env/lib/python3.12/site-packages"
    site.mkdir(parents=True)
    for name in ("env/pyvenv.cfg", "train.txt", "train.log"):
        (tmp_path / name).write_text("x")
    return Target(str(tmp_path / "env"), str(tmp_path / "env/bin/python"), str(tmp_path / "train.txt"))


def key(target, policy=None, asked=(), **host):
    return reuse.key_of(target, policy or Policy(), asked, FakeHost(**{"env": {"PATH": "/bin"}, **host}))


def test_the_same_question_has_the_same_key(target):
    assert key(target) == key(target)


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "train.txt").write_text("y"),
        lambda folder: (folder / "env/lib/python3.12/site-packages/six.py").write_text(""),
        lambda folder: (folder / "env/lib/python3.13/site-packages").mkdir(parents=True),
        lambda folder: (folder / "env/pyvenv.cfg").write_text("y"),
        lambda folder: (folder / "env/.envdoctor").mkdir() or (folder / "env/.envdoctor/seal.json").write_text("{}"),
    ],
)
def test_a_changed_disk_changes_the_key(change, target, tmp_path):
    before = key(target)
    os.utime(tmp_path / "train.txt", ns=(1, 1))
    before = key(target)
    change(tmp_path)
    assert key(target) != before


@pytest.mark.parametrize(
    "other",
    [
        {"env": {"PATH": "/bin", "CUDA_VISIBLE_DEVICES": "0"}},
        {"env": {"PATH": "/usr/bin"}},
        {"cwd": "/elsewhere"},
        {"root": "/mnt"},
        {"name": "node8"},
        {"asked": ["+", "cuda"]},
        {"policy": Policy(allow=("sglang",))},
    ],
)
def test_another_question_has_another_key(other, target):
    assert key(target, **other) != key(target)


def test_another_log_group_or_extra_is_another_question(target, tmp_path):
    others = [{"log": str(tmp_path / "train.log")}, {"groups": ("dev",)}, {"extras": ("gpu",)}]
    assert len({key(target), *(key(replace(target, **other)) for other in others)}) == 4


def test_ranks_ask_the_same(target):
    ranks = [{"PATH": "/bin", **dict.fromkeys(PER_RANK, str(n)), "SSH_TTY": str(n)} for n in range(3)]
    assert len({key(target, env=env) for env in ranks}) == 1


def test_no_probe_judges_by_the_rank():
    """Then one check could not answer for all."""
    sources = [probe.check.__code__.co_consts for probe in registry.probes()]
    constants = {text for consts in sources for text in consts if isinstance(text, str)}
    assert constants.isdisjoint(PER_RANK)


class Watched(dict):
    """An environment that notes what is asked for."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.asked = set()

    def get(self, name, default=None):
        self.asked.add(name)
        return super().get(name, default)

    def __getitem__(self, name):
        self.asked.add(name)
        return super().__getitem__(name)

    def __contains__(self, name):
        self.asked.add(name)
        return super().__contains__(name)


def test_no_fact_reads_a_variable_that_is_not_in_the_key(target):
    """Every fact is gathered here, in this process, and every variable that it asks for is one that `key_of` takes."""
    from envdoctor import snapshot

    env = Watched({"HOME": "/nowhere"})
    host = FakeHost(env=env)
    values = {}
    for name, needed in snapshot.FACTS.items():
        try:
            values[name] = snapshot._run(name, target, host, *(values[each] for each in needed))
        except Exception as error:  # noqa: BLE001 - no lock is there; what was asked for before counts
            values[name] = Unavailable(str(error))
    assert {"PATH", "LD_LIBRARY_PATH", "TORCHINDUCTOR_CACHE_DIR", "CC"} <= env.asked, "the test sees them"
    everything = dict.fromkeys(env.asked, "x")
    assert everything.keys() - read_by_facts(everything).keys() == set()


def test_no_secret_is_in_it():
    assert read_by_facts({"PIP_TOKEN": "x", "NVIDIA_API_KEY": "y", "HOME": "/h"}) == {"HOME": "/h"}
    assert not set(BESIDE) & {name for names in ALLOWED.values() for name in names}

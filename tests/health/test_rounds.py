"""Rounds over several environments: whose turn it is, what is known of jobs, what is remembered."""

import time
from pathlib import Path

import pytest
from nobody import NOBODY, as_nobody
from nodes import give

from envdoctor.errors import EnvDoctorError
from envdoctor.health import ahead, looking, places, workflow
from envdoctor.state import environments
from envdoctor.state.values import Subject
from envdoctor.system.host import LocalHost

WHO = 'id -u > "$(dirname "$(dirname "$0")")/uid"\n'
MISSING = "packages/missing-file"
pytestmark = pytest.mark.whole


def visits(node, text=None, **asked):
    """Run a round in this process; return its visits by project."""
    config = str(node.configure(text))
    found = workflow.run(workflow.Asked(config, **asked), LocalHost(env=node.doctor.environment()))
    return {visit.target.split("/")[-2]: visit for visit in found.visits}, found


def skipped(visit):
    return {outcome.probe: outcome.skipped.reason for outcome in visit.report.outcomes if outcome.skipped}


def test_whose_turn_did_not_come_is_first_in_the_next_run(node, monkeypatch):
    """A third of the deadline each: three of five at most."""

    def hang(_, within):
        time.sleep(within)
        raise EnvDoctorError("no answer")

    monkeypatch.setattr(workflow.confined, "answer", hang)
    for number in range(5):
        give(node.patient(f"slow{number}").folder)
    first, second = (visits(node, deadline=1.5)[1].visits for _ in range(2))
    waiting = [visit.target for visit in first if not visit.visited]
    assert len(waiting) >= 2
    assert [visit.target for visit in second][: len(waiting)] == waiting
    assert {(visit.reason, visit.status) for visit in first} == {
        ("no answer", 3),
        ("the deadline came before its turn, which is first in the next run", 3),
    }


def test_a_finding_is_told_once_and_again_when_it_is_gone(node):
    patient = node.patient("one")
    give(patient.folder)
    said, six = [], patient.site / "six.py"
    for act in (six.exists, six.unlink, six.exists, six.touch):
        act()
        changes = node.looks()["one"]["changes"]
        said.append({(change["kind"], change["probe"]) for change in changes if change["probe"] == MISSING})
    assert said == [set(), {("appeared", MISSING)}, set(), {("healed", MISSING)}]


def test_without_a_jobs_variables_what_needs_them_is_not_judged(node):
    give(node.patient("one").folder)
    found, _ = visits(node, keep=False)
    reasons = skipped(found["one"])
    assert reasons["environment/guard-bypassed"].startswith("job environment unknown")
    assert reasons["environment/no-compiler"].startswith("job environment unknown")
    assert reasons["node/low-limits"] == "the limits of a job are not those of a run of health"
    assert "node/small-shm" not in reasons
    assert found["one"].report.seen["job environment"] == "unknown"
    assert {cache.path for cache in found["one"].snapshot.facts.compile_caches.caches} >= {"/tmp/torchinductor_nobody"}


def test_the_configuration_says_what_a_job_has(node):
    patient = node.patient("one")
    give(patient.folder)
    cache = str(patient.folder / "cache")
    found, _ = visits(
        node,
        f'[[target]]\npath = "{patient.prefix}"\nenvironment = {{ TORCHINDUCTOR_CACHE_DIR = "{cache}" }}\n',
        keep=False,
    )
    visit = found["one"]
    assert visit.report.seen["job environment"] == "as configured"
    assert visit.snapshot.facts.compile_caches.of("inductor").path == cache
    assert "environment/guard-bypassed" not in skipped(visit)


def test_a_policy_that_root_names_holds_for_the_machine_as_well(node):
    patient, policy = node.patient("one"), node.private / "policy.toml"
    give(patient.folder)
    text = f'[[target]]\npath = "{patient.prefix}"\n'
    policy.write_text('[limits]\nshm = "900TiB"\n')
    found, _ = visits(node, f'{text}policy = "{policy}"\n')
    assert found["one"].first
    assert "node/small-shm" in {probe for probe, _ in found["one"].report.findings()}
    policy.write_text('[limits]\nshm = "900TiB"\n[[mute]]\nprobe = "node"\nwhy = "known"\n')
    found, _ = visits(node, f'{text}policy = "{policy}"\n')
    assert not found["one"].first
    assert "node/small-shm" not in {probe for probe, _ in found["one"].report.findings()}


def test_else_the_owners_last_check_says_it(node, monkeypatch):
    patient = node.patient("one")
    give(patient.folder)
    state, host = str(patient.folder / "state" / "x.sqlite"), LocalHost()
    subject = Subject(host.name, str(NOBODY), str(patient.prefix))
    ahead.load()  # nobody may not be able to read what would be imported late
    as_nobody(lambda: environments.record(state, subject, {"CUDA_HOME": "/opt/theirs"}, host.now()))
    monkeypatch.setattr(looking, "path_of", lambda *_: state)
    found, _ = visits(node, keep=False)
    assert found["one"].report.seen["job environment"].startswith("as of its owner's last check, ")
    assert found["one"].snapshot.facts.variables.values["CUDA_HOME"] == "/opt/theirs"


def test_on_a_network_file_system_little_is_read_and_that_hourly(node, monkeypatch):
    give(node.patient("far").folder)
    mounts = places.parse_mountinfo(Path("/proc/self/mountinfo").read_text())
    kind = places.mount_of(str(node.folder), mounts).kind
    monkeypatch.setattr(places, "NETWORK_KINDS", frozenset({kind}))
    first, _ = visits(node)
    seen = skipped(first["far"])["packages/missing-file"]
    assert seen == f"it lies on a file system of type {kind}: health reads little of it"
    assert first["far"].report.seen["packages"] == 2
    assert first["far"].report.seen["interpreter"] == f"not started: it lies on a file system of type {kind}"
    second, found = visits(node)
    assert second["far"].report is None
    assert second["far"].reason.startswith(f"lies on a file system of type {kind}, looked at ")
    assert second["far"].last == first["far"].report.verdict
    assert found.status == 0


def test_an_ordinary_user_starts_what_is_his_and_reads_the_rest(node):
    mine, theirs = node.patient("mine"), node.patient("theirs", uid=0)
    for patient in (mine, theirs):
        patient.interpreter(WHO)
    give(mine.folder)
    targets = tuple(places.Wanted(str(patient.prefix)) for patient in (mine, theirs))
    ahead.load()

    def run():
        survey = places.survey(targets, (), within=5)
        asked = workflow.Asked(keep=False)
        memory = workflow.Memory(str(mine.folder / "none.sqlite"), LocalHost(), keep=False)
        host = LocalHost(env={"HOME": "/"}, cwd="/")
        return [
            visit.report.seen.get("interpreter", visit.reason)
            for visit in workflow._visits(survey.places, asked, memory, host, workflow.time.monotonic() + 20)
        ]

    assert as_nobody(run) == ["", "not started: it belongs to root"]
    assert (mine.prefix / "uid").read_text().split() == [str(NOBODY)]
    assert not (theirs.prefix / "uid").exists()


def test_what_is_named_and_not_there_is_said(node):
    for name in ("plain", "empty"):
        (node.folder / name).mkdir()
    paths = (node.folder / name for name in ("none*", "pl*", "empty", "gone"))
    _, found = visits(node, "".join(f'[[target]]\npath = "{path}"\n' for path in paths))
    nothing = "is not a Python environment (no pyvenv.cfg, conda-meta or lib/pythonX.Y)"
    assert found.said == (f"{node.folder}/none*: matches nothing", f"{node.folder}/plain: {nothing}")
    assert [(visit.target, visit.reason, visit.status) for visit in found.visits] == [
        (f"{node.folder}/empty", nothing, 3),
        (f"{node.folder}/gone", f"{node.folder}/gone: No such file or directory", 3),
    ]


def test_generations_are_their_link_once(node):
    patient = node.patient("one")
    home = patient.folder / ".envs" / ".venv"
    home.mkdir(parents=True)
    patient.prefix.rename(home / "2")
    (home / "1").mkdir()
    (home / "1" / "pyvenv.cfg").touch()
    patient.prefix.symlink_to(".envs/.venv/2")
    give(patient.folder)
    pattern = f'[[target]]\npath = "{home}/*"\n[[target]]\npath = "{patient.folder}/.venv"\n'
    _, found = visits(node, pattern, keep=False)
    assert [visit.target for visit in found.visits] == [str(patient.prefix)]


def test_without_a_configuration_it_is_the_environment_that_check_would_take(node):
    patient = node.patient("one")
    give(patient.folder)
    answer = node.doctor(
        "health", "--config", node.configure("#"), "--no-state", cwd=patient.folder, env={"VIRTUAL_ENV": ""}
    )
    assert f"HEALTHY   {patient.prefix} (nobody)" in answer.stdout or f"WARNINGS  {patient.prefix}" in answer.stdout
    assert not node.state.exists()


def test_below_root_nothing_is_started(node):
    patient = node.patient("one")
    patient.interpreter(WHO)
    give(patient.folder)
    answer = node.doctor("health", "--root", node.folder, "--target", patient.prefix, "--format", "json", "--no-state")
    report = answer.report["targets"][0]["report"]
    assert report["seen"]["interpreter"] == "not started: --root: nothing is started"
    assert report["failed"] == []
    assert not (patient.prefix / "uid").exists()


@pytest.mark.parametrize("columns", [80, 120])
def test_text_keeps_to_the_width(columns):
    from envdoctor.reports import layout, rounds

    message = "six 1.17.0 lacks 3 of its files, and nothing that imports it can start any more because of that"
    change = {"kind": "appeared", "probe": MISSING, "severity": "error", "message": message}
    report = {"findings": [{"severity": "error"}, {"severity": "warning"}], "failed": [], "seen": {"torch": "2.11.0"}}
    visit = {
        "target": "/home/ann/train/.venv", "owner": "ann", "reason": "", "visited": True, "verdict": "sick",
        "changes": [change], "report": report, "first": False,
    }  # fmt: skip
    late = {**visit, "reason": "the deadline came before its turn, which is first in the next run", "report": None}
    late |= {"verdict": None, "visited": False, "changes": []}
    document = {"host": "node7", "note": "", "said": [], "seconds": 1.24, "targets": [visit, late]}
    lines = rounds.render(document, layout.Style(columns)).splitlines()
    assert lines[:2] == [
        "node7: 1 of 2 environments looked at in 1.2 s",
        "SICK      /home/ann/train/.venv (ann): 1 error, 1 warning",
    ]
    assert lines[2].startswith("          appeared: error: six 1.17.0 lacks")
    assert any(line.startswith("NOT YET   /home/ann/train/.venv (ann): the deadline") for line in lines)
    assert max(map(len, lines)) <= columns
    assert len(rounds.render(document).splitlines()) == 4
    noted = {**visit, "changes": [{**change, "severity": "note"}, change]}
    assert len(rounds.render({**document, "targets": [noted]}).splitlines()) == 4
    assert len(rounds.render({**document, "targets": [{**noted, "first": True}]}).splitlines()) == 3

"""Rebuilds by the real command line, real installers and real venvs: what is active is always a whole environment."""

import json
import os
import random
import shutil
import subprocess
import sys
import time

import pytest
from doctor import COMMAND
from rebuilds import CLEAN, CONTAMINATED, DATA, MOVED, SERVING, job, kill_after, lab

from envdoctor.wheels import Wheel, requirements_lock

pytestmark = pytest.mark.venv
INSTALLERS = ("uv", "pip")


@pytest.fixture
def contaminated(tmp_path, new_venv, doctor):
    return lab(tmp_path, new_venv, doctor)


def test_the_plan_says_what_would_happen_and_nothing_does(contaminated):
    before = sorted(os.listdir(contaminated.venv.project))
    answer = contaminated.rebuild("--dry-run")
    assert answer.status == 0, answer.stderr
    for said in (
        "leaves (1): sglang 0.5.9",
        "transformers 5.8.1 -> 5.6.0 (moved by sglang)",
        "what would be done",
        "exchange the",
    ):
        assert said in answer.stdout
    plan = json.loads(contaminated.rebuild("--dry-run", "--format", "json").stdout)["plan"]
    assert plan["kind"] == "directory"
    assert [item["name"] for item in plan["leaves"]] == ["sglang"]
    assert sorted(os.listdir(contaminated.venv.project)) == before


@pytest.mark.parametrize("installer", INSTALLERS)
def test_contaminated_clean_contaminated_clean(contaminated, installer):
    lab = contaminated
    answer = lab.rebuild("--installer", installer)
    assert answer.status == 0, answer.stderr
    assert lab.versions() == CLEAN
    assert lab.works("tokens") == "tokens"
    assert lab.works("python", "-c", '"import sys; print(sys.prefix)"') == str(lab.home / lab.active)
    found = lab.doctor.check(lab.link)  # judged by the lock that it was made from
    assert [f["message"] for f in found.findings() if f["severity"] != "note"] == [
        "tokens.pth, installed by tokens, runs at every start: import tokens"
    ]
    linked = [path for path in (lab.home / lab.active).rglob("*") if path.is_file() and path.stat().st_nlink > 1]
    assert [path for path in linked if not path.is_symlink()] == []
    first = lab.active
    assert lab.run("rollback").status == 0
    assert lab.versions() == CONTAMINATED
    assert lab.works("python", "-c", '"import sglang, transformers; print(transformers.VERSION)"') == "5.8.1"
    again = lab.run("rollback")
    assert again.status == 0, again.stderr
    assert (lab.active, lab.versions()) == (first, CLEAN)
    assert "every file of it is as it was" in again.stdout
    assert lab.left_over() == []


def test_a_second_rebuild_replaces_a_link_by_a_link(contaminated):
    lab = contaminated
    lab.rebuild()
    first = lab.active
    answer = lab.rebuild("--dry-run")
    assert "3 stay as they are, of 3" in answer.stdout
    assert lab.rebuild().status == 0
    assert lab.active != first
    listed = json.loads(lab.run("generations", "--format", "json").stdout)["found"]
    assert [item["state"] for item in listed] == ["active", "previous", "adopted"]


def test_activation_and_then_a_rebuild_do_no_harm(contaminated):
    """VIRTUAL_ENV names the generation; the rebuild is of its link."""
    lab = contaminated
    lab.rebuild()
    first = lab.home / lab.active
    words = [word for word in lab.arguments() if word not in ("--target", lab.link)]
    answer = lab.doctor(*words, cwd=lab.venv.project, env=lab.variables(VIRTUAL_ENV=str(first)))
    assert answer.status == 0, answer.stderr
    assert (first.is_dir(), lab.home / lab.active != first) == (True, True)
    # now the shell has one activated that is active no more
    assert lab.doctor(*words, cwd=lab.venv.project, env=lab.variables(VIRTUAL_ENV=str(first))).status == 0
    assert lab.versions() == CLEAN


def test_venv_clear_through_the_link_does_no_lasting_harm(contaminated):
    lab = contaminated
    lab.rebuild()
    first = lab.active
    subprocess.run([sys.executable, "-m", "venv", "--clear", "--without-pip", lab.link], check=False)
    assert lab.versions() == {}
    listed = json.loads(lab.run("generations", "--format", "json").stdout)["found"]
    assert {item["name"]: item["state"] for item in listed}[first] == "damaged"
    assert lab.rebuild().status == 0
    assert lab.versions() == CLEAN  # and no pip, as there was none before
    refused = lab.run("rollback")
    assert (refused.status, "not complete" in refused.stderr) == (2, True)
    adopted = next(path.name for path in lab.home.iterdir() if path.name.startswith("adopted-"))
    assert lab.run("rollback", "--to", adopted).status == 0
    assert lab.versions() == CONTAMINATED


def test_a_rollback_to_what_was_changed_meanwhile_is_refused(contaminated):
    lab = contaminated
    lab.rebuild()
    adopted = next(path for path in lab.home.iterdir() if path.name.startswith("adopted-"))
    (changed,) = adopted.glob("lib/python3*/site-packages/tokens/__init__.py")
    changed.write_text("# edited\n")
    answer = lab.run("rollback")
    assert (answer.status, "tokens/__init__.py: altered" in answer.stderr) == (2, True)
    assert lab.versions() == CLEAN
    assert lab.run("rollback", "--force").status == 0


def test_an_editable_project_is_installed_again_and_others_are_named(contaminated):
    lab = contaminated
    own = lab.venv.sources(".", "trainer", "1.0")
    other = lab.venv.sources("hack", "hack", "1.0")
    lab.venv.pip("install", "--no-deps", "--no-build-isolation", "-e", own)
    lab.venv.pip("install", "--no-deps", "--no-build-isolation", "-e", other)
    (lab.link / "src").mkdir()
    plan = json.loads(lab.rebuild("--dry-run", "--format", "json").stdout)["plan"]
    assert [item["name"] for item in plan["projects"]] == ["trainer"]
    lost = {item["what"]: item["path"] for item in plan["losses"]}
    assert lost == {"editable project": str(other), "directory": str(lab.link / "src")}
    answer = lab.rebuild()
    assert answer.status == 0, answer.stderr
    assert lab.versions() == {**CLEAN, "trainer": "1.0"}
    assert lab.works("python", "-c", '"import trainer"') == ""
    assert lab.rebuild("--no-project").status == 0
    assert lab.versions() == CLEAN


JOB = "import sys; print(sys.prefix, flush=True); input(); import tokens.late; print(tokens.late.__file__, flush=True)"


def started(lab, how):
    """Start a job by the link or by activation."""
    if how == "link":
        return job(str(lab.link / "bin" / "python"), "-c", JOB)
    return job("sh", "-c", f". \"{lab.link}/bin/activate\" && exec python -c '{JOB}'")


@pytest.mark.parametrize("how", ["link", "activation"])
def test_a_job_of_the_directory_blocks_the_first_migration(contaminated, how):
    lab = contaminated
    with started(lab, how) as running:
        running.stdout.readline()
        answer = lab.rebuild()
        assert (answer.status, f"process {running.pid} " in answer.stderr) == (2, True), answer.stderr
        assert not lab.link.is_symlink()
        assert lab.rebuild("--force").status == 0


def test_a_job_of_an_activated_generation_keeps_it(contaminated):
    lab = contaminated
    lab.rebuild()
    first = lab.active
    with started(lab, "activation") as running:
        running.stdout.readline()
        assert lab.rebuild().status == 0
        assert lab.active != first
        running.stdin.write("\n")
        running.stdin.flush()
        assert first in running.stdout.readline()


def test_a_job_started_through_the_link_blocks(contaminated):
    lab = contaminated
    lab.rebuild()
    first = lab.active
    with started(lab, "link") as running:
        running.stdout.readline()
        answer = lab.rebuild()
        assert (answer.status, f"process {running.pid} " in answer.stderr) == (2, True)
        assert lab.active == first
        rolled = lab.run("rollback")
        assert (rolled.status, "would mix" in rolled.stderr) == (2, True)


def refusals():
    def conda(lab):
        (lab.link / "conda-meta").mkdir()

    def no_venv(lab):
        (lab.link / "pyvenv.cfg").unlink()

    return {"conda environment": conda, "no virtual environment": no_venv}


@pytest.mark.parametrize("said", refusals())
def test_what_cannot_be_rebuilt_is_refused_before_any_work(contaminated, said):
    refusals()[said](contaminated)
    answer = contaminated.rebuild()
    assert (answer.status, said in answer.stderr) == (2, True), answer.stderr
    assert not (contaminated.venv.project / ".envs").exists()


def test_without_an_answer_nothing_is_done(contaminated):
    lab = contaminated
    words = [word for word in lab.arguments() if word != "--yes"]
    answer = lab.doctor(*words, cwd=lab.venv.project, env=lab.variables())
    assert (answer.status, "--yes" in answer.stderr) == (2, True)
    assert not lab.link.is_symlink()


def test_a_lock_that_fails_its_audit_stops_it(contaminated):
    lab = contaminated
    lab.venv.lock.write_text("tokens==1.0\n")
    answer = lab.rebuild()
    assert (answer.status, "unhashed" in answer.stderr) == (1, True), answer.stderr
    assert not (lab.venv.project / ".envs").exists()


def failures():
    def wrong_hash(lab):
        """As in pypa/pip#9629."""
        other = Wheel("tokens", "1.0", {"tokens/__init__.py": "evil = 1\n"})
        (lab.venv.wheelhouse / other.filename).write_bytes(other.archive())
        return "fetch"

    def other_platform(lab):
        (lab.venv.wheelhouse / DATA.filename).unlink()
        other = Wheel("data-tools", "2.0", {"data_tools/__init__.py": ""}, tag="cp39-cp39-win_amd64")
        other.build(lab.venv.wheelhouse)
        lab.venv.lock.write_text(requirements_lock([other]))
        return "fetch"

    def sick(lab):
        wheel = Wheel("lonely", "1.0", {"lonely/__init__.py": ""}, ("missing-one>=2",))
        wheel.build(lab.venv.wheelhouse)
        lab.venv.lock.write_text(requirements_lock([wheel]))
        return "seal"

    def no_index(lab):
        (lab.venv.wheelhouse / DATA.filename).unlink()
        return "fetch"

    def unbuildable(lab):
        own = lab.venv.sources(".", "trainer", "1.0")
        lab.venv.pip("install", "--no-deps", "--no-build-isolation", "-e", own)
        (own / "backend.py").write_text("import compiler_of_mine\n")
        return "project"

    found = {"wrong hash": wrong_hash, "other platform": other_platform, "a lock that makes a sick environment": sick}
    return found | {"an index that is gone": no_index, "a build that fails": unbuildable}


@pytest.mark.parametrize(("installer", "kind"), [*(("uv", kind) for kind in failures()), ("pip", "a build that fails")])
def test_a_failed_step_is_named_and_the_old_environment_is_untouched(contaminated, kind, installer):
    lab = contaminated
    step = failures()[kind](lab)
    before = lab.versions()
    # nobody listens at the discard port
    gone = {"PIP_NO_INDEX": "0", "PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PIP_RETRIES": "0"}
    answer = lab.rebuild("--installer", installer, env=gone if kind == "an index that is gone" else {})
    assert answer.status == 3, answer.stderr
    assert f"envdoctor: {step}: " in answer.stderr
    assert f"{lab.link} is as it was, and active" in answer.stderr
    assert not lab.link.is_symlink()
    assert lab.versions() == before
    assert lab.left_over() == []
    logs = list((lab.home / "logs").iterdir())
    assert len(logs) == 1


APART = """
cd / && cp -a "$1" "$1.kept" && {mount} && cp -a "$1.kept/." "$1" {then} || exit 99
cd "$1" && shift && "$@"; echo "status $?"
. .venv/bin/activate && tokens && python -c 'import sglang'
test -L .venv && echo switched; ls -A .envs/.venv 2>/dev/null
"""
"""In mounts of its own: the project on another file system, a rebuild, and what is there afterwards."""
ROOM = 'mount -t tmpfs -o {} tmpfs "$1"'


def apart(lab, mount, *options, then=""):
    """Run a rebuild with the project on a file system of its own."""
    probe = subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False)
    if probe.returncode:
        pytest.skip(f"no mount namespace: {probe.stderr.decode().strip()}")
    words = [*COMMAND, *map(str, lab.arguments(*options))]
    script = APART.format(mount=mount, then=then)
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", script, "sh", str(lab.venv.project), *words],
        env=lab.doctor.environment(**lab.variables(XDG_CACHE_HOME=str(lab.venv.wheelhouse / "cache"))),
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr
    return done.stdout.splitlines(), done.stderr


def inodes(lab):
    return sum(1 for _ in lab.venv.project.rglob("*"))


@pytest.mark.parametrize("installer", INSTALLERS)
def test_a_disk_that_fills_up_leaves_the_old_environment(contaminated, installer):
    lab = contaminated
    room = ROOM.format(f"size=2g,nr_inodes={inodes(lab) + 45}")
    said, problem = apart(lab, room, "--installer", installer)
    assert "status 3" in said, problem
    assert "no space" in problem.lower()
    assert ("tokens" in said, "switched" in said) == (True, False)
    assert [name for name in said if name.startswith((".trash", "0", "pending"))] == []


def test_too_small_a_disk_is_said_before_anything_is_installed(contaminated):
    said, problem = apart(contaminated, ROOM.format("size=40m"))
    assert "status 3" in said
    assert "MiB free" in problem
    assert ("tokens" in said, "switched" in said) == (True, False)


def test_a_read_only_parent_is_refused(contaminated):
    read_only = '&& mount -o remount,ro "$1"'
    said, problem = apart(contaminated, ROOM.format("size=1g"), then=read_only)
    assert "status 2" in said, problem
    assert "read-only" in problem
    assert ("tokens" in said, "switched" in said) == (True, False)


def test_a_red_environment_is_kept_for_inspection_and_goes_with_the_next(contaminated):
    lab = contaminated
    good = lab.venv.lock.read_text()
    failures()["a lock that makes a sick environment"](lab)
    assert lab.rebuild().status == 3
    (red,) = json.loads(lab.run("generations", "--format", "json").stdout)["found"]
    assert (red["state"], "missing-one" in red["marker"]["why"]) == ("red", True)
    assert "lonely" in lab.versions(red["place"])
    lab.venv.lock.write_text(good)
    assert lab.rebuild().status == 0
    assert not os.path.exists(red["place"])


def test_a_red_smoke_keeps_the_old_environment_active(contaminated):
    """No torch is in this lock, so that the first step fails."""
    lab = contaminated
    words = [word for word in lab.arguments("--devices", "cpu") if word not in ("--smoke", "none")]
    answer = lab.doctor(*words, cwd=lab.venv.project, env=lab.variables())
    assert answer.status == 3, answer.stderr
    assert "envdoctor: smoke: quick on cpu, as asked: 1 of" in answer.stderr
    assert "--smoke none" in answer.stderr
    assert lab.versions() == CONTAMINATED
    (red,) = json.loads(lab.run("generations", "--format", "json").stdout)["found"]
    assert (red["state"], lab.versions(red["place"])) == ("red", CLEAN)
    assert lab.run("rollback", "--to", red["name"]).status == 2
    assert lab.run("rollback", "--to", red["name"], "--force").status == 0
    assert lab.versions() == CLEAN


def test_without_a_torch_there_is_nothing_to_smoke(contaminated):
    lab = contaminated
    words = [word for word in lab.arguments() if word not in ("--smoke", "none")]
    answer = lab.doctor(*words, cwd=lab.venv.project, env=lab.variables())
    assert (answer.status, "smoke: none: torch is not installed" in answer.stdout) == (0, True), answer.stderr


def test_a_new_environment_where_there_was_none(contaminated):
    lab = contaminated
    shutil.rmtree(lab.link)
    answer = lab.rebuild("--python", sys.executable)
    assert answer.status == 0, answer.stderr
    assert lab.works("tokens") == "tokens"


def test_two_at_once_do_not_mix(contaminated):
    lab = contaminated
    running = [lab.doctor.start(*lab.arguments(), env=lab.variables()) for _ in range(2)]
    ended = [(process.communicate(timeout=120), process.returncode) for process in running]
    assert sorted(status for _, status in ended) in ([0, 0], [0, 3]), ended
    for (_, stderr), status in ended:
        assert status == 0 or b"is being changed by process" in stderr
    assert lab.versions() == CLEAN
    assert lab.left_over() == []


@pytest.mark.parametrize("seed", range(5))
def test_killed_at_any_moment_the_target_runs_and_the_next_rebuild_succeeds(contaminated, seed):
    killed_and_rebuilt(contaminated, random.Random(seed), group=seed % 2 == 0, moments=2)  # noqa: S311


def killed_and_rebuilt(lab, chance, *, group, moments):
    for _ in range(moments):
        before = lab.versions()
        installer = chance.choice(INSTALLERS)
        words = (*lab.arguments("--installer", installer), "--quiet")
        process = lab.doctor.start(*words, env=lab.variables(), start_new_session=True)
        kill_after(process, chance.uniform(0.05, 4.5), group=group)
        assert lab.versions() in (before, CLEAN)
        assert lab.works("tokens") == "tokens"
        assert lab.works("python", "-c", '"import transformers"') == ""
    answer = lab.rebuild()
    assert answer.status == 0, answer.stderr
    assert lab.versions() == CLEAN
    assert lab.left_over() == []
    assert not list((lab.venv.project / "cache").rglob("*.part"))


def test_progress_as_json_lines_and_quiet(contaminated):
    lab = contaminated
    answer = lab.rebuild("--progress", "json")
    said = [json.loads(line) for line in answer.stderr.splitlines()]
    steps = list(dict.fromkeys(item["step"] for item in said))
    assert steps[0] == "fetch"
    assert {"create", "install", "verify", "seal", "switch"} <= set(steps)
    assert [item["at"] for item in said] == sorted(item["at"] for item in said)
    assert lab.rebuild("--quiet").stderr == ""
    (lab.venv.wheelhouse / DATA.filename).unlink()
    shutil.rmtree(lab.venv.project / "cache")
    failed = lab.rebuild("--progress", "json", "--offline")
    last = json.loads(failed.stderr.splitlines()[-1])
    assert (failed.status, last["failed"], last["status"]) == (3, "fetch", 3)
    assert f"{lab.link} is as it was, and active" in last["advice"]


def test_old_generations_go_after_a_day_and_nobody_uses_them(contaminated):
    lab = contaminated
    for _ in range(3):
        assert lab.rebuild("--keep", "0").status == 0
    names = {path.name for path in lab.home.iterdir() if path.is_dir()} - {"logs", "states"}
    assert len(names) == 4
    journal = lab.home / "journal.jsonl"
    year = time.strftime("%Y")
    journal.write_text(journal.read_text().replace(f'"at": "{year}', '"at": "2020'))
    assert lab.run("generations", "--prune", "--keep", "1").status == 0
    assert len([path for path in lab.home.iterdir() if path.is_dir()]) == 4  # two generations, logs, states


def test_a_frozen_one_says_so_and_goes_when_its_time_has_come(contaminated):
    lab = contaminated
    answer = lab.rebuild("--freeze")
    assert answer.status == 0, answer.stderr
    place = lab.home / lab.active
    assert not [
        path
        for path in place.rglob("*")
        if ".envdoctor" not in path.parts and not path.is_symlink() and path.stat().st_mode & 0o222
    ]
    frozen = {
        item["state"]: item["frozen"] for item in json.loads(lab.run("generations", "--format", "json").stdout)["found"]
    }
    assert frozen == {"active": True, "previous": False}
    assert lab.doctor.check(lab.link, "--lock", lab.venv.lock).findings("environment/freeze-bypassed") == []
    assert lab.rebuild().status == 0
    shutil.rmtree(lab.home / "states")
    journal = lab.home / "journal.jsonl"
    journal.write_text(journal.read_text().replace(f'"at": "{time.strftime("%Y")}', '"at": "2020'))
    assert lab.run("generations", "--prune", "--keep", "0").status == 0
    assert not place.exists()


def test_unused_wheels_stay_out_of_it(contaminated):
    """What the wheelhouse has beside the lock is not taken."""
    assert {MOVED.filename, SERVING.filename} <= set(os.listdir(contaminated.venv.wheelhouse))
    assert contaminated.rebuild().status == 0
    assert contaminated.versions() == CLEAN


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(100))
def test_two_hundred_kills(contaminated, seed):
    killed_and_rebuilt(contaminated, random.Random(seed + 1000), group=seed % 2 == 0, moments=2)  # noqa: S311

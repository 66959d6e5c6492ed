"""Rebuilds of the unlucky and of the hostile: odd paths, things in the way, signals, closed streams, missing links."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest
from rebuilds import CLEAN, CONTAMINATED, lab

pytestmark = pytest.mark.venv


@pytest.fixture
def contaminated(tmp_path, new_venv, doctor):
    return lab(tmp_path, new_venv, doctor)


def one_line(answer, status):
    """Check that an error is one line that says what it is, and no fault of the doctor's."""
    said = [line for line in answer.stderr.splitlines() if line.startswith("envdoctor: ")]
    assert (answer.status, len(said), "fault of envdoctor" in answer.stderr) == (status, 1, False), answer.stderr
    return said[0]


def rows(lab):
    return json.loads(lab.run("generations", "--format", "json").stdout)["found"]


@pytest.mark.parametrize("installer", ["uv", "pip"])
def test_a_path_may_be_odd(contaminated, tmp_path, installer):
    lab = contaminated
    link = tmp_path / "-it's, an #[écu]%20*?" / "-v#1,"
    link.parent.mkdir()
    # one without pip: it need not be given the interpreter's own, which takes its time
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", link], check=True)
    words = [link if word == lab.link else word for word in lab.arguments("--installer", installer)]
    answer = lab.doctor(*words, cwd=tmp_path, env=lab.variables())
    assert answer.status == 0, answer.stderr
    done = subprocess.run([link / "bin" / "tokens"], capture_output=True, text=True, check=False)
    assert done.stdout == "tokens\n", done.stderr
    assert CLEAN.items() <= lab.versions(link).items()


def test_a_path_that_no_environment_can_have_is_refused(contaminated, tmp_path):
    for name in ("a\nb", "a\tb", 'a"b', "a$b", "a`b", ".envs"):
        words = [tmp_path / name if word == contaminated.link else word for word in contaminated.arguments()]
        one_line(contaminated.doctor(*words, cwd=tmp_path, env=contaminated.variables()), 2)
        assert not os.path.lexists(tmp_path / name)


OCCUPIED = {
    ".envs": 2,
    ".envs/.venv": 2,
    ".envs/.venv/logs": 2,
    ".envs/.venv/states": 2,
    ".envs/.venv/lock": 3,
    ".envs/.venv/journal.jsonl": 3,
}
"""Exit status where something else lies in a place of the layout's."""


def test_whatever_lies_in_the_way_is_named(contaminated):
    lab = contaminated
    for path, status in OCCUPIED.items():
        place = lab.venv.project / path
        place.parent.mkdir(parents=True, exist_ok=True)
        os.mkfifo(place)
        assert str(place) in one_line(lab.rebuild(), status)
        assert not lab.link.is_symlink()
        place.unlink()
        shutil.rmtree(lab.venv.project / ".envs", ignore_errors=True)
    (lab.venv.project / "big").mkdir()
    (lab.venv.project / ".envs").symlink_to("big")
    assert "is a link" in one_line(lab.rebuild(), 2)


def test_another_environment_in_the_place_of_the_generations_is_left_alone(contaminated):
    lab = contaminated
    lab.home.mkdir(parents=True)
    (lab.home / "pyvenv.cfg").write_text("home = /usr/bin\n")
    assert "is an environment" in one_line(lab.rebuild(), 2)
    assert os.listdir(lab.home) == ["pyvenv.cfg"]


def test_a_dry_run_changes_nothing_at_all(contaminated):
    lab = contaminated

    def all_of_it():
        found = {}
        for path in (lab.venv.project.parent, *lab.venv.project.parent.rglob("*")):
            status = path.lstat()
            found[path] = (status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
        return found

    before = all_of_it()
    assert lab.rebuild("--dry-run", "--installer", "pip").status == 0
    lab.run("generations", "--prune")
    lab.run("rollback")
    assert all_of_it() == before


@pytest.mark.parametrize("how", ["generation", "both"])
def test_a_generation_or_a_link_that_is_gone_is_got_over(contaminated, how):
    lab = contaminated
    assert lab.rebuild().status == 0
    if how != "link":
        shutil.rmtree(lab.home / lab.active)
    if how != "generation":
        lab.link.unlink()
    (adopted,) = [row["name"] for row in rows(lab) if row["name"].startswith("adopted-")]
    answer = lab.run("rollback", "--to", adopted)
    assert answer.status == 0, answer.stderr
    assert lab.versions() == CONTAMINATED
    assert lab.rebuild().status == 0
    assert (lab.versions(), lab.left_over()) == (CLEAN, [])


def test_a_new_directory_in_the_place_of_the_link_is_kept_and_known(contaminated):
    lab = contaminated
    assert lab.rebuild().status == 0
    lab.link.unlink()
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", lab.link], check=True)
    assert lab.run("rollback").status == 0
    assert lab.versions() == CLEAN
    back = lab.run("rollback")
    assert (back.status, "every file of it is as it was" in back.stdout) == (0, True), back.stderr
    assert lab.versions() == {}


def test_a_prune_spares_what_any_link_leads_to(contaminated):
    lab = contaminated
    for _ in range(2):
        assert lab.rebuild("--keep", "9").status == 0
    active = lab.active
    lab.link.rename(lab.venv.project / "current")
    lab.link.symlink_to("current")
    journal = lab.home / "journal.jsonl"
    journal.write_text(journal.read_text().replace(f'"at": "{time.strftime("%Y")}', '"at": "2020'))
    assert lab.run("generations", "--prune", "--keep", "0").status == 0
    assert [row["name"] for row in rows(lab)] == [active]
    assert lab.works("tokens") == "tokens"


def test_damaged_states_can_be_forced(contaminated):
    lab = contaminated
    assert lab.rebuild().status == 0
    (state,) = (lab.home / "states").iterdir()
    state.unlink()
    os.mkfifo(state)
    assert "--force" in one_line(lab.run("rollback"), 3)
    assert lab.run("rollback", "--force").status == 0
    assert lab.versions() == CONTAMINATED


@pytest.mark.parametrize(
    ("step", "number", "status"),
    [("create", signal.SIGINT, 130), ("install", signal.SIGHUP, 129), ("seal", signal.SIGTERM, 143)],
)
def test_a_signal_ends_it_with_nothing_left(contaminated, step, number, status):
    lab = contaminated
    process = lab.doctor.start(*lab.arguments(), env=lab.variables(), text=True)
    for line in process.stderr:
        if f" s  {step} " in line:
            break
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert process.returncode == status, said
    assert ("interrupted: the old environment is active" in said, "Traceback" in said) == (True, False), said
    assert (lab.link.is_symlink(), lab.versions()) == (False, CONTAMINATED)
    assert (lab.left_over(), rows(lab)) == ([], [])


def test_no_stream_is_needed(contaminated):
    lab = contaminated
    words = [str(word) for word in (sys.executable, "-m", "envdoctor", *lab.arguments())]

    def shell(*argv, tail):
        done = subprocess.run(
            ["sh", "-c", f'"$@" {tail}', "sh", *argv],
            env=lab.doctor.environment(**lab.variables()),
            cwd=lab.venv.project,
            capture_output=True,
            text=True,
            check=False,
        )
        assert "fault of envdoctor" not in done.stderr
        return done

    unasked = shell(*[word for word in words if word != "--yes"], tail="<&-")
    assert (unasked.returncode, "--yes" in unasked.stderr) == (2, True)
    assert shell(*words, tail="<&- >&- 2>&-").returncode == 0
    full = shell(*words, tail=">/dev/full")
    assert (full.returncode, "is rebuilt, and" in full.stderr, lab.versions()) == (3, True, CLEAN)


def test_devices_that_are_none_are_said_before_any_work(contaminated):
    one_line(contaminated.rebuild("--devices", "zz"), 2)
    assert not (contaminated.venv.project / ".envs").exists()

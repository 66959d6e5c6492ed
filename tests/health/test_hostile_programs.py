"""Programs that a user has laid out for root to start: each runs as its owner, or not at all, and never on."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from nobody import NOBODY
from nodes import SIX, give

pytestmark = pytest.mark.whole
WHO = 'id -u > "$(dirname "$(dirname "$0")")/uid"\n'
SLEEP = f"{86400 + os.getpid() / 2**23}"
"""Seconds of a sleep that can be told from any other, also of the same test in another process."""
SWAP = """
import os, time
while True:
    time.sleep(0.0005)
    for one, other in (("{good}", "x"), ("{bad}", "{good}"), ("{good}", "{bad}"), ("x", "{good}")):
        os.rename(one, other)
"""
PLANT = "import os; open({path!r}, 'a').write(f'{{os.getuid()}} ')\n"


EVE = 61_000 + os.getpid() % 4_000
"""A user of whom nobody knows: she may kill all that is hers, and nobody else's tests."""


@pytest.fixture
def eve(node):
    """Return an environment of Eve's, and how to look at it once bin/python is what a test wants."""
    node.eve = EVE
    patient = node.patient("evil")

    def looked(script=None, within="30", **more):
        if script is not None:
            patient.interpreter(script)
        give(patient.folder, EVE)
        return node.looks("--deadline", within, **more)["evil"]

    patient.looked = looked
    return patient


def sleeping():
    """Return the processes of that sleep."""
    listed = subprocess.run(["ps", "ax", "-o", "args"], capture_output=True, text=True, check=True).stdout
    return [line for line in listed.splitlines() if SLEEP in line]


def no_longer():
    """Tell whether nothing sleeps on; what was killed may take a moment to be gone."""
    ends = time.monotonic() + 5
    while sleeping() and time.monotonic() < ends:
        time.sleep(0.05)
    return not sleeping()


def test_an_interpreter_runs_as_its_owner(eve):
    eve.looked(WHO)
    assert (eve.prefix / "uid").read_text().split() == [str(EVE)]


def test_it_has_nothing_of_roots_to_start_from(eve):
    script = (
        'exec > "$(dirname "$(dirname "$0")")/uid" 2>&1; env; ls -l /proc/self/fd; cat /proc/self/status; ulimit -a\n'
        "sudo -n id; su -c id; cat ../shadow"
    )
    eve.looked(script, env={"SECRET_OF_ROOT": "x", "LD_PRELOAD": "", "PYTHONPATH": str(eve.folder)})
    said = (eve.prefix / "uid").read_text()
    status = dict(line.split(":", 1) for line in said.splitlines() if line.startswith(("Cap", "NoNewPrivs", "Groups")))
    assert {name: int(value, 16) for name, value in status.items() if name.startswith("Cap")} == dict.fromkeys(
        ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"), 0
    )
    assert status["NoNewPrivs"].strip() == "1"
    assert status["Groups"].split() == []
    assert "SECRET_OF_ROOT" not in said
    assert "uid=0" not in said
    assert [line for line in said.splitlines() if "->" in line and not line.endswith(("/dev/null", "/uid", "fd"))] == []


@pytest.mark.parametrize(
    "script",
    [
        f"while :; do sleep {SLEEP} & done",
        f"trap '' TERM INT HUP; while :; do sleep {SLEEP}; done",
        f"setsid setsid sleep {SLEEP} </dev/null >/dev/null 2>&1 & exit 0",
        f"kill -9 $PPID; kill -9 -1; sleep {SLEEP}",
        f"kill -STOP $PPID; sleep {SLEEP}",
    ],
    ids=["forks", "does not want to end", "hides", "kills who asks", "stops who asks"],
)
def test_what_does_not_end_is_ended(eve, script):
    began = time.monotonic()
    look = eve.looked(script, within="3")
    assert time.monotonic() - began < 30
    assert look["reason"] or look["report"]
    assert no_longer()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_run_that_is_ended_leaves_nothing_of_its_own(eve, node, number):
    os.mkfifo(eve.bin / "started")
    eve.interpreter(f"echo > {eve.bin}/started; exec sleep {SLEEP}")
    give(eve.folder, EVE)
    run = node.doctor.start("health", "--config", node.configure())
    (eve.bin / "started").read_text()
    assert sleeping()
    run.send_signal(number)
    run.communicate()
    assert run.returncode == (128 + number if number == signal.SIGTERM else -number)
    assert no_longer()


def test_what_prints_without_end_is_cut_off(eve):
    look = eve.looked("yes $(head -c 100000 /dev/zero | tr '\\0' x)")
    assert "printed more than" in str(look["report"])


def test_code_that_site_would_run_does_not_run(eve):
    planted = eve.prefix / "planted"
    code = PLANT.format(path=str(planted))
    (eve.site / "evil.pth").write_text(code)
    (eve.site / "sitecustomize.py").write_text(code)
    (eve.site / "usercustomize.py").write_text(code)
    look = eve.looked()
    assert look["report"]["failed"] == []
    assert not planted.exists()


def test_an_environment_of_roots_that_others_can_change_is_read_as_nobody_and_not_started(node):
    patient = node.patient("shared", uid=0)
    patient.interpreter(WHO)
    patient.site.chmod(0o777)
    info = patient.info(SIX)
    (info / "METADATA").unlink()
    (info / "METADATA").symlink_to(node.secret)
    look = node.looks(text=f'[[target]]\npath = "{patient.prefix}"\n')["shared"]
    assert look["owner"] == "root"
    assert look["report"]["seen"]["interpreter"] == f"not started: {patient.site} can be written by everybody"
    assert not (patient.prefix / "uid").exists()


@pytest.mark.parametrize("way", ["evil.pth", f"{SIX.stem}.dist-info/direct_url.json"])
def test_an_environment_of_roots_that_leads_to_files_of_others_is_read_as_nobody(node, way):
    """Root has installed a user's package from its source: that may hold links to anything."""
    patient = node.patient("editable", uid=0)
    source = node.folder / f"user{NOBODY}" / "source"
    (source / "evil-1.0.dist-info").mkdir(parents=True)
    (source / "evil-1.0.dist-info" / "METADATA").symlink_to(node.secret)
    give(source)
    url = {"url": f"file://{source}", "dir_info": {"editable": True}}
    (patient.site / way).write_text(f"{source}\n" if way == "evil.pth" else json.dumps(url))
    look = node.looks(text=f'[[target]]\npath = "{patient.prefix}"\n')["editable"]
    assert look["report"]["seen"]["interpreter"] == f"not started: {source} belongs to nobody"


def test_an_interpreter_behind_a_directory_of_others_is_not_started(node):
    """Eve could put anything where the path of root's own environment leads."""
    patient = node.patient("private", uid=0)
    patient.interpreter(WHO)
    home = node.folder / f"user{NOBODY}" / "link"
    home.mkdir(parents=True)
    (home / ".venv").symlink_to(patient.prefix)
    give(home.parent)
    look = node.looks(text=f'[[target]]\npath = "{home}/.venv"\n')["link"]
    assert look["owner"] == "root"
    assert look["report"]["seen"]["interpreter"].startswith("not started: ")
    assert not (patient.prefix / "uid").exists()


def test_an_environment_of_another_users_is_not_started_through_a_link(node):
    patient = node.patient("victim", uid=12345)
    patient.interpreter(WHO)
    give(patient.folder, 12345)
    home = node.folder / f"user{NOBODY}" / "link"
    home.mkdir(parents=True)
    (home / ".venv").symlink_to(patient.prefix)
    give(home.parent)
    look = node.looks(text=f'[[target]]\npath = "{home}/.venv"\n')["link"]
    assert look["uid"] == 12345
    assert look["report"]["seen"]["interpreter"] == f"not started: {home}/.venv is a link of nobody"
    assert not (patient.prefix / "uid").exists()


def test_a_component_that_is_replaced_during_the_run_leads_root_nowhere(node):
    """Two directories change places all the time: one is an environment, one is made of links to what root has."""
    good, bad = node.patient("swap"), node.patient("other")
    for path in (bad.prefix / "pyvenv.cfg", bad.folder / "requirements.txt", *bad.site.rglob("*")):
        if path.is_file():
            path.unlink()
            path.symlink_to(node.secret)
    for patient in (good, bad):
        patient.interpreter(WHO)
        give(patient.folder)
    swap = SWAP.format(good=good.folder, bad=bad.folder)
    swapper = subprocess.Popen(["/usr/bin/python3", "-c", swap], cwd=good.folder.parent)
    try:
        node.health("--deadline", "5")
    finally:
        swapper.kill()
        swapper.wait()
    planted = [path.read_text() for path in Path(good.folder.parent).glob("*/.venv/uid")]
    assert set("".join(planted).split()) <= {str(NOBODY)}


def test_a_policy_of_the_targets_changes_nothing_of_the_machines(eve, node):
    """It may mute what is its own; a user's limits make no node sick, and his mutes none healthy."""
    (eve.site / "six.py").unlink()
    policy = eve.folder / "envdoctor.toml"
    policy.write_text(
        'plugins = false\n[limits]\nshm = "900TiB"\nnofile = 999999999\n[[mute]]\nprobe = "*"\nwhy = "all is well"\n'
    )
    muted = eve.looked()["report"]
    policy.unlink()
    plain = eve.looked()["report"]
    assert "packages/missing-file" in {finding["probe"] for finding in muted["muted"]}
    of_node = [[f for f in report["findings"] if f["probe"].startswith("node/")] for report in (muted, plain)]
    assert [f["probe"] for f in of_node[0]] == [f["probe"] for f in of_node[1]]
    assert [f["probe"] for f in muted["findings"] if not f["probe"].startswith("node/")] == []


def test_a_configuration_that_others_may_write_is_refused(node):
    path = node.configure()
    path.chmod(0o666)
    answer = node.doctor("health", "--config", path)
    assert answer.status == 2
    assert f"{path} can be written by everybody" in answer.stderr
    os.chown(path, NOBODY, NOBODY)
    path.chmod(0o600)
    assert f"{path} belongs to nobody" in node.doctor("health", "--config", path).stderr


@pytest.mark.parametrize("way", ["environment", "lock"])
def test_nobody_makes_another_users_rights_read_for_him(node, way):
    """Ann's environment lies in a folder of Eve's, or behind a link of hers, with a lock that leads to Ann's secret."""
    ann = 54321
    patient = node.patient("ann", ann)
    give(patient.folder, ann)
    secret = node.folder / "secret"
    secret.write_text("anns-secret==1\n")
    secret.chmod(0o600)
    os.chown(secret, ann, ann)
    shared = node.folder / "shared"
    shared.mkdir()
    if way == "environment":
        (shared / ".venv").symlink_to(patient.prefix)
    else:
        patient.prefix.rename(shared / ".venv")
    (shared / "requirements.txt").symlink_to(secret)
    for path in (shared, shared / "requirements.txt", *([shared / ".venv"] if way == "environment" else [])):
        os.lchown(path, node.eve, node.eve)
    answer = node.health("--format", "json", text=f'[[target]]\npath = "{shared}/.venv"\nlock = "requirements.txt"\n')
    assert "anns-secret" not in answer.stdout
    (look,) = json.loads(answer.stdout)["targets"]
    assert look["report"] is None
    assert look["uid"] == ann
    assert way == "environment" or "requirements.txt is a link of " in look["reason"]

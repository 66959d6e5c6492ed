"""sys.path computed from disk is the sys.path that the real interpreter makes."""

import json
import os
import subprocess
from functools import cache
from itertools import chain

import pytest
from fakes import FakeHost
from patients import BASE, MINOR, Patient

from envdoctor import registry, snapshot
from envdoctor.facts import interpreter, search_path
from envdoctor.facts.interpreter import Interpreter
from envdoctor.facts.search_path import SearchPath, pth_files, pth_lines, pythonpath
from envdoctor.model import Target, Unavailable
from envdoctor.system.forked import call
from envdoctor.system.host import LocalHost


@pytest.fixture
def patient(tmp_path):
    return Patient(tmp_path)


@cache
def spoken():
    """Return what the interpreter behind every patient says of itself, asked once."""
    return LocalHost().run([BASE, "-I", "-S", "-B", interpreter.PAYLOAD], timeout=10)


def collect(patient, **env):
    target, host = Target(str(patient.prefix), str(patient.python)), patient.host(**env)
    asked = FakeHost(answer=spoken()) if patient.python.is_symlink() else host
    return search_path.collect(target, host, interpreter.collect(target, asked))


def paths(patient, origin, **env):
    return [entry.path for entry in collect(patient, **env).entries if entry.origin == origin]


def real_path(patient, **env):
    code = "import sys, json; print(json.dumps(sys.path[1:]))"
    return json.loads(subprocess.check_output([patient.python, "-c", code], env=patient.host(**env).env, cwd="/"))


def user_site(patient, folder="home/.local"):
    site = patient.folder / folder / f"lib/python{MINOR}/site-packages"
    site.mkdir(parents=True)
    return site


@pytest.mark.parametrize("system", ["true", "false"])
@pytest.mark.parametrize("switch", [{}, {"PYTHONNOUSERSITE": "1"}, {"PYTHONUSERBASE": "elsewhere"}])
def test_it_is_the_path_that_the_interpreter_makes(system, switch, patient):
    patient.configure(include_system_site_packages=system)
    folder = patient.folder / switch.get("PYTHONUSERBASE", "home/.local")
    site = user_site(patient, folder)
    (site / "x.pth").write_text("sub\n")
    (site / "sub").mkdir()
    for name in ("b", "a", "lib"):
        (patient.site / name).mkdir()
    patient.add("z.pth", "b\n\n# c\n./a/\nb\ngone\n")
    patient.add("a.pth", f"\n{patient.folder}\n")
    patient.add(".hidden.pth", "lib\n")
    (patient.folder / "extra").mkdir()
    env = {"PYTHONPATH": f"{patient.folder}/extra:{patient.folder}/gone", **switch}
    env |= {"PYTHONUSERBASE": str(folder)} if "PYTHONUSERBASE" in switch else {}
    ours = [entry.path for entry in collect(patient, **env).entries]
    theirs = [path for path in real_path(patient, **env) if not path.endswith(".zip")]
    assert [os.path.normpath(path) for path in theirs] == [
        path for path in ours if path in theirs or "dynload" not in path
    ]


def test_a_plain_venv_ignores_the_user_site(patient):
    user_site(patient)
    assert (paths(patient, "user-site"), collect(patient).user_site_enabled) == ([], False)


def test_distributions_in_the_user_site_are_counted(patient):
    site = user_site(patient)
    for name in ("a-1.dist-info", "b.egg-info", "c"):
        (site / name).mkdir()
    assert collect(patient).user_site_packages == 2


def test_outside_venvs_the_user_site_comes_first(patient):
    (patient.prefix / "pyvenv.cfg").unlink()
    site = user_site(patient)
    speaker = Interpreter(
        "python",
        (),
        answered=True,
        problem=None,
        version=f"{MINOR}.0",
        recorded_version=None,
        markers={},
        kind="prefix",
    )
    found = search_path.collect(Target(str(patient.prefix), "python"), patient.host(), speaker)
    assert [entry.origin for entry in found.entries] == ["user-site", "site-packages"]
    assert found.user_site == str(site)


@pytest.mark.parametrize(
    ("value", "expected"),
    [("", []), ("a:/b", ["/here/a", "/b"]), ("/b:", ["/b", "/here/"]), (":", ["/here/", "/here/"])],
)
def test_pythonpath_is_taken_apart(value, expected, patient):
    host = patient.host(PYTHONPATH=value)
    assert [path.replace(str(patient.folder), "/here") for path in pythonpath(host)] == expected


def test_a_site_reached_by_two_names_is_one(patient):
    assert collect(patient).site_dirs() == (str(patient.site),)


def test_debians_directories_are_found(tmp_path):
    site = tmp_path / "lib/python3/dist-packages"
    site.mkdir(parents=True)
    speaker = Interpreter(
        "p", (), answered=True, problem=None, version="3.12.3", recorded_version=None, markers={}, kind="prefix"
    )
    assert search_path.site_directories(str(tmp_path), speaker) == (str(site),)


def test_a_directory_named_for_another_minor_is_still_the_site(tmp_path):
    patient = Patient(tmp_path, minor="3.8")
    assert collect(patient).site_dirs() == (str(patient.site),)


def test_characters_that_mean_something_to_glob_do_not(tmp_path):
    patient = Patient(tmp_path, "env[1]*")
    assert collect(patient).site_dirs() == (str(patient.site),)


def test_no_site_at_all_is_a_failure(patient):
    patient.site.rmdir()
    found = collect(patient)
    assert isinstance(found, Unavailable)
    assert found.failed


@pytest.mark.parametrize("unreadable", ["site-packages", f"python{MINOR}", "lib"])
def test_an_unreadable_site_is_a_failed_fact_and_never_healthy(unreadable, patient):
    folder = next(folder for folder in (patient.site, *patient.site.parents) if folder.name == unreadable)
    patient.interpreter("exit 1")
    assert as_nobody(patient, folder) == (3, True)


def as_nobody(patient, folder):
    """Check as a user who may not read `folder`, in a child, and return (status, whether it was said why)."""

    def check():
        for _ in chain(snapshot.load(), registry.load()):
            pass  # nobody may be unable to read Python itself
        for path in (patient.folder, *list(patient.folder.parents)[:3]):
            if path.stat().st_uid == os.getuid() and str(path) != "/":
                path.chmod(path.stat().st_mode | 0o111)
        patient.host()
        folder.chmod(0)
        if os.getuid() == 0:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
        done = patient.check("packages")
        reasons = [outcome.skipped.reason for outcome in done.outcomes if outcome.skipped and outcome.skipped.failed]
        return done.status(), bool(reasons) and all(str(patient.prefix) in reason for reason in reasons)

    try:
        return call("check", check, timeout=20)
    finally:
        folder.chmod(0o755)


def test_pth_files_are_read_whatever_is_in_them(tmp_path):
    (tmp_path / "a.pth").write_bytes(b"\xef\xbb\xbfone\r\n\xff\xfe  \nimport os\x00")
    assert pth_lines(str(tmp_path / "a.pth")) == ["one", "\udcff\udcfe", "import os\x00"]


def test_what_is_no_readable_pth_is_empty(tmp_path):
    os.mkfifo(tmp_path / "a.pth")
    (tmp_path / "b.pth").mkdir()
    (tmp_path / "c.pth").symlink_to("c.pth")
    (tmp_path / ".hidden.pth").write_text("x")
    names = pth_files(str(tmp_path), hidden=False)
    assert names == ["a.pth", "b.pth", "c.pth"]
    assert pth_files(str(tmp_path), hidden=True) == [".hidden.pth", *names]
    assert [pth_lines(str(tmp_path / name)) for name in (*names, "gone.pth")] == [[]] * 4
    assert pth_files(str(tmp_path / "gone"), hidden=True) == []


def test_a_line_with_nul_adds_nothing(patient):
    patient.add("a.pth", "x\0y\n")
    assert paths(patient, "pth") == []


def test_a_link_to_itself_adds_nothing(patient):
    (patient.site / "loop").symlink_to("loop")
    patient.add("a.pth", "loop\n")
    assert isinstance(collect(patient), SearchPath)
    assert paths(patient, "pth") == []

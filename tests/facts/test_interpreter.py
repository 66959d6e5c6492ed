"""The interpreter's own word where it speaks, the disk's where it does not; nothing hangs on either."""

import json
import os
import struct
import subprocess
import sys

import pytest
from fakes import FakeHost
from hypothesis import given
from hypothesis import strategies as st
from patients import MINOR, Patient, Wheel

from envdoctor.errors import EnvDoctorError
from envdoctor.facts import interpreter
from envdoctor.facts.interpreter import elf_machine, link_chain, parse_answer, parse_pyvenv, recorded_version
from envdoctor.model import Target
from envdoctor.system.host import Completed, LocalHost

FULL = ".".join(map(str, sys.version_info[:3]))
SPOKEN = {
    **dict.fromkeys(("base_prefix", "abiflags", "soabi", "libc", "include", "stdlib"), ""),
    "version": "3.12.3",
    "markers": {"python_version": "3.12"},
}


@pytest.fixture
def patient(tmp_path):
    return Patient(tmp_path)


def collect(patient, host=None):
    return interpreter.collect(Target(str(patient.prefix), str(patient.python)), host or patient.host())


def silent(patient):
    return collect(patient, FakeHost())


def test_an_interpreter_speaks_for_itself(patient):
    found = collect(patient)
    assert (found.answered, found.problem, found.version, found.kind) == (True, None, FULL, "venv")
    assert found.markers["python_full_version"] == FULL
    assert found.markers["platform_machine"] == os.uname().machine
    assert (found.base_prefix, found.minor) == (sys.base_prefix, MINOR)
    assert os.path.isdir(found.stdlib)
    assert found.soabi.startswith("cpython-")


def test_it_is_asked_with_nothing_of_the_targets_own_running(patient):
    host = FakeHost(env={"PYTHONPATH": "/evil", "PYTHONSTARTUP": "/evil", "PATH": "/bin", "LD_PRELOAD": "/evil.so"})
    collect(patient, host)
    assert host.ran == [[str(patient.python), "-I", "-S", "-B", interpreter.PAYLOAD]]
    assert host.environments == [{"PATH": "/bin"}]


@pytest.mark.parametrize("name", ["sitecustomize.py", "usercustomize.py", "json.py", "a.pth"])
def test_start_up_code_of_the_target_is_not_run(name, patient, tmp_path):
    patient.add(name, f"import pathlib; pathlib.Path({str(tmp_path / 'ran')!r}).touch()")
    assert (collect(patient).answered, (tmp_path / "ran").exists()) == (True, False)


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        ("sleep 60", "no answer within 0.3 s"),
        ("echo garbage", "printed something that is no answer"),
        ("while :; do printf %65536s x; done", "printed more than 1 MiB"),
        ("exit 1", "ended with status 1"),
        ("kill -11 $$", "died by signal 11"),
        ("true", "printed something that is no answer"),
    ],
    ids=["hangs", "garbage", "endless", "fails", "crashes", "says nothing"],
)
def test_one_that_does_not_speak_is_read_from_disk(script, problem, patient, monkeypatch):
    monkeypatch.setattr(interpreter, "ANSWER_WITHIN", 0.3 if "sleep" in script else 5.0)
    patient.interpreter(script)
    found = collect(patient)
    assert (found.answered, found.problem, found.version, found.minor) == (False, problem, FULL, MINOR)
    assert found.markers["python_full_version"] == FULL


@pytest.mark.parametrize("target", ["/no/such/python", "python", "/etc"])
def test_one_that_does_not_start_is_read_from_disk(target, patient):
    patient.python.unlink()
    patient.python.symlink_to(target)
    found = collect(patient)
    assert (found.answered, found.version) == (False, FULL)
    assert found.problem.startswith("did not start: ")
    assert found.chain[0] == str(patient.python)


@pytest.mark.parametrize(
    "printed",
    [
        b"",
        b"\xff\xfe",
        b"[]",
        b"null",
        b"{}",
        b"[" * 200_000,
        b"1" * 5000,
        json.dumps({**SPOKEN, "version": 3}).encode(),
        json.dumps({**SPOKEN, "markers": []}).encode(),
        json.dumps({**SPOKEN, "markers": {"os_name": 1}}).encode(),
    ],
    ids=lambda printed: repr(printed[:12]),
)
def test_what_is_no_answer_is_called_so(printed):
    assert parse_answer(Completed(0, printed)) == (None, "printed something that is no answer")


def test_an_answer_is_taken():
    assert parse_answer(Completed(0, json.dumps(SPOKEN).encode())) == (SPOKEN, None)


@given(st.binary())
def test_no_output_breaks_it(printed):
    answer, problem = parse_answer(Completed(0, printed))
    assert (answer is None) != (problem is None)


@pytest.mark.parametrize(
    ("written", "version"),
    [
        ({"version": "3.12.3"}, "3.12.3"),
        ({"version_info": "3.12.3.final.0"}, "3.12.3"),
        ({"version_info": "3.13.0.candidate.2"}, "3.13.0rc2"),
        ({"version_info": "3.14.0.beta.1"}, "3.14.0b1"),
        ({"version_info": "3.12.3", "version": "3.9.1"}, "3.12.3"),
        ({"version": "3.15.0a4"}, "3.15.0a4"),
        ({"version": "three"}, None),
        ({}, None),
    ],
)
def test_the_recorded_version_is_what_venv_virtualenv_and_uv_write(written, version):
    assert recorded_version(written) == version


@pytest.mark.parametrize(
    "text",
    ["Home = /usr/bin\nno line\n = \nversion=3.12.3\n", "HOME=/usr/bin\r\nversion = 3.12.3\r\n"],
    ids=["odd lines", "CRLF"],
)
def test_pyvenv_is_read_as_site_reads_it(text):
    found = parse_pyvenv(text)
    assert (found["home"], found["version"]) == ("/usr/bin", "3.12.3")


@given(st.text())
def test_no_pyvenv_breaks_it(text):
    assert all(key == key.strip().lower() and "\n" not in value for key, value in parse_pyvenv(text).items())


def test_only_newlines_end_a_line_of_pyvenv():
    assert parse_pyvenv("home = /a\x0bversion = 1") == {"home": "/a\x0bversion = 1"}


@pytest.mark.parametrize(
    ("word", "on"), [("true", True), ("TRUE", True), ("false", False), ("1", False), ("yes", False)]
)
def test_system_site_packages_are_on_where_site_says_so(word, on, patient):
    patient.configure(include_system_site_packages=word)
    code = "import sys, site; print(any(p.startswith(sys.base_prefix) and 'packages' in p for p in sys.path))"
    said = subprocess.run([patient.python, "-I", "-c", code], capture_output=True, text=True, check=True).stdout
    if word == "true":  # a base without a site-packages directory of its own would say False
        said = said if os.path.isdir(f"{sys.base_prefix}/lib/python{MINOR}/site-packages") else "True\n"
    assert silent(patient).system_site is on
    assert said == f"{on}\n" or on


@pytest.mark.parametrize("damage", ["fifo", "directory", "unreadable"])
def test_a_pyvenv_that_cannot_be_read_is_the_doctors_failure(damage, patient, monkeypatch):
    config = patient.prefix / "pyvenv.cfg"
    if damage == "fifo":
        patient.fifo(config)
    elif damage == "directory":
        config.unlink()
        config.mkdir()
    else:
        real = open

        def refuse(path, *rest, **options):
            if str(path) == str(config):
                raise PermissionError(13, "Permission denied", path)
            return real(path, *rest, **options)

        monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises((EnvDoctorError, PermissionError), match=r"pyvenv\.cfg"):
        silent(patient)


def test_a_prefix_without_pyvenv_is_conda_or_plain(patient):
    (patient.prefix / "pyvenv.cfg").unlink()
    assert (silent(patient).kind, silent(patient).version) == ("prefix", MINOR)
    (patient.prefix / "conda-meta").mkdir()
    (patient.prefix / "conda-meta/python-3.12.7-h1234_0_cpython.json").write_text("{}")
    (patient.prefix / "conda-meta/python-dateutil-2.9.0-py_0.json").write_text("{}")
    found = silent(patient)
    assert (found.kind, found.version, found.base_prefix) == ("conda", "3.12.7", str(patient.prefix))


def test_two_versions_on_disk_prove_none(patient):
    (patient.prefix / "pyvenv.cfg").unlink()
    (patient.prefix / "lib/python3.8/site-packages").mkdir(parents=True)
    assert silent(patient).version is None


def test_a_free_threaded_build_is_known_by_its_directory(tmp_path):
    patient = Patient(tmp_path, minor="3.13t", base="/no/such/python3.13t")
    patient.configure(version="3.13.1")
    assert (silent(patient).free_threaded, silent(patient).version) == (True, "3.13.1")


def test_the_machine_is_read_off_an_extension_where_there_is_no_interpreter(tmp_path):
    patient = Patient(tmp_path, base="/no/such/python")
    assert "platform_machine" not in silent(patient).markers
    patient.install(Wheel("a", "1", {"a/_c.so": b"\x7fELF\x02\x01" + b"\0" * 12 + struct.pack("<H", 183)}))
    assert silent(patient).markers["platform_machine"] == "aarch64"


@pytest.mark.parametrize(
    ("content", "machine"),
    [
        (b"\x7fELF\x02\x01" + b"\0" * 12 + b"\x3e\0", "x86_64"),
        (b"\x7fELF\x02\x02" + b"\0" * 12 + b"\0\x16", "s390x"),
        (b"\x7fELF\x02\x01" + b"\0" * 12 + b"\xff\xff", None),
        (b"\x7fELF\x02\x01", None),
        (b"#!/bin/sh\n" + b"x" * 20, None),
        (b"", None),
    ],
)
def test_machine_of_a_file(content, machine, tmp_path):
    (tmp_path / "x").write_bytes(content)
    assert elf_machine(str(tmp_path / "x")) == machine


def test_machine_of_what_is_no_file(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    assert [elf_machine(str(path)) for path in (tmp_path / "fifo", tmp_path, tmp_path / "gone")] == [None] * 3


def test_a_chain_names_every_link_to_the_end(tmp_path):
    (tmp_path / "end").write_text("")
    (tmp_path / "b").symlink_to("end")
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "c").symlink_to("gone")
    assert link_chain(str(tmp_path / "a")) == tuple(str(tmp_path / name) for name in ("a", "b", "end"))
    assert link_chain(str(tmp_path / "c")) == tuple(str(tmp_path / name) for name in ("c", "gone"))


@pytest.mark.parametrize("links", [{"a": "a"}, {"a": "b", "b": "a"}, {"a": "sub/a", "sub": "."}])
def test_a_chain_that_is_a_loop_ends(links, tmp_path):
    for name, target in links.items():
        (tmp_path / name).symlink_to(target)
    assert len(link_chain(str(tmp_path / "a"))) < 50  # the kernel follows 40


def test_dots_in_a_link_count_from_where_the_link_lies(tmp_path):
    (tmp_path / "real/bin").mkdir(parents=True)
    (tmp_path / "real/python").write_text("")
    (tmp_path / "real/bin/python").symlink_to("../python")
    (tmp_path / "bin").symlink_to("real/bin")
    assert link_chain(str(tmp_path / "bin/python"))[-1] == str(tmp_path / "real/python")


def test_the_local_host_may_ask_too(patient):
    assert collect(patient, LocalHost()).answered


def test_the_c_library_below_a_root_is_the_first_that_is_a_file(tmp_path):
    (tmp_path / "lib").mkdir()
    (tmp_path / "usr/lib/x86_64-linux-gnu").mkdir(parents=True)
    os.mkfifo(tmp_path / "lib/libc.so.6")
    host = FakeHost(root=str(tmp_path))
    assert interpreter.glibc(host) == ""
    (tmp_path / "usr/lib/x86_64-linux-gnu/libc.so.6").write_bytes(b"GNU C Library (x) stable release version 2.36.\n")
    assert interpreter.glibc(host) == "glibc 2.36"

"""A prebuilt flash-attn names GLIBC_2.32 on a machine with 2.31: Dao-AILab/flash-attention#1708 and #1762."""

import pytest
from elves import elf
from patients import Patient, Wheel, findings

OBJECT = "flash_attn_2_cuda.cpython-311-x86_64-linux-gnu.so"
ANSWER = (
    '{"version": "3.11.9", "base_prefix": "/usr", "abiflags": "", "soabi": "", "libc": "glibc 2.31", "include": "", '
    '"stdlib": "/usr/lib/python3.11", "markers": {"platform_machine": "x86_64", "sys_platform": "linux"}}'
)
"""What a Python on Debian 11 says of itself."""


def flash(version, *versions, tag="cp311-cp311-linux_x86_64"):
    files = {OBJECT: elf(needed=["libc.so.6"], defined=["PyInit_x"], versions=versions)}
    return Wheel("flash-attn", version, files, tag=tag)


@pytest.fixture
def patient(tmp_path):
    found = Patient(tmp_path, minor="3.11")
    found.interpreter(f"echo '{ANSWER}'")
    return found


def check(patient):
    return findings(patient.check("packages/glibc-too-old"), "packages/glibc-too-old")


def test_need_and_have_are_said(patient):
    patient.install(flash("2.8.1", "GLIBC_2.17", "GLIBC_2.32"), requested=True)
    (found,) = check(patient)
    assert (found.severity.label, found.subject) == ("error", "flash-attn")
    assert (found.evidence["need"], found.evidence["have"]) == ("2.32", "2.31")
    assert OBJECT in found.message


def test_control_an_older_build_is_silent(patient):
    patient.install(flash("2.7.4.post1", "GLIBC_2.17", "GLIBC_2.31"))
    assert check(patient) == []


def test_a_manylinux_promise_that_is_too_new_is_found_by_its_tag(patient):
    patient.install(flash("2.8.1", tag="cp311-cp311-manylinux_2_34_x86_64"))
    (found,) = check(patient)
    assert found.evidence["need"] == "2.34"

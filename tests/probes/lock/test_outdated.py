"""Inputs that have changed since."""

from dataclasses import replace

import pytest
from locked import ROOT, package, read, told, uv
from values import findings

from envdoctor.facts.lock_source import Input, LockSource, Wanted
from envdoctor.model import LockHeader, LockInput, Severity
from envdoctor.probes.lock.outdated import check

LOCK = read("transformers==5.10.0\ntorch==2.11.0+cu128\n")


def source(*wanted, digest="new"):
    whole = tuple(
        item if isinstance(item, Wanted) else Wanted(item.split(">")[0].split("=")[0], item) for item in wanted
    )
    return LockSource((Input("/project/requirements.in", digest, whole, "requirements.in"),))


def test_a_pin_outside_what_is_asked_for():
    (finding,) = found = findings(check, lock=LOCK, lock_source=source("torch==2.11.0", "transformers>=5.20"))
    assert (finding.severity, told(found)) == (Severity.WARNING, [("transformers", 1)])
    assert finding.message == "requirements.in asks for transformers>=5.20, and the lock holds 5.10.0"
    assert finding.evidence["text"] == "5.10.0"


def test_a_package_that_is_not_locked():
    (finding,) = findings(check, lock=LOCK, lock_source=source("accelerate"))
    assert (finding.subject, finding.message) == (
        "accelerate",
        "requirements.in asks for accelerate, which the lock does not hold",
    )


@pytest.mark.parametrize(
    "wanted",
    [
        "torch==2.11.0",
        "transformers",
        Wanted("colorama", "colorama ; sys_platform == 'win32'"),
        Wanted("pytest", "pytest", group="group:dev"),
        Wanted("trainer", "trainer", group="project"),
        Wanted("torch", "torch @ https://x.example/torch.whl"),
        Wanted("torch", "torch >= nonsense"),
    ],
)
def test_what_is_met_or_not_for_every_environment(wanted):
    assert findings(check, lock=LOCK, lock_source=source(wanted)) == []


def test_uv_locks_every_group():
    lock = read(uv(ROOT, package("six")), "/project/uv.lock")
    assert len(findings(check, lock=lock, lock_source=source(Wanted("pytest", "pytest", group="group:dev")))) == 1


@pytest.mark.parametrize(
    ("tool", "command", "wanted"),
    [
        ("pip-compile", "pip-compile in.txt", "setuptools"),
        ("uv pip compile", "uv pip compile --no-emit-package six in.txt", "six"),
        ("uv pip compile", "uv pip compile --overrides o.txt in.txt", "transformers>=5.20"),
    ],
)
def test_what_the_tool_leaves_out_or_was_told_otherwise(tool, command, wanted):
    lock = replace(LOCK, header=LockHeader(tool, command))
    assert findings(check, lock=lock, lock_source=source(wanted)) == []


def test_a_digest_that_the_header_records_decides():
    recorded = replace(LOCK, header=LockHeader("envdoctor lock compile", inputs=(LockInput("requirements.in", "old"),)))
    (finding,) = found = findings(check, lock=recorded, lock_source=source("torch==2.11.0"))
    assert told(found) == [("/project/requirements.txt", None)]
    assert "has changed since" in finding.message
    assert findings(check, lock=recorded, lock_source=source("transformers>=5.20", digest="old")) == []


POETRY = read(
    '[[package]]\nname = "six"\nversion = "1.17.0"\n[metadata]\nlock-version = "2.0"\n', "/project/poetry.lock"
)


def test_a_lock_of_a_project_is_made_again_by_its_own_tool():
    (finding,) = findings(check, lock=POETRY, lock_source=source(Wanted("pytest", "pytest", group="group:dev")))
    assert (finding.subject, finding.remedy) == ("pytest", ("compile the lock again: poetry lock",))

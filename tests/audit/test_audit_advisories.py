"""What pip-audit says, and what it does not say; the forms are those of pip-audit 2.10."""

import json

import pytest
from fakes import FakeHost

from envdoctor.audit import advisories, pip
from envdoctor.errors import EnvDoctorError
from envdoctor.system.host import Completed
from envdoctor.views.lock_online import Advisory

SKIPPED = "Dependency not found on PyPI and could not be audited: six (1.17.0)"


def said(*dependencies, status=0):
    return Completed(status, json.dumps({"dependencies": list(dependencies), "fixes": []}).encode())


def clean(name, version):
    return {"name": name, "version": version, "vulns": []}


@pytest.fixture
def ask(monkeypatch):
    """Ask a pip-audit that gives these answers, one a run; the lists that it was given are in `lists`."""
    monkeypatch.setattr(pip, "on_path", lambda *_: ["pip-audit"])

    def asked(pins, *answers, env=None):
        left = list(answers)

        def answer(argv):
            with open(argv[-1]) as stream:
                asked.lists.append(stream.read().split())
            return left.pop(0)

        asked.lists = []
        return advisories.ask(pins, FakeHost(env=env or {}, answer=answer), 5.0)

    return asked


def test_what_is_vulnerable_and_what_is_clean(ask):
    entry = {"id": "CVE-2026-1", "fix_versions": ["3.1.6"], "aliases": ["GHSA-b", "GHSA-a"]}
    answer = said({"name": "jinja2", "version": "3.1.4", "vulns": [entry]}, clean("six", "1.17.0"), status=1)
    found = ask([("jinja2", "3.1.4"), ("six", "1.17.0")], answer)
    assert found.advisories == (Advisory("CVE-2026-1", "jinja2", "3.1.4", ("3.1.6",), ("GHSA-a", "GHSA-b")),)
    assert found.unknown == {}
    assert ask.lists == [["jinja2==3.1.4", "six==1.17.0"]]


def test_what_was_skipped_or_is_not_mentioned_is_unknown_though_it_exits_0(ask):
    answer = said({"name": "six", "skip_reason": SKIPPED}, {"name": "stranger", "skip_reason": "?"})
    found = ask([("six", "1.17.0"), ("idna", "3.10")], answer)
    assert found.unknown == {
        ("six", "1.17.0"): "Dependency not found on PyPI and could not be audited",
        ("idna", "3.10"): "pip-audit says nothing of it",
    }


def test_builds_of_a_release_are_asked_for_once_and_two_releases_in_two_runs(ask):
    pins = [("torch", "2.10.0+cu128"), ("torch", "2.10.0+cpu"), ("torch", "2.11.0"), ("six", "1.17.0")]
    entry = {"id": "CVE-2026-2", "fix_versions": []}
    first = said({"name": "torch", "version": "2.10.0", "vulns": [entry]}, clean("six", "1.17.0"), status=1)
    found = ask(pins, first, said(clean("torch", "2.11.0")))
    assert ask.lists == [["torch==2.10.0", "six==1.17.0"], ["torch==2.11.0"]]
    assert [advisory.version for advisory in found.advisories] == ["2.10.0+cu128", "2.10.0+cpu"]
    assert found.unknown == {}


def test_a_version_that_would_spoil_the_list_is_unknown(ask):
    found = ask([("a", "weird version"), ("six", "1.17.0")], said(clean("six", "1.17.0")))
    assert list(found.unknown) == [("a", "weird version")]
    assert ask.lists == [["six==1.17.0"]]


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (Completed(None, b"", "no answer within 5 s"), "pip-audit: no answer within 5 s"),
        (Completed(1, b""), "found out nothing"),
        (Completed(0, b"No known vulnerabilities found"), "no answer that this envdoctor can read"),
        (Completed(0, b"{}"), "no answer that this envdoctor can read"),
        (said({"name": "six", "vulns": [{}]}), "no answer that this envdoctor can read"),
        (said({"name": "six", "vulns": None}), "no answer that this envdoctor can read"),
    ],
)
def test_no_answer_at_all(ask, answer, problem):
    with pytest.raises(EnvDoctorError, match=problem):
        ask([("six", "1.17.0")], answer)


def test_not_installed(monkeypatch):
    monkeypatch.setattr(pip, "as_module", lambda _: None)
    with pytest.raises(EnvDoctorError, match="pip-audit is not installed"):
        advisories.ask([("six", "1.17.0")], FakeHost(), 5.0)

"""`envdoctor lock audit --online`: a real pip, a real server on loopback, and a pip-audit that says what it is told."""

import json
import os
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from indexes import Reply, entry, page, serve

DIGEST = "1" * 64
LOCK = f"six==1.17.0 --hash=sha256:{DIGEST}\nidna==3.10 --hash=sha256:{DIGEST[1:]}2\n"
CLEAN = [{"name": "six", "version": "1.17.0", "vulns": []}, {"name": "idna", "version": "3.10", "vulns": []}]
SIX, IDNA = page(entry("six-1.17.0.tar.gz", DIGEST)), page(entry("idna-3.10.tar.gz", f"{DIGEST[1:]}2"), name="idna")
RULES = ("lock/unlisted-hash", "lock/vulnerable", "lock/yanked")


@pytest.fixture
def server():
    with serve(six=SIX, idna=IDNA) as served:
        yield served


@pytest.fixture
def audit(doctor, server):
    """Audit the lock; `says` is the shell code of pip-audit, or the dependencies that it prints."""
    lock = doctor.folder / "lock.txt"
    lock.write_text(LOCK)

    def run(*options, says=CLEAN, address=server.address, env=None, text=False):
        tools = doctor.folder / "bin"
        tools.mkdir(exist_ok=True)
        if not isinstance(says, str):
            answer = json.dumps({"dependencies": says, "fixes": []})
            says = f"echo 'No known vulnerabilities found' >&2; echo '{answer}'"
        (tools / "pip-audit").write_text(f"#!/bin/sh\n{says}\n")
        (tools / "pip-audit").chmod(0o755)
        given = {"PIP_CONFIG_FILE": os.devnull, "PIP_INDEX_URL": address, "PATH": f"{tools}:{os.environ['PATH']}"}
        form = () if text else ("--format", "json")
        return doctor("lock", "audit", "--online", *form, *options, "lock.txt", env=given | (env or {}))

    return run


def skipped(answer):
    return {item["probe"]: item["reason"] for item in answer.report["skipped"] if item["failed"]}


def passed(answer):
    return set(RULES) & set(answer.report["passed"])


def test_all_is_known_and_clean(audit):
    answer = audit()
    assert (answer.status, skipped(answer), passed(answer)) == (0, {}, set(RULES))


def test_findings_of_all_three(audit, server):
    server.pages["six"] = page(entry("six-1.17.0.tar.gz", "3" * 64, "broken"))
    vulnerable = {"id": "CVE-2026-1", "fix_versions": ["3.11"], "aliases": []}
    answer = audit(says=[CLEAN[0], CLEAN[1] | {"vulns": [vulnerable]}])
    assert answer.status == 1
    placed = {(f["probe"], f["subject"], f["evidence"]["line"], f["evidence"]["column"]) for f in answer.findings()}
    assert placed >= {
        ("lock/unlisted-hash", "six", 1, 27),
        ("lock/yanked", "six", 1, 6),
        ("lock/vulnerable", "idna", 2, 7),
    }


def test_a_failed_look_up_is_not_a_clean_pass(audit, server):
    server.pages["idna"] = Reply(status=500)
    answer = audit(says=[CLEAN[0], {"name": "idna", "skip_reason": "Dependency not found on PyPI: idna (3.10)"}])
    assert (answer.status, answer.report["verdict"], passed(answer)) == (3, "warnings", set())
    assert set(skipped(answer)) == set(RULES)
    assert skipped(answer)["lock/yanked"].startswith("unknown of 1 package (idna 3.10: ")
    assert "HTTP 500" in skipped(answer)["lock/unlisted-hash"]
    assert skipped(answer)["lock/vulnerable"] == "unknown of 1 package (idna 3.10: Dependency not found on PyPI)"
    text = audit(text=True).stdout
    assert "not all could be judged" in text
    assert "FAILED   unknown of 1 package (idna 3.10: " in text


def test_what_is_known_is_told_beside_what_is_not(audit, server):
    server.pages["six"] = page(entry("six-1.17.0.tar.gz", DIGEST, "broken"))
    server.pages["idna"] = Reply(status=404)
    answer = audit()
    assert (answer.status, [f["subject"] for f in answer.findings("lock/yanked")]) == (3, ["six"])
    assert "idna 3.10: not on any index" in skipped(answer)["lock/yanked"]
    assert audit("--fail-on", "warning").status == 1


def test_the_configuration_may_mute_what_no_index_knows(audit, server, doctor):
    server.pages["idna"] = Reply(status=404)
    (doctor.folder / "envdoctor.toml").write_text('[[mute]]\nprobe = "lock/*"\nsubject = "idna"\nwhy = "ours alone"\n')
    answer = audit("--config", "envdoctor.toml", says=[CLEAN[0], {"name": "idna", "skip_reason": "not found"}])
    assert (answer.status, skipped(answer)) == (0, {})


@pytest.mark.parametrize(
    ("says", "reason"),
    [
        ("sleep 60", "no answer within"),
        ("echo garbage", "no answer that this envdoctor can read"),
        ("exit 1", "found out nothing (exit status 1)"),
        ("kill -9 $$", "found out nothing (exit status -9)"),
    ],
)
def test_a_pip_audit_that_gives_no_answer(audit, says, reason):
    began = time.monotonic()
    answer = audit("--deadline", "5", says=says)
    assert (answer.status, set(skipped(answer)), passed(answer)) == (3, {"lock/vulnerable"}, set(RULES[::2]))
    assert reason in skipped(answer)["lock/vulnerable"]
    assert time.monotonic() - began < 8


def test_an_index_that_never_answers(audit, server):
    server.pages["six"] = server.pages["idna"] = Reply(b"", wait=60)
    answer = audit("--deadline", "5")
    assert answer.status == 3
    assert "unknown of 2 packages (six 1.17.0, idna 3.10: " in skipped(answer)["lock/yanked"]
    assert passed(answer) == {"lock/vulnerable"}


def test_no_index_at_all(audit):
    answer = audit(env={"PIP_NO_INDEX": "1"})
    assert (answer.status, passed(answer)) == (3, {"lock/vulnerable"})
    assert skipped(answer)["lock/yanked"] == "pip's index: pip is configured to ask no index (no-index)"


def test_a_password_is_never_printed_or_stored(audit, server, doctor):
    server.pages["six"] = Reply(SIX.body, SIX.kind, login="Basic Y2k6aHVudGVyMg==")
    address = server.address.replace("://", "://ci:hunter2@")
    for answer in (audit(address=address), audit(address=address.replace("hunter2", "hunter3"))):
        assert "hunter" not in answer.stdout + answer.stderr
    kept = [path for path in doctor.home.rglob("*.json") if ".cache/envdoctor" in str(path)]
    assert len(kept) == 2
    assert not any("hunter" in path.read_text() for path in kept)


def test_offline_nobody_is_asked(doctor, server):
    (doctor.folder / "lock.txt").write_text(LOCK)
    answer = doctor("lock", "audit", "--format", "json", "lock.txt", env={"PIP_INDEX_URL": server.address})
    assert (answer.status, server.asked) == (0, [])
    reasons = {item["probe"]: item["reason"] for item in answer.report["skipped"]}
    assert set(RULES) <= set(reasons)
    assert reasons["lock/yanked"].startswith("offline")


def test_two_runs_at_once_share_what_is_kept(audit):
    with ThreadPoolExecutor(2) as threads:
        assert [answer.status for answer in threads.map(lambda _: audit(), range(2))] == [0, 0]
    assert audit().status == 0

"""What a plan says of what is there and what is wanted; values alone."""

import pytest

from envdoctor.generations.jobs import Job, Jobs
from envdoctor.model import Finding, Severity, Unavailable
from envdoctor.rebuild import planning, preparing
from envdoctor.rebuild.planning import Change, Installed, Leaving, Loss, Plan, Project, Sizes, Wanted
from envdoctor.rebuild.preparing import Asked


def finding(subject, **evidence):
    return Finding(Severity.ERROR, subject, "", evidence)


def test_what_leaves_changes_comes_and_stays():
    installed = [
        Installed("sglang", "0.5.9"),
        Installed("tilelang", "0.1"),
        Installed("transformers", "5.8.1"),
        Installed("torch", "2.11.0+cpu"),
        Installed("numpy", "2.4.6"),
        Installed("broken", "1.0"),
        Installed("pip", "26.3"),
    ]
    wanted = [Wanted("transformers", "5.6.0"), Wanted("torch", "2.11.0+cu130"), Wanted("numpy", "2.4.6")]
    wanted += [Wanted("broken", "1.0"), Wanted("safetensors", "0.8")]
    findings = {
        "packages/foreign": (finding("sglang", cause="sglang"), finding("tilelang", cause="sglang")),
        "packages/drifted": (finding("transformers", cause="sglang"),),
        "packages/altered-file": (finding("broken"), finding("sglang")),
    }
    leaves, changes, arrives, repaired, stays = planning.compared(installed, wanted, findings)
    assert leaves == (Leaving("sglang", "0.5.9"), Leaving("tilelang", "0.1", "sglang"))
    assert changes == (
        Change("torch", "2.11.0+cpu", "2.11.0+cu130"),
        Change("transformers", "5.8.1", "5.6.0", "sglang"),
    )
    assert arrives == (Change("safetensors", None, "0.8"),)
    assert (repaired, stays) == (("broken",), 1)


def test_an_editable_copy_of_a_locked_package_changes_even_at_its_version():
    installed = [Installed("transformers", "5.6.0", "/home/me/hacks/transformers")]
    _, changes, _, _, stays = planning.compared(installed, [Wanted("transformers", "5.6.0")], {})
    assert ([change.name for change in changes], stays) == (["transformers"], 0)


def test_projects_of_the_lock_and_of_the_target_are_kept_and_others_named():
    installed = [
        Installed("trainer", "1", "/srv/job"),
        Installed("helpers", "1", "/srv/job/libs/helpers"),
        Installed("hack", "1", "/home/me/hack"),
        Installed("numpy", "2"),
    ]
    kept, lost = planning.projects(installed, ["helpers"], "/srv/job")
    assert kept == (Project("trainer", "/srv/job"), Project("helpers", "/srv/job/libs/helpers"))
    assert [loss.path for loss in lost] == ["/home/me/hack"]


@pytest.mark.parametrize(
    ("present", "wanted", "there", "needed", "fetched"),
    [
        (1000, [Wanted("a", "1", 100), Wanted("b", "1", 50)], {"a"}, 1150, 50),
        (1000, [Wanted("a", "1", None)], set(), 1100, None),
        (None, [Wanted("a", "1", 100)], set(), 540, 100),
        (None, [Wanted("a", "1", None)], set(), None, None),
    ],
)
def test_sizes(present, wanted, there, needed, fetched):
    assert planning.sizes(present, wanted, frozenset(there), 9999) == Sizes(present, fetched, needed, 9999)


def plan(**changed):
    nothing = dict.fromkeys(("leaves", "changes", "arrives", "repaired", "losses", "projects"), ())
    values = {"link": "/srv/job/venv", "kind": "generation", "current": "/srv/job/.envs/venv/x", "digest": "ab" * 32}
    values |= {"lock": "/srv/job/train.txt", "python": "/usr/bin/python3.12", "version": "3.12.3", "pip": False}
    values |= {"installer": "uv 0.13.9", "wanted": 3, "stays": 3, "smoke": "none, as asked", "jobs": Jobs()}
    values |= {"sizes": Sizes(None, None, None, None), **nothing}
    return Plan(**values | changed)


def test_the_steps_say_how_the_switch_is_made():
    said = {kind: "\n".join(plan(kind=kind).steps()) for kind in ("missing", "directory", "generation", "elsewhere")}
    assert "exchange the directory" in said["directory"]
    assert all("let /srv/job/venv lead to it" in said[kind] for kind in ("missing", "generation", "elsewhere"))
    assert "write bits" not in said["generation"]
    assert "write bits" in "\n".join(plan(frozen=True).steps())
    assert "nfs4 is a network file system" in "\n".join(plan(network="nfs4").steps())
    assert "install trainer editable" in "\n".join(plan(projects=(Project("trainer", "/srv/job"),)).steps())


def test_jobs_that_would_mix_block_it():
    jobs = Jobs((Job(1, "me", "python", "activated"),), tuple(Job(n, "you", "python", "the link") for n in range(2, 9)))
    assert plan(jobs=jobs).blocked.startswith("process 2 of you (python: the link); ")
    assert plan(jobs=jobs).blocked.endswith(", and 2 more")
    assert plan(jobs=Jobs(jobs.keeping)).blocked == ""


@pytest.mark.parametrize(
    ("jobs", "force", "said"),
    [
        (Unavailable("no answer within 60 s", failed=True), False, "which jobs run from /srv/job/venv cannot be told"),
        (Unavailable("no answer within 60 s", failed=True), True, ""),
        (Jobs(mixing=(Job(1, "me", "python", "the link"),)), False, "would mix the old packages with the new"),
        (Jobs(mixing=(Job(1, "me", "python", "the link"),)), True, ""),
        (Jobs(), False, ""),
    ],
)
def test_jobs_that_are_not_known_are_not_none(jobs, force, said):
    found = preparing._refused(plan(jobs=jobs), Asked(force=force), frozenset())
    assert (len(found), said in "".join(found)) == (int(bool(said)), True)


def test_a_loss_is_what_it_says():
    assert Loss("directory", "/srv/job/venv/src").said == ""

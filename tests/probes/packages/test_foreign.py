"""What the lock does not have: an error if it did harm or is of a serving stack, a warning otherwise."""

import pytest
from values import NOON, PIP, collision, distribution, distributions, editable, findings, lock, owners, pin

from envdoctor.facts.owners import Shared
from envdoctor.model import Severity, Target, Unavailable
from envdoctor.policy import Policy
from envdoctor.probes.packages.foreign import check

STACK = distribution("sglang", "0.5.9", requires=["transformers==5.8.1", "six"], installed_at=NOON, requested=True)
ANEW = "or envdoctor rebuild --target /env --dry-run"


def judge(*items, given=lock("torch==2.0"), **facts):  # noqa: B008 - frozen
    return findings(check, distributions=distributions(*items, "pip"), lock=given, **facts)


def brief(found):
    return [(finding.severity, finding.subject) for finding in found]


@pytest.mark.parametrize(
    ("name", "severity"),
    [("six", Severity.WARNING), ("sglang", Severity.ERROR), ("flashinfer-python", Severity.ERROR)],
)
def test_a_leaf_is_a_warning_and_a_serving_stack_an_error(name, severity):
    assert brief(judge(name)) == [(severity, name)]


@pytest.mark.parametrize(
    ("url", "foreign"),
    [
        ("file:///srv/my%20job", []),
        ("file:///home/me/hack", ["trainer"]),
        ("https://host.example/srv/my job", ["trainer"]),
    ],
)
def test_the_project_in_which_the_environment_lies_is_none(url, foreign):
    """An editable install of what all the rest is for; one from elsewhere is as foreign as any."""
    own = distribution("trainer", direct_url=editable(url))
    target = Target("/srv/my job/.venv", "/srv/my job/.venv/bin/python")
    assert [finding.subject for finding in judge(own, "torch==2.0", target=target)] == foreign


def test_what_moved_a_locked_package_is_an_error():
    leaf = distribution("leaf", requires=["torch==1.9"])
    assert brief(judge(leaf, "torch==1.9")) == [(Severity.ERROR, "leaf")]


def test_what_overwrote_a_locked_package_is_an_error_and_its_removal_puts_that_back():
    (finding,) = judge("leaf", "torch==2.0", owners=owners([collision("torch/a.py", "torch", "leaf")]))
    assert finding.severity == Severity.ERROR
    assert finding.evidence["overwrote"] == ["torch/a.py"]
    assert finding.remedy == (f"{PIP} uninstall leaf", f"{PIP} install --force-reinstall --no-deps torch==1.0", ANEW)


def test_what_overwrote_another_foreigner_alone_is_a_warning():
    found = judge("leaf", "twig", owners=owners([collision("a.py", "leaf", "twig")]))
    assert brief(found) == [(Severity.WARNING, "leaf"), (Severity.WARNING, "twig")]


def test_the_root_tells_the_whole_story():
    company = [distribution("transformers", "5.8.1", installed_at=NOON + 1), distribution("six", installed_at=NOON + 2)]
    root, six = sorted(judge(STACK, *company, given=lock("transformers==5.6.0")), key=lambda finding: finding.subject)
    assert root.message == (
        "sglang 0.5.9 is not in train.txt; its install also moved transformers 5.6.0 -> 5.8.1 and added 1 package"
    )
    assert root.evidence["installed_at"] == "2026-06-03T12:00:02Z"
    assert root.evidence["moved"] == ["transformers 5.6.0 -> 5.8.1"]
    assert root.remedy == (
        f"{PIP} uninstall sglang six",
        f"{PIP} install --force-reinstall --no-deps transformers==5.6.0",
        ANEW,
    )
    assert six.evidence["cause"] == root.evidence["cause"] == "sglang"


def test_what_the_removal_of_its_company_would_tear_out_comes_back():
    stack = distribution("leaf", requires=["twig"])
    collisions = [collision("torch/a.py", "torch", "twig"), collision("b.py", "other", "third")]
    root, _ = judge(stack, "twig", "torch==2.0", owners=owners(collisions))
    assert root.remedy == (f"{PIP} uninstall leaf twig", f"{PIP} install --force-reinstall --no-deps torch==1.0")


def test_identical_files_that_its_uninstall_would_tear_out_come_back():
    shared = [Shared({"leaf": "1.0", "torch": "2.0"}, 3), Shared({"other": "1.0", "third": "1.0"}, 1)]
    (finding,) = judge("leaf", "torch==2.0", owners=owners(shared=shared))
    assert (finding.severity, "overwrote" in finding.evidence) == (Severity.WARNING, False)
    assert finding.remedy == (f"{PIP} uninstall leaf", f"{PIP} install --force-reinstall --no-deps torch==2.0")


def test_what_comes_back_comes_back_at_the_locked_version():
    leaf = distribution("leaf", requires=["torch==1.9"])
    (finding,) = judge(leaf, "torch==1.9", owners=owners(shared=[Shared({"leaf": "1.0", "torch": "1.9"}, 1)]))
    assert finding.remedy[1].endswith(" torch==2.0")


def test_what_a_locked_package_needs_is_missing_from_the_lock_and_not_to_be_removed():
    torch = distribution("torch", "2.0", requires=["six", "torch"])
    (finding,) = judge(torch, "six")
    assert (finding.severity, finding.subject) == (Severity.WARNING, "six")
    assert finding.message == "six 1.0 is not in train.txt, though torch there needs it"
    assert finding.evidence["needed_by"] == ["torch"]
    assert not any("uninstall" in step for step in finding.remedy)


@pytest.mark.parametrize("needer", [distribution("leaf", requires=["six"]), distribution("torch", "2.0")])
def test_what_only_foreign_packages_need_may_go(needer):
    found = judge(needer, "six")
    assert not any("needed_by" in finding.evidence for finding in found)
    assert any("uninstall" in step for finding in found for step in finding.remedy)


def test_a_serving_stack_that_a_locked_package_needs_is_an_error_still():
    assert brief(judge(distribution("torch", "2.0", requires=["vllm"]), "vllm")) == [(Severity.ERROR, "vllm")]


def test_long_lists_of_moves_are_cut_in_the_sentence_alone():
    moved = [f"p{n}" for n in range(5)]
    leaf = distribution("leaf", requires=[f"{name}==2" for name in moved])
    (finding,) = judge(leaf, *[f"{name}==2" for name in moved], given=lock(*[f"{name}==1" for name in moved]))
    assert "p2 1 -> 2 and 2 more" in finding.message
    assert len(finding.evidence["moved"]) == 5


def test_it_speaks_without_owners():
    assert brief(judge("six", owners=Unavailable("deadline"))) == [(Severity.WARNING, "six")]


@pytest.mark.parametrize(
    ("item", "given", "policy"),
    [
        ("torch==2.0", lock("torch==2.0"), Policy()),
        ("torch==1.0", lock("torch==2.0"), Policy()),
        ("pytest==8.0", lock(pin("pytest==8.0", marker="'dev' in dependency_groups")), Policy()),
        ("pytest==8.0", lock(pin("pytest==8.0", marker="'test' in extras")), Policy()),
        ("six", lock(), Policy(allow=("six",))),
        ("setuptools", lock(), Policy()),
        ("gpu-envdoctor", lock(), Policy()),
        (distribution("mine", direct_url=editable()), lock(project="mine"), Policy()),
        (distribution("six", site="/home/me/.local", origin="user-site"), lock(), Policy()),
    ],
    ids=["locked", "drifted", "group", "extra", "allowed", "seed", "the doctor", "own project", "not its own"],
)
def test_healthy_neighbours(item, given, policy):
    assert judge(item, given=given, policy=policy) == []


@pytest.mark.parametrize("marker", ["sys_platform == 'win32'", "python_version < '3.12'"])
def test_a_pin_for_another_platform_does_not_excuse_it(marker):
    assert brief(judge("six", given=lock(pin("six==1.0", marker=marker)))) == [(Severity.WARNING, "six")]

"""What was installed or made writable after the freeze is a warning; an environment that was not frozen may change."""

from dataclasses import replace

import pytest

from envdoctor.facts.distributions import Distribution, Distributions
from envdoctor.facts.freeze import Freeze
from envdoctor.facts.startup import SiteDirectory, Startup
from envdoctor.model import Severity, Target, Unavailable
from envdoctor.probes.environment.freeze_bypassed import check
from envdoctor.seals import Seal, SealedDistribution

TARGET = Target("/env", "/env/bin/python")
SITE = "/env/lib/python3.12/site-packages"
NEVER = Freeze()
SEALED = tuple(SealedDistribution(name, "1.0", "") for name in ("torch", "sglang", "vllm"))
FROZEN = 1767225600.0
"""2026-01-01T00:00:00Z."""


def installed(name, when, origin="site-packages"):
    return Distribution(name, "1.0", name, SITE, f"{SITE}/{name}-1.0.dist-info", origin, installed_at=when)


def judge(
    *distributions, frozen=True, writable=False, taken_at="2026-01-01T00:00:00Z", read=True, freeze=NEVER, without=()
):
    seal = Seal(taken_at, "0.1.0", "node7", "3.12.3", "/usr/bin/python3", SEALED, frozen=frozen)
    site = SiteDirectory(SITE, "python3.12", 1, read=read, writable=writable)
    present = {item.name for item in distributions}
    others = [
        installed(name, FROZEN - 60) for name in ("torch", "sglang", "vllm") if name not in present | set(without)
    ]
    distributions = (*distributions, *others)
    return list(check(seal, Distributions(distributions), Startup(sites=(site,)), freeze, TARGET))


def test_installs_after_the_freeze_are_one_warning():
    newer = [installed("sglang", FROZEN + 60), installed("vllm", FROZEN + 61)]
    (finding,) = judge(installed("torch", FROZEN - 60), *newer)
    assert (finding.severity, finding.subject) == (Severity.WARNING, "/env")
    assert finding.evidence["packages"] == ["sglang 1.0", "vllm 1.0"]


@pytest.mark.parametrize("name", ["sglang", "gradio"])
def test_what_was_not_sealed_at_that_version_was_installed_since_whatever_its_time(name):
    (finding,) = judge(replace(installed(name, FROZEN - 60), version="2.0"))
    assert finding.evidence["packages"] == [f"{name} 2.0"]


def test_what_was_removed_is_told_beside_what_was_installed():
    (finding,) = judge(installed("gradio", FROZEN + 60), without=["vllm"])
    assert finding.message == (
        "since the environment was frozen on 2026-01-01T00:00:00Z somebody has installed gradio 1.0 and removed vllm"
    )
    assert finding.evidence["removed"] == ["vllm"]
    (finding,) = judge(without=["torch", "vllm"])
    assert finding.message.endswith(" somebody has removed torch, vllm")


def test_site_packages_made_writable_is_a_warning():
    (finding,) = judge(writable=True)
    assert (finding.severity, finding.subject) == (Severity.WARNING, SITE)


UNTOUCHED = Freeze(made=True, hashes=True)
TORCH = f"{SITE}/torch"


def test_what_the_command_froze_and_is_writable_again_is_one_warning():
    paths = (SITE, f"{SITE}/six.py", TORCH)
    (finding,) = judge(writable=True, freeze=replace(UNTOUCHED, writable=paths, count=7))
    assert (finding.severity, finding.subject) == (Severity.WARNING, SITE)
    assert f"{SITE}, {SITE}/six.py, {TORCH} and 4 more were made writable since" in finding.message
    assert (finding.evidence["writable"], finding.evidence["count"]) == ([*paths], 7)
    assert finding.remedy == ("envdoctor freeze --target /env",)


def test_one_package_made_writable_is_named_alone():
    (finding,) = judge(freeze=replace(UNTOUCHED, writable=(TORCH,), count=1))
    assert finding.message == f"{TORCH} was made writable since the environment was frozen on 2026-01-01T00:00:00Z"


def test_a_pip_that_requires_no_hashes_any_more_is_a_warning():
    (finding,) = judge(freeze=replace(UNTOUCHED, hashes=False))
    assert (finding.severity, finding.subject) == (Severity.WARNING, "/env/pip.conf")
    assert finding.remedy == ("envdoctor freeze --target /env",)


def test_where_the_freeze_cannot_be_looked_at_the_sites_still_count():
    (finding,) = judge(writable=True, freeze=Unavailable("no answer"))
    assert finding.subject == SITE


@pytest.mark.parametrize(
    ("distributions", "given"),
    [
        ([installed("torch", FROZEN - 60)], {}),
        ([installed("sglang", FROZEN + 60)], {"frozen": False, "writable": True}),
        ([installed("sglang", FROZEN + 60, "user-site"), installed("sglang", FROZEN - 60)], {}),
        ([installed("sglang", None)], {}),
        ([installed("sglang", FROZEN + 60)], {"taken_at": "yesterday"}),
        ([], {"writable": True, "read": False}),
        ([], {"freeze": UNTOUCHED}),
        ([], {"freeze": Freeze(hashes=False, writable=(TORCH,), count=1)}),
        ([], {"freeze": replace(UNTOUCHED, hashes=False), "frozen": False}),
    ],
    ids=[
        "older",
        "not frozen",
        "not its own",
        "no time",
        "no date",
        "not read",
        "untouched",
        "not by command",
        "thawed",
    ],
)
def test_healthy_neighbours(distributions, given):
    assert judge(*distributions, **given) == []

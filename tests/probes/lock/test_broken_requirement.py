"""Pins outside what other pins require."""

from dataclasses import replace

import pytest
from locked import audited, metadata, read, target, told
from values import distributions, judged, values

from envdoctor.model import LockHeader, Severity, Unavailable
from envdoctor.probes.lock.broken_requirement import check
from envdoctor.views import lock_broken
from envdoctor.views.lock_metadata import LockMetadata, Released
from envdoctor.views.lock_online import DryRun, LockOnline

TORCH = metadata(torch=("2.11.0", "nvidia-cudnn-cu13==9.19.0.56", "triton==3.6.0 ; platform_system == 'Linux'"))
OTHERS = {"nvidia-cudnn-cu13": ("9.19.0.56", "9.20.0.48"), "triton": ("3.5.1", "3.6.0")}
WHOLE = LockMetadata({**TORCH.releases, **{name: tuple(map(Released, all_)) for name, all_ in OTHERS.items()}})
LOCK = "torch==2.11.0\nnvidia-cudnn-cu13==9.20.0.48\ntriton==3.6.0\n"
UV = """
version = 1
[manifest]
overrides = [{{ name = "{}" }}]
[[package]]
name = "demo"
source = {{ virtual = "." }}
dependencies = [{{ name = "torch" }}, {{ name = "nvidia-cudnn-cu13" }}]
[[package]]
name = "torch"
version = "2.11.0"
source = {{ registry = "https://index.example/simple" }}
[[package]]
name = "nvidia-cudnn-cu13"
version = "9.20.0.48"
source = {{ registry = "https://index.example/simple" }}
"""


def judge(text, known=TORCH, **given):
    return audited(check, text, lock_targets=target(), lock_metadata=known, **given)


def test_a_pin_that_another_does_not_admit():
    (finding,) = found = judge(LOCK)
    assert (finding.severity, told(found)) == (Severity.ERROR, [("torch", 1)])
    assert finding.message == (
        "torch 2.11.0 requires nvidia-cudnn-cu13==9.19.0.56, and the lock has nvidia-cudnn-cu13 9.20.0.48 (line 2)"
    )
    assert finding.evidence["requirements"] == {"nvidia-cudnn-cu13": "nvidia-cudnn-cu13==9.19.0.56"}


def test_what_a_uv_lock_overrides_is_lifted():
    assert [finding.subject for finding in judge(UV.format("six"), path="/project/uv.lock")] == ["torch"]
    assert judge(UV.format("nvidia-cudnn-cu13"), WHOLE, path="/project/uv.lock") == []
    assert judge(UV.format("torch"), WHOLE, path="/project/uv.lock") == []


def test_overrides_that_are_not_recorded_leave_it_open():
    lock = replace(read(LOCK), header=LockHeader(command="uv pip compile --override o.txt in.txt"))
    outcome = judged(check, lock=lock, distributions=distributions("torch==2.11.0"))
    assert "--override" in outcome.skipped.reason


@pytest.mark.parametrize(
    "text",
    [
        LOCK.replace("9.20.0.48", "9.19.0.56"),
        "torch==2.11.0\n",
        "torch==2.11.0\ntriton==3.5.1\n",
        "torch==2.11.0\nnvidia-cudnn-cu13 @ git+https://x.example/y@0123456789abcdef0123456789abcdef01234567\n",
    ],
    ids=["admitted", "missing", "lock/companion-mismatch", "no version"],
)
def test_healthy_neighbours(text):
    assert judge(text, WHOLE) == []


def test_what_no_metadata_speaks_of_is_not_called_sound():
    given = {"lock": read("torch==2.10.0\n"), "lock_targets": target(), "lock_metadata": TORCH}
    assert values(**given)["lock_broken"] == Unavailable("no metadata at hand of torch")


def test_without_metadata_it_is_what_a_resolver_says():
    said = "Because requests==2.32.3 depends on urllib3>=1.21.1,<3 and you require urllib3==1.20 ..."
    nothing = Unavailable("no metadata")
    broken = lock_broken.view(nothing, LockOnline(dry_run=DryRun("Python 3.12", conflict=said)))
    (finding,) = audited(check, "urllib3==1.20\nrequests==2.32.3\n", lock_broken=broken)
    assert (finding.subject, finding.evidence["line"], finding.severity) == ("urllib3", 1, Severity.ERROR)
    assert finding.message.endswith(said)
    assert lock_broken.view(nothing, LockOnline(dry_run=DryRun("Python 3.12"))) == lock_broken.LockBroken()
    lost = lock_broken.view(nothing, LockOnline(dry_run=DryRun("Python 3.12", problem="uv is not here")))
    assert lost == Unavailable("uv is not here", failed=True)
    assert lock_broken.view(nothing, LockOnline()) == lock_broken.view(nothing, Unavailable("offline")) == nothing

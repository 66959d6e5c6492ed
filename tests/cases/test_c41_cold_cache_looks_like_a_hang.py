"""radixark/miles#3158: ~/.triton is the container's own, so every node starts cold, 639 s instead of 60 s."""

import pytest
from cachetrees import inductor
from fakes import FakeHost
from values import findings, marks, torch_build

from envdoctor.facts.compile_caches import collect
from envdoctor.facts.node import Mount, Node
from envdoctor.model import Target, Unavailable
from envdoctor.probes.cache import ephemeral, missing

OVERLAY, DISK = (Node(mounts=(Mount("/", kind),)) for kind in ("overlay", "ext4"))
ONCE = marks(("fxgraph", "", 1200), ("triton", "", 1200))
NONE = Unavailable("nothing is remembered")


@pytest.fixture
def judged(tmp_path):
    def judge(known, node=OVERLAY):
        host = FakeHost(env={"TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "c")}, home=str(tmp_path / "home"))
        found = collect(Target("/env", "/env/bin/python"), host, None, node)
        facts = {"compile_caches": found, "torch_build": torch_build(), "cache_marks": known, "node": node}
        probes = {"missing": missing, "ephemeral": ephemeral}
        return {
            (name, finding.severity.label)
            for name, probe in probes.items()
            for finding in findings(probe.check, **facts)
        }

    return judge


@pytest.mark.parametrize("there", [False, True], ids=["absent", "empty"])
@pytest.mark.parametrize(("known", "severity"), [(ONCE, "warning"), (marks(), "note"), (NONE, "note")])
def test_it_is_a_warning_with_a_mark_and_never_an_error(judged, tmp_path, there, known, severity):
    if there:
        (tmp_path / "c").mkdir()
    assert judged(known) == {("missing", severity), ("ephemeral", "note")}


def test_control_a_warm_cache_on_a_disk_is_silent(judged, tmp_path):
    inductor(tmp_path / "c", cuda_0=3)
    assert judged(ONCE, DISK) == set()

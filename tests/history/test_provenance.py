"""Why one package is there: from made facts."""

import pytest
from values import MARKERS, NOON, SITE, distribution, distributions, editable, interpreter, lock, pin

from envdoctor.history.provenance import near
from envdoctor.model import LockedDependency

HOUR = 3600.0


def names(chain):
    return [link.name for link in chain]


class TestChains:
    def test_go_from_each_root_down(self, tell):
        found = distributions(
            distribution("sglang", "0.5.9", requires=["flashinfer==1.0", "tqdm"]),
            distribution("flashinfer", requires=["numpy>=2"]),
            distribution("accelerate", requires=["numpy"]),
            "numpy==2.1.0",
            "tqdm",
        )
        told = tell(found).provenance("numpy")
        assert [names(chain) for chain in told.chains] == [["accelerate"], ["sglang", "flashinfer"]]
        assert [link.requires for link in told.chains[1]] == ["flashinfer==1.0", "numpy>=2"]
        assert [(link.name, link.requires, link.satisfied) for link in told.required_by] == [
            ("accelerate", "numpy", True),
            ("flashinfer", "numpy>=2", True),
        ]

    @pytest.mark.parametrize(("installer", "roots"), [("pip", [["mid"], ["top", "mid"]]), ("uv", [["top", "mid"]])])
    def test_what_pip_was_asked_for_is_a_root_though_something_needs_it(self, installer, roots, tell):
        mid = distribution("mid", requires=["leaf"], requested=True, installer=installer)
        found = distributions(distribution("top", requires=["mid"]), mid, "leaf")
        assert [names(chain) for chain in tell(found).provenance("leaf").chains] == roots

    def test_a_ring_ends(self, tell):
        ring = distributions(
            distribution("a", requires=["b"]), distribution("b", requires=["c"]), distribution("c", requires=["a"])
        )
        assert [names(chain) for chain in tell(ring).provenance("a").chains] == [["c"]]
        assert tell(distributions(distribution("a", requires=["a"]))).provenance("a").required_by == ()

    def test_extras_count_where_somebody_asks_for_them(self, tell):
        uvicorn = distribution("uvicorn", requires=["click", 'uvloop; extra == "standard"'])
        plain = distribution("plain", requires=["uvicorn"])
        asking = distribution("asking", requires=["uvicorn[standard]"])
        assert tell(distributions(uvicorn, plain, "uvloop")).provenance("uvloop").required_by == ()
        (link,) = tell(distributions(uvicorn, asking, "uvloop")).provenance("uvloop").required_by
        assert (link.name, link.requires) == ("uvicorn", "uvloop")

    def test_markers_of_other_platforms_do_not(self, tell):
        found = distributions(distribution("a", requires=['b; sys_platform == "win32"']), "b")
        told = tell(found, interpreter=interpreter(markers=MARKERS)).provenance("b")
        assert told.required_by == ()

    def test_many_are_counted(self, tell):
        found = distributions(*[distribution(f"p{n}", requires=["numpy"]) for n in range(60)], "numpy")
        told = tell(found).provenance("numpy")
        assert (len(told.chains), told.more_chains) == (50, 10)

    def test_a_requirement_that_is_not_met_is_shown(self, tell):
        found = distributions(distribution("a", requires=["numpy<2"]), "numpy==2.1.0")
        assert [link.satisfied for link in tell(found).provenance("numpy").required_by] == [False]


class TestLock:
    def test_names_the_pin_and_who_asked_for_it(self, tell):
        held = lock(pin("numpy==2.1.0", line=7, via=("-r train.in",)))
        (found,) = tell(distributions("numpy==2.3.5"), lock=held).provenance("numpy").pins
        assert (found.version, found.line, found.file, found.via, found.wanted) == (
            "2.1.0",
            7,
            "/project/train.txt",
            ("-r train.in",),
            True,
        )

    def test_a_graph_tells_who_needs_it_and_for_which_group(self, tell):
        asking = pin("lab==1", dependencies=(LockedDependency("six", when=("group:dev",)),))
        other = pin("old==1", dependencies=(LockedDependency("six"), LockedDependency("six", version="0.1")))
        (found,) = tell(distributions("six"), lock=lock(asking, other, "six==1.0")).provenance("six").pins
        assert found.via == ("lab (group:dev)", "old")

    def test_what_is_only_locked_is_told(self, tell):
        told = tell(distributions("numpy"), lock=lock("torch==2.11.0")).provenance("torch")
        assert (told.copies, [found.version for found in told.pins], told.batch) == ((), ["2.11.0"], None)

    def test_without_one_the_reason_is_told(self, tell):
        told = tell(distributions("numpy")).provenance("numpy")
        assert (told.lock, told.unlocked, told.foreign) == (None, "no lock", False)

    def test_a_foreign_package_has_a_cause(self, tell):
        found = distributions(distribution("sglang", requires=["orjson"]), "orjson", "numpy")
        told = tell(found, lock=lock("numpy==1.0"))
        assert [(told.provenance(n).foreign, told.provenance(n).cause) for n in ("orjson", "numpy")] == [
            (True, "sglang"),
            (False, None),
        ]


class TestComing:
    def test_is_its_batch_and_not_another(self, tell):
        found = distributions(distribution("a", installed_at=NOON - HOUR), distribution("b", installed_at=NOON))
        batch = tell(found).provenance("b").batch
        assert (batch.at, [root.name for root in batch.roots]) == (NOON, ["b"])

    def test_is_unknown_where_times_prove_nothing(self, tell):
        flat = distributions(distribution("a", installed_at=NOON), distribution("b", installed_at=NOON))
        told = tell(flat).provenance("a")
        assert (told.batch, "image layer" in told.timeless) == (None, True)

    def test_copies_are_all_told_and_the_imported_one_marked(self, tell):
        shadow = distribution("six", "2.0", site="/extra", origin="PYTHONPATH", direct_url=editable())
        told = tell(distributions(shadow, "six==1.0")).provenance("six")
        assert [(copy.version, copy.imported, copy.editable) for copy in told.copies] == [
            ("2.0", True, True),
            ("1.0", False, False),
        ]
        assert told.copies[1].metadata == f"{SITE}/six-1.0.dist-info"


@pytest.mark.parametrize(
    ("name", "alike"),
    [("transformrs", ["transformers"]), ("cublas", ["nvidia-cublas-cu12"]), ("zzz", []), ("torch", ["torch-locked"])],
)
def test_near_names(name, alike, tell):
    found = tell(distributions("transformers", "nvidia-cublas-cu12", "six"), lock=lock("torch-locked==1"))
    assert near(name, found.evidence) == alike

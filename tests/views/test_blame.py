"""Foreign packages, and whose coming moved what: by requirement, by install batch, or unknown."""

import pytest
from values import NOON, blame, distribution, distributions, editable, lock

from envdoctor.policy import Policy

TRIO = lock("torch==2.10.0+cu130", "torchaudio==2.10.0+cu130", "torchvision==0.25.0+cu130")
PINNING = distribution("vllm", "0.15.1", requires=["torch==2.9.1"])


def came(*items, lock=lock(), policy=Policy()):  # noqa: B008 - both are frozen
    return blame(distributions=distributions(*items), lock=lock, policy=policy)


class TestForeign:
    def test_is_what_the_lock_does_not_have(self):
        assert came("torch==1", "six==1", lock=lock("torch==2")).foreign == ("six",)

    @pytest.mark.parametrize("seed", ["pip", "setuptools", "wheel", "uv", "gpu-envdoctor"])
    def test_is_not_what_venv_brings_nor_the_doctor(self, seed):
        assert came(seed).foreign == ()

    def test_is_not_what_other_directories_of_the_path_hold(self):
        other = [distribution("six", site=f"/{origin}", origin=origin) for origin in ("PYTHONPATH", "system-site")]
        assert came(*other).foreign == ()

    @pytest.mark.parametrize("pattern", ["nvitop", "nvi*"])
    def test_is_not_what_is_allowed_nor_what_that_needs(self, pattern):
        tool = distribution("nvitop", requires=["psutil"])
        assert came(tool, "psutil", "six", policy=Policy(allow=(pattern,))).foreign == ("six",)

    def test_is_not_the_locks_own_project(self):
        mine = distribution("mine", direct_url=editable())
        assert came(mine, lock=lock(project="mine")).foreign == ()
        assert came(mine, lock=lock(project="other")).foreign == ("mine",)
        assert came("mine", lock=lock(project="mine")).foreign == ("mine",), "a release of it is"

    def test_knows_the_families(self):
        found = came("flashinfer-python", "six")
        assert found.families == {"flashinfer-python": "flashinfer"}


class TestRoots:
    def test_what_came_for_another_is_its_company(self):
        found = came(distribution("sglang", requires=["six", "tilelang"]), "six", "tilelang")
        assert list(found.causes) == ["sglang"]
        assert found.causes["sglang"].added == ("tilelang", "six"), "what matters first"

    def test_two_roots_share_by_batch(self):
        first = [distribution("a", requires=["six"], installed_at=NOON), distribution("x", installed_at=NOON)]
        later = [
            distribution("b", requires=["six"], installed_at=NOON + 99),
            distribution("six", installed_at=NOON + 99),
        ]
        assert came(*first, *later).cause_of["six"] == "b"

    def test_without_times_a_serving_stack_is_blamed_before_others(self):
        found = came(distribution("a", requires=["six"]), distribution("vllm", requires=["six"]), "six")
        assert found.cause_of["six"] == "vllm"

    def test_without_times_who_was_asked_for_is_blamed_before_others(self):
        asked = distribution("b", requires=["six"], requested=True)
        assert came(distribution("a", requires=["six"]), asked, "six").cause_of["six"] == "b"

    def test_a_ring_of_packages_that_need_each_other_has_one_root(self):
        ring = [
            distribution("b", requires=["a"]),
            distribution("vllm", requires=["b"]),
            distribution("a", requires=["vllm"]),
        ]
        found = came(*ring, "six")
        assert {root: cause.added for root, cause in found.causes.items()} == {"six": (), "vllm": ("a", "b")}

    def test_the_time_is_the_batchs_end(self):
        timed = came(distribution("six", installed_at=NOON), distribution("old", installed_at=NOON - 3600))
        assert timed.causes["six"].installed_at == NOON
        assert came("six").causes["six"].installed_at is None


class TestMoves:
    def test_the_culprit_is_who_pins_the_present_version(self):
        found = came(PINNING, "torch==2.9.1", lock=lock("torch==2.10.0+cu130"))
        (move,) = found.causes["vllm"].moved
        assert (move.name, move.locked, move.installed) == ("torch", "2.10.0+cu130", "2.9.1")
        assert found.evidence("torch") == {"cause": "vllm"}

    def test_who_accepts_the_locked_version_is_innocent(self):
        tolerant = distribution("vllm", requires=["torch>=2.9"])
        assert came(tolerant, "torch==2.9.1", lock=lock("torch==2.10.0")).evidence("torch") == {}

    def test_who_does_not_accept_the_present_version_either_is_innocent(self):
        assert came(PINNING, "torch==2.8.0", lock=lock("torch==2.10.0")).evidence("torch") == {}

    def test_what_was_moved_moves_others_wherever_they_stand_in_the_lock(self):
        torch = distribution("torch", "2.9.1", requires=["nvidia-cublas==12.8", "triton==3.5.1"])
        given = lock("nvidia-cublas==13.0", "torch==2.10.0", "triton==3.6.0")
        found = came(PINNING, torch, "nvidia-cublas==12.8", "triton==3.5.1", lock=given)
        assert [move.name for move in found.causes["vllm"].moved] == ["nvidia-cublas", "torch", "triton"]

    def test_company_of_one_install_is_the_culprits(self):
        trio = [("torch", "2.9.1"), ("torchaudio", "2.9.1"), ("torchvision", "0.24.1")]
        moved = [distribution(name, version, installed_at=NOON + 1) for name, version in trio]
        stack = distribution("vllm", requires=["torch==2.9.1"], installed_at=NOON)
        old = distribution("six", installed_at=NOON - 3600)
        found = came(stack, *moved, old, lock=lock(*TRIO.packages, "six==1.0"))
        assert [move.name for move in found.causes["vllm"].moved] == ["torch", "torchaudio", "torchvision"]

    def test_another_days_install_is_not(self):
        moved = distribution("torch", "2.9.1", installed_at=NOON - 3600)
        found = came(distribution("six", installed_at=NOON), moved, lock=lock("torch==2.10.0"))
        assert found.evidence("torch") == {}

    def test_times_that_prove_nothing_blame_nobody(self):
        flat = [distribution("six", installed_at=NOON), distribution("torch", "2.9.1", installed_at=NOON)]
        assert came(*flat, lock=lock("torch==2.10.0")).evidence("torch") == {}

    def test_who_came_after_the_move_is_innocent(self):
        moved = distribution("torch", "2.9.1", installed_at=NOON)
        later = distribution("vllm", "0.15.1", requires=["torch==2.9.1"], installed_at=NOON + 3600)
        assert came(later, moved, lock=lock("torch==2.10.0")).evidence("torch") == {}

    def test_who_was_asked_for_by_name_moved_for_itself(self):
        stack = distribution("six", installed_at=NOON)
        moved = [distribution("torch", "2.9.1", installed_at=NOON + 1, requested=asked) for asked in (False, True)]
        given = lock("torch==2.10.0")
        assert [came(stack, item, lock=given).evidence("torch") for item in moved] == [{"cause": "six"}, {}]

    @pytest.mark.parametrize(("locked", "blamed"), [(1, {"cause": "six"}), (2, {"cause": "six"}), (3, {})])
    def test_company_in_an_install_of_the_lock_proves_nothing(self, locked, blamed):
        names = [f"p{n}" for n in range(locked)]
        install = [distribution(name, installed_at=NOON + n) for n, name in enumerate((*names, "six"))]
        moved = distribution("torch", "2.9.1", installed_at=NOON + 4)
        given = lock("torch==2.10.0", *[f"{name}==1.0" for name in names])
        assert came(*install, moved, lock=given).evidence("torch") == blamed

    def test_a_requirement_counts_in_an_install_of_the_lock_too(self):
        names = [f"p{n}" for n in range(9)]
        install = [distribution(name, installed_at=NOON) for name in names]
        stack = distribution("vllm", requires=["torch==2.9.1"], installed_at=NOON + 1)
        moved = distribution("torch", "2.9.1", installed_at=NOON + 1, requested=True)
        given = lock("torch==2.10.0", *[f"{name}==1.0" for name in names])
        assert came(*install, stack, moved, lock=given).evidence("torch") == {"cause": "vllm"}

    def test_another_build_is_a_move(self):
        pinning = distribution("vllm", requires=["torch==2.10.0+cpu"])
        found = came(pinning, "torch==2.10.0+cpu", lock=lock("torch==2.10.0+cu130"))
        assert found.evidence("torch") == {"cause": "vllm"}

    @pytest.mark.parametrize(
        ("installed", "locked"),
        [
            (distribution("torch", None), "torch==2.0"),
            ("torch==2.0", "torch"),
            ("torch==2.0", "torch==2.0.0"),
            ("six", "torch==2"),
        ],
        ids=["unreadable", "no version locked", "another spelling", "absent"],
    )
    def test_what_cannot_be_compared_or_is_equal_has_not_moved(self, installed, locked):
        stack = distribution("vllm", requires=["torch>=1"], installed_at=NOON)
        given = distributions(stack, installed)
        assert blame(distributions=given, lock=lock(locked)).causes["vllm"].moved == ()

    def test_nothing_moved_means_nothing_to_explain(self):
        found = came("torch==2.10.0", lock=lock("torch==2.10.0"))
        assert (found.foreign, found.causes, found.cause_of) == ((), {}, {})

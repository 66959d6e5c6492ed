"""Which devices are smoked: those that are named, else those that nobody uses."""

import pytest
from values import driver, gpu, gpu_use, on_gpu, variables, view

from envdoctor.errors import UsageError
from envdoctor.facts.gpu_use import Holder
from envdoctor.model import Unavailable
from envdoctor.smoke.devices import MOST, chosen, named

FOUR = tuple(gpu(index) for index in range(4))
UNEQUAL = (gpu(0, name="NVIDIA T4"), gpu(1))
HUNG = Unavailable("NVML gave no answer within 3 s", failed=True)


class TestNamed:
    @pytest.mark.parametrize(
        ("written", "found"),
        [
            ("all", None),
            (" all ", None),
            ("cpu", ["cpu"]),
            ("0", ["cuda:0"]),
            ("0,5-7", ["cuda:0", "cuda:5", "cuda:6", "cuda:7"]),
            ("cuda:1", ["cuda:1"]),
            ("cuda:1-2,cpu", ["cuda:1", "cuda:2", "cpu"]),
            ("3,1,3,1-2", ["cuda:3", "cuda:1", "cuda:2"]),
            (" 0 , 2 ", ["cuda:0", "cuda:2"]),
            ("4-4", ["cuda:4"]),
            ("007", ["cuda:7"]),
            (f"0-{MOST - 1}", [f"cuda:{number}" for number in range(MOST)]),
        ],
    )
    def test_what_it_means(self, written, found):
        assert named(written) == (None if found is None else tuple(found))

    @pytest.mark.parametrize(
        ("written", "said"),
        [
            ("", "'' is no device"),
            (" ", "'' is no device"),
            ("0,,1", "'' is no device"),
            ("0,", "'' is no device"),
            ("gpu0", "'gpu0' is no device"),
            ("-1", "'-1' is no device"),
            ("1.5", "'1.5' is no device"),
            ("0 1", "'0 1' is no device"),
            ("GPU-12345678", "'GPU-12345678' is no device"),
            ("0,all", "'all' is no device"),
            ("\x1b[2J\n", r"'\x1b[2J' is no device"),
            ("0-99999999", "'0-99999999' is no device"),
            ("7-5", "7-5 runs backwards; write 5-7"),
            (f"0-{MOST}", f"{MOST + 1} devices are more than any node has"),
        ],
    )
    def test_what_it_cannot_mean_is_one_clear_line(self, written, said):
        with pytest.raises(UsageError) as raised:
            named(written)
        assert str(raised.value).startswith(f"--devices: {said}")
        assert str(raised.value).isprintable()


def choose(written=None, gpus=FOUR, *, problem=None, use=None, setting=None, order=None):
    given = {"CUDA_VISIBLE_DEVICES": setting, "CUDA_DEVICE_ORDER": order}
    facts = {
        "driver": driver(*(() if problem else gpus), problem=problem),
        "gpu_use": use or gpu_use(7),
        "variables": variables(**{key: value for key, value in given.items() if value is not None}),
    }
    return chosen(written, view("devices", **facts), view("occupants", **facts))


def refused(*arguments, **given):
    found = choose(*arguments, **given)
    assert isinstance(found, Unavailable)
    assert found.failed, "what was asked for was not done"
    assert found.reason.endswith("; name some with --devices; --devices cpu needs no GPU")
    return found.reason


class TestByDefault:
    def test_those_that_nobody_uses(self):
        assert choose(gpus=(gpu(0), gpu(1, processes=(on_gpu(7),)), gpu(2))) == ("cuda:0", "cuda:2")

    def test_where_all_are_used_none_and_by_whom(self):
        cards = [gpu(n, processes=(on_gpu(7 + n),)) for n in range(2)]
        said = refused(gpus=cards, use=gpu_use(Holder(7, "alive", "ann", "python"), 8))
        assert said.startswith(
            "every visible GPU is in use: cuda:0 by pid 7 (python of ann); cuda:1 by pid 8 (python of me); "
        )

    @pytest.mark.parametrize(
        ("setting", "said"),
        [
            ("", "CUDA_VISIBLE_DEVICES='' hides all GPUs"),
            ("-1", "CUDA_VISIBLE_DEVICES='-1' hides all GPUs"),
            ("1,1", "CUDA_VISIBLE_DEVICES='1,1' names 1 twice, so that CUDA sees none"),
            ("9", "CUDA_VISIBLE_DEVICES='9' names no GPU"),
            ("GPU-ffff", "CUDA_VISIBLE_DEVICES='GPU-ffff' names no GPU"),
        ],
    )
    @pytest.mark.parametrize("written", [None, "all"])
    def test_what_the_variable_hides_is_said(self, written, setting, said):
        assert refused(written, setting=setting).startswith(said)

    def test_numbers_are_those_of_the_job(self):
        cards = (*FOUR[:3], gpu(3, processes=(on_gpu(7),)))
        assert choose(gpus=cards, setting="3,1") == ("cuda:1",)

    def test_what_follows_an_invalid_entry_is_not_there(self):
        assert choose(setting="0,9,1") == ("cuda:0",)

    def test_unequal_gpus_in_an_unknown_order_are_not_guessed(self):
        assert "CUDA_DEVICE_ORDER=PCI_BUS_ID" in refused(gpus=UNEQUAL)
        assert "CUDA_DEVICE_ORDER=PCI_BUS_ID" in refused(gpus=UNEQUAL, setting="1")
        assert choose(gpus=UNEQUAL, order="PCI_BUS_ID") == ("cuda:0", "cuda:1")

    def test_a_slice_is_a_device(self):
        assert choose(gpus=(gpu(mig=True, mig_devices=("MIG-aa", "MIG-bb")),)) == ("cuda:0",)

    @pytest.mark.parametrize("problem", [HUNG, Unavailable("no NVIDIA driver on this node")])
    @pytest.mark.parametrize("written", [None, "all"])
    def test_without_nvml_there_is_no_default(self, problem, written):
        assert refused(written, problem=problem).startswith(problem.reason)

    def test_a_node_without_gpus_says_so(self):
        assert refused(gpus=()).startswith("no GPU is visible; ")

    def test_without_knowing_who_uses_them_none_is_taken(self):
        found = chosen(None, view("devices", driver=driver(*FOUR), variables=variables()), HUNG)
        assert found.reason.startswith("who uses the GPUs cannot be told (NVML gave no answer within 3 s); ")


class TestAsked:
    @pytest.mark.parametrize(
        ("fields", "count"),
        [
            ({}, 4),
            ({"setting": "2,3"}, 2),
            ({"gpus": UNEQUAL}, 2),
            ({"gpus": UNEQUAL, "setting": "1"}, 1),
            ({"gpus": UNEQUAL, "setting": "1,0"}, 2),
            ({"gpus": (gpu(0), gpu(1, uuid="", problem="GPU is lost"))}, 1),
        ],
        ids=["all", "those of the job", "unequal", "one of unequal", "unequal in order", "one is lost"],
    )
    def test_all_are_those_that_the_job_would_see(self, fields, count):
        assert choose("all", **fields) == tuple(f"cuda:{number}" for number in range(count))

    def test_all_are_taken_whoever_uses_them(self):
        assert choose("all", (gpu(0, processes=(on_gpu(7),)),)) == ("cuda:0",)

    @pytest.mark.parametrize("fields", [{"problem": HUNG}, {"setting": ""}, {"gpus": ()}])
    def test_what_is_named_is_taken_whatever_nvml_says(self, fields):
        assert choose("3,cpu", **fields) == ("cuda:3", "cpu")


@pytest.mark.parametrize("written", ["٣", "0-٣", "cuda:²"])
def test_digits_of_other_scripts_are_no_numbers(written):
    with pytest.raises(UsageError, match="is no device"):
        named(written)

"""Each kind of event by one change that brings it about, and its nearest neighbour, which is no event."""

from dataclasses import replace

import pytest
from compared import GOOD, SITE, found, subjects, taken, told
from values import (
    arch_list,
    cache,
    caches,
    distribution,
    distributions,
    driver,
    editable,
    files,
    fx_flag,
    gpu,
    interpreter,
    jit_tools,
    loader,
    loads,
    lock,
    on_gpu,
    owners,
    pin,
    seal,
    state,
    toolkit,
    toolkits,
    torch_build,
    variables,
    warm,
)

from envdoctor.changes.compare import COMPARED, NONE, UNCOMPARED, compare
from envdoctor.changes.events import Gap
from envdoctor.facts.cache_counts import Count
from envdoctor.facts.driver_files import KernelModule, Xid
from envdoctor.facts.freeze import Freeze
from envdoctor.facts.jit_tools import Compiler
from envdoctor.facts.launchers import Launchers, Script, Tool
from envdoctor.facts.lock_source import Input, LockSource
from envdoctor.facts.metadata import DirectUrl
from envdoctor.facts.node import Mount, Node, Space
from envdoctor.facts.owners import Unowned
from envdoctor.facts.search_path import PathEntry, SearchPath
from envdoctor.facts.startup import Customize, Startup, StartupFile, StartupLine
from envdoctor.model import Unavailable
from envdoctor.recorded import ABSENT
from envdoctor.snapshot import FACTS, NOT_GATHERED

NEAR = "lib/python3.12/site-packages"
HELD = "20 aotautograd and 20 fxgraph keys"
TORCH, TRANSFORMERS, SIX = (
    distribution(*text.split("==")) for text in ("torch==2.11.0", "transformers==5.6.0", "six==1")
)


def installed(*items):
    return {"distributions": distributions(*items)}


def test_every_fact_is_compared_or_it_is_said_why_not():
    assert COMPARED.keys() | UNCOMPARED.keys() == FACTS.keys()
    assert not COMPARED.keys() & UNCOMPARED.keys()


def test_the_same_twice_is_no_event():
    assert (found().events, found().gaps, found().status) == ((), (), 0)


@pytest.mark.parametrize(
    ("before", "after", "events"),
    [
        # packages
        (installed(SIX), installed(SIX, "attrs==1"), [("detail", "added", "attrs", "attrs 1 added")]),
        (installed(SIX), installed(SIX, "sglang==1"), [("notable", "added", "sglang", "sglang 1 added")]),
        (installed(SIX, "attrs==1"), installed(SIX), [("notable", "removed", "attrs", "attrs 1 removed")]),
        (installed(TORCH, SIX), installed(SIX), [("grave", "removed", "torch", "torch 2.11.0 removed")]),
        (
            installed("triton==3.6.0"),
            installed("triton==3.7.0"),
            [("grave", "changed", "triton", "triton 3.6.0 -> 3.7.0")],
        ),
        (
            installed("flash-attn==2.8.0+cu128"),
            installed("flash-attn==2.8.0+cu130"),
            [
                (
                    "notable",
                    "changed",
                    "flash-attn",
                    "flash-attn 2.8.0+cu128 -> 2.8.0+cu130, another build of the same release",
                )
            ],
        ),
        (
            installed(SIX),
            installed(replace(SIX, direct_url=editable())),
            [
                (
                    "notable",
                    "changed",
                    "six",
                    "where six came from: an index, or unrecorded -> editable, file:///home/me/project",
                )
            ],
        ),
        (
            installed(replace(SIX, direct_url=DirectUrl("https://host/six", vcs="git", commit="aaa"))),
            installed(replace(SIX, direct_url=DirectUrl("https://host/six", vcs="git", commit="bbb"))),
            [("notable", "changed", "six", "where six came from: https://host/six at aaa -> https://host/six at bbb")],
        ),
        (
            installed(SIX),
            installed(distribution("six", "1", site="/home/me/lib", origin="user-site"), SIX),
            [
                (
                    "notable",
                    "changed",
                    "six",
                    f"where six is imported from: {NEAR} (site-packages) -> /home/me/lib (user-site)",
                ),
                ("notable", "changed", "six", "six on the path: 1 copy -> 2 copies"),
            ],
        ),
        (
            installed(replace(SIX, installed_at=1.0, started_at=1.0)),
            installed(replace(SIX, installed_at=2.0, started_at=2.0)),
            [("detail", "changed", "installed anew", "1 package installed anew at the same version: six")],
        ),
        # builds
        (
            {},
            {"torch_build": torch_build("2.11.0+cu128", "12.8")},
            [
                ("grave", "changed", "torch", "torch: 2.11.0+cu130 -> 2.11.0+cu128"),
                ("grave", "changed", "torch CUDA", "the CUDA that torch is built for: 13.0 -> 12.8"),
            ],
        ),
        (
            {"torch_build": replace(torch_build(), git="a")},
            {"torch_build": replace(torch_build(), git="b")},
            [("grave", "changed", "torch commit", "the commit of torch, at one version: a -> b")],
        ),
        (
            {},
            {"arch_list": arch_list("sm_90")},
            [
                (
                    "grave",
                    "changed",
                    "torch architectures",
                    "architectures that torch has code for: sm_80 sm_90 -> sm_90",
                )
            ],
        ),
        (
            {},
            {"fx_flag": fx_flag("global")},
            [("grave", "changed", "FX-tracing flag", "torch's FX-tracing flag: thread-local -> global")],
        ),
        (
            {},
            {"interpreter": interpreter(version="3.13.1")},
            [("grave", "changed", "python", "Python: 3.12.3 -> 3.13.1")],
        ),
        (
            {},
            {"interpreter": interpreter(version="3.12.4")},
            [("notable", "changed", "python", "Python: 3.12.3 -> 3.12.4")],
        ),
        (
            {},
            {"interpreter": replace(interpreter(), answered=False, problem="did not start: No such file")},
            [("grave", "changed", "answers", "bin/python: answers -> does not answer: did not start: No such file")],
        ),
        (
            {"interpreter": interpreter(created_at=1.0)},
            {"interpreter": interpreter(created_at=2.0)},
            [
                (
                    "notable",
                    "changed",
                    "pyvenv.cfg",
                    "the environment was made anew, or its pyvenv.cfg was written anew",
                )
            ],
        ),
        # driver
        (
            {},
            {"driver": driver(gpu(0), gpu(1), version="590.1")},
            [("grave", "changed", "driver", "the driver: 580.95.05 -> 590.1")],
        ),
        (
            {},
            {"driver": driver(gpu(0), gpu(1), kernel_module=KernelModule("590.1"))},
            [("grave", "added", "kernel module", "the driver's kernel module is new: 590.1")],
        ),
        (
            {},
            {"driver": driver(gpu(0))},
            [
                (
                    "grave",
                    "removed",
                    "GPU-00000001-0000-0000-0000-000000000000",
                    "GPU GPU-00000001-0000-0000-0000-000000000000 is gone: it was NVIDIA H100 80GB HBM3, NVML index 1",
                )
            ],
        ),
        (
            {"driver": driver(gpu(0, uuid="GPU-a"))},
            {"driver": driver(gpu(0, uuid="GPU-a", ecc=False, mig=True, ecc_uncorrected_ever=2))},
            [
                ("grave", "changed", "GPU-a", "GPU 0 (GPU-a): MIG: no -> yes"),
                ("grave", "changed", "GPU-a", "GPU 0 (GPU-a): 2 uncorrected memory errors since"),
                ("notable", "changed", "GPU-a", "GPU 0 (GPU-a): ECC: yes -> no"),
            ],
        ),
        (
            {"driver": driver(log="/dev/kmsg")},
            {"driver": driver(log="/dev/kmsg", xids=(Xid("0000:01:00", 79, "fell off the bus"),))},
            [("notable", "added", "Xid 79", "Xid 79 of 0000:01:00, 1 time, in the kernel log")],
        ),
        # toolkits
        (
            {},
            {"toolkits": toolkits(toolkit(), toolkit("/opt/cuda-12.8", "12.8.93", "12.8"), CUDA_HOME=1, PATH=0)},
            [
                (
                    "grave",
                    "changed",
                    "build",
                    "the CUDA toolkit that a build takes: 13.0.88 in /usr/local/cuda-13.0 -> 12.8.93 in /opt/cuda-12.8",
                )
            ],
        ),
        (
            {},
            {"toolkits": toolkits(toolkit(), toolkit("/opt/cuda-12.8", "12.8.93", "12.8"), CUDA_HOME=0, PATH=1)},
            [("detail", "changed", "PATH", "the toolkit that PATH names: /usr/local/cuda-13.0 -> /opt/cuda-12.8")],
        ),
        (
            {"toolkits": toolkits(toolkit(), toolkit("/opt/x", "12.8.93"))},
            {"toolkits": toolkits(toolkit(), toolkit("/opt/x", "12.9.1"))},
            [("notable", "changed", "/opt/x", "the CUDA toolkit /opt/x: 12.8.93 -> 12.9.1")],
        ),
        (
            {},
            {"jit_tools": jit_tools(c=Compiler("", None))},
            [("grave", "removed", "C compiler", "the C compiler is gone: it was /usr/bin/gcc")],
        ),
        (
            {"loader": loader(resolutions=[loads(f"{SITE}/nvidia/lib/libcudnn.so.9")])},
            {"loader": loader(resolutions=[loads("/usr/lib/libcudnn.so.9", "LD_LIBRARY_PATH")])},
            [
                (
                    "grave",
                    "changed",
                    "libcudnn.so.9",
                    f"libcudnn.so.9 as torch loads it: {NEAR}/nvidia/lib/libcudnn.so.9 -> /usr/lib/libcudnn.so.9",
                )
            ],
        ),
        # caches
        (
            {},
            {"compile_caches": caches(cache(exists=False))},
            [
                (
                    "grave",
                    "removed",
                    "inductor cache",
                    f"inductor cache: {HELD}, 1 MiB -> not there, cold",
                )
            ],
        ),
        (
            {},
            {"compile_caches": caches(warm("cuda:0"))},
            [
                (
                    "grave",
                    "changed",
                    "inductor cache",
                    f"inductor cache: {HELD}, 1 MiB -> 10 aotautograd and 10 fxgraph keys, 1 MiB",
                ),
                (
                    "grave",
                    "removed",
                    "inductor cache cuda:1",
                    "inductor cache: keys for cuda:1: 10 aotautograd and 10 fxgraph keys -> no keys, cold",
                ),
            ],
        ),
        (
            {"compile_caches": caches(cache(exists=False))},
            {"compile_caches": caches(warm("cuda:0"))},
            [
                (
                    "detail",
                    "added",
                    "inductor cache",
                    "inductor cache: not there -> 10 aotautograd and 10 fxgraph keys, 1 MiB",
                )
            ],
        ),
        (
            {},
            {"compile_caches": caches(warm("cuda:0", "cuda:1", path="/other"))},
            [("grave", "changed", "inductor cache", "where the inductor cache is looked for: /cache -> /other")],
        ),
        (
            {},
            {"compile_caches": caches(warm("cuda:0", "cuda:1", access={"writable": False, "mode": 0o755}))},
            [
                ("grave", "changed", "inductor cache", "inductor cache: writable -> not writable"),
                ("notable", "changed", "inductor cache", "inductor cache: mode: 700 -> 755"),
            ],
        ),
        # files
        (
            {},
            {"files": files(state(TRANSFORMERS, altered={"transformers/a.py": "content"}))},
            [("notable", "changed", "transformers", "1 file of transformers altered: transformers/a.py")],
        ),
        (
            {},
            {"files": files(state(TORCH, missing=["torch/a.py"]))},
            [("grave", "removed", "torch", "1 file of torch gone: torch/a.py")],
        ),
        (
            {"files": files(state(SIX, altered={"six.py": "size"}, missing=["x"]))},
            {},
            [
                ("notable", "changed", "six", "1 file of six as installed again"),
                ("notable", "added", "six", "1 file of six back"),
            ],
        ),
        (
            {},
            {"owners": owners(unowned=[Unowned(f"{SITE}/mine", None, 3)])},
            [
                (
                    "detail",
                    "added",
                    "lib/python3.12/site-packages/mine",
                    "lib/python3.12/site-packages/mine (no package owns it) is new: 3 files",
                )
            ],
        ),
        # start-up
        (
            {},
            {
                "startup": Startup(
                    (StartupFile("/env/a.pth", "site-packages", (StartupLine(1, "import", "import a"),)),)
                )
            },
            [("grave", "added", "a.pth", "a.pth (run at every start of Python) is new: import a")],
        ),
        (
            {},
            {"startup": Startup(customize=(Customize("sitecustomize", "/env/sitecustomize.py", "site-packages", 9),))},
            [
                (
                    "grave",
                    "added",
                    "sitecustomize.py",
                    "sitecustomize.py (run at every start of Python) is new: 9 bytes",
                )
            ],
        ),
        (
            {},
            {
                "search_path": SearchPath(
                    (PathEntry("/job", "PYTHONPATH"), PathEntry(SITE, "site-packages")), None, user_site_enabled=False
                )
            },
            [("notable", "added", "/job", "/job on the import path is new: PYTHONPATH")],
        ),
        (
            {"launchers": Launchers((Script("/env/bin/pip", "/env/bin/python"),))},
            {"launchers": Launchers((Script("/env/bin/pip", "/usr/bin/python3"),))},
            [("notable", "changed", "bin/pip", "bin/pip now starts /usr/bin/python3, not bin/python")],
        ),
        # variables
        (
            {},
            {"variables": variables(CUDA_HOME="/opt/cuda-12.8", OMP_NUM_THREADS="8")},
            [("notable", "changed", "CUDA_HOME", "CUDA_HOME: /usr/local/cuda-13.0 -> /opt/cuda-12.8")],
        ),
        (
            {},
            {"variables": variables(CUDA_HOME="/usr/local/cuda-13.0")},
            [("detail", "removed", "OMP_NUM_THREADS", "OMP_NUM_THREADS is gone: it was 8")],
        ),
        # what it is held to
        (
            {},
            {"lock": lock("torch==2.12.0", digest="b" * 64)},
            [
                ("notable", "changed", "lock", "the lock is another one: 1 pin moved: torch"),
                ("detail", "changed", "torch", "the pin of torch: 2.11.0 -> 2.12.0"),
            ],
        ),
        (
            {"lock_source": LockSource((Input("/p/requirements.in", "a" * 64),))},
            {"lock_source": LockSource((Input("/p/requirements.in", "b" * 64),))},
            [
                (
                    "detail",
                    "changed",
                    "/p/requirements.in",
                    "the lock's input /p/requirements.in: aaaaaaaaaaaa -> bbbbbbbbbbbb",
                )
            ],
        ),
        (
            {"seal": seal()},
            {"seal": replace(seal(), taken_at="2026-02-01T00:00:00Z")},
            [("detail", "changed", "seal", "the seal, taken at: 2026-01-01T00:00:00Z -> 2026-02-01T00:00:00Z")],
        ),
        ({}, {"freeze": Freeze(made=True)}, [("notable", "changed", "frozen", "frozen: no -> yes")]),
        (
            {"freeze": Freeze(made=True)},
            {"freeze": Freeze(made=True, writable=("/env/x",), count=1)},
            [("notable", "changed", "writable", "1 path of the frozen environment can be written again: x")],
        ),
        # the node
        (
            {},
            {"node": Node((Mount("/", "nfs4", ("noexec",)),), GOOD["node"].spaces)},
            [("notable", "changed", "environment", "environment (kind of disk): ext4 -> nfs4, noexec")],
        ),
    ],
)
def test_what_is_not_as_it_was_is_told(before, after, events):
    assert told(before, **after) == events


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (installed(SIX), installed(replace(SIX, installer="uv", requested=True))),
        (
            installed(replace(SIX, installed_at=1.0, times="copied")),
            installed(replace(SIX, installed_at=2.0, times="copied")),
        ),
        ({}, {"arch_list": arch_list("sm_90", "sm_80")}),
        ({}, {"interpreter": interpreter(pyvenv={"command": "/usr/bin/python -m venv /env"})}),
        ({"interpreter": interpreter(created_at=1.0)}, {}),
        ({}, {"driver": driver(gpu(0, used=9 << 30, processes=(on_gpu(),), ecc_uncorrected=3), gpu(1))}),
        ({"driver": driver()}, {"driver": driver(log="/dev/kmsg", xids=(Xid("0000:01:00", 79, ""),))}),
        ({}, {"compile_caches": caches(warm("cuda:0", "cuda:1", size=9 << 20, files=7, newest=1.0))}),
        ({}, {"files": files(hashed=3, remembered=9)}),
        (
            {"launchers": Launchers()},
            {"launchers": Launchers((Script("/env/bin/sglang", "/env/bin/python"),))},
        ),
        (
            {"startup": Startup((StartupFile("/env/a.pth", "site-packages", written_at=1.0),))},
            {"startup": Startup((StartupFile("/env/a.pth", "site-packages", (StartupLine(1, "comment", "# x"),)),))},
        ),
        ({}, {"variables": variables(**GOOD["variables"].values, SLURM_JOB_ID="7", RANK="3", LOCAL_RANK="3")}),
        ({}, {"node": replace(GOOD["node"], memory_used=1 << 30, spaces=(replace(GOOD["node"].spaces[0], free=1),))}),
        ({}, {"node": replace(GOOD["node"], limits={"nofile": 512}, memory_limit=1 << 30)}),
        ({}, {"launchers": Launchers(tools=(Tool("pip", "/usr/bin/pip", None, own=False),))}),
        ({"freeze": Freeze(made=True, count=2)}, {"freeze": Freeze(made=True, count=1)}),
        ({}, {"toolkits": toolkits(toolkit(), toolkit("/opt/cuda-12.8", "12.8.93", "12.8"), CUDA_HOME=0, PATH=0)}),
    ],
)
def test_its_neighbour_is_no_event(before, after):
    assert (told(before, **after), found(before, **after).gaps) == ([], ())


class TestNotComparable:
    def test_a_fact_that_one_side_lacks_is_named_with_its_reason(self):
        lost = found(driver=Unavailable("NVML did not answer within 5 s", failed=True))
        assert (lost.events, lost.status) == ((), 3)
        assert lost.gaps == (Gap("driver", "after", "NVML did not answer within 5 s", failed=True),)

    def test_a_fact_that_neither_was_asked_for_is_nothing(self):
        both = found({"seal": NOT_GATHERED}, seal=ABSENT)
        assert (both.events, both.gaps) == ((), ())

    def test_one_reason_for_both_is_said_once(self):
        reason = Unavailable("--root: not known")
        assert found({"node": reason}, node=reason).gaps == (Gap("node", "both", "--root: not known"),)

    def test_what_is_not_gathered_on_one_side_is_said(self):
        (gap,) = found(variables=NOT_GATHERED).gaps
        assert (gap.subject, gap.side, gap.failed) == ("variables", "after", False)

    @pytest.mark.parametrize("fact", sorted(NONE))
    def test_what_is_known_not_to_be_there_is_an_event(self, fact):
        there = {"seal": seal()}.get(fact, GOOD.get(fact))
        none = Unavailable(NONE[fact][0])
        (gone,) = found({fact: there}, **{fact: none}).events
        (came,) = found({fact: none}, **{fact: there}).events
        assert (gone.kind, gone.after, came.kind, came.before) == ("removed", None, "added", None)
        assert found({fact: none}, **{fact: none}).gaps == ()

    def test_gpus_of_a_silent_driver_are_not_gone(self):
        silent = driver(problem=Unavailable("version mismatch"))
        assert found(driver=silent).gaps == (Gap("GPUs", "after", "version mismatch"),)
        assert not subjects(driver=silent)

    def test_a_cache_that_was_not_walked_has_lost_nothing(self):
        cut = caches(warm("cuda:0", complete=False))
        assert not subjects(compile_caches=cut)
        assert [gap.subject for gap in found(compile_caches=cut).gaps] == ["inductor cache"]

    def test_devices_of_a_cache_that_was_not_read_are_not_cold(self):
        some = caches(replace(warm("cuda:0", "cuda:1"), sampled=False, counts=(Count("fxgraph", "cuda:0", "", 3),)))
        assert not subjects(compile_caches=some)
        assert [gap.subject for gap in found(compile_caches=some).gaps] == ["inductor cache by device"]

    def test_an_edit_that_only_a_deep_look_shows_is_not_healed_by_a_plain_one(self):
        deep = files(state(SIX, altered={"six.py": "content"}), deep=True)
        assert not subjects({"files": deep}, files=files())
        assert [gap.side for gap in found({"files": deep}, files=files()).gaps] == ["after"]

    def test_libraries_that_could_not_be_followed_are_not_gone(self):
        known = loader(resolutions=[loads("/usr/lib/libcudnn.so.9")])
        assert not subjects({"loader": known}, loader=loader(unknown="no torch"))


def test_what_matters_comes_first():
    after = {"node": replace(GOOD["node"], mounts=()), "fx_flag": fx_flag("global"), **installed("transformers==6")}
    weights = [event.weight for event in found(**after).events]
    assert weights == sorted(weights, reverse=True)
    areas = [event.area for event in found(**after).events]
    assert areas[0] == "torch"
    assert areas[-1] == "node"


def test_torch_is_told_once():
    moved = {"torch_build": torch_build("2.12.0+cu130"), **installed("torch==2.12.0", TRANSFORMERS, "six==1.17.0")}
    assert told(**moved) == [("grave", "changed", "torch", "torch: 2.11.0+cu130 -> 2.12.0+cu130")]


def test_the_same_environment_elsewhere_has_the_same_paths():
    here, there = (
        taken(),
        taken(interpreter=replace(interpreter(), chain=("/copy/bin/python",), python="/copy/bin/python")),
    )
    site, tools = "/copy/lib/python3.12/site-packages", GOOD["jit_tools"]
    moved = replace(
        there,
        head=replace(there.head, target=replace(there.head.target, prefix="/copy")),
        facts=replace(
            there.facts,
            search_path=SearchPath((PathEntry(site, "site-packages"),), None, user_site_enabled=False),
            node=replace(GOOD["node"], spaces=(replace(GOOD["node"].spaces[0], path="/copy"),)),
            jit_tools=replace(tools, ptxas=tuple(replace(item, path=f"/copy{item.path[4:]}") for item in tools.ptxas)),
            distributions=distributions(
                *(
                    distribution(*text.split("=="), site=site)
                    for text in ("torch==2.11.0", "transformers==5.6.0", "six==1.17.0")
                )
            ),
        ),
    )
    assert compare(here, moved).events == ()


def test_hostile_values_are_values():
    name = "x" * 300 + "<script>\x1b[31m\u202e"
    odd = installed(distribution(name, "1\n2"), TORCH, TRANSFORMERS, distribution("six", None))
    after = odd | {"variables": variables(**{name: "\x00" * 5000}), "lock": lock(pin(f"{name}==1\x07"), digest="")}
    assert {event.kind for event in found(**after).events} == {"added", "removed", "changed"}


def test_a_space_that_comes_and_goes_is_a_detail():
    more = replace(GOOD["node"], spaces=(*GOOD["node"].spaces, Space("/dev/shm", "shared memory", 1 << 30, 1, 0, 0)))
    assert told(node=more) == [("detail", "added", "shared memory", "shared memory (room for it) is new: /dev/shm")]
    larger = replace(more, spaces=(more.spaces[0], replace(more.spaces[1], total=2 << 30)))
    assert told({"node": more}, node=larger) == [
        ("notable", "changed", "shared memory", "shared memory (size): 1 GiB -> 2 GiB")
    ]

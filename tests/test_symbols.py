"""Who wants an undefined symbol, whose it is, who ships that library and which file the loader takes: values only."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from values import (
    SITE,
    distribution,
    distributions,
    extension,
    extensions,
    loader,
    loads,
    nvidia_wheels,
    owners,
)

from envdoctor import knowledge
from envdoctor.facts.linking import Resolution
from envdoctor.facts.owners import Owners
from envdoctor.model import Unavailable
from envdoctor.symbols import NO_FILE, Undefined, family, parse, said, trace

CUSPARSE, NVJITLINK = "nvidia/cusparse/lib/libcusparse.so.12", "nvidia/nvjitlink/lib/libnvJitLink.so.12"
WHEELS = nvidia_wheels(
    ("nvidia-cusparse-cu12==12.3.1.170", CUSPARSE),
    ("nvidia-nvjitlink-cu12==12.4.127", NVJITLINK),
    ("nvidia-nccl-cu12==2.21.5", "nvidia/nccl/lib/libnccl.so.2"),
)
VERSIONED = (
    f"ImportError: {SITE}/torch/lib/../../{CUSPARSE}: undefined symbol: __nvJitLinkComplete_12_4, "
    "version libnvJitLink.so.12"
)
FLASH = "flash_attn_2_cuda.cpython-312-x86_64-linux-gnu.so"
TORCH = distribution("torch", "2.11.0")
UNREAD = Unavailable("not gathered")


def traced(text, **given):
    absent = dict.fromkeys(("loader", "nvidia_wheels", "distributions", "owners", "extensions"), UNREAD)
    return trace(text, **absent | given)


class TestParse:
    def test_a_versioned_symbol_names_its_library(self):
        found = parse(VERSIONED)
        assert (found.symbol, found.version) == ("__nvJitLinkComplete_12_4", "libnvJitLink.so.12")
        assert (found.soname, found.whose) == ("libnvJitLink.so.12", "nvJitLink")
        assert found.library == f"{SITE}/torch/lib/../../{CUSPARSE}"

    @pytest.mark.parametrize(
        ("text", "library"),
        [
            ("libtorch_cuda.so: undefined symbol: ncclCommWindowRegister", "libtorch_cuda.so"),
            ("OSError: /a b/x.so.1: undefined symbol: ncclX", "/a b/x.so.1"),
            ("python: symbol lookup error: /x/y.so: undefined symbol: ncclX", "/x/y.so"),
            ("Traceback:\n  File x.so: y\nImportError: /x/y.so: undefined symbol: ncclX\nmore", "/x/y.so"),
            ("undefined symbol: ncclX\t(/x/y.so)", None),
            ("python: undefined symbol: ncclX", None),
        ],
    )
    def test_the_library_is_what_ends_before_the_marker(self, text, library):
        assert parse(text).library == library

    def test_a_version_that_is_no_library_does_not_name_one(self):
        found = parse("/x/libtorch_nvshmem.so: undefined symbol: nvshmem_malloc, version NVSHMEM")
        assert (found.version, found.soname) == ("NVSHMEM", "libnvshmem_host.so")

    @pytest.mark.parametrize("text", ["", "undefined symbol: ", "undefined symbol", "no module named torch"])
    def test_another_text_says_nothing(self, text):
        assert parse(text) is None

    @given(st.text(), st.text())
    def test_any_text_has_an_answer(self, before, after):
        found = parse(f"{before}: undefined symbol: {after}")
        assert found is None or said(found)


@pytest.mark.parametrize(
    ("symbol", "prefix"),
    [
        ("cublasCreate_v2", "cublas"),
        ("cublasLtMatmul", "cublasLt"),
        ("cusparseLtInit", "cusparseLt"),
        ("cusparseLong", "cusparse"),
        ("cusolverMgCreate", "cusolverMg"),
        ("cudaMalloc", "cuda"),
        ("__cudaRegisterFatBinary", "__cuda"),
        ("cudnnCreate", "cudnn"),
        ("cuInit", "cu"),
        ("cuFileOpen", "cuFile"),
        ("nvshmemx_init", "nvshmemx"),
        ("_ZN3c105ErrorC2ENS_14SourceLocationESs", "_ZN3c10"),
        ("_ZNK3c1010TensorImpl7stridesEv", "_ZN3c10"),
        ("_ZTVN5torch8autograd4NodeE", "_ZN5torch"),
        ("_ZN2at6Tensor3addEv", "_ZN2at"),
        ("_Z16THPVariable_WrapN2at10TensorBaseE", "THP"),
        ("THPDtypeType", "THP"),
    ],
)
def test_the_longest_prefix_of_a_whole_word_counts(symbol, prefix):
    assert family(symbol)["prefix"] == prefix


@pytest.mark.parametrize("symbol", ["custom_kernel", "curl_easy_init", "_ZN6nvinfer", "PyUnicode_AsUTF8", "cuda", "_Z"])
def test_a_word_that_only_begins_alike_is_nobodys(symbol):
    assert (family(symbol) or {"prefix": symbol})["prefix"] == symbol


def test_each_family_says_where_it_is_defined():
    for row in knowledge.rows("symbol_families"):
        assert ("stem" in row) != ("distribution" in row), row
        assert row["whose"]


class TestTrace:
    def test_a_toolkit_that_hides_the_wheel_is_named(self):
        taken = loads("/usr/local/cuda-12.1/lib64/libnvJitLink.so.12", "LD_LIBRARY_PATH", "libcusparse.so.12")
        found = traced(VERSIONED, loader=loader(resolutions=[taken]), nvidia_wheels=WHEELS)
        assert found.wanted_by == "nvidia-cusparse-cu12 12.3.1.170"
        assert found.shipped_by == (f"nvidia-nvjitlink-cu12 12.4.127 ({SITE}/{NVJITLINK})",)
        assert found.resolved == "/usr/local/cuda-12.1/lib64/libnvJitLink.so.12, found by LD_LIBRARY_PATH"
        assert said(found) == (
            "libcusparse.so.12 of nvidia-cusparse-cu12 12.3.1.170 wants the symbol __nvJitLinkComplete_12_4 of "
            f"libnvJitLink.so.12, which nvidia-nvjitlink-cu12 12.4.127 ({SITE}/{NVJITLINK}) ships, but the loader "
            "takes /usr/local/cuda-12.1/lib64/libnvJitLink.so.12, found by LD_LIBRARY_PATH"
        )

    def test_a_wheel_of_its_own_that_is_too_old_is_named(self):
        text = f"ImportError: {SITE}/torch/lib/libtorch_cuda.so: undefined symbol: ncclCommWindowRegister"
        given = {"distributions": distributions(TORCH), "nvidia_wheels": WHEELS}
        found = traced(text, loader=loader(resolutions=[loads(f"{SITE}/nvidia/nccl/lib/libnccl.so.2")]), **given)
        assert (found.wanted_by, found.soname) == ("torch 2.11.0", "libnccl.so.2")
        assert said(found) == (
            "libtorch_cuda.so of torch 2.11.0 wants the symbol ncclCommWindowRegister of libnccl.so.2, which "
            f"nvidia-nccl-cu12 2.21.5 ({SITE}/nvidia/nccl/lib/libnccl.so.2) ships; the loader takes that very file, "
            "and it is not in it"
        )

    def test_without_the_loader_the_wheels_tell_the_number(self):
        found = traced("libtorch_cuda.so: undefined symbol: ncclCommWindowRegister", nvidia_wheels=WHEELS)
        assert (found.soname, found.resolved) == ("libnccl.so.2", None)
        assert found.shipped_by[0].startswith("nvidia-nccl-cu12 2.21.5 (")

    def test_two_families_of_wheels_are_both_named(self):
        both = nvidia_wheels(
            ("nvidia-cuda-runtime-cu12==12.8.90", "nvidia/cuda_runtime/lib/libcudart.so.12"),
            ("nvidia-cuda-runtime==13.0.96", "nvidia/cu13/lib/libcudart.so.13"),
        )
        found = traced("/x/y.so: undefined symbol: cudaGetDriverEntryPointByVersion", nvidia_wheels=both)
        assert [text.partition(" (")[0] for text in found.shipped_by] == [
            "nvidia-cuda-runtime-cu12 12.8.90",
            "nvidia-cuda-runtime 13.0.96",
        ]
        assert found.soname == "libcudart.so"

    def test_a_version_that_names_one_number_is_not_another(self):
        text = "/x/y.so: undefined symbol: cudaX, version libcudart.so.13"
        assert traced(text, loader=loader(resolutions=[loads("/x/libcudart.so.12")])).resolved is None

    def test_an_extension_built_for_another_torch_names_both(self):
        text = f"ImportError: {SITE}/{FLASH}: undefined symbol: _ZN3c105ErrorC2ENS_14SourceLocationESs"
        given = {"distributions": distributions(TORCH, "flash-attn==2.7.4")}
        found = traced(text, extensions=extensions(extension(path=FLASH)), **given)
        assert (found.wanted_by, found.soname, found.whose) == ("flash-attn 2.7.4", None, "torch")
        assert said(found) == (
            f"{FLASH} of flash-attn 2.7.4 wants the symbol _ZN3c105ErrorC2ENS_14SourceLocationESs of torch, and "
            f"torch 2.11.0 ({SITE}) is not the one it was built for"
        )

    def test_a_module_at_the_top_is_known_by_its_owner(self):
        top = Owners((), (), (), {f"{SITE}/{FLASH}": "flash-attn"})
        text = f"{SITE}/{FLASH}: undefined symbol: ncclX"
        assert traced(text, owners=top).wanted_by == "flash-attn"
        assert (
            traced(text, owners=top, distributions=distributions("flash-attn==2.7.4")).wanted_by == "flash-attn 2.7.4"
        )

    def test_a_site_packages_that_is_reached_by_another_name_is_the_same(self):
        text = f"/link/lib64/python3.12/site-packages/{CUSPARSE}: undefined symbol: cuInit"
        assert traced(text, nvidia_wheels=WHEELS).wanted_by == "nvidia-cusparse-cu12 12.3.1.170"

    def test_a_bare_name_is_known_where_one_alone_has_it(self):
        text = "libcusparse.so.12: undefined symbol: cuInit"
        assert traced(text, nvidia_wheels=WHEELS).wanted_by == "nvidia-cusparse-cu12 12.3.1.170"
        text = "libtorch_cuda.so: undefined symbol: cuInit"
        assert traced(text, distributions=distributions(TORCH)).wanted_by == "torch 2.11.0"

    def test_a_bare_name_that_two_have_is_nobodys(self):
        both = nvidia_wheels(
            ("nvidia-a-cu12==1", "nvidia/a/lib/liba.so.1"), ("nvidia-a==2", "nvidia/cu13/lib/liba.so.1")
        )
        assert traced("liba.so.1: undefined symbol: cuInit", nvidia_wheels=both).wanted_by is None

    def test_a_library_of_nobodys_is_nobodys(self):
        given = {"distributions": distributions(TORCH), "nvidia_wheels": WHEELS, "owners": owners()}
        assert traced("/opt/x/torch/liby.so: undefined symbol: ncclX", **given).wanted_by is None

    def test_a_library_that_is_found_nowhere_is_said_to_be(self):
        gone = Resolution("libnccl.so.2", None, None, "libtorch_cuda.so")
        found = traced("/x/y.so: undefined symbol: ncclX", loader=loader(resolutions=[gone]))
        assert found.resolved == NO_FILE
        assert said(found) == (
            "y.so wants the symbol ncclX of libnccl.so.2, which no package here is known to ship, "
            "and the loader finds no file of that name"
        )

    def test_another_text_is_not_traced(self):
        assert traced("no module named torch") is None


def test_what_is_not_known_is_not_made_up():
    assert said(Undefined("f")) == "a library wants the symbol f; whose it is, is not known"
    found = traced("/x/y.so: undefined symbol: ncclX")
    assert said(found) == "y.so wants the symbol ncclX of libnccl.so, which no package here is known to ship"

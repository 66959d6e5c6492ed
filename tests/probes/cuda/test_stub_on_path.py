"""A toolkit's stubs are for the linker: on LD_LIBRARY_PATH they are an error, on LIBRARY_PATH nothing."""

import pytest
from values import findings, folder, loader, variables

from envdoctor.model import Severity
from envdoctor.probes.cuda.stub_on_path import check

STUBS = "/usr/local/cuda/lib64/stubs"


@pytest.mark.parametrize("soname", ["libcuda.so", "libcuda.so.1", "libnvidia-ml.so"])
def test_stub_of_a_driver_library_is_an_error(soname):
    (found,) = findings(check, loader=loader(folder(STUBS, soname, kind="stub")))
    assert (found.severity, found.subject) == (Severity.ERROR, STUBS)
    assert soname in found.message
    assert found.evidence["paths"] == [f"{STUBS}/{soname}"]


@pytest.mark.parametrize(
    "folders",
    [
        [folder("/usr/lib/x86_64-linux-gnu", "libcuda.so", "libcuda.so.1")],
        [folder(STUBS, kind="stub", exists=False)],
        [folder(STUBS, "libcublas.so.12", kind="stub")],
        [],
    ],
    ids=["the driver's own", "not there", "no driver library", "unset"],
)
def test_healthy_neighbours(folders):
    assert findings(check, loader=loader(*folders), variables=variables(LIBRARY_PATH=STUBS)) == []

"""pytorch/pytorch#107960, triton-lang/triton#1981: only libcuda.so.1 is there, and triton links with -lcuda."""

import pytest
from patients import Patient, Wheel, findings
from toolboxes import ld_cache, touch

from envdoctor import workflows
from envdoctor.system.host import LocalHost

PROBE = "cuda/missing-libcuda-link"
LIB = "usr/lib/x86_64-linux-gnu"


class Job(LocalHost):
    """The image with its job in it, whose variables are known."""

    def inhabited(self, prefix):  # noqa: ARG002
        return self


@pytest.fixture
def image(tmp_path):
    """Lay an image out whose linker cache lists the driver's library alone."""
    touch(tmp_path / LIB / "libcuda.so.1")
    ld_cache(tmp_path, ("libcuda.so.1", f"/{LIB}/libcuda.so.1"))
    return tmp_path


def judged(image, triton, **env):
    """Check a venv in the image that holds this release of triton."""
    patient = Patient(image / "work")
    patient.install(Wheel("triton", triton, {"triton/__init__.py": f"__version__ = '{triton}'\n"}))
    host = Job(env={"PATH": "/usr/bin", "HOME": "/root", **env}, cwd=str(image), root=str(image))
    wish = workflows.Wish(target=str(patient.prefix))
    return findings(workflows.check(wish, workflows.Selection((PROBE,), ()), host, deadline=20.0), PROBE)


@pytest.mark.parametrize("triton", ["2.0.0", "2.1.0", "3.1.0", "3.5.1"])
def test_without_the_link_it_is_an_error(triton, image):
    (found,) = judged(image, triton)
    assert found.severity.label == "error"
    assert f"/{LIB}/libcuda.so.1" in found.message


def test_the_way_out_without_root_comes_first(image):
    (found,) = judged(image, "3.1.0")
    root = next(at for at, step in enumerate(found.remedy) if "as root" in step)
    assert any("TRITON_LIBCUDA_PATH" in step for step in found.remedy[:root])


def test_control_the_variable_leads_to_the_link(image):
    touch(image / "mine/libcuda.so")
    assert judged(image, "3.1.0", TRITON_LIBCUDA_PATH="/mine") == []


def test_control_the_link_is_there(image):
    (image / LIB / "libcuda.so").symlink_to("libcuda.so.1")
    assert judged(image, "3.1.0") == []


def test_control_a_triton_that_links_with_the_library_itself(image):
    assert judged(image, "3.6.0") == []

"""What no other tool finds: 22 faults of one locked venv, each made for real, each found by the probe named for it.

Each is judged twice: with a seal from before it, whose stat index must not hide it, and with no seal at all.
"""

import compileall
import platform
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from envdoctor.wheels import Wheel, requirements_lock

pytestmark = pytest.mark.venv

TORCH = "__version__ = {version!r}\ncuda = '12.1'\ngit_version = '{git}'\nhip = None\n"
PYTHON = f"cp{sys.version_info.major}{sys.version_info.minor}"
ELSEWHERE = "x86_64" if platform.machine() == "aarch64" else "aarch64"


def torch(version):
    files = {"torch/__init__.py": "", "torch/version.py": TORCH.format(version=version, git="0" * 40)}
    return Wheel("torch", version, files, ("numpy",))


def numpy(body="pi = 3\n", tag="py3-none-any"):
    return Wheel("numpy", "2.1.0", {"numpy/__init__.py": body, "numpy/core.py": "x = 1\n"}, tag=tag)


def transformers(version):
    files = {"transformers/__init__.py": f"__version__ = {version!r}\n", "transformers/models.py": "y = 2\n"}
    return Wheel(
        "transformers", version, files, ("numpy>=2",), console_scripts={"transformers-cli": "transformers:main"}
    )


LOCKED = (
    torch("2.1.0+cu121"),
    numpy(),
    transformers("5.6.0"),
    Wheel("accelerate", "1.12.0", {"accelerate/__init__.py": ""}, ("torch>=2", "transformers>=5,<6")),
    Wheel("opencv-python", "4.11.0", {"cv2/__init__.py": "gui = True\n"}, ("numpy",)),
    Wheel("setuptools", "80.9.0", {"setuptools/__init__.py": ""}),
)
OTHERS = (
    Wheel("wheel", "0.45.1", {"wheel/__init__.py": "old = 1\n"}),
    Wheel("wheel", "0.46.0", {"wheel/__init__.py": ""}),
    Wheel("setuptools", "81.0.0", {"setuptools/__init__.py": ""}),
    Wheel("einops", "0.8.1", {"einops/__init__.py": ""}),
    Wheel("opencv-python-headless", "4.11.0", {"cv2/__init__.py": "gui = False\n"}, ("numpy",)),
    transformers("5.8.1"),
    torch("2.1.0+cpu"),
)


@pytest.fixture(scope="module")
def place(tmp_path_factory, new_venv):
    """The venv, filled, and a copy of it in its good state."""
    folder = tmp_path_factory.mktemp("faults")
    for wheel in (*LOCKED, *OTHERS):
        wheel.build(folder / "wheelhouse")
    venv = new_venv(folder / "project", folder / "wheelhouse", requirements_lock(LOCKED))
    venv.pip("install", "--require-hashes", "-r", venv.lock)
    venv.pip("install", "wheel==0.45.1")
    assert compileall.compile_dir(venv.site, quiet=2)
    shutil.copytree(venv.prefix, folder / "pristine", symlinks=True)
    return venv


@pytest.fixture
def venv(place):
    place.put_back(place.project.parent / "pristine")
    return place


def append(venv):
    with open(venv.site / "transformers/models.py", "a") as stream:
        stream.write("y = 3\n")


def remove(venv):
    (venv.site / "transformers/models.py").unlink()


def truncate(venv):
    (venv.site / "transformers/models.py").write_text("")


def stray(venv):
    (venv.site / "helpers.py").write_text("import torch\n")


def point_elsewhere(venv):
    other = type(venv)(venv.project / "other", venv.wheelhouse)
    other.project.mkdir(exist_ok=True)
    other.make()
    (venv.site / "shared.pth").write_text(f"{other.site}\n")


def customize(venv):
    (venv.site / "sitecustomize.py").write_text("import os\n")


def double(venv):
    info = shutil.copytree(venv.site / "transformers-5.6.0.dist-info", venv.site / "transformers-5.5.0.dist-info")
    metadata = info / "METADATA"
    metadata.write_text(metadata.read_text().replace("Version: 5.6.0", "Version: 5.5.0"))


def overwrite(venv):
    venv.pip("install", "opencv-python-headless")


def overwrite_and_uninstall(venv):
    overwrite(venv)
    venv.pip("uninstall", "opencv-python-headless")


def rebuild(venv):
    numpy("pi = 4\n").build(venv.project / "rebuilt")
    venv.pip("install", "--force-reinstall", "--no-deps", "numpy==2.1.0", source=venv.project / "rebuilt")


def switch_on_system_site(venv):
    config = venv.prefix / "pyvenv.cfg"
    text = config.read_text()
    assert "include-system-site-packages = false" in text
    config.write_text(text.replace("include-system-site-packages = false", "include-system-site-packages = true"))


def forget_record(venv):
    (venv.site / "transformers-5.6.0.dist-info/RECORD").unlink()


def install_for_another_platform(venv):
    machine = f"manylinux_2_28_{ELSEWHERE}"
    numpy(tag=f"{PYTHON}-{PYTHON}-{machine}").build(venv.project / "foreign")
    unchecked = ("--platform", machine, "--only-binary", ":all:", "--target", venv.site, "--upgrade", "--no-deps")
    venv.pip("install", *unchecked, "numpy==2.1.0", source=venv.project / "foreign")


def upgrade_python_in_place(venv):
    """Leave what an upgrade of the Python behind the link leaves: a pyvenv.cfg that records the patch before."""
    config = venv.prefix / "pyvenv.cfg"
    major, minor, patch = sys.version_info[:3]
    now, then = f"{major}.{minor}.{patch}", f"{major}.{minor}.{patch + 1}"
    assert f"version = {now}" in config.read_text()
    config.write_text(config.read_text().replace(f"version = {now}", f"version = {then}"))


def interrupt_uninstall(venv):
    shutil.copytree(venv.site / "transformers", venv.site / "~ransformers")


def install_editable(venv):
    shutil.rmtree(venv.project / "src", ignore_errors=True)
    venv.pip("install", "--no-deps", "--editable", venv.sources("src", "transformers", "5.6.0", ("numpy>=2",)))


def pip(verb, *arguments):
    return lambda venv: venv.pip(verb, *arguments)


@dataclass(frozen=True)
class Fault:
    make: Callable
    probe: str
    subject: str
    """`{site}`, `{prefix}` and `{python}` stand for the venv's."""
    severity: str = "error"
    companions: frozenset[str] = frozenset()
    """Other probes that rightly report an error or a warning, too."""
    sealed_companions: frozenset[str] = frozenset()
    """Those that do so where there is a seal."""
    needs_seal: bool = False


def also(*probes):
    return frozenset(probes)


FAULTS = {
    "foreign package": Fault(pip("install", "einops"), "packages/foreign", "einops", "warning"),
    "drifted in range": Fault(pip("install", "transformers==5.8.1"), "packages/drifted", "transformers"),
    "file edited": Fault(append, "packages/altered-file", "transformers"),
    "file deleted": Fault(remove, "packages/missing-file", "transformers"),
    "stray module": Fault(stray, "packages/unowned-file", "{site}/helpers.py", "warning"),
    "pth into another venv": Fault(point_elsewhere, "environment/foreign-path", "{site}/shared.pth"),
    "sitecustomize": Fault(customize, "environment/startup-code", "{site}/sitecustomize.py", "warning"),
    "two dist-infos": Fault(double, "packages/duplicate-metadata", "transformers", companions=also("packages/drifted")),
    "file overwritten": Fault(
        overwrite, "packages/file-collision", "opencv-python", companions=also("packages/foreign")
    ),
    "intruder uninstalled": Fault(overwrite_and_uninstall, "packages/missing-file", "opencv-python"),
    "cpu label": Fault(pip("install", "torch==2.1.0+cpu"), "packages/drifted", "torch"),
    "another build": Fault(rebuild, "packages/altered-build", "numpy", needs_seal=True),
    "system site-packages": Fault(
        # what the system's Python holds differs from machine to machine, and may hide or be hidden
        switch_on_system_site,
        "environment/system-site-packages",
        "{prefix}/pyvenv.cfg",
        "warning",
        also("packages/shadowed", "packages/broken-requirement", "environment/startup-code"),
    ),
    "RECORD removed": Fault(forget_record, "packages/missing-record", "transformers"),
    "dependency removed": Fault(
        pip("uninstall", "numpy"), "packages/missing", "numpy", companions=also("packages/broken-requirement")
    ),
    "another platform": Fault(
        install_for_another_platform,
        "packages/wrong-platform",
        "numpy",
        sealed_companions=also("packages/altered-build"),
    ),
    "setuptools drifted": Fault(pip("install", "setuptools==81.0.0"), "packages/drifted", "setuptools"),
    "unlocked seed drifted": Fault(
        pip("install", "wheel==0.46.0"), "packages/drifted", "wheel", "note", needs_seal=True
    ),
    "patch release": Fault(upgrade_python_in_place, "environment/python-mismatch", "{python}", "warning"),
    "tilde leftovers": Fault(interrupt_uninstall, "packages/leftover", "{site}", "warning"),
    "file truncated": Fault(truncate, "packages/altered-file", "transformers"),
    "editable install": Fault(
        install_editable, "packages/direct-url", "transformers", sealed_companions=also("packages/altered-build")
    ),
}


def test_bar_is_complete():
    assert len(FAULTS) == 22
    assert {name for name, fault in FAULTS.items() if fault.needs_seal} == {"another build", "unlocked seed drifted"}


def test_clean_control_is_healthy_sealed_or_not(venv, doctor):
    unsealed = doctor.check(venv.prefix)
    assert doctor("seal", "--target", venv.prefix).status == 0
    for answer in (unsealed, doctor.check(venv.prefix)):
        assert (answer.status, answer.report["verdict"]) == (0, "healthy")
        assert answer.said("error", "warning") == set()
        assert answer.report["target"]["lock"] == str(venv.lock)


@pytest.mark.parametrize("name", FAULTS)
def test_fault_is_found_by_the_probe_named_for_it(name, venv, doctor):
    fault = FAULTS[name]
    assert doctor("seal", "--target", venv.prefix).status == 0
    fault.make(venv)
    judge(fault, doctor.check(venv.prefix), venv, fault.companions | fault.sealed_companions)
    shutil.rmtree(venv.prefix / ".envdoctor")
    if not fault.needs_seal:
        judge(fault, doctor.check(venv.prefix), venv, fault.companions)


def judge(fault, answer, venv, companions):
    subject = fault.subject.format(site=venv.site, prefix=venv.prefix, python=venv.python)
    assert (fault.probe, subject) in answer.said(fault.severity)
    assert {subject for probe, subject in answer.said("error", "warning") if probe == fault.probe} <= {subject}
    assert {probe for probe, _ in answer.said("error", "warning")} <= companions | {fault.probe}
    assert answer.status == (1 if answer.said("error") else 0)

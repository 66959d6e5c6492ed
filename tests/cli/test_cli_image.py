"""`check --root DIR` of a whole image: nothing of it is run, and nothing of this machine is taken for its own."""

import json
import os

import pytest
from images import Image, all_files, program
from patients import Patient, Wheel


@pytest.fixture
def image(tmp_path):
    return Image(tmp_path)


def skipped(answer):
    return {item["probe"]: item["reason"] for item in answer.report["skipped"]}


def test_a_sound_image_is_healthy(image, doctor):
    before = all_files(image.root)
    answer = image.check(doctor)
    assert answer.said("error", "warning") == set()
    assert answer.status == 0
    assert answer.report["target"]["python"] == "3.12.3"
    assert answer.report["target"]["lock"] == image.lock
    assert answer.report["crashed"] == []
    assert all_files(image.root) == before


def test_the_machine_is_the_images(image, doctor):
    seen = doctor("snapshot", "--root", image.root, "--target", image.prefix)
    assert '"platform_machine": "aarch64"' in seen.stdout
    assert '"glibc 2.36"' in seen.stdout
    image.patient.install(
        Wheel("numpy", "2.3.5", {"numpy/__init__.py": "pi = 3\n"}, tag="cp312-cp312-manylinux_2_28_x86_64")
    )
    assert ("packages/wrong-platform", "numpy") in image.check(doctor).said("error")


def test_pins_count_by_the_images_machine(image, doctor):
    lock = image.root / "opt/app/requirements.txt"
    only = lock.read_text().replace("requests==2.32.5", 'requests==2.32.5 ; platform_machine == "x86_64"')
    lock.write_text(only)
    assert ("packages/foreign", "requests") in image.check(doctor).said("error", "warning")


def test_damage_is_found_as_it_would_be_inside(image, doctor):
    image.patient.edit("requests/__init__.py")
    image.patient.delete("requests/api.py")
    image.patient.install(Wheel("sglang", "0.5.0", {"sglang/__init__.py": ""}))
    image.patient.add("~umpy/x.so")
    said = image.check(doctor).said("error", "warning")
    assert {probe for probe, _ in said} == {
        "packages/altered-file",
        "packages/missing-file",
        "packages/foreign",
        "packages/leftover",
    }


def test_nothing_of_it_is_run(image, doctor):
    tools = ("usr/local/cuda/bin/nvcc", "usr/bin/gcc", "usr/bin/g++", "usr/bin/ptxas", "usr/bin/nvidia-smi")
    names = (
        "usr/bin/ldd",
        "sbin/ldconfig",
        "usr/bin/nv-fabricmanager",
        "usr/bin/python3.12",
        "opt/app/venv/bin/python",
    )
    for path in (*tools, *names):
        mark = image.trap(path)
    image.write("usr/local/cuda/version.json", '{"cuda": {"version": "12.8.1"}}')
    image.patient.add("torch/version.py", "__version__ = '2.9.0+cu128'\ncuda = '12.8'\n")
    path = ":".join(str(image.root / folder) for folder in ("usr/local/cuda/bin", "usr/bin"))
    env = {"PATH": f"{path}:{os.environ['PATH']}", "TRITON_PTXAS_PATH": str(image.root / "usr/bin/ptxas")}
    assert image.check(doctor, env=env).report["crashed"] == []
    assert not mark.exists()


@pytest.mark.parametrize(
    ("leads", "problem"),
    [
        ("/usr/bin/python3", False),
        ("../../../../../../../../usr/bin/python3", False),
        ("/bin/sh", True),
        ("python", True),
    ],
    ids=["absolute", "past the root", "to this machine's alone", "to itself"],
)
def test_links_of_the_interpreter(leads, problem, image, doctor):
    image.link("opt/app/venv/bin/python", leads)
    found = image.check(doctor).findings("environment/dangling-python")
    assert bool(found) is problem


def test_a_system_python_that_was_upgraded_is_another_minor_version(image, doctor):
    image.write("usr/bin/python3.13", program(), mode=0o755)
    image.link("usr/bin/python3", "python3.13")
    (finding,) = image.check(doctor).findings("environment/python-mismatch")
    assert finding["severity"] == "error"
    assert "Python 3.13 runs, but the environment was made with 3.12.3" in finding["message"]


def test_scripts_name_the_place_inside(image, doctor):
    assert image.check(doctor).findings("environment/moved") == []
    moved = image.root / "opt/app/moved"
    image.prefix.rename(moved)
    (finding,) = image.check(doctor, target=moved).findings("environment/moved")
    assert finding["evidence"]["named"] == str(image.prefix)


def test_a_decoy_on_this_machine_is_not_met(image, doctor, tmp_path):
    """Absolute paths in the image exist here as well, with other contents: what they name there is missing."""
    decoy = Patient(tmp_path / "decoy", "venv", minor="3.12")
    decoy.install(Wheel("decoy", "1.0", {"decoy.py": ""}))
    image.patient.add("paths.pth", f"{decoy.site}\n../../../../../../../../../../../..{decoy.site}\n")
    image.link("opt/app/venv/lib/python3.12/site-packages/decoy-1.0.dist-info", str(decoy.site / "decoy-1.0.dist-info"))
    image.link("opt/app/venv/lib/python3.12/site-packages/requests/api.py", str(decoy.site / "decoy.py"))
    answer = image.check(doctor)
    seen = doctor("snapshot", "--root", image.root, "--target", image.prefix)
    entries = json.loads(seen.stdout)["facts"]["search_path"]["entries"]
    assert [entry["path"] for entry in entries if not entry["path"].startswith(f"{image.root}/")] == []
    (dead,) = answer.findings("environment/foreign-path")
    assert dead["severity"] == "note"
    assert ("packages/missing-file", "requests") in answer.said("error")
    assert "decoy" in {finding["subject"] for finding in answer.findings("packages/broken-metadata")}  # it has none


def test_system_packages_are_the_images(image, doctor):
    image.patient.configure(include_system_site_packages="true")
    info = "usr/lib/python3/dist-packages/six-1.16.0.dist-info"
    image.write(f"{info}/METADATA", "Metadata-Version: 2.1\nName: six\nVersion: 1.16.0\n")
    image.write(f"{info}/RECORD", "")
    seen = doctor("snapshot", "--root", image.root, "--target", image.prefix).stdout
    assert f'"{image.root}/{info}"' in seen
    assert image.check(doctor).findings("environment/system-site-packages")


def test_rows_of_record_may_be_absolute(image, doctor):
    record = next(image.site.glob("numpy-*.dist-info")) / "RECORD"
    record.write_text(record.read_text().replace("../../../bin/f2py,", "/opt/app/venv/bin/f2py,"))
    assert image.check(doctor).said("error", "warning") == set()


def test_the_callers_variables_do_not_count(image, doctor):
    env = {
        "PYTHONPATH": str(image.site),
        "CUDA_HOME": "/usr/nowhere",
        "PIP_USER": "1",
        "LD_LIBRARY_PATH": "/usr/lib/stubs",
    }
    answer = image.check(doctor, env=env)
    assert answer.said("error", "warning") == set()
    unknown = {probe for probe, reason in skipped(answer).items() if reason.startswith("--root: the variables")}
    assert unknown >= {"environment/pythonpath", "environment/wrong-pip", "cuda/home-conflict", "cuda/stub-on-path"}


def test_of_gpus_nothing_is_said(image, doctor):
    image.patient.add("torch/version.py", "__version__ = '2.9.0+cu128'\ncuda = '12.8'\n")
    answer = image.check(doctor)
    assert answer.findings("cuda/gpu-missing") == []
    assert "containers get them from their host" in skipped(answer)["cuda/driver-too-old"]


def test_a_symlinked_environment_and_a_root_by_another_name(image, doctor, tmp_path):
    image.link("opt/current", "/opt/app/venv")
    assert image.check(doctor, target=image.root / "opt/current").status == 0
    (tmp_path / "other").symlink_to(image.root)
    assert image.check(doctor, target=tmp_path / "other/opt/app/venv").status == 0


def test_what_is_no_file_is_not_opened(image, doctor):
    os.mkfifo(image.site / "fifo.pth")
    os.mkfifo(image.root / "etc/ld.so.cache")
    image.link("opt/app/venv/lib/python3.12/site-packages/loop.pth", "loop.pth")
    assert image.check(doctor).report["crashed"] == []


@pytest.mark.parametrize("said", ["/opt/app/venv", "opt/app/venv"])
def test_a_target_by_the_name_it_has_inside(said, image, doctor):
    answer = doctor("check", "--root", image.root, "--target", said)
    assert answer.status == 2
    assert f"is not below --root {image.root}; did you mean {image.prefix}?" in answer.stderr


def test_a_target_that_is_nowhere_below(image, doctor, patient):
    answer = doctor("check", "--root", image.root, "--target", patient.prefix)
    assert answer.status == 2
    assert f"name it as it is seen from here, {image.root}/..." in answer.stderr


def test_a_lock_by_the_name_it_has_inside(image, doctor):
    answer = image.check(doctor, "--lock", "/opt/app/requirements.txt")
    assert answer.status == 2
    assert f"did you mean {image.lock}?" in answer.stderr


def test_without_a_target_the_usual_places_are_named(image, doctor, patient):
    env = {"VIRTUAL_ENV": str(patient.prefix)}
    answer = doctor("check", "--root", image.root, env=env)
    assert answer.status == 2
    assert f"There is --target {image.prefix}" in answer.stderr
    assert str(patient.prefix) not in answer.stderr


def test_an_image_without_any_says_so(doctor, tmp_path):
    (tmp_path / "empty").mkdir()
    answer = doctor("check", "--root", tmp_path / "empty")
    assert answer.status == 2
    assert "None lies in the usual places" in answer.stderr


def test_locks_and_configuration_above_the_root_are_another_machines(image, doctor, tmp_path):
    (tmp_path / "pyproject.toml").write_text("[tool.envdoctor]\nignore = 3\n")
    (image.root / "opt/app/requirements.txt").unlink()
    (tmp_path / "requirements.txt").write_text("x==1 --hash=sha256:" + "0" * 64 + "\n")
    (tmp_path / "work").mkdir()
    answer = doctor("check", "--format", "json", "--root", image.root, "--target", image.prefix, cwd=tmp_path / "home")
    assert answer.status == 2  # the caller's own, above the current directory, is read as ever
    (tmp_path / "pyproject.toml").unlink()
    answer = image.check(doctor)
    assert answer.report["target"]["lock"] is None


def test_a_second_look_at_an_image_may_be_reused(image, doctor):
    first, second = (image.check(doctor, "--reuse", "1m") for _ in range(2))
    assert (first.status, second.status) == (0, 0)
    assert first.report["taken_at"] == second.report["taken_at"]


def test_a_history_of_an_image_is_its_own_too(image, doctor, tmp_path):
    """What the caller's PYTHONPATH holds is no part of it."""
    leak = tmp_path / "leak/numpy-1.0.dist-info"
    leak.mkdir(parents=True)
    (leak / "METADATA").write_text("Metadata-Version: 2.1\nName: numpy\nVersion: 1.0\n")
    told = doctor(
        *("blame", "numpy", "--format", "json", "--root", image.root, "--target", image.prefix),
        env={"PYTHONPATH": str(leak.parent)},
    )
    assert told.status == 0
    assert [copy["version"] for copy in told.report["copies"]] == ["2.3.5"]
    assert doctor("timeline", "--root", image.root, "--target", image.prefix).status == 0

"""What real installers leave on disk is enough to tell who brought what, when, and from where."""

import os
import shutil
import sys
import time
from datetime import UTC, datetime

import pytest

from envdoctor.facts.batches import GAP
from envdoctor.wheels import Wheel, requirements_lock

pytestmark = pytest.mark.venv

LOCKED = (
    Wheel("transformers", "5.6.0", {"transformers/__init__.py": "old = 1\n"}, ("numpy",)),
    Wheel("numpy", "2.1.0", {"numpy/__init__.py": ""}),
)
OTHERS = (
    Wheel("gradio", "6.0.0", {"gradio/__init__.py": ""}, ("orjson",)),
    Wheel("orjson", "3.11.4", {"orjson/__init__.py": ""}),
    Wheel("sglang", "0.5.9", {"sglang/__init__.py": ""}, ("transformers==5.8.1", "orjson", "fastapi")),
    Wheel("fastapi", "0.124.0", {"fastapi/__init__.py": ""}, ("starlette",)),
    Wheel("starlette", "0.50.0", {"starlette/__init__.py": ""}),
    Wheel("transformers", "5.8.1", {"transformers/__init__.py": ""}, ("numpy",)),
)
INSTALLERS = {
    "pip": lambda venv, *names: venv.pip("install", *names),
    "uv": lambda venv, *names: venv.uv(*names),
    "uv with hard links": lambda venv, *names: venv.uv(*names, mode="hardlink"),
}


@pytest.fixture(scope="module")
def wheelhouse(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheelhouse")
    for wheel in (*LOCKED, *OTHERS):
        wheel.build(folder)
    return folder


@pytest.fixture
def venv(tmp_path, wheelhouse, new_venv):
    return new_venv(tmp_path / "project", wheelhouse, requirements_lock(LOCKED))


@pytest.fixture(scope="module")
def twice(tmp_path_factory, wheelhouse, new_venv):
    """One venv an installer, each filled by two commands with a real pause between them."""
    venvs = {}
    for name, install in INSTALLERS.items():
        venvs[name] = new_venv(tmp_path_factory.mktemp("twice"), wheelhouse, requirements_lock(LOCKED))
        install(venvs[name], "-r", venvs[name].lock)
        install(venvs[name], "gradio")
    between = time.time()
    time.sleep(GAP + 1)
    for name, install in INSTALLERS.items():
        install(venvs[name], "sglang")
    return venvs, between


@pytest.mark.parametrize("installer", INSTALLERS)
def test_two_installs_are_two_causes_each_with_its_company(installer, twice, doctor):
    venvs, between = twice
    found = {f["subject"]: f["evidence"] for f in doctor.check(venvs[installer].prefix).findings("packages/foreign")}
    assert found["gradio"]["added"] == ["orjson"]
    assert found["sglang"]["added"] == ["fastapi", "starlette"]
    assert found["sglang"]["moved"] == ["transformers 5.6.0 -> 5.8.1"]
    assert {f["installer"] for f in found.values()} == {installer.partition(" ")[0]}
    first, second = (datetime.fromisoformat(found[name]["installed_at"]) for name in ("gradio", "sglang"))
    assert first <= datetime.fromtimestamp(between, UTC) < second
    assert (second - first).total_seconds() >= GAP


@pytest.mark.parametrize("installer", INSTALLERS)
def test_edit_of_the_same_size_is_seen_after_any_installer(installer, venv, doctor):
    INSTALLERS[installer](venv, "-r", venv.lock)
    assert doctor.check(venv.prefix).report["verdict"] == "healthy"
    edited = venv.site / "transformers/__init__.py"
    edited.write_text("old = 2\n")
    os.utime(edited, (time.time() + 60,) * 2)
    assert doctor.check(venv.prefix).said("error") == {("packages/altered-file", "transformers")}


UV_LOCK = """\
version = 1
revision = 3
requires-python = ">=3.9"

[[package]]
name = "numpy"
version = "2.1.0"
source = {{ registry = "https://index.example/simple" }}
wheels = [{{ url = "https://index.example/numpy-2.1.0-py3-none-any.whl", hash = "sha256:{digest}" }}]

[[package]]
name = "lab"
version = "0.1.0"
source = {{ editable = "." }}
dependencies = [{{ name = "numpy" }}]
"""


@pytest.mark.parametrize("installer", ["pip", "uv"])
def test_own_project_installed_editable_is_a_note(installer, venv, doctor):
    project = venv.sources(".", "lab", "0.1.0", ("numpy",))
    (project / "uv.lock").write_text(UV_LOCK.format(digest=LOCKED[1].sha256))
    INSTALLERS[installer](venv, "--editable", project)
    answer = doctor.check(venv.prefix)
    assert answer.said("error", "warning") == set()
    assert ("packages/direct-url", "lab") in answer.said("note")
    assert answer.report["target"]["lock"] == str(project / "uv.lock")


NOT_THE_PIN = {("packages/direct-url", "transformers")}


@pytest.mark.parametrize(
    ("installer", "said"),
    [("pip", set()), ("uv", NOT_THE_PIN)],  # uv 0.13 records no digest of a wheel file, so nothing says it is the pin
)
def test_wheel_file_is_the_locked_one_only_if_its_recorded_digest_is(installer, said, venv, doctor):
    INSTALLERS[installer](venv, "numpy", venv.wheelhouse / LOCKED[0].filename)
    same = doctor.check(venv.prefix)
    other = Wheel("transformers", "5.6.0", {"transformers/__init__.py": "mine = 1\n"}).build(venv.project)
    INSTALLERS[installer](venv, "--force-reinstall", "--no-deps", other)
    assert same.said("error", "warning") == said
    assert doctor.check(venv.prefix).said("error", "warning") == NOT_THE_PIN


def test_install_by_target_is_an_install_like_any_other(venv, doctor):
    INSTALLERS["pip"](venv, "-r", venv.lock)
    INSTALLERS["pip"](venv, "--target", venv.site, "gradio")
    found = doctor.check(venv.prefix).findings("packages/foreign")
    assert {f["subject"]: f["evidence"]["cause"] for f in found} == {"gradio": "gradio", "orjson": "gradio"}


def test_venv_of_uv_without_pip_is_told_to_use_uv(venv, doctor):
    shutil.rmtree(venv.prefix)
    venv.perform(venv.uv_path(), "venv", "--offline", "--no-config", "--python", sys.executable, str(venv.prefix))
    INSTALLERS["uv"](venv, "-r", venv.lock)
    assert doctor.check(venv.prefix).report["verdict"] == "healthy"
    (venv.site / "numpy/__init__.py").unlink()
    (found,) = doctor.check(venv.prefix).findings("packages/missing-file")
    assert found["remedy"] == [f"uv pip install --python {venv.python} --force-reinstall --no-deps numpy==2.1.0"]


def test_advice_to_reinstall_mends_what_it_is_given_for(venv, doctor):
    INSTALLERS["uv"](venv, "-r", venv.lock)
    (venv.site / "numpy/__init__.py").unlink()
    (found,) = doctor.check(venv.prefix).findings("packages/missing-file")
    arguments = found["remedy"][0].partition(str(venv.python))[2].split()
    INSTALLERS["uv"](venv, *arguments)
    assert doctor.check(venv.prefix).report["verdict"] == "healthy"

"""Real installs from verified archives: nothing of the caller's configuration has a say, and failures say why."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from installs import DEMO, OTHER, Installed, archive, archives, fill, make, work
from repacked import lock, repack

from envdoctor.errors import StepError, UsageError
from envdoctor.installing.creating import base_of, create
from envdoctor.installing.installers import Installer, choose, install
from envdoctor.installing.project import reinstall
from envdoctor.wheels import Wheel

pytestmark = pytest.mark.venv
INSTALLERS = ("uv", "pip")


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return archives(tmp_path_factory.mktemp("store"))


def test_new_venv_is_plain_and_shows_the_links_name(tmp_path):
    python = create(str(tmp_path / "gen-1"), base_of(sys.executable), pip=False, prompt=".venv", work=work())
    settings = (tmp_path / "gen-1/pyvenv.cfg").read_text()
    assert "include-system-site-packages = false" in settings
    assert os.path.islink(python)
    assert not list(tmp_path.rglob("site-packages/*"))
    shell = 'source gen-1/bin/activate && echo "$PS1" && python -c "import sys; print(sys.prefix)"'
    ran = subprocess.run(["bash", "-c", shell], cwd=tmp_path, capture_output=True, check=True, text=True)
    assert ran.stdout.split() == ["(.venv)", str(tmp_path / "gen-1")]


@pytest.mark.parametrize("place", ["there", "link/new"])
def test_place_that_is_taken_or_leads_through_a_link_is_refused(place, tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to("there")
    with pytest.raises(StepError, match=r"create: .*: must be a real path where nothing is yet"):
        create(str(tmp_path / place), sys.executable, pip=False, prompt="v", work=work())
    assert list((tmp_path / "there").iterdir()) == []


def tool(path, said, status=1):
    """Write a tool that says something and ends."""
    path.write_text(f"#!/bin/sh\ncat <<'END'\n{said}\nEND\nexit {status}\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(
    ("said", "advice"),
    [
        ("On Debian/Ubuntu systems, you need to install the python3-venv\n    apt install python3.11-venv", "python3."),
        ("/usr/bin/python3.11: No module named venv", "install its venv package"),
    ],
)
def test_base_without_venv_is_told_what_it_lacks(said, advice, tmp_path):
    base = tool(tmp_path / "python3", said)
    with pytest.raises(StepError, match="-m venv ended with status 1") as failure:
        create(str(tmp_path / "env"), base, pip=True, prompt="v", work=work())
    assert advice in failure.value.advice
    assert failure.value.details == tuple(said.splitlines())


def test_uv_is_taken_if_there_is_one_and_pip_otherwise(monkeypatch, tmp_path, uv_path):
    host = work({"PATH": os.path.dirname(uv_path)}).host
    assert choose(None, host).name == "uv"
    assert choose("pip", host).name == "pip"
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert choose(None, host).path == uv_path
    tool(tmp_path / "python", "No module named pip")
    bare = work({"PATH": str(tmp_path)}).host
    with pytest.raises(UsageError, match="--installer uv: there is no uv"):
        choose("uv", bare)
    with pytest.raises(UsageError, match="install one of them"):
        choose(None, bare)


def hostile(folder):
    """Return variables that would lead an installer astray, each in its way."""
    home = folder / "home"
    for name, text in {
        ".config/pip/pip.conf": f"[global]\ntarget = {folder}/astray\nindex-url = https://index.example/simple\n",
        ".config/uv/uv.toml": f'cache-dir = "{folder}/astray"\n[pip]\ntarget = "{folder}/astray"\n',
        "path/sitecustomize.py": f"import os\nos.makedirs('{folder}/astray')\n",
        "constraints.txt": "other==3.0\n",
    }.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    astray, constraints = str(folder / "astray"), str(home / "constraints.txt")
    env = {"HOME": str(home), "XDG_CONFIG_HOME": str(home / ".config"), "PYTHONPATH": str(home / "path")}
    env |= {"PYTHONHOME": astray, "PYTHONPYCACHEPREFIX": astray, "PYTHONUSERBASE": astray, "VIRTUAL_ENV": astray}
    env |= {"PIP_TARGET": astray, "PIP_PREFIX": astray, "PIP_USER": "1", "PIP_REQUIRE_VIRTUALENV": "1"}
    env |= {"PIP_CONSTRAINT": constraints, "PIP_NO_BINARY": ":all:", "PIP_CACHE_DIR": astray, "PIP_DRY_RUN": "1"}
    env |= {"PIP_CONFIG_FILE": str(home / ".config/pip/pip.conf"), "PIP_LOG": astray, "PIP_PYTHON": "/bin/false"}
    env |= {"UV_LINK_MODE": "hardlink", "UV_CACHE_DIR": astray, "UV_CONSTRAINT": constraints, "UV_PYTHON": "3.9"}
    env |= {"UV_CONFIG_FILE": str(home / ".config/uv/uv.toml"), "UV_SYSTEM_PYTHON": "1", "UV_NO_BINARY": "1"}
    env |= {"UV_EXCLUDE_NEWER": "2001-01-01", "UV_COMPILE_BYTECODE": "1", "UV_DEFAULT_INDEX": "https://index.example"}
    return env | {"UV_PROJECT": astray, "UV_WORKING_DIR": "/", "UV_NO_VERIFY_HASHES": "1", "UV_TARGET": astray}


@pytest.mark.parametrize("installer", INSTALLERS)
def test_callers_configuration_has_no_say(installer, store, tmp_path):
    installed = make(tmp_path / "env", (), None)
    Path(installed.prefix, "pip.conf").write_text(f"[install]\ntarget = {tmp_path}/astray\n")
    fill(installed, store, installer, hostile(tmp_path))
    Path(installed.prefix, "pip.conf").unlink()
    installed = Installed(installed.prefix, store)
    assert installed.faults() == {}
    assert not (tmp_path / "astray").exists()
    assert list(installed.site.rglob("*.pyc")) == []
    ran = subprocess.run([f"{installed.prefix}/bin/demo", "x"], capture_output=True, check=True)
    assert ran.stdout == b"demo x\n"


def test_uv_unpacks_where_it_is_told_to(store, tmp_path):
    installed = make(tmp_path / "env", (), None)
    scratch, env = tmp_path / "scratch", {"TMPDIR": "/nowhere"}
    scratch.mkdir()
    fill(installed, store, "uv", env, temporary=str(scratch))
    assert Installed(installed.prefix, store).faults() == {}
    assert list(scratch.iterdir()) == []


def test_tools_that_install_end_with_the_doctor(tmp_path):
    """pip is our own child in the venv's Python, not a child of a pip that waits for it."""
    for installer in INSTALLERS:
        argv = choose(installer, work().host).command("/srv/env/bin/python")
        assert (argv[0] == "/srv/env/bin/python") == (installer == "pip")
        assert "--python" in argv or installer == "pip"


@pytest.mark.parametrize("installer", INSTALLERS)
def test_place_with_a_space_and_a_long_name_is_proven(installer, store, tmp_path):
    installed = make(tmp_path / f"an env {'x' * 120}", store, installer)
    assert installed.faults() == {}
    ran = subprocess.run([f"{installed.prefix}/bin/demo"], capture_output=True, check=True)
    assert ran.stdout == b"demo\n"


@pytest.mark.parametrize("installer", INSTALLERS)
def test_progress_is_told_and_what_it_says_is_logged(installer, store, tmp_path):
    told, logged = [], []
    fill(make(tmp_path / "env", (), None), store, installer, tell=told.append, log=logged.append)
    assert (told[0].done, told[-1].done, {item.total for item in told}) == (0, 2, {2})
    assert b"demo" in b"".join(logged)


def refused(installer, store, tmp_path):
    """Return the error of an install that fails; nothing of it is there."""
    with pytest.raises(StepError) as failure:
        make(tmp_path / "env", store, installer)
    assert not list((tmp_path / "env").rglob("*.dist-info"))
    assert failure.value.step == "install"
    return failure.value


@pytest.mark.parametrize("installer", INSTALLERS)
def test_wrong_hash_is_refused_in_the_installers_words(installer, tmp_path):
    made = archives(tmp_path / "store")
    OTHER.build(tmp_path / "evil")
    Path(made[1].path).write_bytes(Wheel("other", "2.0", {"other.py": "evil\n"}).archive())
    error = refused(installer, made, tmp_path)
    assert made[1].sha256 in "".join(error.details)
    assert str(error).startswith(f"install: {installer} ")
    assert "ended with status" in str(error)


@pytest.mark.parametrize("installer", INSTALLERS)
def test_wheel_of_another_platform_is_refused(installer, tmp_path):
    made = archives(tmp_path / "store", (Wheel("solar", "1.0", {"solar.py": ""}, tag="cp39-cp39-win_amd64"),))
    assert "solar" in "".join(refused(installer, made, tmp_path).details)


@pytest.mark.parametrize("installer", INSTALLERS)
def test_disk_that_is_full_is_said(installer, store, tmp_path):
    fake = tool(tmp_path / "tool", "error: failed to write\n  Caused by: No space left on device (os error 28)", 2)
    with pytest.raises(StepError, match="no space left") as failure:
        install(Installer(installer, fake, "1.0"), fake, store, str(tmp_path), work())
    assert failure.value.details[-1] == "  Caused by: No space left on device (os error 28)"


@pytest.mark.parametrize("installer", INSTALLERS)
def test_own_project_is_installed_editable_and_held_to_its_record(installer, store, new_venv, tmp_path):
    lab = new_venv(tmp_path / "other", tmp_path).sources("lab", "lab", "0.1.0", ("numpy",))
    installed = make(tmp_path / "env", store, installer)
    step = work()
    reinstall(choose(installer, step.host), installed.python, str(lab), step)
    assert installed.faults(editable={"lab"}) == {}
    assert not list(lab.rglob("__pycache__"))
    assert "is of a distribution that the lock does not have" in installed.faults().values()
    (pth,) = installed.site.glob("__editable__*")
    pth.write_text("import os\n")
    assert installed.faults(editable={"lab"}) == {
        str(pth.relative_to(installed.prefix)): "is not what its own RECORD says"
    }
    missing = installed.faults(editable={"lab", "lib"})
    assert missing[str(installed.site.relative_to(installed.prefix))] == "has no such editable project"
    (info,) = installed.site.glob("lab-*.dist-info")
    (info / "direct_url.json").unlink()
    assert installed.faults(editable={"lab"})[str(info.relative_to(installed.prefix))] == "is not an editable install"


@pytest.mark.parametrize("installer", INSTALLERS)
def test_project_whose_backend_is_not_there_says_what_the_lock_must_have(installer, tmp_path):
    lab = tmp_path / "lab"
    lab.mkdir()
    build = '[build-system]\nrequires = ["hatchling>=1.27"]\nbuild-backend = "hatchling.build"\n'
    (lab / "pyproject.toml").write_text(f'{build}[project]\nname = "lab"\nversion = "1"\n')
    installed = make(tmp_path / "env", (), None)
    step = work()
    with pytest.raises(StepError, match=r"^project: ") as failure:
        reinstall(choose(installer, step.host), installed.python, str(lab), step)
    assert "hatchling>=1.27" in failure.value.advice
    assert "--no-project" in failure.value.advice
    assert any("hatchling" in line for line in failure.value.details), failure.value.details


@pytest.mark.parametrize("installer", INSTALLERS)
def test_venv_that_was_repacked_and_installed_again_is_the_same(installer, store, tmp_path):
    first = make(tmp_path / "env", store, installer)
    packed, notes = repack(first.prefix, tmp_path / "wheels", jobs=1)
    assert notes == []
    again = make(tmp_path / "again", [archive(tmp_path / "wheels" / file) for _, _, file, _ in packed], installer)
    assert again.faults() == {}
    assert contents(again) == contents(first)
    assert f"demo-pkg==1.0 \\\n    --hash=sha256:{packed[0][3]}" in lock(packed)


def contents(installed):
    """Return what a venv holds, but for what names its own path or the moment it was made."""
    root = Path(installed.prefix)
    paths = (path for path in root.rglob("*") if path.is_file() and "dist-info" not in str(path))
    return {
        str(path.relative_to(root)): path.read_bytes().replace(os.fsencode(root), b"PREFIX")
        for path in paths
        if path.name != "pyvenv.cfg"
    }


def test_repacking_leaves_out_what_no_wheel_can_be_made_of(store, new_venv, tmp_path):
    lab = new_venv(tmp_path / "other", tmp_path).sources("lab", "lab", "0.1.0")
    first = make(tmp_path / "env", store, "uv")
    step = work()
    reinstall(choose("uv", step.host), first.python, str(lab), step)
    (first.site / "demo_pkg/data.txt").unlink()
    script = Path(__file__).parents[1] / "repacked.py"
    argv = [sys.executable, "-I", str(script), first.prefix, str(tmp_path / "out"), "--lock", str(tmp_path / "lock")]
    ran = subprocess.run(argv, capture_output=True, check=True, text=True)
    assert ran.stdout == f"2 wheels in {tmp_path}/out\n"
    assert ran.stderr.splitlines() == [
        "demo_pkg-1.0: demo_pkg/data.txt is not there",
        "lab-0.1.0: left out, it is an editable install",
    ]
    assert (tmp_path / "lock").read_text().count("--hash=sha256:") == 2
    assert DEMO.filename in os.listdir(tmp_path / "out")

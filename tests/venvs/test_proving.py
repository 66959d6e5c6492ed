"""A venv that is what its archives say is proven; one byte, file, link or name more or less is a fault."""

import base64
import hashlib
import importlib.util
import os
import py_compile
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from installs import DEMO, WHEELS, archives, make, work

from envdoctor.errors import StepError
from envdoctor.installing.compiling import compile_sources
from envdoctor.wheels import Wheel, requirements_lock

pytestmark = pytest.mark.venv
INFO = "demo_pkg-1.0.dist-info"
INSTALLERS = ("uv", "pip")


@pytest.fixture(scope="module", params=INSTALLERS)
def pristine(request, tmp_path_factory):
    """One venv an installer, and a copy to put back."""
    folder = tmp_path_factory.mktemp("proving")
    installed = make(folder / "env", archives(folder / "store"), request.param)
    shutil.copytree(installed.prefix, folder / "copy", symlinks=True)
    return installed, folder / "copy"


@pytest.fixture
def installed(pristine):
    found, copy = pristine
    shutil.rmtree(found.prefix)
    shutil.copytree(copy, found.prefix, symlinks=True)
    return found


def test_healthy_venv_is_proven(installed):
    proof = installed.prove()
    assert proof.faults == ()
    assert proof.notes == ()
    assert proof.files == sum(len(wheel.entries()) - 1 for wheel in WHEELS) - 1  # RECORD, and the script with #!python
    assert proof.bytes > 0


def edit(path, text):
    Path(path).write_text(text)


def flipped(venv):
    path = venv.site / "demo_pkg/__init__.py"
    data = bytearray(path.read_bytes())
    data[0] ^= 1
    path.write_bytes(data)


def with_record(venv, path, text):
    """Write a file, and its row as it then should be."""
    edit(venv.site / path, text)
    rewrite_row(venv.site / INFO / "RECORD", path, text)


def rewrite_row(record, path, text):
    digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
    rows = [row for row in Path(record).read_text().splitlines() if not row.startswith(f"{path},")]
    edit(record, "\n".join([*rows, f"{path},sha256={digest},{len(text)}", ""]))


def replaced(path, old, new):
    text = Path(path).read_text()
    assert old in text
    edit(path, text.replace(old, new))


def hard_linked(venv):
    os.link(venv.site / "other.py", f"{venv.prefix}-links/cached")


def linked(venv, path):
    target = f"{venv.prefix}-links/{Path(path).name}"
    os.replace(path, target)
    os.symlink(target, path)


def folder_linked(venv):
    linked(venv, venv.site / "demo_pkg")


def planted_pyc(venv):
    """Put other code where Python looks first, under a header that fits the source."""
    source = venv.site / "demo_pkg/cli.py"
    status, text = source.stat(), source.read_text()
    edit(source, text.replace("'app'", "'evl'"))
    os.utime(source, ns=(status.st_atime_ns, status.st_mtime_ns))
    py_compile.compile(str(source), doraise=True)
    edit(source, text)
    os.utime(source, ns=(status.st_atime_ns, status.st_mtime_ns))


def other_version(venv):
    (venv.site / INFO).rename(venv.site / "demo_pkg-1.1.dist-info")


def extra_info(venv):
    (venv.site / "extra-1.0.dist-info").mkdir()
    edit(venv.site / "extra-1.0.dist-info/METADATA", "Name: extra\nVersion: 1.0\n")


def leads_elsewhere(venv):
    path = Path(venv.prefix, "bin/python3")
    path.unlink()
    path.symlink_to("/bin/true")


SITE = f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
TAMPERING = {
    "a flipped bit": (flipped, f"{SITE}/demo_pkg/__init__.py", "is not what the archive has"),
    "an edit, with its row of RECORD": (
        lambda venv: with_record(venv, "demo_pkg/data.txt", "evil\n"),
        f"{SITE}/demo_pkg/data.txt",
        "is not what the archive has",
    ),
    "a longer file": (
        lambda venv: edit(f"{venv.prefix}/share/demo/note.txt", "shared\nmore\n"),
        "share/demo/note.txt",
        "is not what the archive has",
    ),
    "a module added": (
        lambda venv: edit(venv.site / "sitecustomize.py", ""), f"{SITE}/sitecustomize.py", "is in no archive",
    ),
    "a file added to a package": (
        lambda venv: edit(venv.site / "demo_pkg/more.so", ""), f"{SITE}/demo_pkg/more.so", "is in no archive",
    ),
    "an empty package": (lambda venv: (venv.site / "ghost").mkdir(), f"{SITE}/ghost", "is in no archive"),
    "a file added, with a row of RECORD": (
        lambda venv: with_record(venv, "demo_pkg/more.py", "x = 1\n"), f"{SITE}/demo_pkg/more.py", "is in no archive",
    ),
    "a package added": (
        lambda venv: shutil.copytree(venv.site / "demo_pkg", venv.site / "twin"),
        f"{SITE}/twin",
        "is in no archive, nor are the 4 files in it",
    ),
    "a .pth": (
        lambda venv: edit(venv.site / "a.pth", "import os\n"),
        f"{SITE}/a.pth",
        "is run at every start of Python, and no archive has it",
    ),
    "a command": (lambda venv: edit(f"{venv.prefix}/bin/ls", "#!/bin/sh\n"), "bin/ls", "is in no archive"),
    "a file removed": (
        lambda venv: (venv.site / "other.py").unlink(), f"{SITE}/other.py", "is missing",
    ),
    "a wrapper removed": (lambda venv: Path(venv.prefix, "bin/demo").unlink(), "bin/demo", "is missing"),
    "a wrapper that does more": (
        lambda venv: replaced(f"{venv.prefix}/bin/demo", "import sys\n", "import sys\nimport os\n"),
        "bin/demo",
        "does more than to call its entry point",
    ),
    "a wrapper of something else": (
        lambda venv: replaced(f"{venv.prefix}/bin/demo", "from demo_pkg import", "from other import"),
        "bin/demo",
        "does not import demo_pkg:main alone",
    ),
    "a wrapper of another python": (
        lambda venv: replaced(f"{venv.prefix}/bin/demo", f"#!{venv.prefix}/bin", "#!/usr/bin"),
        "bin/demo",
        "does not start this environment's python",
    ),
    "a script": (
        lambda venv: replaced(f"{venv.prefix}/bin/tool.py", "print", "exec"),
        "bin/tool.py",
        "is not what the archive has",
    ),
    "a shell script": (
        lambda venv: edit(f"{venv.prefix}/bin/tool.sh", "#!/bin/sh\nrm x\n"),
        "bin/tool.sh",
        "is not what the archive has",
    ),
    "a row of RECORD": (
        lambda venv: replaced(venv.site / INFO / "RECORD", "demo_pkg/data.txt,sha256=", "demo_pkg/data.txt,sha256=A"),
        f"{SITE}/{INFO}/RECORD",
        f"does not say of {SITE}/demo_pkg/data.txt what the archive's says",
    ),
    "a weaker digest": (
        lambda venv: replaced(venv.site / INFO / "RECORD", "demo_pkg/data.txt,sha256=", "demo_pkg/data.txt,md5="),
        f"{SITE}/{INFO}/RECORD",
        f"does not say of {SITE}/demo_pkg/data.txt what the archive's says",
    ),
    "a row less": (
        lambda venv: replaced(venv.site / INFO / "RECORD", "demo_pkg/data.txt,", "demo_pkg/data.old,"),
        f"{SITE}/{INFO}/RECORD",
        f"lists {SITE}/demo_pkg/data.old, which the archive does not have",
    ),
    "METADATA": (
        lambda venv: replaced(venv.site / INFO / "METADATA", "1.0", "1.1"),
        f"{SITE}/{INFO}/METADATA",
        "is not what the archive has",
    ),
    "an installer that was not at work": (
        lambda venv: edit(venv.site / INFO / "INSTALLER", "conda\n"),
        f"{SITE}/{INFO}/INSTALLER",
        "names an installer that was not at work",
    ),
    "an origin": (
        lambda venv: edit(venv.site / INFO / "direct_url.json", "{}"),
        f"{SITE}/{INFO}/direct_url.json",
        "says that it did not come from the lock's archive",
    ),
    "a hard link": (hard_linked, f"{SITE}/other.py", "shares its inode with a file elsewhere (hard link)"),
    "a symbolic link": (
        lambda venv: linked(venv, venv.site / "other.py"), f"{SITE}/other.py", "is a symbolic link",
    ),
    "a linked package": (folder_linked, f"{SITE}/demo_pkg", "is in no archive"),
    "byte code of other code": (
        planted_pyc,
        f"{SITE}/demo_pkg/__pycache__/cli.cpython-{sys.version_info[0]}{sys.version_info[1]}.pyc",
        "is byte code that no archive has, and that could be of any source",
    ),
    "another distribution": (
        extra_info, f"{SITE}/extra-1.0.dist-info", "is of a distribution that the lock does not have",
    ),
    "another version": (
        other_version, f"{SITE}/demo_pkg-1.1.dist-info", "is of a distribution that the lock does not have",
    ),
    "the interpreter": (leads_elsewhere, "bin/python3", f"does not lead to {os.path.realpath(sys.executable)}"),
    "the base's packages": (
        lambda venv: replaced(f"{venv.prefix}/pyvenv.cfg", "packages = false", "packages = true"),
        "pyvenv.cfg",
        "lets packages of the base interpreter in",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", TAMPERING)
def test_tampering_is_a_fault(what, installed):
    tamper, path, how = TAMPERING[what]
    tamper(installed)
    found = installed.faults()
    assert found.get(path) == how, found
    untouched = {name: said for name, said in found.items() if "other" in name and "other" not in path}
    assert untouched == {}, "the healthy neighbour is silent"


def test_planted_byte_code_is_what_python_would_have_run(installed):
    planted_pyc(installed)
    ran = subprocess.run([f"{installed.prefix}/bin/demo-app"], capture_output=True, check=True)
    assert ran.stdout == b"evl\n"


def test_byte_code_comes_from_the_proven_sources(installed):
    said = []
    compile_sources(installed.prefix, cores=2, work=work(tell=said.append))
    for source in installed.site.rglob("*.py"):
        compiled = Path(importlib.util.cache_from_source(str(source)))
        assert compiled.exists() == (source.name != "template.py"), source
    assert (said[-1].done, said[-1].total) == (6, 6)
    ran = subprocess.run([f"{installed.prefix}/bin/demo", "x"], capture_output=True, check=True)
    assert ran.stdout == b"demo x\n"


def test_byte_code_that_cannot_be_written_is_said(installed, monkeypatch, tmp_path):
    full = tmp_path / "full.py"
    full.write_text("print('x.py: [Errno 28] No space left on device'); raise SystemExit(1)")
    monkeypatch.setattr("envdoctor.installing.compiling.PAYLOAD", str(full))
    with pytest.raises(StepError, match="compile: compiling byte code: no space left"):
        compile_sources(installed.prefix, cores=2, work=work())


def test_compiler_that_cannot_write_says_so_and_fails(installed):
    (installed.site / "demo_pkg/__pycache__").write_text("in the way")
    with pytest.raises(StepError, match="compile: compiling byte code ended with status 1") as failure:
        compile_sources(installed.prefix, cores=2, work=work())
    assert "demo_pkg/" in failure.value.details[-1]


def test_venv_of_other_archives_is_not_proven(installed, tmp_path):
    newer = archives(tmp_path, (Wheel("demo-pkg", "2.0", {"demo_pkg/__init__.py": ""}), WHEELS[1]))
    found = installed.faults(newer)
    assert found[f"{SITE}/demo_pkg-2.0.dist-info/METADATA"] == "is missing"
    assert found[f"{SITE}/{INFO}"] == "is of a distribution that the lock does not have"


def test_proof_that_is_not_done_in_time_is_none(installed):
    with pytest.raises(StepError, match="verify: the time was over after 0 bytes"):
        installed.prove(deadline=0.0)


@pytest.mark.parametrize("installer", INSTALLERS)
def test_wheel_whose_own_record_is_wrong_is_a_note(installer, tmp_path):
    class Liar(Wheel):
        def entries(self):
            found = super().entries()
            row = b"demo_pkg/data.txt,sha256="
            name = f"{INFO}/RECORD"
            return found | {name: found[name].replace(row, row + b"A") + b"demo_pkg/gone.py,sha256=AA,1\n"}

    liar = Liar(DEMO.name, DEMO.version, DEMO.files)
    proof = make(tmp_path / "env", archives(tmp_path / "store", (liar,)), installer).prove()
    assert proof.faults == ()
    assert proof.notes == (
        f"{DEMO.filename}: its RECORD lists 'demo_pkg/gone.py', which is not in it",
        f"{DEMO.filename}: its RECORD is wrong about 'demo_pkg/data.txt'; the file is the wheel's",
    )


@pytest.mark.parametrize("installer", INSTALLERS)
def test_path_of_two_archives_names_both_where_they_differ(installer, tmp_path):
    one = Wheel("one", "1.0", {"shared/a.py": "x = 1\n", "shared/b.py": "x = 1\n"})
    two = Wheel("two", "1.0", {"shared/a.py": "x = 2\n", "shared/b.py": "x = 1\n"})
    installed = make(tmp_path / "env", archives(tmp_path / "store", (one, two)), installer)
    path = f"{SITE}/shared/a.py"
    proof = installed.prove()
    assert (proof.faults, proof.notes) == (
        (),
        (f"{path} is in both one and two, with different bytes; the one installed last is there",),
    )
    edit(installed.site / "shared/a.py", "x = 3\n")
    assert [fault.how for fault in installed.prove().faults] == ["is not what the archive has"]


def test_wheel_that_leads_out_is_not_even_given_to_an_installer(tmp_path):
    made = archives(tmp_path / "store", (Wheel("other", "2.0", {"../../../../up.py": ""}),))
    with pytest.raises(StepError, match=r"install: .*'\.\./\.\./\.\./\.\./up\.py' leads out of the environment"):
        make(tmp_path / "env", made, "uv")
    assert list(tmp_path.rglob("up.py")) == []


def poison(cache):
    """Edit a file of an installer's cache and its row in RECORD."""
    (module,) = [path for path in Path(cache).rglob("demo_pkg/data.txt") if path.is_file()]
    edit(module, "evil\n")
    (record,) = Path(cache).rglob(f"{INFO}/RECORD")
    rewrite_row(record, "demo_pkg/data.txt", "evil\n")


@pytest.fixture
def cached(tmp_path, uv_path):
    """Return a function that installs as uv does by itself: from a cache that all venvs of a user share."""
    store = archives(tmp_path / "store")
    (tmp_path / "lock.txt").write_text(requirements_lock(WHEELS))

    def fill(place, *options):
        made = make(tmp_path / place, store, None)
        argv = [uv_path, "pip", "install", "--python", made.python, "--cache-dir", str(tmp_path / "cache"), *options]
        argv += ["--no-config", "--no-index", "--find-links", str(tmp_path / "store"), "--require-hashes", "-r"]
        done = subprocess.run([*argv, str(tmp_path / "lock.txt")], capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()
        return made

    return fill


def test_poisoned_cache_passes_uv_and_not_the_proof(cached, tmp_path):
    assert cached("first", "--link-mode", "copy").faults() == {}
    poison(tmp_path / "cache")
    second = cached("second", "--link-mode", "copy")
    assert (second.site / "demo_pkg/data.txt").read_text() == "evil\n", "uv has become careful: say so in the README"
    assert second.faults() == {
        f"{SITE}/demo_pkg/data.txt": "is not what the archive has",
        f"{SITE}/{INFO}/RECORD": f"does not say of {SITE}/demo_pkg/data.txt what the archive's says",
    }


def test_hard_linked_venv_edited_in_place_poisons_the_next_and_is_not_proven(cached):
    first = cached("first", "--link-mode", "hardlink")
    assert first.faults()[f"{SITE}/demo_pkg/data.txt"] == "shares its inode with a file elsewhere (hard link)"
    with open(first.site / "demo_pkg/data.txt", "r+") as stream:
        stream.write("evil\n")
    second = cached("second", "--link-mode", "copy")
    assert (second.site / "demo_pkg/data.txt").read_text() == "evil\n"
    assert second.faults() == {f"{SITE}/demo_pkg/data.txt": "is not what the archive has"}


@pytest.mark.parametrize("installer", INSTALLERS)
def test_install_from_the_store_does_not_look_at_a_poisoned_cache(installer, cached, tmp_path):
    first = cached("first")
    poison(tmp_path / "cache")
    env = {"UV_CACHE_DIR": str(tmp_path / "cache"), "UV_LINK_MODE": "hardlink", "UV_NO_CACHE": "0"}
    again = make(tmp_path / "again", first.archives, installer, env | {"PIP_CACHE_DIR": str(tmp_path / "cache")})
    assert again.faults() == {}
    assert (again.site / "demo_pkg/data.txt").read_text() == DEMO.files["demo_pkg/data.txt"]


@pytest.mark.parametrize("installer", INSTALLERS)
def test_wheel_that_was_altered_under_pips_or_uvs_feet_is_not_proven(installer, tmp_path):
    """Whatever an installer took its bytes from, a poisoned cache of pip's as well: they are not the archive's."""
    evil = Wheel(DEMO.name, DEMO.version, {**DEMO.files, "demo_pkg/data.txt": "evil\n"}, (), data=DEMO.data)
    poisoned = make(tmp_path / "env", archives(tmp_path / "evil", (evil, WHEELS[1])), installer)
    found = poisoned.faults(archives(tmp_path / "store"))
    assert found[f"{SITE}/demo_pkg/data.txt"] == "is not what the archive has"
    assert found["bin/demo"] == "is missing"


def test_what_ensurepip_brought_is_held_to_the_bundled_wheel(tmp_path):
    installed = make(tmp_path / "env", archives(tmp_path / "store"), "uv", pip=True)
    extra = {"pip", "setuptools"}
    assert installed.faults(extra=extra) == {}
    edit(installed.site / "pip/__main__.py", "")
    edit(f"{installed.prefix}/bin/pip3", "#!/bin/sh\n")
    assert installed.faults(extra=extra) == {
        f"{SITE}/pip/__main__.py": "is not what the archive has",
        "bin/pip3": "does not start this environment's python",
        f"{SITE}/{next(installed.site.glob('pip-*')).name}/RECORD": "is not true of bin/pip3",
    }
    assert installed.faults()[f"{SITE}/pip"].startswith("is in no archive")

"""Real pip against an index on this machine: what is locked comes into the store, and nothing else does."""

import io
import os
import subprocess
import sys
import tarfile
import time
from base64 import b64encode
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from doctor import Doctor
from indexes import Reply, entry, page, serve

from envdoctor import locks
from envdoctor.archives import downloading, fetching
from envdoctor.archives.fetching import fetch
from envdoctor.archives.narrowing import narrow
from envdoctor.archives.sources import Sources
from envdoctor.archives.store import Store, flat
from envdoctor.errors import EnvDoctorError, RefusedLockError, StepError
from envdoctor.locks.environments import of_target, stated
from envdoctor.policy import Policy
from envdoctor.progress import Work
from envdoctor.system.host import LocalHost
from envdoctor.wheels import Wheel, requirements_lock

pytestmark = pytest.mark.venv

SECRET = "S3CRETs3cret"
LOGIN = f"Basic {b64encode(f'me:{SECRET}'.encode()).decode()}"
MINOR = f"{sys.version_info.major}.{sys.version_info.minor}"
ABC = tuple(Wheel(f"lab-{letter}", "1.0", {f"lab_{letter}.py": letter * 70000}) for letter in "abc")
FAR = Wheel("lab-far", "1.0", {"lab_far.py": ""}, tag="cp313-cp313-manylinux_2_28_aarch64")
SOURCE_WHEEL = Wheel("lab-s", "1.0", {"lab_s.py": "s"})
PYPROJECT = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
BACKEND = """\
import pathlib, shutil
def build_wheel(folder, config_settings=None, metadata_directory=None):
    (wheel,) = pathlib.Path("prepared").glob("*.whl")
    shutil.copy(wheel, folder)
    return wheel.name
"""
BROKEN = """\
import pathlib
def prepare_metadata_for_build_wheel(folder, config_settings=None):
    info = pathlib.Path(folder, "lab_s-1.0.dist-info")
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\\nName: lab-s\\nVersion: 1.0\\n")
    return info.name
def build_wheel(folder, config_settings=None, metadata_directory=None):
    raise RuntimeError("nvcc is not here")
"""


def sdist(backend=BACKEND):
    """Return a source archive of lab-s; its backend needs nothing from an index."""
    buffer = io.BytesIO()
    members = {"pyproject.toml": PYPROJECT.encode(), "backend.py": backend.encode()}
    members[f"prepared/{SOURCE_WHEEL.filename}"] = SOURCE_WHEEL.archive()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(f"lab_s-1.0/{name}")
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def digest_of(data):
    import hashlib

    return hashlib.sha256(data).hexdigest()


def offer(served, name, files, login=""):
    """Let an index list files (name -> bytes) of a project, and serve them."""
    listed = [entry(file, digest_of(data)) for file, data in files.items()]
    served.pages[name] = replace(page(*listed, name=name), login=login)
    served.pages |= {
        f"/files/{file}": Reply(data, "application/octet-stream", login=login) for file, data in files.items()
    }


class Dying(dict):
    """Pages of a server that hangs up after so many requests."""

    left = 1000

    def get(self, key, default=None):
        if key.startswith("/"):  # asked first, once a request
            self.left -= 1
        if self.left < 0:
            raise ConnectionResetError
        return super().get(key, default)


def pylock(wheel, place, size=""):
    """Return a pylock of one wheel; `place` is its path or address as TOML."""
    head = 'lock-version = "1.0"\ncreated-by = "test"\n'
    name = f'[[packages]]\nname = "{wheel.name}"\nversion = "{wheel.version}"\n[[packages.wheels]]\n'
    return f'{head}{name}{place}\n{size}hashes = {{ sha256 = "{wheel.sha256}" }}\n'


@dataclass
class Bench:
    """A user with a home, a project with a lock, and a store."""

    folder: Path
    index: object
    env: dict = field(default_factory=dict)
    said: list = field(default_factory=list)
    logged: bytearray = field(default_factory=bytearray)
    policy: Policy = field(default_factory=lambda: Policy(sdists=("lab-s",)))

    @property
    def variables(self):
        quick = {"PIP_RETRIES": "0", "PIP_RESUME_RETRIES": "0", "PIP_CONFIG_FILE": os.devnull, "UV_NO_CONFIG": "1"}
        return {"PATH": os.environ["PATH"], "HOME": str(self.folder), **quick, **self.env}

    @property
    def store(self):
        return Store(str(self.folder / "store"))

    @property
    def text(self):
        return self.logged.decode()

    def lock(self, text, name="lock.txt"):
        (self.folder / name).write_text(text)
        return locks.read(str(self.folder / name))

    def fetch(self, lock, environment=None, python=sys.executable, **sources):
        host = LocalHost(env=self.variables, cwd=str(self.folder))
        work = Work(host, self.said.append, self.logged.extend)
        environment = environment or here()
        narrowed = narrow(lock, environment.markers, environment.ordered_tags(), self.policy)
        return fetch(narrowed, Sources(lock, **sources), python, self.store, work)

    def failure(self, *arguments, **options):
        with pytest.raises(StepError) as raised:
            self.fetch(*arguments, **options)
        return raised.value


def here():
    """Return the environment of the Python that runs the tests."""
    from packaging.markers import default_environment

    markers = {name: value for name, value in default_environment().items() if name != "extra"}
    return of_target(markers, os.confstr("CS_GNU_LIBC_VERSION"), free_threaded=False, name="here")


@pytest.fixture
def index():
    with serve() as served:
        served.pages = Dying()
        for wheel in ABC:
            offer(served, wheel.name, {wheel.filename: wheel.archive()})
        yield served


@pytest.fixture
def bench(tmp_path, index):
    return Bench(tmp_path, index, {"PIP_INDEX_URL": f"{index.address}/"})


def names(archives):
    return [archive.filename for archive in archives]


def test_what_is_locked_comes_once_and_is_there_without_a_network_from_then_on(bench, index):
    lock = bench.lock(requirements_lock(ABC))
    first = bench.fetch(lock)
    assert names(first) == [wheel.filename for wheel in ABC]
    assert [Path(archive.path).read_bytes() for archive in first] == [wheel.archive() for wheel in ABC]
    asked = len(index.asked)
    assert bench.fetch(lock) == bench.fetch(lock, offline=True) == first
    assert len(index.asked) == asked
    assert [(each.step, each.done, each.total, each.unit) for each in bench.said][-1] == ("fetch", 3, 3, "packages")
    assert "Collecting lab-a==1.0" in bench.text
    assert os.listdir(bench.store.folder).count("lock") == 1
    assert not [name for name in os.listdir(bench.store.folder) if name.startswith("incoming")]


@pytest.mark.parametrize("installer", ["pip", "uv"])
def test_both_installers_take_what_is_laid_out_and_leave_the_store_as_it_is(bench, new_venv, tmp_path, installer):
    archives = [bench.store.put(wheel.build(tmp_path / "built")) for wheel in ABC]
    flat(archives, str(tmp_path / "flat"))
    bench.lock(requirements_lock(ABC))
    before = [os.stat(archive.path) for archive in archives]
    venv = new_venv(tmp_path / "user", tmp_path / "flat")
    wish = ("--require-hashes", "-r", tmp_path / "lock.txt")
    if installer == "pip":
        venv.pip("install", *wish)
    else:
        venv.uv(*wish, mode="hardlink")
    assert len(list(venv.site.glob("lab_?.py"))) == 3
    after = [os.stat(archive.path) for archive in archives]
    assert [(each.st_ino, each.st_nlink, each.st_mtime_ns) for each in after] == [
        (each.st_ino, 1, each.st_mtime_ns) for each in before
    ]


def test_another_digest_is_refused_and_the_rest_is_kept(bench, index):
    lock = bench.lock(requirements_lock(ABC).replace(ABC[1].sha256, "0" * 64))
    error = bench.failure(lock)
    assert error.status == 3
    assert str(error) == (f"fetch: lab-b 1.0: {ABC[1].filename} has sha256 {ABC[1].sha256}, which is not in the lock")
    assert any("DO NOT MATCH THE HASHES" in line for line in error.details)
    kept = bench.store
    assert [kept.find((f"sha256:{wheel.sha256}",)) is not None for wheel in ABC] == [True, False, True]


def test_all_that_is_not_found_is_named(bench):
    text = requirements_lock(ABC) + "".join(f"lab-{n}==1 --hash=sha256:{'1' * 64}\n" for n in ("x", "y"))
    error = bench.failure(bench.lock(text))
    assert str(error).startswith("fetch: lab-x 1: no index that pip is configured for gives a file of it that fits")
    assert str(error).endswith(" (and 1 more)")
    assert [line.partition(":")[0] for line in error.details] == ["lab-x 1", "lab-y 1"]
    assert len([archive for archive in map(bench.store.find, [(f"sha256:{w.sha256}",) for w in ABC]) if archive]) == 3


def test_an_index_that_dies_half_way_costs_one_batch_and_the_next_run_goes_on(bench, index, monkeypatch):
    monkeypatch.setattr(fetching, "BATCH", 1)
    lock = bench.lock(requirements_lock(ABC))
    index.pages.left = 3  # two pages and one file
    error = bench.failure(lock)
    print(error.details)
    assert str(error) == "fetch: lab-b 1.0: the connection to the index broke"
    assert error.advice == "run it again: 1 of 3 packages are in the store, and it goes on from there"
    index.pages.left = 1000
    index.asked.clear()
    assert names(bench.fetch(lock)) == [wheel.filename for wheel in ABC]
    assert "lab-a" not in index.names


def test_a_connection_that_is_cut_within_a_file_leaves_no_part_of_it(bench, index):
    path = f"/files/{ABC[2].filename}"
    whole, index.pages[path] = index.pages[path], Reply(ABC[2].archive()[:1000], short=len(ABC[2].archive()) - 1000)
    lock = bench.lock(requirements_lock(ABC))
    assert str(bench.failure(lock)) == "fetch: lab-c 1.0: the connection to the index broke"
    assert bench.store.find((f"sha256:{ABC[2].sha256}",)) is None
    index.pages[path] = whole
    assert names(bench.fetch(lock)) == [wheel.filename for wheel in ABC]


def test_a_wheel_for_another_platform_is_none_here_and_one_there(bench, index):
    offer(index, "lab-far", {FAR.filename: FAR.archive()})
    lock = bench.lock(requirements_lock([FAR]))
    assert "lab-far 1.0: no index that pip is configured for gives a file of it that fits" in str(bench.failure(lock))
    there = stated("3.13", "manylinux_2_28_aarch64")
    assert names(bench.fetch(lock, there, python="")) == [FAR.filename]
    assert "lab-far 1.0" in str(bench.failure(lock, offline=True)), "what the store has for another target is not taken"


def test_a_poisoned_file_of_the_store_is_fetched_anew_and_said(bench):
    lock = bench.lock(requirements_lock(ABC))
    path = Path(bench.fetch(lock)[1].path)
    path.chmod(0o600)
    path.write_bytes(path.read_bytes().replace(b"b" * 70000, b"B" * 70000))
    assert Path(bench.fetch(lock)[1].path).read_bytes() == ABC[1].archive()
    said = f"{ABC[1].filename} in the store was not what it is named for, and is fetched anew"
    assert said in [each.said for each in bench.said]
    assert said in bench.text


def test_what_pip_s_cache_has_with_other_bytes_is_fetched_past_it(bench, index):
    old = Wheel("lab-a", "1.0", {"lab_a.py": "old"})
    bench.env["PIP_TRUSTED_HOST"] = "127.0.0.1"  # pip keeps what comes by http from such hosts alone
    kept = {"Cache-Control": "max-age=3600"}
    index.pages["lab-a"] = page(entry(old.filename, ""), name="lab-a")
    index.pages[f"/files/{old.filename}"] = Reply(old.archive(), "application/octet-stream", headers=kept)
    bench.fetch(bench.lock(requirements_lock([old])))
    index.pages[f"/files/{old.filename}"] = Reply(ABC[0].archive(), "application/octet-stream", headers=kept)
    (found,) = bench.fetch(bench.lock(requirements_lock(ABC[:1])))
    assert found.sha256 == ABC[0].sha256
    assert "Using cached" in bench.text


class TestFindLinks:
    @pytest.fixture
    def folder(self, tmp_path):
        for wheel in ABC:
            wheel.build(tmp_path / "wheels")
        return tmp_path / "wheels"

    def test_a_directory_is_enough_offline(self, bench, folder, index):
        found = bench.fetch(bench.lock(requirements_lock(ABC)), offline=True, find_links=(str(folder),))
        assert names(found) == [wheel.filename for wheel in ABC]
        assert index.asked == []

    def test_a_file_with_other_bytes_is_passed_over(self, bench, folder, index):
        (folder / ABC[0].filename).write_bytes(b"not it")
        lock = bench.lock(requirements_lock(ABC))
        error = bench.failure(lock, offline=True, find_links=(str(folder),))
        assert str(error) == "fetch: offline, and 1 file is neither in the store nor in --find-links: lab-a 1.0"
        assert "envdoctor wheelhouse build --lock lock.txt -o DIR" in error.advice
        assert len(bench.fetch(lock, find_links=(str(folder),))) == 3
        assert index.names.count("lab-a") == 1
        assert "lab-b" not in index.names

    def test_all_that_is_missing_offline_is_counted(self, bench):
        text = "".join(f"lab-{n}==1 --hash=sha256:{'1' * 64}\n" for n in range(7))
        error = bench.failure(bench.lock(text), offline=True)
        assert "7 files are not in the store, and no --find-links is given: lab-0 1, " in str(error)
        assert str(error).endswith("lab-4 1 and 2 more")
        assert len(error.details) == 7

    def test_directories_of_pip_s_configuration_and_of_the_lock_count_offline(self, bench, folder, index):
        lock = bench.lock(requirements_lock(ABC))
        with pytest.raises(StepError):
            bench.fetch(lock, offline=True)
        (bench.folder / "locks").mkdir()
        own = bench.lock("--find-links ../wheels\n" + requirements_lock(ABC), "locks/own.txt")
        assert len(bench.fetch(own, offline=True)) == 3
        bench.folder = bench.folder / "other"
        bench.folder.mkdir()
        bench.env = {"PIP_FIND_LINKS": str(folder)}
        assert len(bench.fetch(bench.lock(requirements_lock(ABC)), offline=True)) == 3
        assert index.asked == []

    @pytest.mark.usefixtures("folder")
    def test_a_path_that_the_lock_records_is_read_from_beside_it(self, bench):
        text = pylock(ABC[0], f'path = "wheels/{ABC[0].filename}"')
        assert names(bench.fetch(bench.lock(text, "pylock.toml"), offline=True)) == [ABC[0].filename]


class TestConfiguration:
    def with_login(self, index):
        for wheel in ABC:
            offer(index, wheel.name, {wheel.filename: wheel.archive()}, login=LOGIN)
        return index.address.replace("://", f"://me:{SECRET}@") + "/"

    @pytest.mark.parametrize("variable", ["UV_DEFAULT_INDEX", "UV_INDEX"])
    def test_what_uv_alone_is_told_by_variables_pip_is_told(self, bench, index, variable):
        bench.env = {variable: self.with_login(index), "PIP_NO_CACHE_DIR": "1"}
        if variable == "UV_INDEX":
            bench.env["UV_DEFAULT_INDEX"] = f"{index.address}/nothing/"
        assert len(bench.fetch(bench.lock(requirements_lock(ABC)))) == 3

    def test_what_a_project_tells_uv_pip_is_told_with_the_login_of_variables(self, bench, index):
        self.with_login(index)
        table = f'[[tool.uv.index]]\nname = "our-lab"\nurl = "{index.address}/"\ndefault = true\n'
        (bench.folder / "pyproject.toml").write_text(table)
        bench.env = {"UV_INDEX_OUR_LAB_USERNAME": "me", "UV_INDEX_OUR_LAB_PASSWORD": SECRET, "UV_NO_CONFIG": ""}
        assert len(bench.fetch(bench.lock(requirements_lock(ABC)))) == 3

    def test_pip_s_own_index_is_left_alone(self, bench):
        bench.env["UV_INDEX_URL"] = "http://127.0.0.1:9/simple/"
        assert len(bench.fetch(bench.lock(requirements_lock(ABC)))) == 3

    def test_a_target_s_own_pip_conf_counts(self, bench, index):
        (bench.folder / "pip.conf").write_text(f"[global]\nindex-url = {index.address}/\n")
        bench.env = {"PIP_CONFIG_FILE": ""}
        host = bench.variables | {"XDG_CONFIG_DIRS": str(bench.folder), "XDG_CONFIG_HOME": str(bench.folder)}
        bench.env = {key: host[key] for key in ("XDG_CONFIG_DIRS", "XDG_CONFIG_HOME")}
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Bench, "variables", {key: value for key, value in host.items() if key != "PIP_CONFIG_FILE"})
            assert len(bench.fetch(bench.lock(requirements_lock(ABC)), pip_conf=str(bench.folder / "pip.conf"))) == 3

    def test_the_lock_s_own_index_counts_and_its_variables_are_expanded(self, bench, index):
        address = self.with_login(index).replace(f"me:{SECRET}", "${LAB_USER}:${LAB_TOKEN}")
        bench.env = {"LAB_USER": "me", "LAB_TOKEN": SECRET, "PIP_INDEX_URL": f"{index.address}/nothing/"}
        (bench.folder / "more.txt").write_text(requirements_lock(ABC[1:]))
        lock = bench.lock(f"--index-url {address}\n-r more.txt\n{requirements_lock(ABC[:1])}")
        assert len(bench.fetch(lock)) == 3

    def test_an_address_in_the_lock_is_asked_where_no_index_has_the_file(self, bench, index):
        url = index.address.replace("/simple", f"/files/{FAR.filename}")
        index.pages[f"/files/{FAR.filename}"] = Reply(FAR.archive(), "application/octet-stream")
        text = pylock(FAR, f'url = "{url}"', f"size = {len(FAR.archive())}\n")
        there = stated("3.13", "manylinux_2_28_aarch64")
        assert names(bench.fetch(bench.lock(text, "pylock.toml"), there, python="")) == [FAR.filename]
        assert (bench.said[-1].done, bench.said[-1].unit) == (len(FAR.archive()), "bytes")

    def test_an_index_that_a_lock_names_is_asked_after_the_configured_one(self, bench, index):
        bench.env["PIP_INDEX_URL"] = f"{index.address}/nothing/"
        file = f'{{ file = "{ABC[0].filename}", hash = "sha256:{ABC[0].sha256}" }}'
        entry = f'[[package]]\nname = "lab-a"\nversion = "1.0"\ngroups = ["main"]\nfiles = [{file}]\n'
        source = f'[package.source]\ntype = "legacy"\nurl = "{index.address}"\nreference = "lab"\n'
        lock = bench.lock(
            f'{entry}{source}[metadata]\nlock-version = "2.1"\npython-versions = ">=3.11"\n', "poetry.lock"
        )
        assert names(bench.fetch(lock)) == [ABC[0].filename]

    def test_a_password_is_on_no_command_line_and_in_no_message(self, bench, index, monkeypatch):
        bench.env["PIP_INDEX_URL"] = self.with_login(index)
        lines = []

        def perform(argv, **options):
            lines.append(argv)
            return real(argv, **options)

        real = downloading.perform
        monkeypatch.setattr(downloading, "perform", perform)
        text = f"--extra-index-url http://me:{SECRET}@127.0.0.1:9/simple\n{requirements_lock(ABC)}"
        lock = bench.lock(text.replace(ABC[1].sha256, "0" * 64))
        error = bench.failure(lock)
        assert lines
        assert SECRET not in f"{lines}{error}{error.details}{error.advice}{bench.said}{bench.text}"


class TestSource:
    @pytest.fixture
    def offered(self, index):
        """Return a function that offers lab-s as source and returns a lock of it."""

        def offered(backend=BACKEND):
            data = sdist(backend)
            offer(index, "lab-s", {"lab_s-1.0.tar.gz": data})
            return f"lab-s==1.0 --hash=sha256:{digest_of(data)}\n"

        return offered

    def test_it_is_built_where_that_is_allowed_and_once(self, bench, index, offered):
        lock = bench.lock(offered())
        (built,) = bench.fetch(lock)
        assert (built.filename, built.sha256) == (SOURCE_WHEEL.filename, SOURCE_WHEEL.sha256)
        assert f"sha256:{built.built_from}" in lock.packages[0].hashes
        runs = bench.text.count(" wheel --no-deps")
        index.asked.clear()
        assert bench.fetch(lock, offline=True) == (built,)
        assert (bench.text.count(" wheel --no-deps"), index.asked) == (runs, [])
        Path(built.path).chmod(0o600)
        Path(built.path).write_bytes(b"altered")
        assert Path(bench.fetch(lock, offline=True)[0].path).read_bytes() == SOURCE_WHEEL.archive()
        assert (bench.text.count(" wheel --no-deps"), index.asked) == (runs + 1, [])

    def test_it_is_not_built_where_that_is_not_allowed(self, bench, offered):
        lock = bench.lock(offered())
        bench.policy = Policy()
        assert "lab-s 1.0: no index that pip is configured for gives a file" in str(bench.failure(lock))
        assert " wheel --no-deps" not in bench.text

    def test_a_wheel_is_preferred(self, bench, index, offered):
        text = offered()
        files = {"lab_s-1.0.tar.gz": sdist(), SOURCE_WHEEL.filename: SOURCE_WHEEL.archive()}
        offer(index, "lab-s", files)
        (found,) = bench.fetch(bench.lock(f"{text.rstrip()} --hash=sha256:{SOURCE_WHEEL.sha256}\n"))
        assert (found.filename, found.built_from) == (SOURCE_WHEEL.filename, "")

    @pytest.mark.parametrize("backend", [BROKEN, "raise RuntimeError('nvcc is not here')\n"])
    def test_a_build_that_fails_is_told_with_its_last_words(self, bench, offered, backend):
        error = bench.failure(bench.lock(offered(backend)))
        assert (error.step, error.status) == ("build", 3)
        assert "lab-s 1.0 cannot be built from " in str(error)
        assert any("nvcc is not here" in line for line in error.details), error.details

    def test_another_digest_is_not_built(self, bench, offered):
        text = offered("open('/proc/self/cwd/ran', 'w')\n")
        error = bench.failure(bench.lock(text.replace(text[-65:-1], "0" * 64)))
        assert (error.step, "which is not in the lock" in str(error)) == ("fetch", True)

    def test_for_another_platform_it_is_refused(self, bench, offered):
        error = bench.failure(bench.lock(offered()), stated("3.13", "manylinux_2_28_aarch64"), python="")
        assert "comes as source, and only the target's own Python can build it" in str(error)


class TestWheelhouse:
    @pytest.fixture
    def build(self, bench):
        doctor = Doctor(bench.folder)

        def build(*words, lock="lock.txt", **env):
            words = ("--lock", lock, "-o", "wheels", *words)
            return doctor("wheelhouse", "build", *words, env={**bench.variables, "HOME": str(doctor.home), **env})

        return build

    def test_it_is_complete_checked_and_installable_without_a_network(self, bench, build, new_venv):
        bench.lock(requirements_lock(ABC))
        answer = build()
        assert answer.status == 0, answer.stderr
        size = sum(len(wheel.archive()) for wheel in ABC)
        assert answer.stdout.startswith(f"wheels: 3 files, {size / 1024:.1f} KiB for Python {sys.version.split()[0]}")
        assert answer.stdout.endswith("(3 new, 0 as they were)\n")
        wheels = bench.folder / "wheels"
        assert sorted(os.listdir(wheels)) == sorted([*(wheel.filename for wheel in ABC), "SHA256SUMS"])
        subprocess.run(["sha256sum", "-c", "--strict", "SHA256SUMS"], cwd=wheels, check=True, capture_output=True)
        venv = new_venv(bench.folder / "user", wheels)
        venv.pip("install", "--require-hashes", "-r", bench.folder / "lock.txt")
        assert sorted(path.name for path in venv.site.glob("lab_?.py")) == ["lab_a.py", "lab_b.py", "lab_c.py"]

    def test_again_it_changes_nothing_and_leaves_what_is_not_its_own(self, bench, build, index):
        bench.lock(requirements_lock(ABC))
        build()
        wheels = bench.folder / "wheels"
        (wheels / "notes.txt").write_text("mine")
        before = {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in wheels.iterdir()}
        index.pages.left = 0
        answer = build("--offline")
        assert answer.status == 0, answer.stderr
        assert {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in wheels.iterdir()} == before
        assert answer.stdout.startswith("not of this lock, left alone: notes.txt\n")
        assert "(0 new, 3 as they were)" in answer.stdout

    def test_a_damaged_file_in_it_is_replaced_and_said(self, bench, build):
        bench.lock(requirements_lock(ABC))
        build()
        (bench.folder / "wheels" / ABC[0].filename).write_bytes(b"cut")
        answer = build()
        assert answer.stdout.startswith(f"replaced {ABC[0].filename}: it was not what the lock names\n")
        assert (bench.folder / "wheels" / ABC[0].filename).read_bytes() == ABC[0].archive()

    def test_it_can_be_for_another_platform(self, bench, build, index):
        offer(index, "lab-far", {FAR.filename: FAR.archive()})
        bench.lock(requirements_lock([FAR]))
        answer = build("--python", "3.13", "--platform", "manylinux_2_28_aarch64")
        assert (answer.status, FAR.filename in os.listdir(bench.folder / "wheels")) == (0, True), answer.stderr
        assert "for Python 3.13 on manylinux_2_28_aarch64" in answer.stdout

    def test_the_source_of_what_was_built_is_there_for_its_digest(self, bench, build, index):
        (bench.folder / "envdoctor.toml").write_text('sdists = ["lab-s"]\n')
        offer(index, "lab-s", {"lab_s-1.0.tar.gz": sdist()})
        bench.lock(f"lab-s==1.0 --hash=sha256:{digest_of(sdist())}\n")
        answer = build()
        assert answer.status == 0, answer.stderr
        assert sorted(os.listdir(bench.folder / "wheels")) == [
            "SHA256SUMS",
            "lab_s-1.0-py3-none-any.whl",
            "lab_s-1.0.tar.gz",
        ]
        assert answer.stdout.startswith("built from lab_s-1.0.tar.gz")

    def test_a_lock_that_the_audit_finds_faulty_is_refused(self, bench, build):
        bench.lock(requirements_lock(ABC) + "six>=1\n")
        answer = build()
        assert (answer.status, answer.stdout) == (1, "")
        assert "lock/unpinned" in answer.stderr
        assert answer.stderr.endswith("lock.txt: is refused: 1 error; see envdoctor lock audit\n")
        assert not (bench.folder / "wheels").exists()

    def test_usage(self, bench, build):
        bench.lock(requirements_lock(ABC))
        for words, lock in (
            ((), "none.txt"),
            (("--find-links", "nowhere"), "lock.txt"),
            (("--target", ".", "--python", "3.12"), "lock.txt"),
            (("--group", "dev"), "lock.txt"),
            (("--python", "two"), "lock.txt"),
        ):
            answer = build(*words, lock=lock)
            assert (answer.status, answer.stdout) == (2, ""), answer
        assert build("--offline").status == 3

    def test_a_target_says_what_it_is_for(self, bench, build, new_venv):
        venv = new_venv(bench.folder / "user", bench.folder)
        bench.lock(requirements_lock(ABC))
        answer = build("--target", venv.prefix)
        assert (answer.status, f"of {venv.prefix}" in answer.stdout) == (0, True), answer.stderr


def alive(folder):
    """Return the processes whose command line names a directory."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if os.fsencode(folder) in path.read_bytes():
                found.append(path.parent.name)
    return found


def within(seconds, true):
    """Wait until it is true; return whether it became so."""
    end = time.monotonic() + seconds
    while not true() and time.monotonic() < end:
        time.sleep(0.05)
    return bool(true())


def test_pip_ends_with_a_doctor_that_is_killed_and_what_it_left_is_swept_up(bench, index):
    path = f"/files/{ABC[1].filename}"
    whole, index.pages[path] = index.pages[path], replace(index.pages[path], wait=30)
    bench.lock(requirements_lock(ABC))
    doctor = Doctor(bench.folder)
    store = doctor.home / ".cache/envdoctor/archives"
    words = ("wheelhouse", "build", "--lock", "lock.txt", "-o", "wheels")
    env = {**bench.variables, "HOME": str(doctor.home)}
    process = doctor.start(*words, env=env)
    assert within(30, lambda: path in [asked for asked, _ in index.asked])
    assert alive(store)
    process.kill()
    process.communicate()
    assert within(10, lambda: not alive(store)), "pip lives on"
    assert [name for name in os.listdir(store) if name.startswith("incoming-")]
    index.pages[path] = whole
    answer = doctor(*words, env=env)
    assert answer.status == 0, answer.stderr
    assert not [name for name in os.listdir(store) if name.startswith("incoming-")]


def test_errors_are_of_the_kinds_that_callers_know():
    assert issubclass(StepError, EnvDoctorError)
    assert (RefusedLockError("").status, StepError("fetch", "").status) == (1, 3)

"""Write bits go and come back as they were; half a freeze is none."""

import os
import stat
import tempfile

import pytest
from nobody import NOBODY, as_nobody
from patients import Patient, Wheel

from envdoctor.errors import EnvDoctorError, UsageError
from envdoctor.generations import freezing
from envdoctor.generations.changes import Changes
from envdoctor.generations.freezing import Frozen, freeze_tree, is_frozen, open_directories, thaw_tree

SIX = Wheel("six", "1.17.0", {"six.py": "", "six_more/__init__.py": "", "six_more/data": "x"})
PIP_CONF = b"[global]\nindex-url = https://user:secret@index.example/simple"


@pytest.fixture
def prefix(tmp_path):
    patient = Patient(tmp_path)
    patient.install(SIX)
    (patient.site / "six.py").chmod(0o444)
    (patient.site / "six_more/data").chmod(0o664)
    (patient.site / "six_more").chmod(0o2775)
    (patient.prefix / "out").symlink_to(tmp_path / "beside")
    (tmp_path / "beside").mkdir()
    (tmp_path / "beside/file").write_text("")
    return patient.prefix


def state(prefix):
    """Return what a freeze might change: the permissions of everything, and pip.conf."""
    found = {}
    for folder, folders, files in os.walk(prefix):
        folders[:] = [name for name in folders if name != ".envdoctor"]
        for path in (folder, *(os.path.join(folder, name) for name in files)):
            found[path] = stat.S_IMODE(os.lstat(path).st_mode)
    pip_conf = prefix / "pip.conf"
    return found, os.readlink(pip_conf) if pip_conf.is_symlink() else pip_conf.exists() and pip_conf.read_bytes()


def writable(prefix):
    return [path for path, mode in state(prefix)[0].items() if mode & 0o222 and not os.path.islink(path)]


def test_nothing_has_a_write_bit_and_all_is_given_back(prefix):
    before = state(prefix)
    done = freeze_tree(str(prefix))
    assert writable(prefix) == []
    assert done == Frozen(len([path for path in state(prefix)[0] if not os.path.islink(path)]) - 1, 0)
    assert is_frozen(str(prefix))
    thaw_tree(str(prefix))
    assert state(prefix) == before
    assert not is_frozen(str(prefix))


def test_what_a_link_leads_to_stays_as_it_is(prefix):
    beside = prefix.parent / "beside"
    freeze_tree(str(prefix))
    assert stat.S_IMODE((beside / "file").stat().st_mode) & 0o200
    assert stat.S_IMODE(beside.stat().st_mode) & 0o200


def test_our_own_folder_stays_writable(prefix):
    freeze_tree(str(prefix))
    assert (prefix / ".envdoctor").stat().st_mode & 0o200


def test_what_the_record_keeps_of_a_pip_conf_is_for_nobody_else(prefix):
    (prefix / "pip.conf").write_bytes(PIP_CONF)
    (prefix / "pip.conf").chmod(0o600)
    freeze_tree(str(prefix))
    assert stat.S_IMODE((prefix / "pip.conf").stat().st_mode) == 0o400
    assert stat.S_IMODE((prefix / ".envdoctor/freeze.json").stat().st_mode) == 0o600


class TestPipConf:
    @pytest.mark.parametrize("text", [PIP_CONF, b"", b"[install]\nrequire-hashes = no\n"])
    def test_is_given_back_byte_for_byte(self, text, prefix):
        (prefix / "pip.conf").write_bytes(text)
        (prefix / "pip.conf").chmod(0o640)
        before = state(prefix)
        freeze_tree(str(prefix))
        assert b"require-hashes = true" in (prefix / "pip.conf").read_bytes()
        thaw_tree(str(prefix))
        assert state(prefix) == before

    def test_that_is_a_link_is_one_again_and_its_file_is_left_alone(self, prefix):
        shared = prefix.parent / "shared.conf"
        shared.write_bytes(PIP_CONF)
        (prefix / "pip.conf").symlink_to(shared)
        before = state(prefix)
        freeze_tree(str(prefix))
        assert not (prefix / "pip.conf").is_symlink()
        assert (prefix / "pip.conf").read_bytes().startswith(PIP_CONF)
        assert shared.read_bytes() == PIP_CONF
        thaw_tree(str(prefix))
        assert state(prefix) == before

    def test_that_was_edited_since_keeps_the_edit(self, prefix):
        freeze_tree(str(prefix))
        (prefix / "pip.conf").chmod(0o644)
        with (prefix / "pip.conf").open("ab") as stream:
            stream.write(b"no-compile = yes\n")
        thaw_tree(str(prefix))
        assert (prefix / "pip.conf").read_bytes() == b"[install]\nno-compile = yes\n"

    def test_that_pip_could_not_read_stops_the_freeze(self, prefix):
        (prefix / "pip.conf").write_text("damaged")
        before = state(prefix)
        with pytest.raises(
            UsageError, match=r"pip\.conf: no place for `require-hashes`: pip itself could not read it$"
        ):
            freeze_tree(str(prefix))
        assert state(prefix) == before
        assert not (prefix / ".envdoctor").exists()


class TestAgain:
    def test_a_second_freeze_changes_nothing_and_a_thaw_still_knows_all(self, prefix):
        before = state(prefix)
        freeze_tree(str(prefix))
        once = state(prefix)
        freeze_tree(str(prefix))
        assert state(prefix) == once
        thaw_tree(str(prefix))
        assert state(prefix) == before

    def test_what_was_made_writable_is_closed_and_given_back_as_it_was_made(self, prefix):
        before = state(prefix)
        freeze_tree(str(prefix))
        six = next(prefix.glob("lib/*/site-packages/six.py"))
        six.chmod(0o664)
        (prefix / "pip.conf").unlink()
        freeze_tree(str(prefix))
        assert writable(prefix) == []
        assert (prefix / "pip.conf").exists()
        thaw_tree(str(prefix))
        before[0][str(six)] = 0o664
        assert state(prefix) == before

    def test_a_thaw_without_a_record_gives_to_the_owner(self, prefix):
        before = set(writable(prefix))
        freeze_tree(str(prefix))
        (prefix / ".envdoctor/freeze.json").unlink()
        thaw_tree(str(prefix))
        assert before < set(writable(prefix))

    def test_a_damaged_record_is_one_line(self, prefix):
        freeze_tree(str(prefix))
        (prefix / ".envdoctor/freeze.json").write_text("{")
        with pytest.raises(EnvDoctorError, match=r"freeze\.json: damaged record of a freeze"):
            thaw_tree(str(prefix))


class TestFailure:
    @pytest.mark.parametrize("count", [1, 4])
    @pytest.mark.parametrize("error", [OSError(30, "Read-only file system"), KeyboardInterrupt()])
    def test_half_way_puts_all_back(self, count, error, prefix, monkeypatch):
        before = state(prefix)
        failing(monkeypatch, count, error)
        with pytest.raises((EnvDoctorError, KeyboardInterrupt)) as raised:
            freeze_tree(str(prefix))
        assert state(prefix) == before
        assert not (prefix / ".envdoctor").exists()
        if isinstance(error, OSError):
            assert str(raised.value).endswith(": its mode cannot be changed: Read-only file system")

    def test_of_a_thaw_leaves_it_frozen(self, prefix, monkeypatch):
        freeze_tree(str(prefix))
        before = state(prefix)
        failing(monkeypatch, 5, OSError(30, "Read-only file system"))
        with pytest.raises(EnvDoctorError):
            thaw_tree(str(prefix))
        assert state(prefix) == before
        assert is_frozen(str(prefix))

    def test_a_freeze_that_was_killed_is_given_back_by_a_thaw(self, prefix, monkeypatch):
        before = state(prefix)
        failing(monkeypatch, 4, KeyboardInterrupt())
        monkeypatch.setattr(Changes, "take_back", lambda _: None)
        with pytest.raises(KeyboardInterrupt):
            freeze_tree(str(prefix))
        monkeypatch.undo()
        assert state(prefix) != before
        thaw_tree(str(prefix))
        assert state(prefix) == before

    def test_in_the_context_takes_the_freeze_back(self, prefix):
        before = state(prefix)
        inside = failed_in(freezing.frozen_within(str(prefix), [].append), prefix)
        assert not [path for path, mode in inside[0].items() if mode & 0o222 and not os.path.islink(path)]
        assert state(prefix) == before

    def test_in_the_context_takes_the_thaw_back(self, prefix):
        freeze_tree(str(prefix))
        before = state(prefix)
        assert failed_in(freezing.thawed_within(str(prefix)), prefix) != before
        assert state(prefix) == before


def failed_in(context, prefix):
    """Fail in a context; return the state that was met there."""
    inside = []

    def fail():
        with context:
            inside.append(state(prefix))
            raise EnvDoctorError("no seal")

    with pytest.raises(EnvDoctorError, match="no seal"):
        fail()
    return inside[0]


def failing(monkeypatch, count, error):
    """Let the count-th change of a mode fail."""
    real, calls = os.chmod, []

    def chmod(*arguments, **options):
        calls.append(arguments)
        if len(calls) == count:
            raise error
        return real(*arguments, **options)

    monkeypatch.setattr(os, "chmod", chmod)


class TestUnsuitable:
    def test_a_conda_environment(self, prefix):
        (prefix / "conda-meta").mkdir()
        with pytest.raises(UsageError, match="is a conda environment"):
            freeze_tree(str(prefix))

    def test_a_prefix_that_is_no_venv(self, prefix):
        (prefix / "pyvenv.cfg").unlink()
        with pytest.raises(UsageError, match=r"has no pyvenv\.cfg"):
            thaw_tree(str(prefix))

    @pytest.mark.skipif(os.geteuid() != 0, reason="takes root to have files of two users")
    @pytest.mark.parametrize("one_file", ["pyvenv.cfg", None])
    def test_somebody_elses(self, one_file):
        with tempfile.TemporaryDirectory(prefix="envdoctor-freeze-") as folder:
            os.chmod(folder, 0o755)  # noqa: S103 - another user is to come to it
            prefix = Patient(folder).prefix
            if one_file:
                os.chown(prefix, NOBODY, NOBODY)
            said = as_nobody(lambda: refused(prefix))
            assert said.startswith(f"{prefix / one_file if one_file else prefix} belongs to root: ")
            assert not (prefix / ".envdoctor").exists()


def refused(prefix):
    try:
        freeze_tree(str(prefix))
    except UsageError as error:
        return str(error)
    return "frozen"


def test_files_that_a_cache_shares_are_counted(prefix):
    os.link(next(prefix.glob("lib/*/site-packages/six.py")), prefix.parent / "cached")
    assert freeze_tree(str(prefix)).shared == 1


def test_a_frozen_environment_can_be_removed_once_its_directories_are_open(prefix):
    freeze_tree(str(prefix))
    (prefix / "lib").chmod(0)
    open_directories(str(prefix))
    closed = [folder for folder, _, _ in os.walk(prefix) if os.stat(folder).st_mode & 0o700 != 0o700]
    assert closed == []


def test_through_the_link_it_is_the_version_that_is_frozen(prefix):
    link = prefix.parent / "link"
    link.symlink_to(prefix)
    freeze_tree(str(link))
    assert writable(prefix) == []

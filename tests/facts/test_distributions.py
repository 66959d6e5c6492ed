"""Installed distributions as importlib.metadata and pip see them, and what is said of those that are broken."""

import importlib.metadata
import os

import pytest
from patients import JUNE, Patient, Wheel, findings

from envdoctor.facts import distributions, interpreter, search_path
from envdoctor.facts.metadata import normalised
from envdoctor.model import Target

TORCH = Wheel(
    "Torch",
    "2.11.0+cu128",
    {"torch/__init__.py": ""},
    requires=("sympy>=1.13", 'triton==3.6.0; extra == "gpu"'),
    tag="cp311.cp312-abi3-manylinux_2_28_x86_64",
    requires_python=">=3.10",
)


@pytest.fixture
def patient(tmp_path):
    return Patient(tmp_path)


def collect(patient, **env):
    target, host = Target(str(patient.prefix), str(patient.python)), patient.host(**env)
    return distributions.collect(target, host, search_path.collect(target, host, interpreter.collect(target, host)))


def one(patient):
    (found,) = collect(patient).items
    return found


def broken(patient, content):
    """Install a package whose METADATA has these bytes, and return what is seen of it."""
    info = patient.install(Wheel("a", "1.5", {"a.py": ""}))
    (info / "METADATA").write_bytes(content)
    return one(patient)


@pytest.mark.parametrize("target", ["gone", "RECORD", "elsewhere"])
def test_a_record_that_is_a_link_to_nothing_is_none(target, patient):
    info = patient.install(Wheel("a", "1.5", {"a.py": ""}))
    (patient.folder / "elsewhere").write_bytes((info / "RECORD").read_bytes())
    (info / "RECORD").unlink()
    (info / "RECORD").symlink_to(patient.folder / target if target == "elsewhere" else target)
    assert one(patient).has_record == (target == "elsewhere")
    assert one(patient).installed_at is not None
    missing = findings(patient.check("packages/missing-record"))
    assert missing == ([] if target == "elsewhere" else [("packages/missing-record", "a")])


@pytest.mark.parametrize("content", ["root:x:0:0:root", "two words", "x" * 41, "", "a/b", "\x1b[2J"])
def test_an_installer_that_is_no_name_is_not_shown(content, patient):
    info = patient.install(Wheel("a", "1.5", {"a.py": ""}))
    (info / "INSTALLER").write_text(content)
    assert one(patient).installer is None


def test_an_installer_that_is_a_link_is_not_shown(patient):
    info = patient.install(Wheel("a", "1.5", {"a.py": ""}))
    (patient.folder / "token").write_text("hf_abcdefghijklmnop")
    (info / "INSTALLER").unlink()
    (info / "INSTALLER").symlink_to(patient.folder / "token")
    assert one(patient).installer is None


@pytest.mark.parametrize("installer", ["pip", "uv"])
@pytest.mark.parametrize("requested", [True, False])
def test_a_distribution_is_read(installer, requested, patient):
    info = patient.install(TORCH, installer=installer, requested=requested, at=JUNE, took=30)
    found = one(patient)
    assert (found.name, found.project, found.version, found.label) == (
        "torch",
        "Torch",
        "2.11.0+cu128",
        "torch 2.11.0+cu128",
    )
    assert (found.installer, found.requested, found.requires_python) == (installer, requested, ">=3.10")
    assert found.requires == TORCH.requires
    assert found.tags == ("cp311-abi3-manylinux_2_28_x86_64", "cp312-abi3-manylinux_2_28_x86_64")
    assert (found.metadata, found.location, found.origin, found.kind) == (
        str(info),
        str(patient.site),
        "site-packages",
        "dist-info",
    )
    assert (found.installed_at, found.started_at) == (JUNE, JUNE - 30 if installer == "pip" else None)
    assert (found.has_record, found.problems, found.direct_url) == (True, (), None)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"Name: a\nVersion: 1.5\nSummary: caf\xe9\n", "METADATA is not UTF-8 (byte 0xe9 at 33)"),
        (b"", "its METADATA has no fields"),
        (b"\n\nName: a\n", "its METADATA has no fields"),
        (b"Name: a\n", "its metadata has no Name or no Version"),
        (b"Version: 1.5\n", "its metadata has no Name or no Version"),
        (b"\0" * 100, "its METADATA has no fields"),
        (bytes(range(128, 256)), "METADATA is not UTF-8 (byte 0x80 at 0)"),
    ],
)
def test_bad_metadata_is_a_problem_of_that_package(content, problem, patient):
    found = broken(patient, content)
    assert (found.name, found.problems[0]) == ("a", problem)


@pytest.mark.parametrize(
    "content",
    [b"\xef\xbb\xbfName: a\nVersion: 1.5\n", b"Name: a\r\nVersion: 1.5\r\n\r\nlong text", b"NAME:a\nversion:  1.5  \n"],
    ids=["BOM", "CRLF", "case and blanks"],
)
def test_odd_metadata_is_read_without_complaint(content, patient):
    found = broken(patient, content)
    assert (found.name, found.version, found.problems) == ("a", "1.5", ())


@pytest.mark.parametrize("damage", ["gone", "fifo", "directory", "loop", "unreadable"])
def test_metadata_that_is_no_file_is_a_problem_of_that_package(damage, patient, monkeypatch):
    info = patient.install(Wheel("a", "1.5", {"a.py": ""}))
    metadata = info / "METADATA"
    if damage == "fifo":
        patient.fifo(metadata)
    elif damage == "unreadable":
        refuse_to_open(str(metadata), monkeypatch)
    else:
        metadata.unlink()
    if damage == "directory":
        metadata.mkdir()
    if damage == "loop":
        metadata.symlink_to("METADATA")
    found = one(patient)
    said = {"gone": "has no METADATA", "unreadable": "METADATA cannot be read: Permission denied"}
    assert (found.name, found.version) == ("a", None)
    assert found.problems == (said.get(damage, "METADATA is not a regular file"),)


def refuse_to_open(path, monkeypatch):
    real = open

    def refuse(file, *rest, **options):
        if file == path:
            raise PermissionError(13, "Permission denied", file)
        return real(file, *rest, **options)

    monkeypatch.setattr("builtins.open", refuse)


@pytest.mark.parametrize("name", ["RECORD", "INSTALLER", "WHEEL", "direct_url.json", "REQUESTED", "top_level.txt"])
def test_no_file_of_a_dist_info_can_hang_it(name, patient):
    info = patient.install(Wheel("a", "1.5", {"a.py": ""}))
    patient.fifo(info / name)
    assert (one(patient).version, one(patient).installed_at is not None) == ("1.5", True)


@pytest.mark.parametrize(
    "first", ["nul\0.py,,", "../x,,", '"quoted.py",,', "gone.py,,", "x" * 5000 + ",,", "\udce9.py,,", ""]
)
def test_no_row_of_a_record_breaks_the_times(first, patient):
    info = patient.install(Wheel("a", "1.5", {"a.py": ""}))
    (info / "RECORD").write_text(first + "\n", errors="surrogateescape")
    os.utime(info / "RECORD", (JUNE, JUNE))
    assert (one(patient).started_at, one(patient).installed_at) == (JUNE, JUNE)


@pytest.mark.parametrize("make", ["file", "loop"])
def test_a_dist_info_that_is_no_directory_is_a_problem(make, patient):
    info = patient.site / "a-1.5.dist-info"
    info.touch() if make == "file" else info.symlink_to(info.name)
    assert (one(patient).name, one(patient).version, one(patient).has_record) == ("a", None, False)
    assert one(patient).problems[0].startswith("cannot be read: ")


def test_what_a_failed_uninstall_left_is_not_installed(patient):
    patient.add("~orch-2.0.dist-info/METADATA", "Name: torch\nVersion: 2.0\n")
    assert collect(patient).items == ()


def test_it_agrees_with_importlib_metadata(patient):
    patient.install(TORCH)
    patient.add("Old_Egg-1.0-py3.11.egg-info/PKG-INFO", "Name: Old.Egg\nVersion: 1.0\n")
    patient.add("flat-2.0.egg-info", "Name: flat\nVersion: 2.0\n")
    patient.add("zipped-3.0-py3.11.egg/EGG-INFO/PKG-INFO", "Name: zipped\nVersion: 3.0\n")
    theirs = importlib.metadata.distributions(path=[str(patient.site), str(patient.site / "zipped-3.0-py3.11.egg")])
    expected = {(normalised(item.name), item.version) for item in theirs}
    assert {(item.name, item.version) for item in collect(patient).items} == expected
    assert {item.kind for item in collect(patient).items} == {"dist-info", "egg-info", "egg"}


def test_an_egg_info_tells_what_it_needs_and_holds(patient):
    patient.add("x.egg-info/PKG-INFO", "Name: x\nVersion: 1\n")
    patient.add("x.egg-info/requires.txt", "numpy>=1\n\n[test]\npytest\n")
    patient.add("x.egg-info/top_level.txt", "x\n_x\n")
    found = one(patient)
    assert (found.requires, found.top_level, found.has_record) == (("numpy>=1",), ("x", "_x"), False)


@pytest.mark.parametrize("written", ["{folder}/project\n.\n", "../../../../project"], ids=["absolute", "relative"])
def test_an_egg_link_leads_to_the_project(written, patient):
    info = patient.folder / "project/my_lib.egg-info"
    info.mkdir(parents=True)
    (info / "PKG-INFO").write_text("Name: my-lib\nVersion: 0.1\n")
    patient.add("my-lib.egg-link", written.format(folder=patient.folder))
    found = one(patient)
    assert (found.name, found.version, found.direct_url.editable) == ("my-lib", "0.1", True)


@pytest.mark.parametrize("content", ["", "\0\n", "/no/such/project\n"])
def test_an_egg_link_to_nowhere_has_no_version(content, patient, monkeypatch):
    monkeypatch.chdir(patient.folder)
    (patient.folder / "x.egg-info").mkdir()
    (patient.folder / "x.egg-info/PKG-INFO").write_text("Name: x\nVersion: 9\n")
    patient.add("x.egg-link", content)
    assert one(patient).version is None


def test_an_egg_link_that_is_a_fifo_does_not_hang(patient):
    os.mkfifo(patient.site / "x.egg-link")
    assert one(patient).problems == ("x.egg-link is not a regular file",)


def test_the_first_on_the_path_is_active_and_one_without_version_is_not(patient):
    extra = patient.folder / "extra"
    for folder, version in ((extra, "2"), (patient.site, "1")):
        (folder / f"x-{version}.dist-info").mkdir(parents=True)
        (folder / f"x-{version}.dist-info/METADATA").write_text(f"Name: x\nVersion: {version}\n")
    (patient.site / "x-0.dist-info").mkdir()
    found = collect(patient, PYTHONPATH=str(extra))
    assert [item.version for item in found.items] == ["2", None, "1"]
    assert (found.active["x"].version, found.count, len(found.own)) == ("2", 1, 2)
    assert collect(patient).active["x"].version == "1"


def test_a_requirement_whose_name_has_extra_in_it_is_no_extra(patient):
    patient.install(Wheel("extra-lib", "1", {"e.py": ""}), at=JUNE)
    patient.install(Wheel("top", "1", {"t.py": ""}, requires=("extra-lib>=1", 'x; extra == "y"')), at=JUNE + 1)
    assert collect(patient).batches[0].roots == ("top",)

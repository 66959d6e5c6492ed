"""Who owns what lies in site-packages."""

import os

import pytest
from patients import DAY, JUNE, Patient, Wheel, digest_of

from envdoctor.facts import owners
from envdoctor.facts.owners import Claim, Unowned
from envdoctor.facts.search_path import PathEntry, SearchPath
from envdoctor.model import Target, Unavailable

CU12 = Wheel("nvidia-cudnn-cu12", "9.1", {"nvidia/cudnn/lib.so": "twelve", "nvidia/cudnn/only12": "", "same.py": "x"})
CU13 = Wheel(
    "nvidia-cudnn-cu13", "9.2", {"nvidia/cudnn/lib.so": "thirteen!", "nvidia/cudnn/only13": "", "same.py": "x"}
)
PKG = Wheel("pkg", "1", {"pkg/__init__.py": "", "pkg/sub/deep/x.py": ""})


@pytest.fixture
def patient(tmp_path):
    return Patient(tmp_path)


def collect(patient):
    path = SearchPath((PathEntry(str(patient.site), "site-packages"),), None, user_site_enabled=False)
    return owners.collect(
        Target(str(patient.prefix), str(patient.python)), patient.host(), path, Unavailable("no seal")
    )


def unowned(patient):
    return [(os.path.relpath(it.path, patient.site), it.owner, it.count) for it in collect(patient).unowned]


@pytest.mark.parametrize("order", [(CU12, CU13), (CU13, CU12)], ids=["13 last", "12 last"])
def test_a_path_with_two_owners_is_the_last_ones(order, patient):
    for number, wheel in enumerate(order):
        patient.install(wheel, at=JUNE + number * DAY)
    (found,) = collect(patient).collisions
    assert (found.path, found.on_disk, found.exists) == ("nvidia/cudnn/lib.so", order[-1].name, True)
    times = {wheel.name: JUNE + number * DAY for number, wheel in enumerate(order)}
    assert found.claims == (
        Claim("nvidia-cudnn-cu12", "9.1", digest_of(b"twelve"), times["nvidia-cudnn-cu12"]),
        Claim("nvidia-cudnn-cu13", "9.2", digest_of(b"thirteen!"), times["nvidia-cudnn-cu13"]),
    )


@pytest.mark.parametrize(("content", "holder"), [("neither", None), ("twelve", "nvidia-cudnn-cu12")])
def test_the_bytes_on_disk_decide_whose_they_are(content, holder, patient):
    patient.install(CU12)
    patient.install(CU13)
    patient.edit("nvidia/cudnn/lib.so", content)
    assert collect(patient).collisions[0].on_disk == holder


def test_a_collision_survives_the_intruders_uninstall_of_the_file(patient):
    patient.install(CU12)
    patient.install(CU13)
    patient.delete("nvidia/cudnn/lib.so")
    assert [(it.on_disk, it.exists) for it in collect(patient).collisions] == [(None, False)]


@pytest.mark.parametrize(("budget", "compared"), [(9, True), (8, False)])
def test_a_file_beyond_the_budget_is_not_hashed_and_that_is_known(budget, compared, patient, monkeypatch):
    monkeypatch.setattr(owners, "HASH_BUDGET", budget)
    patient.install(CU12)
    patient.install(CU13)
    (found,) = collect(patient).collisions
    assert (found.compared, found.on_disk) == (compared, "nvidia-cudnn-cu13" if compared else None)


def test_the_budget_is_for_all_files_together(patient, monkeypatch):
    monkeypatch.setattr(owners, "HASH_BUDGET", 7)
    for name in ("a", "b"):
        patient.install(Wheel(name, "1", {f"ns/{n}.py": f"of {name}" for n in range(3)}))
    assert sorted(found.compared for found in collect(patient).collisions) == [False, False, True]


def test_shared_files_are_counted_by_who_lists_them_whatever_their_bytes(patient):
    patient.install(CU12)
    patient.install(CU13)
    patient.install(Wheel("a", "1", {"same.py": "x", "a.py": ""}))
    assert {tuple(found.owners.items()): found.count for found in collect(patient).shared} == {
        (("nvidia-cudnn-cu12", "9.1"), ("nvidia-cudnn-cu13", "9.2")): 1,
        (("a", "1"), ("nvidia-cudnn-cu12", "9.1"), ("nvidia-cudnn-cu13", "9.2")): 1,
    }


def test_what_one_package_alone_lists_is_not_shared(patient):
    patient.install(PKG)
    patient.install(Wheel("PKG", "2", {"pkg/__init__.py": ""}))
    assert collect(patient).shared == ()


def test_two_owners_of_the_same_bytes_are_no_collision(patient):
    patient.install(Wheel("a", "1", {"ns/__init__.py": "same"}))
    patient.install(Wheel("b", "1", {"ns/__init__.py": "same"}))
    assert collect(patient).collisions == ()


def test_two_records_of_one_package_are_no_collision(patient):
    patient.install(Wheel("a", "1", {"a.py": "one"}))
    patient.install(Wheel("A", "2", {"a.py": "two"}))
    assert collect(patient).collisions == ()


def test_a_row_without_digest_proves_no_difference(patient):
    patient.install(Wheel("a", "1", {"ns/__init__.py": "x"}))
    patient.add("b-1.dist-info/RECORD", "ns/__init__.py,,\n")
    assert collect(patient).collisions == ()


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["stray.py"], [("stray.py", None, 1)]),
        (["stray/__init__.py", "stray/x.py"], [("stray", None, 2)]),
        (["pkg/stray.py"], [("pkg", "pkg", 1)]),
        (["pkg/sub/deep/a.py", "pkg/sub/b.py"], [("pkg/sub", "pkg", 2)]),
        (["pkg/new/x.so", "pkg/new/y.so"], [("pkg/new", "pkg", 2)]),
        (["stray.pyc"], [("stray.pyc", None, 1)]),
        (["_stray.cpython-312-x86_64-linux-gnu.so"], [("_stray.cpython-312-x86_64-linux-gnu.so", None, 1)]),
        (["stray.py", "pkg/a.py"], [("stray.py", None, 1), ("pkg", "pkg", 1)]),
    ],
)
def test_what_no_record_lists_is_unowned(paths, expected, patient):
    patient.install(PKG)
    for path in paths:
        patient.add(path)
    assert unowned(patient) == expected


@pytest.mark.parametrize(
    "path",
    [
        "pkg/__pycache__/x.cpython-312.pyc",
        "pkg/sub/x.pyc",
        "__pycache__/x.cpython-312.pyc",
        "stray/__pycache__/x.cpython-312.pyc",
        "a.pth",
        "sitecustomize.py",
        "usercustomize.py",
        "_virtualenv.py",
        "README.txt",
        "x-1.dist-info/METADATA",
        "x.egg-info/PKG-INFO",
        "x.egg-link",
    ],
)
def test_byte_code_and_what_others_judge_are_not_unowned(path, patient):
    patient.install(PKG)
    patient.add(path)
    assert unowned(patient) == []


def test_strays_of_a_shared_namespace_go_to_the_nearest_owner(patient):
    patient.install(Wheel("cublas", "1", {"nvidia/cublas/a": "", "nvidia/cublas/b": ""}))
    patient.install(Wheel("cudnn", "1", {"nvidia/cudnn/a": ""}))
    patient.add("nvidia/cublas/stray")
    patient.add("nvidia/cudnn/stray")
    assert unowned(patient) == [("nvidia/cublas", "cublas", 1), ("nvidia/cudnn", "cudnn", 1)]


@pytest.mark.parametrize("top_level", [None, "Pillow_heif\nPIL\n"])
@pytest.mark.parametrize("kind", ["no RECORD", "broken RECORD", "egg-info", "RECORD is a fifo"])
def test_a_package_without_record_does_not_make_its_files_unowned(kind, top_level, patient):
    info = "pillow-1.egg-info" if kind == "egg-info" else "pillow-1.dist-info"
    patient.add(f"{info}/METADATA", "Name: pillow\nVersion: 1\n")
    if kind == "broken RECORD":
        patient.add(f"{info}/RECORD", '"')
    if kind == "RECORD is a fifo":
        os.mkfifo(patient.site / info / "RECORD")
    if top_level:
        patient.add(f"{info}/top_level.txt", top_level)
    patient.add("PIL/__init__.py" if top_level else "pillow/__init__.py")
    assert unowned(patient) == []
    patient.add("other.py")
    assert unowned(patient) == [("other.py", None, 1)]


def test_a_top_level_txt_that_is_a_fifo_does_not_hang(patient):
    patient.add("x.egg-info/PKG-INFO")
    os.mkfifo(patient.site / "x.egg-info/top_level.txt")
    assert unowned(patient) == []


@pytest.mark.parametrize("other_top", [True, False], ids=["beside a module", "alone"])
@pytest.mark.parametrize("make", ["file", "dangling", "fifo"])
def test_what_stands_in_a_packages_place_is_that_packages(make, other_top, patient):
    patient.install(PKG)
    if other_top:
        patient.install(Wheel("other", "1", {"other.py": ""}))
    (patient.site / "pkg").rename(patient.folder / "aside")
    if make == "file":
        patient.add("pkg")
    elif make == "fifo":
        os.mkfifo(patient.site / "pkg")
    else:
        (patient.site / "pkg").symlink_to("gone")
    assert [(it.owner, it.examples) for it in collect(patient).unowned] == [("pkg", ("pkg",))]


@pytest.mark.parametrize("target", [".", "/", "loop"])
def test_a_link_at_the_top_is_one_thing_and_is_not_walked(target, patient):
    patient.install(PKG)
    (patient.site / "loop").symlink_to(target)
    assert unowned(patient) == [("loop", None, 1)]


def test_a_package_moved_aside_and_linked_back_is_not_walked(patient):
    patient.install(PKG)
    (patient.site / "pkg").rename(patient.folder / "aside")
    (patient.folder / "aside/much").mkdir()
    (patient.folder / "aside/much/more.py").touch()
    (patient.site / "pkg").symlink_to(patient.folder / "aside")
    assert unowned(patient) == []


def test_links_inside_a_package_are_not_followed(patient):
    patient.install(PKG)
    (patient.site / "pkg/loop").symlink_to(".")
    (patient.site / "pkg/root").symlink_to("/")
    assert collect(patient).unowned == (
        Unowned(str(patient.site / "pkg"), "pkg", 2, tuple(collect(patient).unowned[0].examples)),
    )


def test_a_directory_that_cannot_be_listed_is_named(patient, monkeypatch):
    patient.install(PKG)
    (patient.site / "pkg/secret").mkdir()
    real = os.scandir

    def refuse(path):
        if str(path).endswith("secret"):
            raise PermissionError(13, "Permission denied", path)
        return real(path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert collect(patient).unowned[0].examples == ("pkg/secret/",)


@pytest.mark.parametrize("path", ['pkg/com,ma "q".py', "pkg/new\nline.py", "top\nlevel.py", "ünï.py"])
def test_odd_names_that_are_listed_are_owned(path, patient):
    patient.install(Wheel("pkg", "1", {path: ""}))
    assert unowned(patient) == []


@pytest.mark.parametrize(
    "row", ["/etc/passwd,,", "../../../bin/x,,", ",,", "nul\0.py,,", "a,b", "pkg//x.py,,", "./y.py,,"]
)
def test_no_row_breaks_it(row, patient):
    info = patient.install(PKG)
    (info / "RECORD").write_text((info / "RECORD").read_text() + row + "\n")
    patient.add("pkg/stray.py")
    assert ("pkg", "pkg", 1) in unowned(patient)


def test_two_claims_to_an_impossible_name_break_nothing(patient):
    for name in ("a", "b"):
        patient.add(f"{name}-1.dist-info/RECORD", f"nul\0.py,{digest_of(name.encode())},1\n")
    assert [(it.on_disk, it.exists) for it in collect(patient).collisions] == [(None, False)]


def test_leftovers_are_weighed(patient):
    patient.add("~orch/lib/x.so", "12345")
    patient.add("~orch-2.dist-info/RECORD", "torch/x.py,,\n")
    (patient.site / "~orch/loop").symlink_to("/")
    (patient.site / "~ink").symlink_to("/")
    found = {os.path.basename(it.path): it.size for it in collect(patient).leftovers}
    assert found == {"~orch": 5, "~orch-2.dist-info": 13, "~ink": 1}  # the link's own length
    assert unowned(patient) == []


def test_top_level_files_have_their_owner(patient):
    patient.install(Wheel("Type_Ext", "1", {"typing_ext.py": ""}))
    assert collect(patient).top_level == {str(patient.site / "typing_ext.py"): "type-ext"}

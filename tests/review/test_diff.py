"""What one lock changes against another."""

import os

import pytest

from envdoctor import locks
from envdoctor.model import LockOption
from envdoctor.review.diff import KINDS, diff

H1, H2, H3 = ("sha256:" + digit * 64 for digit in "123")
WHEEL = '{{ url = "https://files.example/{0}-py3-none-any.whl", hashes = {{ sha256 = "{1}" }} }}'
PYLOCK = """\
lock-version = "1.0"
created-by = "x"
[[packages]]
name = "six"
version = "1.17.0"
index = "{index}"
wheels = [{wheels}]
"""
UV = """\
[[package]]
name = "trainer"
source = {{ virtual = "." }}
dependencies = [{edges}]
[[package]]
name = "six"
version = "1.17.0"
source = {{ registry = "https://index.example/simple" }}
wheels = [{{ url = "https://files.example/six-1.17.0-py3-none-any.whl", hash = "{hash}" }}]
"""


@pytest.fixture
def between(read):
    """Compare two requirements locks."""
    return lambda old, new: diff(read(old, "old.txt"), read(new, "new.txt"))


def said(found):
    return [(change.group, change.kind, change.name) for change in found.changes]


def differences(found):
    (change,) = found.changes
    return [(d.what, d.old, d.new) for d in change.differences]


def note(found):
    (change,) = found.changes
    return [d.note for d in change.differences if d.what == "hashes"]


OLD = """\
torch==2.11.0+cu128 # via -r in
torchvision==0.26.0 # via -r in
triton==3.6.0 # via torch
nvidia-cublas-cu12==12.8.4.1 # via torch
nvidia-nccl-cu12==2.27.5 # via torch
zope==1.0 # via -r in
numpy==1.26.4 # via -r in
accelerate==1.0 # via -r in
gone==1 # via accelerate
deep==2.0 # via accelerate
"""
NEW = """\
torch==2.11.0+cu130 # via -r in
torchvision==1.0 # via -r in
triton==3.6.1 # via torch
nvidia-cublas==13.1.0.3 # via torch
nvidia-nccl-cu12==2.26.0 # via torch
zope==1.1 # via -r in
numpy==2.0 # via -r in, zope
accelerate==1.0.1 # via -r in
come==1 # via numpy
deep==1.0 # via accelerate, come
"""


def test_groups_then_kinds_then_names(between):
    found = between(OLD, NEW)
    assert said(found) == [
        ("torch", "major", "torchvision"),
        ("torch", "patch", "triton"),
        ("torch", "build", "torch"),
        ("cuda", "minor", "nvidia-nccl-cu12"),
        ("cuda", "added", "nvidia-cublas"),
        ("cuda", "removed", "nvidia-cublas-cu12"),
        ("direct", "major", "numpy"),
        ("direct", "minor", "zope"),
        ("direct", "patch", "accelerate"),
        ("transitive", "major", "deep"),
        ("transitive", "added", "come"),
        ("transitive", "removed", "gone"),
    ]
    wanted = {change.name: change.wanted_by for change in found.changes}
    assert wanted["deep"] == ("accelerate", "come"), "who asks in the new lock"
    assert wanted["gone"] == ("accelerate",), "who asked in the old one"
    assert {change.name for change in found.changes if change.down} == {"nvidia-nccl-cu12", "deep"}
    assert not found.equal


def test_a_lock_equals_itself_whatever_its_order(between):
    found = between("b==1\na==2\n    # via b\n", "a==2.0\nb==1\n")
    assert found.equal
    assert found.changes == found.whole == ()


def test_who_asks_is_taken_from_the_old_lock_where_the_new_one_does_not_say(between):
    assert said(between("a==1 # via b\nb==1 # via -r in\n", "a==2\nb==2\n")) == [
        ("direct", "major", "b"),
        ("transitive", "major", "a"),
    ]
    assert said(between("a==1\n", "a==2\n")) == [("unrecorded", "major", "a")]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (H1, H2, "none of the digests is what it was (1 before, 1 now)"),
        (f"{H1} --hash={H2}", f"{H2} --hash={H3}", "1 more and 1 fewer"),
        (H1, f"{H1} --hash={H2} --hash={H3}", "2 more"),
        (f"{H1} --hash={H2}", H1, "1 fewer"),
    ],
)
def test_other_digests_of_the_same_version_are_a_change(between, old, new, expected):
    found = between(f"a==1 --hash={old}\n", f"a==1 --hash={new}\n")
    assert said(found) == [("unrecorded", "hashes", "a")]
    assert note(found) == [expected]


def test_digests_that_went_or_came_are_told(between):
    assert note(between(f"a==1 --hash={H1}\n", "a==1\n")) == ["no longer hashed"]
    assert note(between("a==1\n", f"a==1 --hash={H1}\n")) == ["hashed now"]


def test_digests_of_another_version_are_not_told(between):
    assert note(between(f"a==1 --hash={H1}\n", f"a==2 --hash={H2}\n")) == []


def test_digests_in_another_case_are_the_same(between):
    digest = "sha256:" + "ab" * 32
    assert between(f"a==1 --hash={digest}\n", f"a==1 --hash={digest.replace('ab', 'AB')}\n").equal


def pylock(read, name, *files, index="https://index.example/simple"):
    wheels = ", ".join(WHEEL.format(file, digest.partition(":")[2]) for file, digest in files)
    return read(PYLOCK.format(wheels=wheels, index=index), f"{name}/pylock.toml")


def test_the_same_file_with_other_contents_is_named(read):
    old = pylock(read, "old", ("six-1.17.0", H1))
    new = pylock(read, "new", ("six-1.17.0", H2))
    assert note(diff(old, new)) == ["the same file with other contents: six-1.17.0-py3-none-any.whl"]


def test_formats_that_list_other_files_agree_where_one_digest_does(read):
    old = pylock(read, "old", ("six-1.17.0", H1))
    assert diff(old, read(f"six==1.17.0 --hash={H1} --hash={H2}\n")).equal
    assert note(diff(old, read(f"six==1.17.0 --hash={H3}\n"))) == [
        "none of the digests is what it was (1 before, 1 now)"
    ]
    assert note(diff(old, read("six==1.17.0\n"))) == ["no longer hashed"]


def test_index_is_compared_where_both_record_it(read):
    old = pylock(read, "old", ("six-1.17.0", H1))
    new = pylock(read, "new", ("six-1.17.0", H1), index="https://download.example/whl/cu128")
    found = diff(old, new)
    assert differences(found) == [("index", ("https://index.example/simple",), ("https://download.example/whl/cu128",))]
    assert [d.what for d in found.whole] == ["indexes"]
    assert diff(old, read(f"six==1.17.0 --hash={H1}\n")).equal


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("a==1 ; os_name=='nt'", 'a==1 ; os_name == "nt"', None),
        ("a==1", "a==1 ; os_name == 'nt'", ("marker", (), ('os_name == "nt"',))),
        ("a[x]==1", "a[y]==1", ("extras", ("x",), ("y",))),
        (
            "a==1",
            "a @ https://h.example/a-1-py3-none-any.whl",
            ("source", ("index",), ("url https://h.example/a-1-py3-none-any.whl",)),
        ),
        (
            "a @ git+https://h.example/a@1",
            "a @ git+https://h.example/a@2",
            ("source", ("vcs git+https://h.example/a@1",), ("vcs git+https://h.example/a@2",)),
        ),
    ],
)
def test_marker_extras_and_source_are_compared(between, old, new, expected):
    found = between(f"{old}\n", f"{new}\n")
    assert (differences(found) if found.changes else []) == ([expected] if expected else [])
    assert [change.kind for change in found.changes] == ([expected[0]] if expected else [])


def test_another_version_keeps_what_else_differs(between):
    found = between("a==1\n", "a @ https://h.example/a-2-py3-none-any.whl\n")
    assert said(found) == [("unrecorded", "major", "a")]
    assert [what for what, _, _ in differences(found)] == ["source"]


def test_forks_are_compared_one_by_one(between):
    lock = "torch=={} ; platform_machine == 'x86_64'\ntorch=={} ; platform_machine == 'aarch64'\n"
    found = between(lock.format("2.10.0+cu128", "2.10.0+cu130"), lock.format("2.11.0+cu128", "2.10.0+cu130"))
    (change,) = found.changes
    assert (change.kind, change.forked, [pin.version for pin in change.old]) == ("minor", True, ["2.10.0+cu128"])


def test_forks_that_markers_cannot_tell_apart_are_a_set(between):
    found = between("torch==2.10.0\n", "torch==2.11.0 ; os_name == 'nt'\ntorch==2.12.0 ; os_name == 'posix'\n")
    (change,) = found.changes
    assert (change.kind, change.down) == ("forks", False)
    assert [pin.version for pin in change.new] == ["2.11.0", "2.12.0"]
    (back,) = between(
        "torch==2.11.0 ; os_name == 'nt'\ntorch==2.12.0 ; os_name == 'posix'\n", "torch==2.10.0\n"
    ).changes
    assert (back.kind, back.down) == ("forks", False), "of a set nothing goes up or down"


def test_a_uv_lock_and_its_export_are_equal(read, uv_lock):
    """An export has no project that is not installed, no index, and markers on pins instead of edges."""
    lock = uv_lock(UV.format(edges='{ name = "six", marker = "os_name == \'posix\'" }', hash=H1))
    found = diff(lock, read(f"six==1.17.0 ; os_name == 'posix' \\\n    --hash={H1}\n    # via trainer\n"))
    assert (found.changes, found.whole) == ((), ())
    assert found.unread == ("markers are not compared: uv.lock has them on its edges, the other lock on its pins",)


def test_commits_are_compared_across_formats(read, uv_lock):
    commit = "0123456789abcdef0123456789abcdef01234567"
    entry = '[[package]]\nname = "a"\nversion = "1.0"\nsource = {{ git = "https://h.example/a?rev=main#{}" }}\n'
    old = uv_lock(entry.format(commit))
    assert diff(old, read(f"a @ git+https://h.example/a@{commit}\n")).changes == ()
    (change,) = diff(old, read(f"a @ git+https://h.example/a@{commit[::-1]}\n")).changes
    assert change.kind == "source"


def test_what_a_package_asks_for_is_compared_in_graphs(uv_lock):
    one = UV.format(edges='{ name = "six" }', hash=H1)
    other = UV.format(edges='{ name = "six", marker = "os_name == \'posix\'" }', hash=H1)
    found = diff(uv_lock(one), uv_lock(other, "new/uv.lock"))
    assert said(found) == [("direct", "requires", "trainer")]
    assert differences(found) == [("requires", ("six",), ("six ; os_name == 'posix'",))]


def test_what_differs_beside_the_pins(read):
    text = (
        "# This file is autogenerated by pip-compile with Python 3.{}\n--index-url https://{}.example/simple\na==1\n{}"
    )
    found = diff(read(text.format(11, "a", "")), read(text.format(12, "b", "c>=1\n"), "new.txt"))
    assert [(d.what, d.old, d.new) for d in found.whole] == [
        ("python", ("3.11",), ("3.12",)),
        ("indexes", ("https://a.example/simple",), ("https://b.example/simple",)),
        ("not understood", (), ("'c>=1' is not pinned: only NAME==VERSION names one release",)),
    ]
    assert not found.equal
    assert found.unread[-1].endswith("new.txt:4: 'c>=1' is not pinned: only NAME==VERSION names one release")


def test_options_are_compared(read):
    from dataclasses import replace

    lock = read("--index-url https://a.example/simple\na==1\n")
    index = LockOption("--index-url", "https://a.example/simple")
    options = (index, LockOption("--pre", ""), LockOption("--hash", H1, package="a"))
    (found,) = diff(replace(lock, options=(index,)), replace(lock, options=options)).whole
    assert (found.what, found.old, found.new) == ("options", (), ("--pre",))


def test_every_kind_is_known(between):
    assert {change.kind for change in between(OLD, NEW).changes} <= set(KINDS)


FOLDER = os.environ.get("ENVDOCTOR_REAL_LOCKS")


@pytest.mark.skipif(not FOLDER, reason="ENVDOCTOR_REAL_LOCKS names no directory of real locks")
class TestRealLocks:
    @pytest.mark.parametrize(
        "name", ["nanochat.uv.lock", "prime-rl.uv.lock", "gcm.requirements.txt", "odh-notebooks.pylock.cuda.toml"]
    )
    def test_equal_themselves(self, name):
        lock = locks.read(os.path.join(FOLDER, name))
        assert diff(lock, lock).equal

    def test_direct_is_what_the_project_asks_for(self):
        lock = locks.read(os.path.join(FOLDER, "gcm.requirements.txt"))
        nothing = locks.read(os.path.join(FOLDER, "odh-dw-th-torch-cuda.requirements.txt"))
        direct = {c.name for c in diff(nothing, lock).changes if c.group == "direct" and c.new}
        with open(os.path.join(FOLDER, "gcm.requirements.txt"), encoding="utf-8") as stream:
            assert len(direct) <= stream.read().count("gcm (pyproject.toml)")
        assert "certifi" in direct
        assert "cffi" in direct
        assert "annotated-types" not in direct

"""Locks that do not hold what their packages need."""

import pytest
from locked import audited, metadata, read, target, told
from values import judged, values

from envdoctor.model import Severity, Unavailable
from envdoctor.probes.lock.incomplete import check
from envdoctor.views import lock_closure
from envdoctor.views.lock_online import DryRun, LockOnline

NOTHING = Unavailable("no metadata")

DANGLING = """
version = 1
[[package]]
name = "demo"
source = { virtual = "." }
dependencies = [{ name = "python-dateutil" }]
[[package]]
name = "python-dateutil"
version = "2.9.0.post0"
source = { registry = "https://index.example/simple" }
dependencies = [{ name = "six" }]
"""
PYLOCK = """
lock-version = "1.0"
created-by = "demo"
[[packages]]
name = "python-dateutil"
version = "2.9.0.post0"
dependencies = [{ name = "six" }]
sdist = { url = "https://x.example/python-dateutil-2.9.0.post0.tar.gz", hashes = { sha256 = "%s" } }
"""
PIN = "python-dateutil==2.9.0.post0\n"


DATEUTIL = metadata(python_dateutil=("2.9.0.post0", "six>=1.5"))


def judge(text, known=DATEUTIL):
    return audited(check, text, lock_targets=target(), lock_metadata=known)


def test_metadata_tells_what_is_missing():
    (finding,) = found = judge(PIN)
    assert (finding.severity, told(found)) == (Severity.ERROR, [("six", 1)])
    assert finding.message.startswith("python-dateutil 2.9.0.post0 requires six>=1.5, which the lock does not hold (")
    assert finding.evidence["text"] == "python-dateutil"


@pytest.mark.parametrize(
    ("path", "text"), [("/project/uv.lock", DANGLING), ("/project/pylock.toml", PYLOCK % ("1" * 64))]
)
def test_a_graph_tells_it_without_metadata(path, text):
    assert [finding.subject for finding in audited(check, text, path)] == ["six"]


def test_extras_that_are_asked_for_count():
    known = metadata(
        uvicorn=("0.30", 'httptools ; extra == "standard"', 'pip ; extra == "x"'), a=("1", "uvicorn[standard]")
    )
    assert [finding.subject for finding in judge("uvicorn[standard]==0.30\n", known)] == ["httptools"]
    assert [finding.subject for finding in judge("uvicorn==0.30\na==1\n", known)] == ["httptools"]
    assert judge("uvicorn==0.30\n", known) == []


@pytest.mark.parametrize(
    "text",
    [
        PIN + "six==1.17.0\n",
        PIN + "six==1.17.0 ; sys_platform == 'win32' or python_full_version > '3.12.2'\n",
    ],
    ids=["whole", "perhaps"],
)
def test_healthy_neighbours(text):
    assert judge(text, metadata(python_dateutil=("2.9.0.post0", "six>=1.5"), six=("1.17.0",))) == []


def test_what_no_metadata_speaks_of_is_not_called_whole():
    known = metadata(python_dateutil=("2.9.0.post0", "six>=1.5"))
    for text, name in ((PIN + "six==1.17.0\n", "six"), ("python-dateutil==2.8.2\n", "python-dateutil")):
        given = {"lock": read(text), "lock_targets": target(), "lock_metadata": known}
        assert values(**given)["lock_closure"] == Unavailable(f"no metadata at hand of {name}")


def test_what_needs_nothing_here():
    known = metadata(click=("8.3", 'colorama ; platform_system == "Windows"'), torch=("2.11.0", "setuptools<82"))
    assert judge("click==8.3\ntorch==2.11.0\n", known) == []


def test_without_metadata_it_is_skipped():
    outcome = judged(check, lock=read(PIN), distributions=Unavailable("no metadata"))
    assert outcome.skipped == Unavailable("no metadata")


def run(**fields):
    return LockOnline(dry_run=DryRun("Python 3.12 on linux_x86_64", **fields))


def test_without_metadata_a_dry_run_tells_what_a_resolver_would_add():
    closure = lock_closure.view(read(PIN), NOTHING, run(extra=("six", "setuptools")))
    (finding,) = audited(check, PIN, lock_closure=closure)
    assert (finding.subject, finding.evidence.get("line")) == ("six", None)
    assert finding.message.startswith("six is required by what the lock pins, and the lock does not hold it")


def test_a_dry_run_that_tells_nothing_is_no_clean_bill():
    assert lock_closure.view(read(PIN), NOTHING, run()) == lock_closure.LockClosure()
    lost = lock_closure.view(read(PIN), NOTHING, run(problem="uv is not here"))
    assert lost == Unavailable("uv is not here", failed=True)
    assert lock_closure.view(read(PIN), NOTHING, run(conflict="x depends on y")) == lock_closure.UNRESOLVED
    assert lock_closure.view(read(PIN), NOTHING, Unavailable("offline")) == NOTHING


def poetry(needs, version):
    groups = 'groups = ["main"]' if version == "2.1" else ""
    head = f'[[package]]\nname = "six"\nversion = "1"\n{groups}\n[package.dependencies]\nsix = "*"\n{needs}\n'
    return read(f'{head}[metadata]\nlock-version = "{version}"\n', "/project/poetry.lock")


EDGES = {
    'gone = "*"': ["gone"],
    'gone = {version = "*", optional = true}': [],
    "gone = {version = '*', markers = 'python_version < \"3.9\"'}": [],
    'setuptools = "*"': [],
}
POETRY = [(poetry(needs, version), missing) for needs, missing in EDGES.items() for version in ("2.0", "2.1")]


@pytest.mark.parametrize(("lock", "missing"), POETRY)
def test_edges_of_a_poetry_lock(lock, missing):
    assert [finding.subject for finding in audited(check, lock)] == missing

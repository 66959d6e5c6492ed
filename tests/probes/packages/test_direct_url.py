"""A direct install where the lock pins a release is an error; the project itself is a note."""

import pytest
from values import NO_LOCK, PIP, distribution, distributions, editable, findings, lock, pin

from envdoctor.facts.metadata import DirectUrl
from envdoctor.model import Artifact, Severity
from envdoctor.probes.packages.direct_url import check

WHEEL = "https://index.example/six-1.0-py3-none-any.whl"
DIGEST = "sha256:" + "a" * 64
COMMIT = "0" * 40


def judge(origin, given=NO_LOCK):
    installed = distributions(distribution("six", direct_url=origin), "pip")
    return [(finding.severity, finding.subject) for finding in findings(check, distributions=installed, lock=given)]


@pytest.mark.parametrize(
    "origin",
    [
        editable(),
        DirectUrl("file:///home/me/six"),
        DirectUrl("https://index.example/six.git", vcs="git", commit=COMMIT),
        DirectUrl(WHEEL, hashes=("sha256:" + "b" * 64,)),
    ],
    ids=["editable", "directory", "repository", "another archive"],
)
def test_of_a_locked_release_is_an_error(origin):
    assert judge(origin, lock(pin("six==1.0", hashes=(DIGEST,)))) == [(Severity.ERROR, "six")]


def test_says_what_it_is_and_forces_the_release():
    installed = distributions(distribution("six", direct_url=editable()), "pip")
    (finding,) = findings(check, distributions=installed, lock=lock("six==1.1"))
    said = "six 1.0 is an editable install of file:///home/me/project, the lock pins release 1.1 of an index"
    assert finding.message == said
    assert finding.remedy == (f"{PIP} install --force-reinstall --no-deps six==1.1",)


@pytest.mark.parametrize(
    ("origin", "locked"),
    [
        (DirectUrl("https://index.example/other.whl"), {"source": "url", "url": WHEEL}),
        (DirectUrl(WHEEL), {"url": WHEEL}),
        (DirectUrl("file:///home/me/six"), {"source": "vcs", "url": f"https://g.example/six@{COMMIT}"}),
        (DirectUrl("https://g.example/six", vcs="git", commit="1" * 40), {"source": "vcs", "url": COMMIT}),
    ],
    ids=["another address", "an index", "no commit", "another commit"],
)
def test_of_another_source_than_the_locked_one_is_an_error(origin, locked):
    installed = distributions(distribution("six", direct_url=origin), "pip")
    (finding,) = findings(check, distributions=installed, lock=lock(pin("six==1.0", **locked)))
    assert finding.severity == Severity.ERROR
    if "source" in locked:
        assert finding.message.endswith(f"the lock pins {locked['url']}")


def test_one_of_several_locked_sources_is_enough():
    marker = "'{}' in extras"
    given = lock(
        pin("six==1.0", marker=marker.format("a"), source="url", url="https://index.example/other.whl"),
        pin("six==1.0", marker=marker.format("b"), source="url", url=WHEEL),
    )
    assert judge(DirectUrl(WHEEL), given) == []


@pytest.mark.parametrize(
    "given",
    [
        NO_LOCK,
        lock(project="six"),
        lock(pin("six==1.0"), project="six"),
        lock(pin("six==1.0", source="editable", url="./six")),
        lock(pin("six==1.0", source="directory", url="./six")),
    ],
    ids=["no lock", "own project", "own project, pinned", "locked editable", "locked directory"],
)
def test_is_a_note_where_the_lock_means_it(given):
    assert judge(editable(), given) == [(Severity.NOTE, "six")]


@pytest.mark.parametrize(
    ("origin", "given"),
    [
        (None, lock("six==1.0")),
        (editable(), lock("other==1.0")),
        (DirectUrl("file:///wheels/six.whl", hashes=(DIGEST,)), lock(pin("six==1.0", hashes=(DIGEST,)))),
        (
            DirectUrl("file:///wheels/six.whl", hashes=(DIGEST,)),
            lock(pin("six==1.0", artifacts=(Artifact("six.whl", hashes=(DIGEST,)),))),
        ),
        (DirectUrl(f"{WHEEL}#sha256={'a' * 64}"), lock(pin("six==1.0", source="url", url=WHEEL))),
        (
            DirectUrl("https://g.example/six", vcs="git", commit=COMMIT),
            lock(pin("six", source="vcs", url=f"https://g.example/six@{COMMIT}")),
        ),
    ],
    ids=["from the index", "foreign", "the same digest", "the same file", "the locked address", "the locked commit"],
)
def test_healthy_neighbours(origin, given):
    assert judge(origin, given) == []


@pytest.mark.parametrize(
    ("url", "fields", "severity"),
    [
        ("file:///wheels/six-1.0-py3-none-any.whl", {}, Severity.WARNING),
        ("file:///wheels/six-1.0-py3-none-any.whl", {"hashes": ("sha256:" + "b" * 64,)}, Severity.ERROR),
        ("file:///home/me/six", {}, Severity.ERROR),
        ("file:///home/me/six", {"editable": True}, Severity.ERROR),
    ],
    ids=["uv records no digest", "another digest", "a directory", "a working tree"],
)
def test_a_file_of_the_locked_version_without_a_digest_may_be_the_very_one(url, fields, severity):
    item = distribution("six", "1.0", direct_url=DirectUrl(url, **fields))
    (finding,) = findings(check, distributions=distributions(item), lock=lock(pin("six==1.0", hashes=(DIGEST,))))
    assert finding.severity == severity

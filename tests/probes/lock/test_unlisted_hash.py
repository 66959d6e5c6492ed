"""Digests that the index does not list."""

import pytest
from locked import OTHER, SHA, audited, read, told
from values import view

from envdoctor.model import Severity, Unavailable
from envdoctor.probes.lock.unlisted_hash import check
from envdoctor.views.lock_online import Listed, ListedFile, LockOnline

INDEX = "https://index.example/simple"
PIN = ("six", "1.17.0")
WHEEL = ListedFile("six-1.17.0-py3-none-any.whl", (SHA,))


def online(*files, pin=PIN, **fields):
    listed = {pin: Listed(files, fields.pop("others", ()), whole=fields.pop("whole", True))} if files else {}
    return LockOnline((INDEX,), listed, **fields)


def found(text, answers, path="/project/requirements.txt"):
    return audited(check, text, path, lock_online=answers)


def uncompared(text, answers, path="/project/requirements.txt"):
    return view("lock_listed", lock=read(text, path), lock_online=answers).uncompared


def uv(registry, *files):
    wheels = "".join(f'    {{ url = "{registry}/{name}", hash = "{digest}" }},\n' for name, digest in files)
    return (
        f'version = 1\nrevision = 3\n\n[[package]]\nname = "six"\nversion = "1.17.0"\n'
        f'source = {{ registry = "{registry}" }}\nwheels = [\n{wheels}]\n'
    )


def test_a_digest_that_is_not_listed():
    (finding,) = said = found(f"idna==3.10\nsix==1.17.0 \\\n    --hash={OTHER} \\\n    --hash={SHA}\n", online(WHEEL))
    assert (finding.severity, told(said)) == (Severity.ERROR, [("six", 2)])
    assert finding.evidence["text"] == "2" * 64
    assert finding.evidence["digests"] == [OTHER]
    assert finding.message == f"six 1.17.0 has a digest that the index does not list: {OTHER}"


def test_what_is_listed_and_what_has_no_digest():
    assert found(f"six==1.17.0 --hash={SHA}\n", online(WHEEL)) == []
    assert found(f"six==1.17.0 --hash={SHA.upper().replace('SHA', 'sha')}\n", online(WHEEL)) == []
    assert found("six==1.17.0\n", online(WHEEL)) == []
    assert found(f"six==1.17.0 --hash={OTHER}\n", online(WHEEL, others=(OTHER,))) == [], "of an egg, perhaps"


@pytest.mark.parametrize(
    "answers",
    [
        online(unknown={PIN: "HTTP 500"}),
        online(WHEEL, unknown={PIN: "HTTP 500"}, whole=False),
        online(WHEEL, ListedFile("six-1.17.0.tar.gz")),
        online(WHEEL, ListedFile("six-1.17.0.tar.gz", ("md5:" + "3" * 32,))),
    ],
    ids=["not looked up", "one file known", "no digest", "other algorithm"],
)
def test_what_cannot_be_compared_is_unknown(answers):
    assert found(f"six==1.17.0 --hash={OTHER}\n", answers) == []
    assert list(uncompared(f"six==1.17.0 --hash={OTHER}\n", answers)) == [PIN]
    assert uncompared(f"six==1.17.0 --hash={SHA}\n", online(WHEEL, ListedFile("six-1.17.0.tar.gz"))) == {}


def test_no_index_at_all():
    answers = LockOnline(index_problem="pip's index: no pip")
    assert view("lock_listed", lock=read("six==1\n"), lock_online=answers) == Unavailable(
        "pip's index: no pip", failed=True
    )


def test_files_from_another_index_are_compared_where_both_list_the_same():
    other = "https://wheels.example/whl/cu128"
    assert found(uv(INDEX, (WHEEL.name, OTHER)), online(WHEEL), "/project/uv.lock") != [], "pip's own index"
    text = uv(other, (WHEEL.name, OTHER))
    assert found(text, online(WHEEL), "/project/uv.lock") == [], "builds of its own"
    assert "another index" in uncompared(text, online(WHEEL), "/project/uv.lock")[PIN]
    mirrored = ListedFile("six-1.17.0.zip", ("sha256:" + "3" * 64,))
    text = uv(
        other, ("six-1.17.0.zip", mirrored.hashes[0]), (WHEEL.name, OTHER), ("six-1.17.0.tar.bz2", OTHER[:-1] + "4")
    )
    (finding,) = found(text, online(WHEEL, mirrored), "/project/uv.lock")
    assert finding.evidence["digests"] == [OTHER], "the mirror may lack a file, not hold another of that name"


def test_a_requirements_lock_with_an_index_of_its_own():
    text = f"--index-url https://wheels.example/simple\nsix==1.17.0 --hash={OTHER}\n"
    assert found(text, online(WHEEL)) == []
    assert found(text.replace("https://wheels.example/simple", f"{INDEX}/"), online(WHEEL)) != []

"""Pages of the Simple API."""

import pytest
from indexes import Reply, anchors, entry, page

from envdoctor.audit import simple
from envdoctor.system.web import Page, UnreadError
from envdoctor.views.lock_online import ListedFile

ONE, TWO = "1" * 64, "2" * 64


def read(reply, name="six"):
    return simple.files(Page(reply.kind.partition(";")[0], reply.body), name)


def test_json():
    files = read(
        page(
            entry("six-1.17.0.tar.gz", "A" * 64, "broken", **{"upload-time": "2026-01-02T03:04:05Z"}),
            entry("six-1.17.0-py3-none-any.whl", "", True),
            entry("six-1.16.0.tar.gz"),
            entry("sixpack-1.16.0.tar.gz"),
        )
    )
    assert files == (
        ListedFile("six-1.17.0.tar.gz", (f"sha256:{'a' * 64}",), "broken", "2026-01-02T03:04:05Z"),
        ListedFile("six-1.17.0-py3-none-any.whl", (), ""),
        ListedFile("six-1.16.0.tar.gz", (f"sha256:{ONE}",)),
    )


def test_html():
    files = read(
        anchors(
            f'href="../../files/six-1.17.0.tar.gz#sha256={ONE}" data-yanked="broken &amp; sad"',
            f'href="https://x.example/six-1.17.0%2Bcu1-py3-none-any.whl?sig=1#md5={"3" * 32}&amp;egg=six" data-yanked',
            'href="six-1.16.0.tar.gz#egg=six"',
            'name="top"',
        )
    )
    assert files == (
        ListedFile("six-1.17.0.tar.gz", (f"sha256:{ONE}",), "broken & sad"),
        ListedFile("six-1.17.0+cu1-py3-none-any.whl", (f"md5:{'3' * 32}",), ""),
        ListedFile("six-1.16.0.tar.gz"),
    )


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (Reply(b"<html>Please log in</html>"), "lists no file of six"),
        (anchors('href="idna-3.10.tar.gz"'), "lists no file of six"),
        (page(), "lists no file of six"),
        (page(entry("six-1.17.0.tar.gz"), **{"api-version": "2.0"}), "version 2.0 of the Simple API"),
        (Reply(b"{", simple.JSON), "JSON that is no page"),
        (Reply(b"[]", simple.JSON), "JSON that is no page"),
        (Reply(b"[" * 100_000, simple.JSON), "JSON that is no page"),
        (Reply(b'{"meta": {"api-version": "1.0"}, "files": [3]}', simple.JSON), "JSON that is no page"),
        (Reply(b'{"meta": {"api-version": "1.0"}, "files": [{"filename": "six-1.tar.gz"}]}', simple.JSON), "JSON that"),
        (Reply(b"\x7fELF", "application/octet-stream"), "application/octet-stream"),
    ],
)
def test_what_is_no_page(reply, said):
    with pytest.raises(UnreadError, match=said) as raised:
        read(reply)
    assert raised.value.otherwise, "pip may know better"


def released(version, *names):
    found = simple.release(version, [ListedFile(name, (f"sha256:{n}",)) for n, name in enumerate(names)])
    return found and ([file.name for file in found.files], found.others)


def test_a_release_is_what_its_pin_admits():
    names = ("six-1.17.tar.gz", "six-1.17.0-py3-none-any.whl", "six-1.17.0.post1.tar.gz", "six-1.16.0.tar.gz")
    assert released("1.17.0", *names) == (list(names[:2]), ())
    assert released("1.18", *names) is None
    assert released("no version", *names) is None


def test_a_pin_without_label_admits_every_build():
    names = ("torch-2.11.0+cu128-cp312-cp312-linux_x86_64.whl", "torch-2.11.0-cp312-cp312-linux_x86_64.whl")
    assert released("2.11.0", *names) == (list(names), ())
    assert released("2.11.0+cu128", *names) == ([names[0]], ())


def test_files_that_tell_no_release_are_kept_by_their_digests():
    assert released("1.0", "six-1.0.tar.gz", "six-1.x.zip", "six-1.0-py2.7.egg") == (
        ["six-1.0.tar.gz"],
        ("sha256:1", "sha256:2"),
    )


def test_a_mirror_that_does_not_know_of_the_yanking():
    plain, yanked = (
        ListedFile("six-1.tar.gz", (f"sha256:{ONE}",)),
        ListedFile("six-1.tar.gz", (f"sha256:{ONE}",), "bad"),
    )
    other = ListedFile("six-1.tar.gz", (f"sha256:{TWO}",))
    assert list(simple.merged([plain, yanked, other, plain])) == [yanked, other]

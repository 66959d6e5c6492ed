"""Releases looked up on real servers on loopback; only pip's own words are made up."""

import base64
import json
import os
import time

import pytest
from fakes import FakeHost
from indexes import Reply, anchors, entry, page, serve

from envdoctor.audit import index
from envdoctor.audit.index import ABSENT, look_up
from envdoctor.errors import EnvDoctorError
from envdoctor.system import web
from envdoctor.system.host import Completed

SIX = page(entry("six-1.17.0.tar.gz"), entry("six-1.17.0-py3-none-any.whl", "2" * 64))
PIN = ("six", "1.17.0")
NO = Completed(1, b"")


@pytest.fixture
def server():
    with serve(six=SIX) as served:
        yield served


@pytest.fixture
def ask(tmp_path):
    """Look pins up at addresses; `by_pip` is what pip says of a release."""

    def asked(*addresses, pins=(PIN,), by_pip=NO, seconds=10.0, **given):
        first, *others = addresses

        def answer(argv):
            if "install" in argv:
                return by_pip
            return Completed(0, f"global.index-url={first!r}\nglobal.extra-index-url={' '.join(others)!r}\n".encode())

        env = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
        return look_up(list(pins), FakeHost(env=env, answer=answer, home=str(tmp_path), **given), seconds)

    return asked


def test_json_and_html(ask, server):
    server.pages["idna"] = anchors(f'href="idna-3.10.tar.gz#sha256={"3" * 64}" data-yanked="bad"')
    looked = ask(server.address, pins=(PIN, ("idna", "3.10")))
    assert looked.unknown == {}
    assert [file.name for file in looked.listed[PIN].files] == ["six-1.17.0.tar.gz", "six-1.17.0-py3-none-any.whl"]
    assert looked.listed["idna", "3.10"].files[0].yanked == "bad"
    assert looked.indexes == (server.address,)


def test_a_project_is_asked_for_once_and_its_answer_kept(ask, server):
    pins = (PIN, ("six", "1.16.0"), ("idna", "3.10"))
    first = ask(server.address, pins=pins)
    assert sorted(server.names) == ["idna", "six"]
    assert first.unknown == {pins[1]: ABSENT, pins[2]: ABSENT}
    assert ask(server.address, pins=pins) == first
    assert len(server.asked) == 2


def test_nothing_secret_is_kept_or_told(ask, server, tmp_path):
    login = "Basic " + base64.b64encode(b"ci:hunter2").decode()
    server.pages["six"] = Reply(SIX.body, SIX.kind, login=login)
    looked = ask(server.address.replace("://", "://ci:hunter2@"))
    assert PIN in looked.listed
    (kept,) = (tmp_path / "cache" / "envdoctor" / "index").iterdir()
    assert "hunter2" not in kept.read_text() + kept.name + repr(looked)
    assert looked.indexes == (server.address,)


def test_several_indexes_are_one_library(ask, server):
    with serve(six=page(entry("six-1.17.0.zip", "3" * 64))) as other:
        looked = ask(server.address, other.address)
        assert [file.name for file in looked.listed[PIN].files][2:] == ["six-1.17.0.zip"]
        assert looked.unknown == {}


def test_an_index_that_fails_leaves_what_the_other_lists(ask, server):
    with serve(six=Reply(status=500)) as other:
        looked = ask(server.address, other.address)
        assert PIN in looked.listed
        assert "HTTP 500" in looked.unknown[PIN]
        assert other.address.split("/")[2] in looked.unknown[PIN]


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (Reply(status=500), "HTTP 500"),
        (Reply(b"<html>log in</html>"), "lists no file of six"),
        (Reply(b"{", "application/vnd.pypi.simple.v1+json"), "no page of an index"),
        (Reply(status=401), "wants other credentials"),
        (Reply(status=403), "wants other credentials"),
        (Reply(SIX.body, SIX.kind, wait=30), "no answer"),
    ],
)
def test_no_answer_is_unknown(ask, server, monkeypatch, reply, said):
    monkeypatch.setattr(web, "SILENCE", 0.3)
    server.pages["six"] = reply
    looked = ask(server.address)
    assert looked.listed == {}
    assert said in looked.unknown[PIN]
    server.pages["six"] = SIX
    assert PIN in ask(server.address).listed, "a failure is not kept"


def test_a_store_that_hides_what_it_has_not(ask, server):
    with serve(torch=page(entry("torch-2.11.0+cu128.tar.gz"), name="torch"), six=Reply(status=403)) as other:
        looked = ask(server.address, other.address, pins=(PIN, ("torch", "2.11.0+cu128")))
        assert looked.unknown == {}


def test_what_is_late_is_unknown_and_the_rest_is_told(ask, server):
    server.pages["idna"] = Reply(SIX.body, SIX.kind, wait=30)
    began = time.monotonic()
    looked = ask(server.address, pins=(PIN, ("idna", "3.10")), seconds=1.0)
    assert time.monotonic() - began < 3
    assert (list(looked.listed), list(looked.unknown)) == ([PIN], [("idna", "3.10")])


def test_an_index_that_never_answers_is_not_asked_for_everything(ask):
    with serve() as gone:
        pass
    pins = [(f"p{number}", "1.0") for number in range(500)]
    began = time.monotonic()
    looked = ask(gone.address, pins=pins)
    assert len(looked.unknown) == 500
    assert time.monotonic() - began < 5


def test_where_the_index_cannot_be_read_pip_may(ask, server):
    info = {"url": "https://x.example/six-1.17.0-py3-none-any.whl", "archive_info": {"hashes": {"sha256": "2" * 64}}}
    said = json.dumps({"install": [{"download_info": info, "is_yanked": True}]}).encode()
    server.pages["six"] = Reply(status=401)
    looked = ask(server.address, by_pip=Completed(0, said))
    assert not looked.listed[PIN].whole
    assert looked.listed[PIN].files[0].yanked == ""
    assert "HTTP 401" in looked.unknown[PIN], "its other files are not known"
    assert "pip finds it not either" in ask(server.address).unknown[PIN]


def test_without_pip_there_is_no_index(ask, server, monkeypatch):
    monkeypatch.setattr(index.pip, "command", lambda _: None)
    with pytest.raises(EnvDoctorError, match="no pip here"):
        ask(server.address)


def test_a_directory_is_asked_each_time(ask, tmp_path):
    os.makedirs(tmp_path / "simple" / "six")
    (tmp_path / "simple" / "six" / "index.html").write_text('<a href="six-1.17.0.tar.gz">')
    assert PIN in ask(f"file://{tmp_path}/simple").listed
    (tmp_path / "simple" / "six" / "index.html").unlink()
    assert ask(f"file://{tmp_path}/simple").unknown == {PIN: ABSENT}

"""Pages of servers, read over real HTTP on loopback."""

import base64
import gzip
import subprocess
import time
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from shutil import which
from threading import Thread

import pytest
from indexes import Reply, serve

from envdoctor.system import web
from envdoctor.system.web import Access, UnreadError, Web, without_login

PAGE = Reply(b"<a>page</a>")
LOGIN = "Basic " + base64.b64encode(b"ci:hunter2").decode()


def get(address, access=None, within=5.0):
    return Web(access).get(address, "text/html", time.monotonic() + within)


def refused(address, access=None, within=5.0):
    with pytest.raises(UnreadError) as raised:
        get(address, access, within)
    return raised.value


@pytest.fixture
def server():
    with serve(six=PAGE) as served:
        yield served


def with_login(address, login="ci:hunter2"):
    return address.replace("://", f"://{login}@")


def test_a_page_and_none(server):
    found = get(f"{server.address}/six/")
    assert (found.kind, found.body) == ("text/html", PAGE.body)
    assert server.asked[0][1]["accept"] == "text/html"
    assert get(f"{server.address}/idna/") is None


def test_a_packed_page_is_unpacked(server):
    server.pages["six"] = Reply(gzip.compress(PAGE.body), headers={"Content-Encoding": "gzip"})
    assert get(f"{server.address}/six/").body == PAGE.body


def test_a_login_in_the_address_is_sent_and_never_told(server):
    server.pages["six"] = replace(PAGE, login=LOGIN)
    assert get(with_login(f"{server.address}/six/")).body == PAGE.body
    assert get(with_login(f"{server.address}/six/", "ci:%68unter2")).body == PAGE.body
    error = refused(with_login(f"{server.address}/six/", "ci:s3cret"))
    assert (error.status, error.otherwise) == (401, True)
    assert "s3cret" not in str(error)
    assert without_login("https://a:b@index.example/simple") == ("https://index.example/simple", ("a", "b"))


def test_a_login_in_netrc(server, tmp_path):
    server.pages["six"] = replace(PAGE, login=LOGIN)
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login ci password hunter2\n")
    assert get(f"{server.address}/six/", Access(netrc=str(netrc))).body == PAGE.body
    netrc.write_text("machine machine machine")
    assert refused(f"{server.address}/six/", Access(netrc=str(netrc))).status == 401


def test_a_redirect_takes_the_login_to_the_same_server_alone(server):
    server.pages["six"] = Reply(status=301, headers={"Location": "/simple/moved/"})
    server.pages["moved"] = replace(PAGE, login=LOGIN)
    assert get(with_login(f"{server.address}/six/")).body == PAGE.body
    with serve(six=PAGE) as other:
        server.pages["six"] = Reply(status=302, headers={"Location": f"{other.address}/six/"})
        assert get(with_login(f"{server.address}/six/")).body == PAGE.body
        assert "authorization" not in other.asked[0][1]


@pytest.mark.parametrize(
    "place", ["http://index.example/simple/six/", "file:///etc/passwd", "http://a:b@127.0.0.1/", "ftp://x/", "http://["]
)
def test_a_redirect_that_is_not_safe(server, place):
    server.pages["six"] = Reply(status=302, headers={"Location": place})
    assert "not safe to follow" in str(refused(f"{server.address}/six/"))


def test_a_redirect_without_end(server):
    server.pages["six"] = Reply(status=302, headers={"Location": "/simple/six/"})
    assert str(refused(f"{server.address}/six/")) == "redirects without end"


def test_a_server_that_is_busy_is_asked_twice(server):
    server.pages["six"] = Reply(status=503)
    assert str(refused(f"{server.address}/six/")) == "HTTP 503"
    assert len(server.asked) == 2


def test_silence_and_slowness_end(server, monkeypatch):
    monkeypatch.setattr(web, "SILENCE", 0.3)
    began = time.monotonic()
    server.pages["six"] = replace(PAGE, wait=30)
    assert "no answer" in str(refused(f"{server.address}/six/", within=0.8))
    server.pages["six"] = Reply(b"x" * 1000, drip=0.1)
    assert "in time" in str(refused(f"{server.address}/six/", within=0.8))
    assert time.monotonic() - began < 4


@pytest.mark.parametrize(
    "reply",
    [
        replace(PAGE, short=10),
        Reply(gzip.compress(PAGE.body)[:-4], headers={"Content-Encoding": "gzip"}),
        Reply(b"no gzip", headers={"Content-Encoding": "gzip"}),
    ],
    ids=["short", "packed and short", "not packed"],
)
def test_half_a_page_is_none(server, reply):
    server.pages["six"] = reply
    assert refused(f"{server.address}/six/").status == 0


def test_a_page_without_end_and_one_that_unpacks_to_one(server, monkeypatch):
    monkeypatch.setattr(web, "LIMIT", 1 << 16)
    server.pages["six"] = Reply(b"x" * (1 << 17))
    assert "holds more than" in str(refused(f"{server.address}/six/"))
    server.pages["six"] = Reply(gzip.compress(bytes(1 << 24)), headers={"Content-Encoding": "gzip"})
    assert "holds more than" in str(refused(f"{server.address}/six/"))


def test_nobody_listens():
    with serve() as served:
        gone = served.address
    assert "no connection: Connection refused" in str(refused(f"{gone}/six/"))


@pytest.mark.parametrize("host", ["index.example", "127.index.example"])
def test_without_tls_only_where_pip_would(host):
    assert "without TLS" in str(refused(f"http://{host}/simple/six/"))
    assert refused("ftp://index.example/simple/six/").otherwise


def test_a_proxy_is_asked_for_the_whole_address(server):
    access = Access(proxy=with_login(server.address.removesuffix("/simple")), trusted=("index.example",))
    server.pages["http://index.example/simple/six/"] = PAGE
    assert get("http://index.example/simple/six/", access).body == PAGE.body
    assert server.asked[0][1]["proxy-authorization"] == LOGIN
    assert refused("https://index.example/simple/six/", access).status == 0, "it makes no tunnel"


def test_a_directory(tmp_path):
    (tmp_path / "six").mkdir()
    (tmp_path / "six" / "index.html").write_bytes(PAGE.body)
    assert get(f"file://{tmp_path}/six/").body == PAGE.body
    assert get(f"file://{tmp_path}/idna/") is None
    (tmp_path / "idna").mkdir()
    (tmp_path / "idna" / "index.html").mkdir()
    assert "not a regular file" in str(refused(f"file://{tmp_path}/idna/"))


@pytest.mark.skipif(which("openssl") is None, reason="makes a certificate with openssl")
def test_certificates(tmp_path):
    made = ("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key", "-out", "cert", "-days", "2")
    named = ("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost")
    subprocess.run(["openssl", *made, *named], cwd=tmp_path, check=True, capture_output=True)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            """Say nothing."""

    import ssl

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert", tmp_path / "key")
    server = HTTPServer(("127.0.0.1", 0), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        address = f"https://localhost:{server.server_port}/"
        error = refused(address)
        assert error.otherwise
        assert "certificate is not trusted" in str(error)
        assert get(address, Access(cert=str(tmp_path / "cert"))).body == b""
        assert get(address, Access(trusted=("localhost",))).body == b""
        assert "cannot be read" in str(refused(address, Access(cert=str(tmp_path / "none"))))
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

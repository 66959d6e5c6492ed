"""A package index on loopback, real HTTP and no network, that can be as wrong as real ones are."""

import json
import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from envdoctor.audit.simple import JSON


@dataclass(frozen=True)
class Reply:
    """What is answered to a path."""

    body: bytes = b""
    kind: str = "text/html"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    login: str = ""
    """Value that the header Authorization must have; otherwise 401."""
    wait: float = 0.0
    """Seconds before the answer."""
    drip: float = 0.0
    """Seconds between two bytes of the body."""
    short: int = 0
    """Bytes that are promised and never come."""


def entry(name, digest="1" * 64, yanked=False, **more):
    """Return a file as PEP 691 lists it."""
    hashes = {"sha256": digest} if digest else {}
    return {"filename": name, "url": f"../../files/{name}", "hashes": hashes, "yanked": yanked, **more}


def page(*entries, name="six", **meta):
    """Return a page in JSON."""
    body = {"meta": {"api-version": "1.1"} | meta, "name": name, "files": list(entries)}
    return Reply(json.dumps(body).encode(), JSON)


def anchors(*texts):
    """Return a page in HTML; each text is what stands in an anchor's tag."""
    return Reply("".join(f"<a {text}>file</a>\n" for text in texts).encode(), "text/html; charset=UTF-8")


@dataclass
class Served:
    """A running server."""

    address: str
    """Of its `simple` directory."""
    pages: dict[str, Reply]
    """By path; a project's page by its name alone."""
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    """Paths with headers (names in lower case), in order."""

    @property
    def names(self):
        return [path.strip("/").rpartition("/")[2] for path, _ in self.asked]


@contextmanager
def serve(**pages):
    """Serve projects by name, `_` standing for `-`; more may be added to `pages` later."""
    given = {name.replace("_", "-"): reply for name, reply in pages.items()}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            served.asked.append((self.path, {key.lower(): value for key, value in self.headers.items()}))
            reply = served.pages.get(self.path) or served.pages.get(self.path.removeprefix("/simple/").strip("/"))
            reply = reply or Reply(b"not found", status=404)
            if reply.login and self.headers.get("Authorization") != reply.login:
                reply = Reply(b"who are you?", status=401)
            stopped.wait(reply.wait)
            self.send_response(reply.status)
            for key, value in ({"Content-Type": reply.kind} | reply.headers).items():
                self.send_header(key, value)
            self.send_header("Content-Length", str(len(reply.body) + reply.short))
            self.end_headers()
            for part in (reply.body[at : at + 1] for at in range(len(reply.body))) if reply.drip else (reply.body,):
                if stopped.wait(reply.drip):
                    return
                self.wfile.write(part)
                self.wfile.flush()

        def handle(self):
            with suppress(OSError):  # the client has gone
                super().handle()

        def log_message(self, *_):
            """Say nothing."""

    stopped = threading.Event()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    served = Served(f"http://127.0.0.1:{server.server_port}/simple", given)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield served
    finally:
        stopped.set()
        server.shutdown()
        server.server_close()
        thread.join()

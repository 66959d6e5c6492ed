"""Read pages from a server or a directory, as pip would: with its certificates, proxy and credentials.

Nothing secret leaves this file: reasons name neither addresses nor logins.
"""

from __future__ import annotations

import base64
import contextlib
import http
import http.client
import netrc
import os
import socket  # noqa: TID251 - this is the module that may
import ssl
import threading
import time
import zlib
from dataclasses import dataclass
from urllib.parse import SplitResult, unquote, urljoin, urlsplit, urlunsplit
from urllib.request import getproxies, proxy_bypass  # noqa: TID251 - this is the module that may

from envdoctor.errors import EnvDoctorError
from envdoctor.system.reading import regular

LIMIT = 64 << 20
"""Bytes of one page; the longest of a public index has about 30 MB."""
SILENCE = 15.0
"""Seconds without a byte after which a server counts as silent (pip's --timeout)."""
ATTEMPTS = 2
"""pip makes six; a failed look-up is told, so fewer will do."""
REDIRECTS = 5
_AGAIN = frozenset({429, 500, 502, 503, 504})
_GONE = frozenset({404, 410})
_BARRED = frozenset({401, 403, 407})
_MOVED = frozenset({301, 302, 303, 307, 308})
Login = tuple[str, str]


class UnreadError(EnvDoctorError):
    """A page that could not be read, and why."""

    def __init__(self, reason: str, *, status: int = 0, otherwise: bool = False) -> None:
        self.status = status
        """HTTP status, 0 if none came."""
        self.otherwise = otherwise
        """True if pip has means that this module has not: a keyring, other certificates."""
        super().__init__(reason)


@dataclass(frozen=True, slots=True)
class Access:
    """How the caller reaches servers."""

    cert: str = ""
    """Certificates to trust (PEM file or directory) in place of the system's."""
    client_cert: str = ""
    proxy: str = ""
    """For all addresses; "" leaves it to HTTPS_PROXY and NO_PROXY."""
    trusted: tuple[str, ...] = ()
    """`HOST` or `HOST:PORT` whose certificates are not checked."""
    netrc: str = ""
    """Path."""


@dataclass(frozen=True, slots=True)
class Page:
    """What was read."""

    kind: str
    """Content type, without parameters."""
    body: bytes


def without_login(address: str) -> tuple[str, Login | None]:
    """Part an address from the user name and password in it."""
    parts = urlsplit(address)
    user, at, place = parts.netloc.rpartition("@")
    if not at:
        return address, None
    name, _, password = user.partition(":")
    return urlunsplit(parts._replace(netloc=place)), (unquote(name), unquote(password))


class Web:
    """Reads pages; may be used by several threads."""

    def __init__(self, access: Access | None = None) -> None:
        self.access = access or Access()
        self._names = _Names()
        self._contexts: dict[bool, ssl.SSLContext] = {}

    def get(self, address: str, accept: str, ends: float) -> Page | None:
        """Read a page before `ends` (monotonic); None if there is no such page. Raises UnreadError."""
        plain, login = without_login(address)
        parts = urlsplit(plain)
        if parts.scheme == "file":
            return _in_folder(unquote(parts.path))
        if parts.scheme not in ("http", "https"):
            raise UnreadError(f"{parts.scheme or 'no scheme'} is not read here", otherwise=True)
        if parts.scheme == "http" and not self._plainly(parts):
            raise UnreadError("is asked without TLS, and pip passes over such an index unless its host is trusted")
        headers = {"Accept": accept, "Accept-Encoding": "gzip", "User-Agent": "envdoctor"}
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return self._followed(parts, headers, login or self._login(parts), ends)
            except UnreadError as error:
                passing = error.status in _AGAIN or (not error.status and not error.otherwise)
                if attempt == ATTEMPTS or not passing or time.monotonic() + attempt >= ends:
                    raise
                time.sleep(0.2 * attempt)
        return None

    def _followed(self, parts: SplitResult, headers: dict[str, str], login: Login | None, ends: float) -> Page | None:
        """Follow a server, but to no address without TLS from one with it, and with a login to the same one alone."""
        for _ in range(REDIRECTS + 1):
            known = {"Authorization": _basic(login)} if login else {}
            found = self._once(parts, headers | known, ends)
            if not isinstance(found, str):
                return found
            new = self._next(parts, found)
            login = login if new.netloc == parts.netloc else self._login(new)
            parts = new
        raise UnreadError("redirects without end")

    def _next(self, parts: SplitResult, place: str) -> SplitResult:
        try:
            new = urlsplit(urljoin(parts.geturl(), place))
        except ValueError:
            new = urlsplit("")
        safe = new.scheme == "https" or ((new.scheme, parts.scheme) == ("http", "http") and self._plainly(new))
        if not safe or "@" in new.netloc:
            raise UnreadError("redirects to an address that is not safe to follow", otherwise=True)
        return new

    def _plainly(self, parts: SplitResult) -> bool:
        """Tell whether a server may be asked without TLS (pip 26.3, network/session.py, SECURE_ORIGINS)."""
        return self._trusts(parts) or _loops_back(parts.hostname or "")

    def _once(self, parts: SplitResult, headers: dict[str, str], ends: float) -> Page | str | None:
        """Ask one server once; return the address that it redirects to as text."""
        patience = min(SILENCE, ends - time.monotonic())
        if patience <= 0:
            raise UnreadError("no answer in time")
        proxy = urlsplit(self._proxy(parts))
        target = urlunsplit(("", "", parts.path or "/", parts.query, ""))
        if proxy.hostname and parts.scheme == "http":
            target, headers = urlunsplit(parts._replace(fragment="")), headers | _proxy_login(proxy)
        try:
            with contextlib.closing(self._connection(parts, proxy, patience)) as connection:
                connection.request("GET", target, headers=headers | {"Connection": "close"})
                with connection.getresponse() as response:
                    return _answer(response, _body(response, ends))
        except (OSError, http.client.HTTPException, zlib.error, ValueError) as error:
            raise _unreached(error, patience) from None

    def _connection(self, parts: SplitResult, proxy: SplitResult, patience: float) -> http.client.HTTPConnection:
        if proxy.scheme not in ("", "http"):
            raise UnreadError(f"the proxy speaks {proxy.scheme}, which is not spoken here", otherwise=True)
        host, port = (proxy.hostname, proxy.port) if proxy.hostname else (parts.hostname, parts.port)
        connection = http.client.HTTPConnection(host or "", port, timeout=patience)
        if parts.scheme == "https":
            context = self._context(trusted=self._trusts(parts))
            connection = http.client.HTTPSConnection(host or "", port, timeout=patience, context=context)
            if proxy.hostname:
                connection.set_tunnel(parts.hostname or "", parts.port, headers=_proxy_login(proxy))
        # the way that http.client leaves open for another maker of sockets
        vars(connection)["_create_connection"] = self._names.connected
        return connection

    def _proxy(self, parts: SplitResult) -> str:
        """Return the address of the proxy, "" for none: pip's own, else what the environment says."""
        host = parts.hostname or ""
        found = self.access.proxy or ("" if proxy_bypass(host) else getproxies().get(parts.scheme, ""))
        return found if not found or "://" in found else f"http://{found}"

    def _trusts(self, parts: SplitResult) -> bool:
        return not {parts.hostname or "", parts.netloc}.isdisjoint(self.access.trusted)

    def _login(self, parts: SplitResult) -> Login | None:
        try:
            found = netrc.netrc(self.access.netrc).authenticators(parts.hostname or "") if self.access.netrc else None
        except (OSError, netrc.NetrcParseError, UnicodeDecodeError):
            return None
        return (found[0], found[2] or "") if found else None

    def _context(self, *, trusted: bool) -> ssl.SSLContext:
        if trusted not in self._contexts:
            self._contexts[trusted] = _context(self.access)
            if trusted:
                self._contexts[trusted].check_hostname = False
                self._contexts[trusted].verify_mode = ssl.CERT_NONE
        return self._contexts[trusted]


class _Names:
    """Looks a host's addresses up once, and one host at a time: many a resolver loses questions asked at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[tuple[str, int], list[tuple[str, int]]] = {}

    def connected(self, place: tuple[str, int], timeout: float, *_: object) -> socket.socket:
        """Connect to the first address that answers (socket.create_connection)."""
        with self._lock:
            if place not in self._known:
                found = socket.getaddrinfo(*place, type=socket.SOCK_STREAM)
                self._known[place] = [(str(address[0]), place[1]) for *_, address in found]
        problem: OSError = OSError("no address")
        for address in self._known[place]:
            try:
                return socket.create_connection(address, timeout)
            except OSError as error:
                problem = error
        raise problem


def _context(access: Access) -> ssl.SSLContext:
    folder = os.path.isdir(access.cert)
    file, directory = (None, access.cert) if folder else (access.cert or None, None)
    try:
        context = ssl.create_default_context(cafile=file, capath=directory)
        if access.client_cert:
            context.load_cert_chain(access.client_cert)
    except OSError as error:
        raise UnreadError(f"the certificates cannot be read: {error.strerror or error}", otherwise=True) from error
    return context


def _answer(response: http.client.HTTPResponse, body: bytes) -> Page | str | None:
    status = response.status
    if status in _GONE:
        return None
    if status in _MOVED and (place := response.getheader("Location")):
        return place
    if status != http.HTTPStatus.OK:
        said = " (it wants other credentials)" if status in _BARRED else ""
        raise UnreadError(f"HTTP {status}{said}", status=status, otherwise=status in _BARRED)
    return Page(response.headers.get_content_type(), body)


def _unreached(reason: object, patience: float) -> UnreadError:
    if isinstance(reason, ssl.SSLCertVerificationError):
        return UnreadError(f"its certificate is not trusted: {reason.verify_message}", otherwise=True)
    if isinstance(reason, TimeoutError):
        return UnreadError(f"no answer within {patience:.0f} s")
    if isinstance(reason, OSError) and reason.strerror:
        return UnreadError(f"no connection: {reason.strerror}")
    said = reason if isinstance(reason, str) else type(reason).__name__
    return UnreadError(f"no whole answer: {said}")


def _body(response: http.client.HTTPResponse, ends: float) -> bytes:
    """Read to the end, which has to be the whole: half a list of files looks like a whole one of fewer files."""
    zipped = response.headers.get("Content-Encoding", "").lower() == "gzip"
    unzip = zlib.decompressobj(31) if zipped else None
    parts, size = [], 0
    while block := response.read1(1 << 16):
        if time.monotonic() > ends:
            raise UnreadError("no whole answer in time")
        if unzip is not None:
            block = unzip.decompress(block, LIMIT)
        parts.append(block)
        size += len(block)
        if size > LIMIT or (unzip is not None and unzip.unconsumed_tail):
            raise UnreadError(f"its page holds more than {LIMIT >> 20} MiB")
    if response.length or (unzip is not None and not unzip.eof):
        raise UnreadError("broke off in the middle of its page")
    return b"".join(parts)


def _in_folder(path: str) -> Page | None:
    """Read a page of an index that is a directory: pip looks for index.html in it (pip 26.3, index/collector.py)."""
    path = os.path.join(path, "index.html") if os.path.isdir(path) else path
    try:
        return Page("text/html", regular(path, LIMIT))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        raise UnreadError(f"cannot be read: {getattr(error, 'strerror', None) or error}") from error


def _loops_back(name: str) -> bool:
    import ipaddress

    try:
        return name == "localhost" or ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _proxy_login(proxy: SplitResult) -> dict[str, str]:
    if proxy.username is None:
        return {}
    return {"Proxy-Authorization": _basic((unquote(proxy.username), unquote(proxy.password or "")))}


def _basic(login: Login) -> str:
    return "Basic " + base64.b64encode(":".join(login).encode()).decode()

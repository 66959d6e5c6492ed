"""Where to look for archives: directories, the lock's own options, and what pip and uv are configured for.

Addresses may hold passwords. They reach pip by its environment or by a requirements file that nobody else can read,
never by a command line, and are never printed.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from envdoctor.errors import LockError, StepError
from envdoctor.locks import files, lines, options
from envdoctor.model import Lock
from envdoctor.printable import last_lines
from envdoctor.progress import Work
from envdoctor.system import uvconfig
from envdoctor.system.host import Host
from envdoctor.system.pipconfig import PipConfig, parse
from envdoctor.system.tool import perform
from envdoctor.system.uvconfig import UvSaid

PIP = (sys.executable, "-I", "-m", "pip")
"""The doctor's own."""
ANSWER_WITHIN = 60.0
_KEPT = ("--index-url", "--pypi-url", "--extra-index-url", "--find-links", "--trusted-host", "--no-index")
"""Options of a lock that say where to look; others change how to install, which is not the lock's to say."""
_DROPPED = frozenset(
    {
        *("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "VIRTUAL_ENV", "CONDA_PREFIX"),
        *("PIP_PYTHON", "PIP_PLATFORM", "PIP_ABI", "PIP_IMPLEMENTATION", "PIP_PYTHON_VERSION", "PIP_REQUIREMENT"),
    }
)
"""Variables that are for the caller's job, or say what envdoctor says itself."""
_SAID = {
    "PIP_NO_INPUT": "1",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PIP_REQUIRE_VIRTUALENV": "0",
    "PIP_QUIET": "0",
    "PIP_VERBOSE": "0",
    "NO_COLOR": "1",
}


@dataclass(frozen=True, slots=True)
class Sources:
    """Where the caller wants archives to come from."""

    lock: Lock
    """Its own options count, and paths in it are relative to its directory."""
    find_links: tuple[str, ...] = ()
    """Directories, absolute."""
    offline: bool = False
    """True to use no network: the store and directories alone."""
    pip_conf: str | None = None
    """A target's own pip.conf, which pip does not read by itself when it runs elsewhere."""

    @property
    def folder(self) -> str:
        """The lock's directory."""
        return os.path.dirname(os.path.abspath(self.lock.path))


@dataclass(frozen=True, slots=True)
class Told:
    """What pip is told of where to look."""

    env: Mapping[str, str]
    lines: tuple[str, ...]
    """Option lines for a requirements file: the lock's own."""
    others: tuple[str, ...]
    """Option lines for indexes that the lock names without asking for them: where its maker's tool looked."""
    folders: tuple[str, ...]
    """Directories among all that is configured."""


def tell(sources: Sources, work: Work) -> Told:
    """Find out what pip would be told here, and what else it is to be told. Raises StepError without a pip."""
    env = environment(work.host, sources.pip_conf)
    done = perform([*PIP, "config", "list"], env=env, cwd=cwd(work.host), timeout=ANSWER_WITHIN, held=work.held)
    text = done.stdout.decode(errors="replace")
    if done.status != 0:
        missing = "No module named pip" in text
        what = "pip is not here" if missing else "pip's configuration cannot be read"
        advice = f"install it beside envdoctor: {sys.executable} -m ensurepip" if missing else ""
        raise StepError("fetch", what, last_lines(text), advice)
    pip = parse(text)
    uv = list(uvconfig.everything(sources.folder, work.host))
    env |= {key: value for key, value in _of_uv(pip, uv, work.host).items() if value and key not in env}
    own = tuple(dict.fromkeys(_own(sources.lock)))
    links = (*pip.find_links, *env.get("PIP_FIND_LINKS", "").split(), *_values(own, "--find-links"))
    return Told(env, own, tuple(_indexes(sources.lock)), tuple(_folders(links, work.host)))


def environment(host: Host, pip_conf: str | None = None) -> dict[str, str]:
    """Return the caller's variables for pip: its own configuration stays."""
    env = {name: value for name, value in host.env.items() if name not in _DROPPED} | _SAID
    if pip_conf is not None and os.path.isfile(pip_conf):
        env.setdefault("PIP_CONFIG_FILE", pip_conf)
    return env


def cwd(host: Host) -> str:
    """Return the caller's directory, against which pip reads relative paths; / if it is gone."""
    return host.cwd if os.path.isdir(host.cwd) else os.sep


def _of_uv(pip: PipConfig, said: Iterable[UvSaid], host: Host) -> dict[str, str]:
    """Return variables that tell pip what uv alone knows: certificates, and where to look if pip itself is not told."""
    cert = "" if pip.cert else host.env.get("SSL_CERT_FILE", "")
    added = {"PIP_CERT": cert if os.path.isfile(cert) else ""}
    if pip.index or pip.extra or pip.find_links or pip.no_index:
        return added
    said = list(said)
    addresses = [
        (_with_login(url, each, host), bool(each.default)) for each in said for url in (*each.default, *each.others)
    ]
    default = next((url for url, replaces in addresses if replaces and "://" in url), "")
    others = dict.fromkeys(url for url, replaces in addresses if not replaces and "://" in url)
    links = dict.fromkeys(_joined(link, each, host) for each in said for link in each.find_links)
    added |= {"PIP_INDEX_URL": default, "PIP_EXTRA_INDEX_URL": " ".join(others), "PIP_FIND_LINKS": " ".join(links)}
    return added | {"PIP_TRUSTED_HOST": host.env.get("UV_INSECURE_HOST", "")}


def _with_login(url: str, said: UvSaid, host: Host) -> str:
    return uvconfig.with_login(url, (said.names or {}).get(url, ""), host.env)


def _joined(link: str, said: UvSaid, host: Host) -> str:
    """Return a find-links entry; a path in a file is relative to that file, one in a variable to the caller."""
    if "://" in link:
        return link
    file = said.source.removeprefix("[tool.uv] of ")
    return os.path.join(os.path.dirname(file) if os.path.isabs(file) else host.cwd, link)


def _own(lock: Lock) -> Iterator[str]:
    """Yield the option lines of a requirements lock as they are written: its model holds no secrets.

    A relative directory is made absolute, since pip counts it from the file that names it.
    """
    if lock.format != "requirements":
        return
    for path in dict.fromkeys((lock.path, *(option.file for option in lock.options if option.file))):
        for option in _options(path):
            if option.name in _KEPT:
                beside = os.path.join(os.path.dirname(os.path.abspath(path)), option.value)
                local = option.name == "--find-links" and os.path.exists(beside)
                yield f"{option.name} {beside if local else option.value}".rstrip()


def _options(path: str) -> Iterator[options.Option]:
    text, _ = lines.decode(files.read_bytes(path), path)
    for _, line in lines.logical_lines(text):
        body, rest = options.split(line)
        if rest and not body:
            yield from options.parse(rest)[0]


def _indexes(lock: Lock) -> Iterator[str]:
    """Yield lines for the indexes that a lock of another format names."""
    if lock.format == "pipfile":
        try:
            document = json.loads(files.read_bytes(lock.path))
            found = [source["url"] for source in document["_meta"]["sources"]]
        except (LockError, ValueError, LookupError, TypeError):
            found = []
    else:
        found = list(lock.indexes) if lock.format != "requirements" else []
    # of them pipenv alone puts variables of the environment into addresses, as pip does in a requirements file
    plain = (url for url in found if isinstance(url, str) and ("$" not in url or lock.format == "pipfile"))
    yield from (f"--extra-index-url {url}" for url in plain if _is_index(url))


def _is_index(url: str) -> bool:
    return url.startswith(("https://", "http://")) and "****@" not in url and not any(map(str.isspace, url))


def _values(own: Iterable[str], option: str) -> list[str]:
    return [line.partition(" ")[2] for line in own if line.startswith(f"{option} ")]


def _folders(links: Iterable[str], host: Host) -> Iterator[str]:
    for link in dict.fromkeys(links):
        path = link.removeprefix("file://")
        if "://" not in path and os.path.isdir(found := os.path.join(host.cwd, path)):
            yield found

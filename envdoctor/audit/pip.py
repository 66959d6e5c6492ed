"""pip, for what it alone knows: which indexes it is configured for, and which file of a release it would take.

It is the pip beside the doctor's own interpreter, else that interpreter's module, else the one on PATH: its user-wide
and machine-wide configuration and its environment variables are the same for all, that of one environment is its own.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from envdoctor.errors import EnvDoctorError
from envdoctor.locks.text import file_name
from envdoctor.system.host import Completed, Host
from envdoctor.system.pipconfig import is_on, settings
from envdoctor.system.web import Access, UnreadError
from envdoctor.views.lock_online import Listed, ListedFile, Pin

WITHIN = 15.0
"""Seconds for a question that needs no network; pip takes half a second to start."""
_DEFAULT = re.compile(r"Base URL of the Python Package Index \(default (\S+)\)")


@dataclass(frozen=True, slots=True)
class Configured:
    """What pip is told."""

    indexes: tuple[str, ...]
    """Addresses, with their credentials: never to be printed or stored."""
    access: Access


def command(host: Host) -> list[str] | None:
    """Find pip; None if there is none."""
    beside = os.path.join(os.path.dirname(sys.executable), "pip")
    return [beside] if os.access(beside, os.X_OK) else as_module("pip") or on_path("pip", host)


def as_module(name: str) -> list[str] | None:
    """Return how to run a module of the doctor's own interpreter, None if it has none of that name."""
    # -P: not from the current directory, which may be anybody's
    return [sys.executable, "-P", "-m", name] if importlib.util.find_spec(name) is not None else None


def on_path(name: str, host: Host) -> list[str] | None:
    """Find a program on the caller's PATH; what PATH names relative to the current directory is passed over."""
    folders = [folder for folder in host.env.get("PATH", "").split(os.pathsep) if os.path.isabs(folder)]
    found = shutil.which(name, path=os.pathsep.join(folders)) if folders else None
    return [found] if found else None


def configured(pip: Sequence[str], host: Host) -> Configured:
    """Ask pip for its configuration. Raises EnvDoctorError if it names no index."""
    options = settings(_asked([*pip, "config", "list"], host).stdout.decode(errors="replace"))
    if is_on(options, "no-index"):
        raise EnvDoctorError("pip is configured to ask no index (no-index)")
    first = options.get("index-url") or _default(pip, host)
    indexes = dict.fromkeys([first, *options.get("extra-index-url", "").split()])
    env = host.env
    cert = options.get("cert") or env.get("REQUESTS_CA_BUNDLE") or env.get("CURL_CA_BUNDLE", "")
    trusted = tuple(options.get("trusted-host", "").split())
    netrc = env.get("NETRC") or os.path.join(host.home, ".netrc")
    access = Access(cert, options.get("client-cert", ""), options.get("proxy", ""), trusted, netrc)
    return Configured(tuple(_address(index, host) for index in indexes), access)


def _default(pip: Sequence[str], host: Host) -> str:
    """Return the index that pip asks when it is told of none: its help says it."""
    done = _asked([*pip, "download", "--help"], host)
    match = _DEFAULT.search(" ".join(done.stdout.decode(errors="replace").split()))
    if match is None:
        raise EnvDoctorError("pip does not say which index it asks")
    return match[1]


def _address(index: str, host: Host) -> str:
    """Return an index as an address; pip takes a directory too. Raises EnvDoctorError for what is neither."""
    if "://" not in index:
        return f"file://{os.path.join(host.cwd, index)}".rstrip("/")
    try:
        urlsplit(index).port  # noqa: B018 - it is read to see whether it can be
    except ValueError as error:
        raise EnvDoctorError("pip is configured for an index whose address is none") from error
    return index.rstrip("/")


def _asked(argv: Sequence[str], host: Host) -> Completed:
    done = host.run(argv, timeout=WITHIN, env=_environment(host))
    if done.status != 0:
        raise EnvDoctorError(f"pip does not answer: {done.problem or f'exit status {done.status}'}")
    return done


def _environment(host: Host) -> dict[str, str]:
    return {**host.env, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1", "NO_COLOR": "1", "COLUMNS": "1000"}


def taken(pip: Sequence[str], pin: Pin, host: Host, timeout: float) -> Listed:
    """Return the file that pip would install here for a pin, by the report of a dry run. Raises UnreadError.

    No source archive is built for it. Without the index's help (PEP 658) pip fetches the wheel for its metadata.
    """
    options = ("--quiet", "--dry-run", "--ignore-installed", "--no-deps", "--only-binary", ":all:", "--retries", "0")
    wish = f"{pin[0]}=={pin[1]}"
    done = host.run([*pip, "install", *options, "--report", "-", wish], timeout=timeout, env=_environment(host))
    if done.status != 0:
        raise UnreadError(f"and pip finds it not either ({done.problem or f'exit status {done.status}'})")
    try:
        (item,) = json.loads(done.stdout)["install"]
        info = item["download_info"]
        hashes = info["archive_info"].get("hashes") or {}
        yanked = "" if item.get("is_yanked") else None
        file = ListedFile(file_name(info["url"]), tuple(f"{key}:{hashes[key]}".lower() for key in hashes), yanked)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise UnreadError("and pip's report is none that this envdoctor knows") from error
    return Listed((file,), whole=False)

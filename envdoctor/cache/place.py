"""Where inductor keeps its compile cache for a job, and where envdoctor keeps the saves of it."""

from __future__ import annotations

import hashlib
import os
import pwd
import re
from dataclasses import dataclass

from envdoctor.system.host import Host

VARIABLE = "TORCHINDUCTOR_CACHE_DIR"
TEMPORARY = ("TMPDIR", "TEMP", "TMP")
"""Variables that tempfile.gettempdir() obeys, in its order."""
TEMPORARY_DEFAULTS = ("/tmp", "/var/tmp", "/usr/tmp")  # noqa: S108 - tempfile's own
USER = ("LOGNAME", "USER", "LNAME", "USERNAME")
"""Variables that getpass.getuser() obeys, in its order."""
_UNFIT = re.compile(r'[\\/:*?"<>|]')


@dataclass(frozen=True, slots=True)
class Place:
    """A directory, and why it is that one."""

    path: str
    """Absolute."""
    why: str
    """The variable that names it, or `default`."""


def inductor(host: Host, named: str | None = None, option: str = "--cache") -> Place:
    """Return the cache that a job started here would use; `named` is what the caller says instead, by that option.

    `cache_dir` and `default_cache_dir` of torch/_inductor/runtime/cache_dir_utils.py, torch 2.9 to 2.15.
    """
    if named is not None:
        return Place(_absolute(host, os.path.expanduser(named)), option)
    if VARIABLE in host.env:
        return Place(_absolute(host, host.env[VARIABLE]), VARIABLE)
    folder, why = _temporary(host)
    return Place(os.path.join(folder, f"torchinductor_{_UNFIT.sub('_', _user(host))}"), why)


def _absolute(host: Host, path: str) -> str:
    return os.path.abspath(os.path.join(host.cwd, path))


def _temporary(host: Host) -> tuple[str, str]:
    """Do as tempfile.gettempdir() does, but for its trial file."""
    named = [(_absolute(host, host.env[name]), name) for name in TEMPORARY if host.env.get(name)]
    for folder, why in (*named, *((folder, "default") for folder in TEMPORARY_DEFAULTS)):
        if os.path.isdir(folder) and os.access(folder, os.W_OK | os.X_OK):
            return folder, why
    return host.cwd, "default"


def _user(host: Host) -> str:
    """Do as getpass.getuser() does."""
    for name in USER:
        if host.env.get(name):
            return host.env[name]
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return f"uid_{os.getuid()}"


def store(host: Host, prefix: str) -> str:
    """Return the directory of the saves made for an environment, by the path that is its identity."""
    data = host.env.get("XDG_DATA_HOME", "")
    if not os.path.isabs(data):  # the XDG base directory specification: a relative one is to be ignored
        data = os.path.join(host.home, ".local", "share")
    identity = os.path.join(os.path.realpath(os.path.dirname(prefix)), os.path.basename(prefix))
    key = hashlib.sha256(identity.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return os.path.join(data, "envdoctor", "caches", key)

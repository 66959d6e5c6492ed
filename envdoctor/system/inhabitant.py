"""Whoever would run the job on a machine of which only the files are here (`--root`), and what a login gives him.

The caller's variables say nothing of that machine, and those that an image sets are kept beside its files, not in them
(OCI image specification, `config.Env`). So there is a home, a name and a PATH, and nothing else.
"""

from __future__ import annotations

import os

from envdoctor.system.reading import regular
from envdoctor.system.rooted import below, resolve

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""What a container has where nothing else is said (moby's DefaultPathEnvUnix), and what Debian's login.defs gives."""
ROOT = ("root", "/root")
_LIMIT = 1 << 20
"""Bytes of a passwd file."""


def environment(root: str, prefix: str) -> dict[str, str]:
    """Return the variables of the user whom an environment below the root belongs to."""
    name, home = _owner(root, prefix)
    return {"PATH": PATH, "HOME": home, "LOGNAME": name}


def _owner(root: str, prefix: str) -> tuple[str, str]:
    """Return (name, home) of the environment's owner by the machine's own passwd; root, where that does not tell.

    Where /etc is not root's, the files were unpacked by somebody without privileges, and their owners mean nothing.
    """
    try:
        uid = os.stat(prefix).st_uid
        if os.stat(below(root, resolve(root, "/etc"))).st_uid != 0:
            return ROOT
        text = regular(below(root, resolve(root, "/etc/passwd")), _LIMIT).decode(errors="replace")
    except (OSError, ValueError):
        return ROOT
    lines = (line.split(":") for line in text.splitlines())
    users = {fields[2]: (fields[0], fields[5]) for fields in lines if len(fields) >= 7}
    name, home = users.get(str(uid), ROOT)
    return (name, home) if name and home.startswith("/") else ROOT

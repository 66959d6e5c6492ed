"""Where pip looks for packages, as its configuration says, and how uv is told the same.

Source: the environment variables of uv 0.13.9. Values go to uv by its environment: a command line can be read by
everybody on the machine.
"""

from __future__ import annotations

from collections.abc import Mapping

from envdoctor.system.pipconfig import PipConfig

_OWN = ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_INDEX", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS")
"""Variables by which uv itself is told where to look."""


def for_uv(pip: PipConfig, env: Mapping[str, str], *, configured: bool) -> dict[str, str]:
    """Return variables that tell uv what pip knows and uv does not read, none that is set already.

    `configured` says that uv's own files name indexes: then where to look is not added to. pip takes the best version
    of all its indexes, whichever has it, and so is uv told to do.
    """
    added = {"SSL_CERT_FILE": pip.cert, "UV_INSECURE_HOST": " ".join(pip.trusted_hosts)}
    if not configured and not is_set(env):
        indexes = [url for url in (pip.index, *pip.extra) if url and not pip.no_index]
        if pip.index and indexes:
            added["UV_DEFAULT_INDEX"] = indexes.pop()  # the last to be asked; the order decides between equal versions
        added |= {"UV_INDEX": " ".join(indexes), "UV_FIND_LINKS": ",".join(pip.find_links)}
        added |= {"UV_INDEX_STRATEGY": "unsafe-best-match" if indexes else ""}
    return {name: value for name, value in added.items() if value and name not in env}


def is_set(env: Mapping[str, str]) -> bool:
    """Tell whether variables of uv's own say where to look."""
    return any(name in env for name in _OWN)


def names_indexes(table: object) -> bool:
    """Tell whether uv's settings (uv.toml, or `[tool.uv]`) say where to look."""
    if not isinstance(table, Mapping):
        return False
    keys = {"index", "index-url", "extra-index-url", "find-links", "no-index"}
    return bool(keys & table.keys()) or names_indexes(table.get("pip"))

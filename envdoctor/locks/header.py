"""What a lock of ours says of its making, so that it can be judged without a network whether it is still current.

In a requirements lock it stands in the comments above the first pin, in a pylock in the table `[tool.envdoctor]`.
Paths are relative to the lock's own directory; a file outside the project is known by its digest alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

FIRST = "# Locked by envdoctor. To lock again, in the directory of this file:"
HEAD = 1 << 14
"""Characters among which a header is looked for; somebody may have put a line above it."""
_COMMAND = "#     "
ENVIRONMENT = "the installed environment"
_OUTSIDE = "a file outside the project"
_SOURCE = re.compile(r"(.+) sha256:([0-9a-f]{64})")
_FIELD = re.compile(r"# (from|resolver|python|platform): (.+)")


@dataclass(frozen=True, slots=True)
class Source:
    """A file that the lock was compiled from."""

    path: str
    """Relative to the lock's directory, with `/`; "" for a file outside the project, which is not named."""
    sha256: str
    """Of its bytes, hex."""


@dataclass(frozen=True, slots=True)
class Header:
    """How a lock was made."""

    command: str
    """The command that makes it again, run in the lock's directory."""
    resolver: str
    """Tool and version: `uv 0.13.9`, `pip-tools 7.6.2`."""
    python: str
    """`3.12`."""
    platform: str
    """As a wheel tag: `manylinux_2_28_x86_64`."""
    sources: tuple[Source, ...] = ()
    """The file that was named first, then those that it includes; empty for a lock of an installed environment."""


def comments(header: Header) -> str:
    """Write it as the first lines of a requirements lock."""
    sources = [f"{source.path or _OUTSIDE} sha256:{source.sha256}" for source in header.sources] or [ENVIRONMENT]
    lines = [FIRST, f"{_COMMAND}{header.command}", *(f"# from: {source}" for source in sources)]
    fields = {"resolver": header.resolver, "python": header.python, "platform": header.platform}
    return "".join(f"{line}\n" for line in [*lines, *(f"# {name}: {value}" for name, value in fields.items())])


def table(header: Header) -> str:
    """Write it as the last table of a pylock (PEP 751, `tool`)."""
    fields = {"command": header.command, "resolver": header.resolver}
    fields |= {"python": header.python, "platform": header.platform}
    lines = ["[tool.envdoctor]", *(f"{name} = {_string(value)}" for name, value in fields.items())]
    pairs = [
        f"    {{ path = {_string(source.path)}, sha256 = {_string(source.sha256)} }},\n" for source in header.sources
    ]
    return "\n".join([*lines, "from = [" + ("\n" if pairs else "") + "".join(pairs) + "]", ""])


def parse(text: str) -> Header | None:
    """Read it off a lock's text, of either format; None if it has none, or none that is whole. Never raises."""
    at = text.find(FIRST, 0, HEAD)
    if at == 0 or (at > 0 and text[at - 1] == "\n"):
        return _of_comments(text[at:])
    if "\n[tool.envdoctor]" not in text:
        return None
    import tomllib

    try:
        return of_table(tomllib.loads(text).get("tool", {}).get("envdoctor"))
    except (tomllib.TOMLDecodeError, AttributeError, RecursionError):
        return None


def _of_comments(text: str) -> Header | None:
    lines = _leading(text.splitlines())
    if len(lines) < 2 or not lines[1].startswith(_COMMAND):
        return None
    found: dict[str, list[str]] = {}
    for line in lines[2:]:
        if match := _FIELD.fullmatch(line):
            found.setdefault(match[1], []).append(match[2])
    named = found.pop("from", [])
    sources = [] if named == [ENVIRONMENT] else [_source(said) for said in named]
    if not named or not all(sources):
        return None
    single = {name: values[0] for name, values in found.items() if len(values) == 1}
    return of_table(single | {"command": lines[1].removeprefix(_COMMAND), "from": sources})


def _source(said: str) -> dict[str, str] | None:
    match = _SOURCE.fullmatch(said)
    return {"path": "" if match[1] == _OUTSIDE else match[1], "sha256": match[2]} if match else None


def _leading(lines: Iterable[str]) -> list[str]:
    """Return the comment lines before anything else."""
    found: list[str] = []
    for line in lines:
        if not line.startswith("#"):
            break
        found.append(line)
    return found


def of_table(said: object) -> Header | None:
    """Read it off a pylock's table `tool.envdoctor`; None if that is not whole."""
    if not isinstance(said, Mapping):
        return None
    command, resolver, python, platform = (_text(said, name) for name in ("command", "resolver", "python", "platform"))
    sources = said.get("from")
    if not (command and resolver and python and platform) or not isinstance(sources, list):
        return None
    if not all(_is_source(source) for source in sources):
        return None
    pairs = tuple(Source(source["path"], source["sha256"]) for source in sources)
    return Header(command, resolver, python, platform, pairs)


def _text(table: Mapping[str, Any], name: str) -> str:
    value = table.get(name)
    return value if isinstance(value, str) else ""


def _is_source(said: Any) -> bool:  # noqa: ANN401 - whatever TOML holds
    texts = isinstance(said, Mapping) and all(isinstance(said.get(name), str) for name in ("path", "sha256"))
    return texts and re.fullmatch(r"[0-9a-f]{64}", said["sha256"]) is not None


def _string(text: str) -> str:
    """Write a basic string of TOML, which JSON's strings are but for DEL, and for surrogates that no text here has."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")

"""The options of a requirements file: pip's table (pip 26.3, req/req_file.py, SUPPORTED_OPTIONS)."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from envdoctor.locks.text import Fault, quoted

_VALUED = {
    "--index-url": "index",
    "--pypi-url": "index",
    "--extra-index-url": "index",
    "--requirement": "include",
    "--constraint": "constraint",
    "--editable": "editable",
    "--hash": "hash",
    "--find-links": "",
    "--no-binary": "",
    "--only-binary": "",
    "--trusted-host": "",
    "--use-feature": "",
    "--all-releases": "",
    "--only-final": "",
    "--config-setting": "",
    "--config-settings": "",
}
"""Options that take a value -> what the value is to us; "" for those that change how to install, not what."""
_FLAGS = frozenset(("--no-index", "--prefer-binary", "--require-hashes", "--no-require-hashes", "--pre"))
_SHORT = {
    "-i": "--index-url",
    "-f": "--find-links",
    "-r": "--requirement",
    "-c": "--constraint",
    "-e": "--editable",
    "-C": "--config-settings",
}


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a line."""

    kind: str
    """`index`, `include`, `constraint`, `editable`, `hash`, or "" for what does not change the pins."""
    value: str
    name: str = ""
    """The long name."""
    written: str = ""
    """Name and value as written, but for quotes."""


def split(line: str) -> tuple[str, str]:
    """Split a logical line into its requirement and its options; either may be empty.

    Options start at the first blank-separated word with a leading hyphen. The requirement is not unquoted: a
    marker's quotes are part of it.
    """
    words = line.split(" ")
    at = next((place for place, word in enumerate(words) if word.startswith("-")), len(words))
    return " ".join(words[:at]).strip(), " ".join(words[at:])


def parse(text: str) -> tuple[list[Option], list[Fault]]:
    """Return (options, problems) of a line's option part."""
    try:
        words = shlex.split(text) if any(char in text for char in "'\"\\") else text.split()  # shlex is slow
    except ValueError as error:
        return [], [_fault(f"options {quoted(text)} cannot be read: {str(error).lower()}", text)]
    options, problems = list[Option](), list[Fault]()
    at = 0
    while at < len(words):
        first = at
        name, value = _named(words[at])
        at += 1
        if name in _VALUED and value is None and at < len(words):
            value = words[at]
            at += 1
        problem = _problem(name, value)
        if problem is None:
            options.append(Option(_VALUED.get(name, ""), value or "", name, " ".join(words[first:at])))
            continue
        problems.append(_fault(problem, name))
        while at < len(words) and not words[at].startswith("-"):  # its value, as it seems
            at += 1
    return options, problems


def _named(word: str) -> tuple[str, str | None]:
    """Split `--name=value` and `-nvalue`; the value is None if the word holds none."""
    if word.startswith("--"):
        name, equals, value = word.partition("=")
        return name, value if equals else None
    if word[:2] in _SHORT:
        return _SHORT[word[:2]], word[2:] or None
    return word, None


def _fault(message: str, text: str) -> Fault:
    return Fault("unknown-directive", message, text)


def _problem(name: str, value: str | None) -> str | None:
    if name in _VALUED:
        return None if value is not None else f"option {name} lacks its value"
    if name not in _FLAGS:
        kind = "option" if name.startswith("-") else "word"
        return f"unknown {kind} {quoted(name)}; installers stop at it"
    return None if value is None else f"option {name} takes no value"

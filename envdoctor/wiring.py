"""How facts, views and probes ask for what they need: by parameter name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from envdoctor.model import Unavailable


@dataclass(frozen=True, slots=True)
class Need:
    """One thing that a function asks for."""

    name: str
    tolerant: bool
    """True if its annotation admits `Unavailable`: the function then speaks even when the thing could not be read."""


def needs(function: Callable[..., Any]) -> tuple[Need, ...]:
    """Read a function's needs off its parameters, without evaluating annotations (that would cost start-up time)."""
    if not isinstance(function, FunctionType):
        raise TypeError(f"{function!r} is not a plain function")
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    return tuple(Need(name, "Unavailable" in str(function.__annotations__.get(name, ""))) for name in names)


def supply(wanted: tuple[Need, ...], values: Mapping[str, Any]) -> list[Any] | Unavailable:
    """Return the arguments in order, or the first reason why one that is needed is missing."""
    arguments = [values[need.name] for need in wanted]
    for need, value in zip(wanted, arguments, strict=True):
        if isinstance(value, Unavailable) and not need.tolerant:
            return value
    return arguments

"""Frozen dataclasses to JSON values and back, driven by their type hints."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from datetime import date
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints


def to_json(value: Any) -> Any:  # noqa: ANN401 - any value of a fact
    """Turn a value into what `json` can write. A member of a union of dataclasses carries its class as `kind`."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: to_json(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return {"unavailable": fields} if type(value).__name__ == "Unavailable" else fields
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [to_json(item) for item in (sorted(value) if isinstance(value, set | frozenset) else value)]
    if isinstance(value, date):  # a datetime is one
        return value.isoformat()
    return value.name if isinstance(value, Enum) else value


def from_json(kind: Any, data: Any) -> Any:  # noqa: ANN401 - `kind` is any type hint
    """Turn a JSON value back into `kind`. Raises ValueError naming what does not fit; unknown keys are ignored."""
    origin, arguments = get_origin(kind), get_args(kind)
    if dataclasses.is_dataclass(kind):
        return _object(kind, data)
    if origin in (Union, UnionType):
        return _member(arguments, data)
    if origin is tuple:
        return tuple(from_json(arguments[0], item) for item in _is(data, list))
    if origin is frozenset:
        return frozenset(from_json(arguments[0], item) for item in _is(data, list))
    if origin is not None and issubclass_safely(origin, Mapping):
        return {key: from_json(arguments[1], item) for key, item in _is(data, dict).items()}
    if origin is Literal:
        if data not in arguments:
            raise ValueError(f"{data!r} is none of {arguments}")
        return data
    return _plain(kind, data)


def _plain(kind: Any, data: Any) -> Any:  # noqa: ANN401
    if issubclass_safely(kind, date):
        return kind.fromisoformat(_is(data, str))
    if issubclass_safely(kind, Enum):
        return _named(kind, data)
    if kind is float:
        return _float(_is(data, (int, float)))
    return data if kind in (Any, object) else _is(data, kind if kind is not None else NoneType)


def _named(kind: type[Enum], data: Any) -> Enum:  # noqa: ANN401
    if _is(data, str) not in kind.__members__:
        raise ValueError(f"{data!r} is none of {', '.join(kind.__members__)}")
    return kind[data]


def _float(number: float) -> float:
    try:
        return float(number)
    except OverflowError as error:
        raise ValueError(str(error)) from error


def issubclass_safely(kind: Any, parent: type) -> bool:  # noqa: ANN401
    """`issubclass` that says no for what is no class."""
    return isinstance(kind, type) and issubclass(kind, parent)


@cache
def _hints(kind: type) -> Mapping[str, Any]:
    return get_type_hints(kind)


def _object(kind: Any, data: Any) -> Any:  # noqa: ANN401
    data = _is(data, dict)
    if kind.__name__ == "Unavailable":
        data = _is(data.get("unavailable"), dict)
    hints = _hints(kind)
    values = {}
    for field in dataclasses.fields(kind):
        if field.name in data:
            try:
                values[field.name] = from_json(hints[field.name], data[field.name])
            except ValueError as error:
                raise ValueError(f"{field.name}: {error}") from error
    try:
        return kind(**values)
    except TypeError as error:
        raise ValueError(str(error)) from error


def _member(kinds: tuple[Any, ...], data: Any) -> Any:  # noqa: ANN401
    if data is None and NoneType in kinds:
        return None
    marked = isinstance(data, dict) and "unavailable" in data
    chosen = [
        kind for kind in kinds if kind is not NoneType and (getattr(kind, "__name__", "") == "Unavailable") == marked
    ]
    problem = ValueError(f"nothing fits {data!r}")
    for kind in chosen:
        try:
            return from_json(kind, data)
        except ValueError as error:
            problem = error
    raise problem


def _is(data: Any, kind: Any) -> Any:  # noqa: ANN401
    if not isinstance(data, kind) or (isinstance(data, bool) and kind in (int, (int, float))):
        raise ValueError(f"expected {getattr(kind, '__name__', kind)}, found {type(data).__name__}")
    return data

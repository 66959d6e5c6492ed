"""Whose the flag is that says "FX is tracing": the process's or each thread's. From torch's source text alone.

Read in torch/fx/_symbolic_trace.py, torch/compiler/__init__.py and torch/_dynamo/convert_frame.py of torch 2.9.1,
2.10.0, 2.11.0, 2.12.0, 2.13.0, 2.14.1 and 2.15.0; lines and versions are in knowledge/fx_guard.toml.
"""

from __future__ import annotations

import ast
import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from envdoctor import knowledge
from envdoctor.facts.torch_build import TorchBuild
from envdoctor.model import Target, Unavailable
from envdoctor.system.host import Host
from envdoctor.system.reading import regular

FLAG, COMPILING = "_is_fx_tracing_flag", "_is_compiling_flag"
ASKED = "is_fx_tracing"
"""Every name that has to do with the flag holds this, in all versions."""
_TRACER = os.path.join("fx", "_symbolic_trace.py")
_COMPILER = os.path.join("compiler", "__init__.py")
_FRAMES = os.path.join("_dynamo", "convert_frame.py")
_LIMIT = 1 << 20
"""Bytes of one source file; the largest, convert_frame.py of 2.13.0, has 101 kB."""


@dataclass(frozen=True, slots=True)
class FxFlag:
    """The flag of the target's torch."""

    path: str
    """The _symbolic_trace.py that was read."""
    kind: Literal["global", "masked", "thread-local", "absent"]
    """masked: a global that counts for nothing while torch.compile compiles, but does while anything else traces."""
    line: int | None = None
    """Where the flag is defined; None if there is none."""

    @property
    def shared(self) -> bool:
        """True if a thread sees what another one traces."""
        return self.kind in ("global", "masked")


def collect(target: Target, host: Host, torch_build: TorchBuild) -> FxFlag | Unavailable:  # noqa: ARG001 - as all
    """Read the sources beside the version.py that was found. Nothing of them is ever run."""
    folder = os.path.dirname(torch_build.path)
    path = os.path.join(folder, _TRACER)
    try:
        tree = _parsed(_read(path), path)
        line, kind = _defined(tree)
        if kind is None:
            return Unavailable(f"{path} says in no known way whose the FX-tracing flag is")
        return FxFlag(path, "masked" if kind == "global" and _masked(folder) else kind, line)
    except FileNotFoundError as error:
        return Unavailable(f"{error.filename} is not there")
    except OSError as error:
        return Unavailable(f"{error.filename or path}: {error.strerror or error}", failed=True)
    except ValueError as error:
        return Unavailable(str(error))


def guardable() -> tuple[str, ...]:
    """Return the releases of torch that the guard fx-race was tested with."""
    return tuple(row["torch"] for row in knowledge.rows("fx_guard") if "tested" in row)


def is_guardable(build: TorchBuild) -> bool:
    """Tell whether a build is of such a release; its local label (+cu130) does not matter."""
    return (build.version or "").partition("+")[0] in guardable()


def _read(path: str) -> str:
    """Read a source file. Raises OSError; ValueError, with the path, if it is no regular file or too large."""
    try:
        return regular(path, _LIMIT).decode("utf-8-sig", errors="replace")
    except ValueError as error:
        raise ValueError(f"{path} {error}") from error


def _parsed(text: str, path: str) -> ast.Module:
    """Parse it. Raises ValueError, with the path, if it is not Python."""
    try:
        with warnings.catch_warnings(action="ignore"):  # of the text: an odd escape in it is not the doctor's
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ValueError(f"{path} is not Python") from error


def _defined(tree: ast.Module) -> tuple[int | None, Literal["global", "thread-local", "absent"] | None]:
    """Say where the flag is given its first value, and of which kind that is; None for a kind that is not known."""
    values = {name: node for name, node in _assigned(tree) if ASKED in name}
    locals_ = [node.lineno for node in values.values() if _is_thread_local(node.value)]
    plain = values.get(FLAG)
    if plain is not None and isinstance(plain.value, ast.Constant) and len(values) == 1:
        return plain.lineno, "global"
    if plain is None and len(locals_) == len(values) == 1:
        return locals_[0], "thread-local"
    named = any(ASKED in name for name in _names(tree))
    return None, None if named else "absent"


def _assigned(tree: ast.Module) -> Iterator[tuple[str, ast.Assign | ast.AnnAssign]]:
    for node in tree.body:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and isinstance(target, ast.Name):
            yield target.id, node


def _is_thread_local(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Call) and ast.unparse(value.func) in ("threading.local", "local")


def _names(tree: ast.AST) -> Iterator[str]:
    """Yield all that is named: variables, attributes, functions, what `global` names."""
    for node in ast.walk(tree):
        yield from getattr(node, "names", ()) if isinstance(node, ast.Global) else ()
        yield from (text for key in ("id", "attr", "name") if isinstance(text := getattr(node, key, None), str))


def _masked(folder: str) -> bool:
    """Tell whether torch.compile holds is_compiling() True as long as it compiles: the flag then does not count.

    torch/compiler/__init__.py has a function that sets the global, and convert_frame.py enters it (2.13.0: lines 519 to
    529, and 1679). A torch without one of the two files does not: that is the graver reading.
    """
    try:
        path = os.path.join(folder, _COMPILER)
        setters = list(_setters(_parsed(_read(path), path)))
        frames = _read(os.path.join(folder, _FRAMES)) if setters else ""
    except FileNotFoundError:
        return False
    return any(f"{name}(" in frames for name in setters)


def _setters(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and any(
            COMPILING in part.names for part in ast.walk(node) if isinstance(part, ast.Global)
        ):
            yield node.name

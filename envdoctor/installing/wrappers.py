"""Scripts that installers write: first lines, and the few lines that call an entry point.

The texts differ between pip's versions and uv's, so the body is judged by what it does: import one object, clean up
argv[0], call the object, exit (entry points specification, PyPA). Anything more is a fault.
"""

from __future__ import annotations

import ast
import re

_NAMES = {"sys", "re", "__name__"}
_CALLS = {"sys.exit", "re.sub", "sys.argv[0].endswith", "sys.argv[0].removesuffix"}
_STATEMENTS = (ast.Import, ast.ImportFrom, ast.If, ast.Assign, ast.Expr)
_EXPRESSIONS = (
    ast.Attribute, ast.Call, ast.Compare, ast.Constant, ast.Name, ast.Slice, ast.Subscript, ast.UnaryOp,
    ast.Load, ast.Store, ast.Eq, ast.USub, ast.alias,
)  # fmt: skip
_NUMBERED = rb"(?:3(?:\.\d+t?)?)?"
LIMIT = 64 << 10
"""Bytes of a wrapper; pip's have 200."""


def body(data: bytes, prefix: str) -> bytes | None:
    """Return a script without its first line, or lines; None if those do not start this venv's python.

    ensurepip writes bin/python3.11, pip and uv what they are told; all of these names are one interpreter (own.py).
    A path too long for the kernel, or with a space, is started by /bin/sh: three lines that are a string to Python.
    uv writes a single quote in it as a shell has to read it.
    """
    path = f"{prefix}/bin/python".encode("utf-8", "surrogateescape")
    python = re.escape(path) + _NUMBERED
    quoted = re.escape(path.replace(b"'", b"'\"'\"'")) + _NUMBERED
    direct = rb"#!" + python + rb"[ \t]*\r?\n"
    named = rb"(?:(?P<quote>[\"']?)" + python + rb"(?P=quote)|'" + quoted + rb"')"
    shell = rb"#!/bin/sh\n'''exec' " + named + rb" \"\$0\" \"\$@\"\n' '''\n"
    match = re.match(rb"(?:%s|%s)" % (direct, shell), data)
    return data[match.end() :] if match else None


def fault(data: bytes, prefix: str, target: str) -> str:
    """Say what is wrong with the wrapper of an entry point `module:object`; "" if nothing is."""
    code = body(data, prefix)
    if code is None:
        return "does not start this environment's python"
    module, _, called = target.partition(":")
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "is no script that can be read"
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    imported = called.partition(".")[0]
    expected = [(module, 0, [(imported, None)])]
    if [(node.module, node.level, [(name.name, name.asname) for name in node.names]) for node in imports] != expected:
        return f"does not import {target} alone"
    if any(not _is_harmless(node, imported, called) for node in ast.walk(tree)):
        return "does more than to call its entry point"
    calls = [ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return "" if f"sys.exit({called}())" in calls else f"does not call {target}"


def _is_harmless(node: ast.AST, imported: str, called: str) -> bool:
    """Tell whether a node is one that wrappers have."""
    if isinstance(node, ast.Import):
        return {(name.name, name.asname) for name in node.names} <= {("sys", None), ("re", None)}
    if isinstance(node, ast.Assign):
        return [ast.unparse(target) for target in node.targets] == ["sys.argv[0]"]
    if isinstance(node, ast.Expr):  # a text alone is the rest of the lines for /bin/sh
        return isinstance(node.value, ast.Call) and ast.unparse(node.value.func) == "sys.exit"
    if isinstance(node, ast.Call):
        return ast.unparse(node.func) in _CALLS | {called} and not node.keywords
    if isinstance(node, ast.Name):
        return node.id in _NAMES | {imported}
    return isinstance(node, (*_STATEMENTS, *_EXPRESSIONS, ast.Module))

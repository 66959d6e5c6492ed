"""Make torch's "FX is tracing" flag each thread's own. Run by the target's python at its start; Python 3.9+.

A directory that holds this alone lies first on PYTHONPATH. It imports nothing of torch's, changes no file, and runs the
sitecustomize that it hides; the directory stays in PYTHONPATH for children, not in sys.path.

Up to torch 2.13 the flag is a global of torch/fx/_symbolic_trace.py. Once that module has been executed, the three
functions that name the global (`is_fx_tracing`, `is_fx_symbolic_tracing`, `Tracer.trace`) get the code that the same
source gives with a thread-local in its place, and the module's attribute, by which torch/_higher_order_ops/utils.py
reads and writes it, becomes a property of that thread-local: torch 2.14 does the same. The functions remain the objects
that they were, whoever holds them, and their code that of torch's file, which dynamo skips. All places are named in
envdoctor/knowledge/fx_guard.toml. A release that was not tested, or whose source names the flag elsewhere, is left
alone.
"""

from __future__ import annotations

import os
import sys
from _thread import _local
from types import CodeType, FunctionType, ModuleType

MYPY = False
if MYPY:  # every process of the job starts with this: what only some need is imported there
    from typing import Any, Iterator, List, Tuple

HERE = os.path.dirname(os.path.abspath(__file__))
SAID = "ENVDOCTOR_FX_GUARD_SAID"
"""The variable that keeps children from saying what their parent said."""
TESTED = ("2.11.0", "2.12.0", "2.13.0")
"""As knowledge/fx_guard.toml has them."""
MODULE, FLAG, OWN = "torch.fx._symbolic_trace", "_is_fx_tracing_flag", "_envdoctor_fx_tracing"
PLACES = (
    ("", "Store"),
    ("Tracer.trace", "Global"),
    ("Tracer.trace", "Load"),
    ("Tracer.trace", "Store"),
    ("Tracer.trace", "Store"),
    ("is_fx_symbolic_tracing", "Load"),
    ("is_fx_tracing", "Load"),
)
"""Where the source names the flag, and how: the same in all tested releases."""
FUNCTIONS = ("Tracer.trace", "is_fx_symbolic_tracing", "is_fx_tracing")
DEFINITIONS = ("FunctionDef", "AsyncFunctionDef", "ClassDef")
"""Nodes of a syntax tree."""


class _Own(_local):
    flag = False


class _Guarded(ModuleType):
    """The module's class: who asks it for the flag, or sets it, means his own thread's."""

    @property
    def _is_fx_tracing_flag(self) -> bool:
        return _own.flag

    @_is_fx_tracing_flag.setter
    def _is_fx_tracing_flag(self, value: bool) -> None:
        _own.flag = value

    def __reduce__(self) -> Any:
        from importlib import import_module

        return import_module, (self.__name__,)  # as cloudpickle keeps a plain module


_own = _Own()
_judged: Any = None
"""The module that was looked at."""


class _LeftError(Exception):
    """Why torch is left alone."""


def _judge(module: Any) -> None:
    """Guard the module and say so, unless another copy of this has; say why not if it cannot be."""
    global _judged
    _judged = module
    if OWN in getattr(getattr(module, FUNCTIONS[-1], None), "__code__", _judge.__code__).co_names:
        return
    torch = "torch " + _version()
    try:
        _guard(module)
        _say("the FX-tracing flag of %s is each thread's own, here and in child processes" % torch)
    except _LeftError as reason:
        _say("left %s alone: %s" % (torch, reason))
    except Exception as error:
        _say("left %s alone: %s: %s" % (torch, type(error).__name__, error))


def _guard(module: Any) -> None:
    """Change the module; all at the end, when nothing can fail any more. Raises _LeftError."""
    if _version().partition("+")[0] not in TESTED:
        raise _LeftError("tested with %s only" % ", ".join(TESTED))
    if getattr(module, FLAG, None) is not False:
        raise _LeftError("it has no such flag, or a trace is going on")
    if type(module) not in (ModuleType, _Guarded):
        raise _LeftError("%s is a %s" % (MODULE, type(module).__name__))
    tree = _source(module)
    if tuple(sorted(_places(tree))) != PLACES:
        raise _LeftError("its source names the flag in other places")
    functions = [_function(module, name) for name in FUNCTIONS]
    path = functions[0].__code__.co_filename
    if [_made(function.__code__) for function in functions] != [_made(code) for code in _compiled(tree, path)]:
        raise _LeftError("%s is not what its source gives" % MODULE)
    codes = _compiled(_rewritten(tree), path)
    setattr(module, OWN, _own)
    module.__class__ = _Guarded
    for function, code in zip(functions, codes):
        function.__code__ = code


def _source(module: Any) -> Any:
    """Return the parsed source without the functions and classes that do not name the flag.

    What else there is stays: CPython compiles a call by the module's imports. Raises _LeftError without a source.
    """
    import ast

    get = getattr(getattr(module, "__loader__", None), "get_source", None)
    text = get(MODULE) if get else None
    if not text:
        raise _LeftError("its source cannot be read")
    tree, lines = ast.parse(text), text.splitlines()
    tree.body = [node for node in tree.body if _kept(node, lines)]
    for node in tree.body:
        if _is(node, "ClassDef"):
            node.body = [part for part in node.body if _kept(part, lines)]
    return tree


def _kept(node: Any, lines: List[str]) -> bool:
    return not _is(node, *DEFINITIONS) or any(FLAG in line for line in lines[node.lineno - 1 : node.end_lineno])


def _is(node: Any, *kinds: str) -> bool:
    return type(node).__name__ in kinds


def _places(node: Any, within: str = "") -> Iterator[Tuple[str, str]]:
    """Yield (function, how) for each place that names the flag."""
    from ast import iter_child_nodes

    if _is(node, *DEFINITIONS):
        within = (within + "." + node.name).lstrip(".")
    if _is(node, "Name") and node.id == FLAG:
        yield within, type(node.ctx).__name__
    if _is(node, "Global") and FLAG in node.names:
        yield within, "Global"
    for child in iter_child_nodes(node):
        yield from _places(child, within)


def _rewritten(tree: Any) -> Any:
    """Put the thread-local in the place of the global."""
    import ast

    class Rewriter(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            if node.id != FLAG:
                return node
            return ast.copy_location(ast.Attribute(ast.Name(OWN, ast.Load()), "flag", node.ctx), node)

    return ast.fix_missing_locations(Rewriter().visit(tree))


def _function(module: Any, path: str) -> Any:
    found = module
    for name in path.split("."):
        found = vars(found).get(name)
    if not isinstance(found, FunctionType):
        raise _LeftError("%s is no plain function" % path)
    return found


def _compiled(tree: Any, path: str) -> List[Any]:
    """Compile it as torch's own file; return the functions' code objects."""
    return [_code(compile(tree, path, "exec", dont_inherit=True), name) for name in FUNCTIONS]


def _code(code: Any, path: str) -> Any:
    for name in path.split("."):
        code = next(part for part in code.co_consts if isinstance(part, CodeType) and part.co_name == name)
    return code


def _made(code: Any) -> Tuple[Any, ...]:
    return code.co_code, code.co_names, code.co_varnames, code.co_freevars, code.co_firstlineno


def _version() -> str:
    """Return what torch/version.py says; torch/__init__.py has imported it before anything of torch.fx."""
    import re

    said = str(getattr(sys.modules.get("torch.version"), "__version__", ""))
    return said if re.match(r"[\w.+!-]{1,64}\Z", said) else "of unknown version"


def _say(text: str) -> None:
    if os.environ.get(SAID) != text:
        os.environ[SAID] = text
        try:
            sys.stderr.write("envdoctor: guard fx-race: " + " ".join(text.split()) + "\n")
        except Exception:
            return


class _Finder:
    """Finds the module as the finders after it do, and has it guarded once it has been executed."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != MODULE:
            _catch_up()
            return None
        others: List[Any] = sys.meta_path[sys.meta_path.index(self) + 1 :]
        for finder in others:
            found = finder.find_spec(name, path, target) if hasattr(finder, "find_spec") else None
            if found is not None:
                if hasattr(found.loader, "exec_module"):
                    found.loader = _Loader(found.loader)
                return found
        return None


class _Loader:
    """The loader that was found, and what follows."""

    def __init__(self, found: Any) -> None:
        self._found = found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._found, name)

    def exec_module(self, module: Any) -> None:
        module.__spec__.loader = module.__loader__ = self._found
        self._found.exec_module(module)
        _judge(module)


def _catch_up() -> None:
    """Guard the module if it came in without the finder: before it, or by one that was put in front of it."""
    module = sys.modules.get(MODULE)
    if (
        module is not None
        and module is not _judged
        and not getattr(getattr(module, "__spec__", None), "_initializing", False)
    ):
        _judge(module)


def _chain() -> None:
    """Run the sitecustomize that would have run without this one, and let the path be the job's."""
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != HERE]
    spec = PathFinder.find_spec("sitecustomize", sys.path)
    if spec is not None and spec.loader is not None:
        module = module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


_catch_up()
sys.meta_path.insert(0, _Finder())
_chain()

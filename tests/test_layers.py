"""Who may import whom. What this table does not list is not allowed; moving a line here is a decision."""

import ast
from pathlib import Path

import pytest

import envdoctor

PACKAGE = Path(envdoctor.__file__).parent
VALUES = {"errors", "model", "printable", "versions"}
TABLE = {
    # values and rules: nothing of ours, or little
    "__init__": set(),
    "errors": set(),
    "model": set(),
    "printable": set(),
    "versions": set(),
    "codec": set(),
    "hits": set(),
    "stacks": set(),
    "envs": set(),
    "knowledge": set(),
    "payloads": set(),
    "wiring": {"model"},
    "pointing": {"model"},
    "companions": {"knowledge", "model", "versions"},
    "builds": {"locks", "model", "versions"},
    "signatures": {"knowledge", "printable"},
    "policy": {"errors", "model"},
    # the machine, and text that came from it
    "system": {"errors", "model", "system"},
    "locks": {"errors", "model", "printable", "locks"},
    "state": {"codec", "errors", "health", "model", "printable", "recorded", "registry", "state", "system"},
    "seals": {"codec", "errors", "system"},
    "facts": {"codec", "errors", "facts", "hooks", "knowledge", "locks", "model", "printable", "seals", "system"}
    | {"signatures", "state"},
    "hooks": {"errors"},
    "environ": set(),
    "activation": {"environ", "errors"},
    "guarding": {"errors", "facts", "hooks"},
    "images": {"errors", "system"},
    "locate": {"envs", "errors", "images", "model", "policy", "seals", "system"},
    # what judges, without touching anything
    "symbols": {"facts", "knowledge", "model"},
    "proof": {"facts", "model"},
    "views": {"builds", "companions", "facts", "hits", "knowledge", "locks", "model", "policy", "printable", "proof"}
    | {"signatures", "stacks", "symbols", "versions", "views"},
    "probes": {
        "builds",
        "companions",
        "facts",
        "hits",
        "hooks",
        "knowledge",
        "locks",
        "model",
        "pointing",
        "policy",
        "printable",
        "stacks",
        "state",
        "versions",
        "views",
    },
    "review": {"facts", "knowledge", "locks", "model", "review"},
    "snapshot": {"facts", "model", "seals", "system", "wiring"},
    "plugins": {"__init__", "errors", "model"},
    "registry": {"errors", "model", "plugins", "policy", "probes", "snapshot", "views", "wiring"},
    "confirm": {"facts", "model", "signatures"},
    "judge": {"confirm", "errors", "model", "policy", "printable", "registry", "snapshot", "wiring"},
    "reports": {"__init__", "model", "printable", "reports", "review"},
    "docs": {"errors", "guarding", "knowledge", "printable", "registry"},
    "recorded": {"__init__", "codec", "errors", "model", "policy", "printable", "snapshot"},
    "schemas": {"changes", "codec", "model", "recorded", "reports", "snapshot"},
    "reuse": {"__init__", "codec", "errors", "facts", "model", "plugins", "policy", "seals", "system"},
    "progress": {"system"},
    "archives": {"archives", "errors", "facts", "locks", "model", "policy", "printable", "progress", "system"},
    "installing": {"archives", "errors", "facts", "installing", "model", "printable", "progress", "system"},
    "generations": {
        "codec",
        "envs",
        "errors",
        "facts",
        "generations",
        "model",
        "printable",
        "progress",
        "seals",
        "system",
    },
    # commands
    "recalling": {"__init__", "errors", "locate", "printable", "state", "system"},
    "jobs": {"facts", "marking", "model", "snapshot", "state", "system"},
    "marking": {"errors", "facts", "model", "snapshot", "state", "system", "views"},
    "history": {"__init__", "codec", "errors", "facts", "history", "inventory", "judge", "knowledge", "locate", "model"}
    | {"printable", "recorded", "seals", "snapshot", "system", "versions", "views", "workflows"},
    "changes": {
        "__init__",
        "changes",
        "codec",
        "errors",
        "facts",
        "knowledge",
        "locate",
        "model",
        "printable",
        "recalling",
    }
    | {"recorded", "review", "seals", "snapshot", "state", "system", "versions", "views", "workflows"},
    "page": {"__init__", "changes", "codec", "errors", "facts", "history", "locate", "model", "page", "recalling"}
    | {"recorded", "reports", "state", "system", "workflows"},
    "inventory": {"__init__", "codec", "locate", "marking", "model", "printable", "registry", "snapshot", "system"}
    | {"views", "workflows"},
    "workflows": {
        "confirm",
        "errors",
        "jobs",
        "judge",
        "knowledge",
        "locate",
        "marking",
        "model",
        "policy",
        "printable",
        "recorded",
        "registry",
        "reuse",
        "snapshot",
        "system",
    },
    "sealing": {"__init__", "codec", "errors", "facts", "locate", "model", "printable", "registry", "seals", "snapshot"}
    | {"system", "workflows"},
    "smoke": {
        "errors",
        "facts",
        "guarding",
        "judge",
        "locate",
        "model",
        "policy",
        "printable",
        "registry",
        "smoke",
        "snapshot",
        "system",
        "views",
    },
    "cache": {"__init__", "activation", "cache", "environ", "envs", "errors", "facts", "hits", "hooks", "locate"}
    | {"model", "printable", "snapshot", "system"},
    "warming": {"__init__", "cache", "errors", "facts", "hits", "judge", "locate", "marking", "model", "policy"}
    | {"printable", "registry", "smoke", "snapshot", "system", "views", "warming"},
    "audit": {
        "audit",
        "codec",
        "errors",
        "judge",
        "locate",
        "locks",
        "model",
        "policy",
        "printable",
        "registry",
        "snapshot",
        "system",
        "views",
    },
    "locking": {
        "views",
        "audit",
        "errors",
        "facts",
        "locate",
        "locking",
        "locks",
        "model",
        "printable",
        "snapshot",
        "system",
    },
    "wheelhouse": {"archives", "audit", "errors", "locate", "locks", "model", "policy", "progress", "snapshot"}
    | {"system"},
    "freezing": {"errors", "facts", "generations", "locate", "model", "sealing", "seals", "system", "workflows"},
    "running": {"activation", "environ", "envs", "errors", "facts", "guarding", "hooks", "locate", "model", "policy"}
    | {"printable", "probes", "registry", "running", "snapshot", "system", "views", "warming", "wiring", "workflows"},
    "wheels": {"__init__"},
    "rebuild": {"__init__", "archives", "audit", "codec", "envs", "errors", "facts", "freezing", "generations"}
    | {
        "installing",
        "judge",
        "locate",
        "locking",
        "locks",
        "model",
        "policy",
        "printable",
        "progress",
        "rebuild",
        "registry",
        "sealing",
        "seals",
    }
    | {"smoke", "snapshot", "system", "versions", "views"},
    "health": {"__init__", "codec", "envs", "errors", "facts", "health", "images", "judge", "knowledge", "locate"}
    | {
        "locks",
        "marking",
        "model",
        "policy",
        "printable",
        "recorded",
        "registry",
        "reports",
        "snapshot",
        "state",
        "system",
    }
    | {"views", "workflows"},
    "demo": {"errors", "model", "system", "wheels", "workflows"},
    "cli": {
        "__init__",
        "audit",
        "cache",
        "changes",
        "cli",
        "demo",
        "docs",
        "errors",
        "freezing",
        "generations",
        "health",
        "history",
        "inventory",
        "locks",
        "locking",
        "model",
        "page",
        "printable",
        "progress",
        "rebuild",
        "recalling",
        "recorded",
        "registry",
        "reports",
        "reuse",
        "review",
        "running",
        "schemas",
        "sealing",
        "smoke",
        "system",
        "warming",
        "wheelhouse",
        "workflows",
    },
    "__main__": {"cli"},
}
MODULES = sorted(path for path in PACKAGE.rglob("*.py"))
PURE = {
    "builds",
    "changes",
    "companions",
    "confirm",
    "history",
    "hits",
    "judge",
    "model",
    "page",
    "printable",
    "proof",
    "probes",
    "reports",
    "review",
    "signatures",
    "stacks",
    "symbols",
    "versions",
    "views",
} | {"wiring"}
MACHINE = {"glob", "io", "open", "os", "pathlib", "shutil", "socket", "subprocess", "tempfile", "urllib"}
"""What reaches the machine, of the standard library."""
HARMLESS = {"os", "os.path", "urllib.parse.quote", "urllib.parse.unquote"} | {
    f"os.path.{name}" for name in ("basename", "dirname", "join", "normpath")
}
"""What pure code may use of them: text in, text out."""


def room(path):
    """Return the room (a package) or the module directly below `envdoctor` that a file belongs to."""
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def imports(path):
    """Yield (module, name) of every import of a file, wherever it stands."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            yield from ((node.module or "", alias.name) for alias in node.names)


def ours(path):
    """Yield the rooms that a file imports from."""
    for module, name in imports(path):
        parts = [part for part in (*module.split("."), name) if part]
        if parts[0] == "envdoctor" and not (path.stem == "__init__" and parts == ["envdoctor"]):
            yield parts[1] if len(parts) > 1 and (PACKAGE / parts[1]).with_suffix(".py").exists() else _package(parts)


def _package(parts):
    return parts[1] if len(parts) > 1 and (PACKAGE / parts[1]).is_dir() else "__init__"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_only_what_its_room_may(path):
    assert room(path) in TABLE, f"{room(path)} is not in the table"
    assert set(ours(path)) - TABLE[room(path)] == set()


def test_an_import_is_seen_wherever_it_stands(tmp_path):
    path = tmp_path / "late.py"
    path.write_text(
        "def f():\n    from envdoctor import cli\n    import envdoctor.facts.files\nfrom envdoctor import __version__\n"
    )
    assert set(ours(path)) == {"cli", "facts", "__init__"}


@pytest.mark.parametrize("path", [path for path in MODULES if room(path) in PURE], ids=lambda path: path.stem)
def test_pure_code_cannot_reach_the_machine(path):
    assert reached(ast.parse(path.read_text(encoding="utf-8"))) - HARMLESS == set()


@pytest.mark.parametrize(
    "code",
    [
        "import os as o",
        "from os import stat",
        "import os\nos.path.exists(p)",
        "import pathlib",
        "open(p)",
        "from glob import glob",
    ],
)
def test_the_search_sees_what_reaches_it(code):
    assert reached(ast.parse(code)) - HARMLESS


def reached(tree):
    """Return what a module uses of those that reach the machine, as dotted names."""
    names = {"open" for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == "open"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {f"{alias.name} as {alias.asname}" if alias.asname else alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Attribute):
            names.add(ast.unparse(node))
    return {name for name in names if name.split(".")[0].split(" ")[0] in MACHINE}

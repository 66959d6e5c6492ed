"""What is wrong with one file of a compile cache of torch and Triton, and what they do when they meet it.

Each damage was made by hand and met by a fresh process: torch 2.11 and 2.13, Triton 3.6, 3.8 and 3.9.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from envdoctor.facts import elf_extent
from envdoctor.system.reading import opened, regular

Kind = Literal["empty", "truncated-elf", "not-elf", "not-json", "not-python", "missing-cubin", "dangling-child"]
Role = Literal[".py", ".cpp", ".so", ".cubin", ".best_config", ".json", "__grp__", "graph"]
"""As what a file is judged. `graph`: a pickle of fxgraph or aotautograd, of which only emptiness can be seen."""
Fault = tuple[Kind, str]
"""What is wrong, and a phrase that follows the file's name."""

PYTHON_LIMIT = 4 << 20
"""Bytes of a module that is compiled."""
JSON_LIMIT = 4 << 20
ELF_LIMIT = elf_extent.READ_LIMIT
CHILDREN = 64
"""Files of one `__grp__` that are looked for; Triton writes seven or so."""

_CRASH = "every run fails with it, and nothing replaces it:"
_AT_LOAD = "it counts as a hit, and the driver refuses to load it"
_GROUP = "Triton 3.6 fails with JSONDecodeError, 3.8 and later compile again"
CONSEQUENCES: Mapping[tuple[Role, Kind], str] = {
    ("graph", "empty"): "torch warns, compiles again and leaves it there",
    (".py", "empty"): f"{_CRASH} the module has no attribute 'call'",
    (".py", "not-python"): f"{_CRASH} SyntaxError or UnicodeDecodeError",
    (".so", "empty"): f"{_CRASH} ImportError, file too short",
    (".so", "not-elf"): f"{_CRASH} ImportError, invalid ELF header",
    (".so", "truncated-elf"): f"{_CRASH} ImportError, unless what is lost happens not to be needed",
    (".cpp", "empty"): f"{_CRASH} ImportError, what is built from it has no PyInit_kernel",
    (".best_config", "empty"): "torch passes over it",
    (".best_config", "not-json"): "torch 2.11 fails with JSONDecodeError or UnicodeDecodeError, 2.13 passes over it",
    (".cubin", "empty"): _AT_LOAD,
    (".cubin", "not-elf"): _AT_LOAD,
    (".cubin", "truncated-elf"): _AT_LOAD,
    (".json", "empty"): "Triton fails with JSONDecodeError",
    (".json", "not-json"): "Triton fails with JSONDecodeError",
    (".json", "missing-cubin"): "Triton 3.6 fails with KeyError: Unknown key: 'cubin', 3.8 and later compile again",
    ("__grp__", "empty"): _GROUP,
    ("__grp__", "not-json"): _GROUP,
    ("__grp__", "dangling-child"): "Triton compiles again, or (3.6) goes on with the files that are left",
}
"""What torch or Triton does when it meets the damage."""
HARMLESS = frozenset({CONSEQUENCES["graph", "empty"], CONSEQUENCES[".best_config", "empty"]})
"""Consequences that no run fails by."""


def faults(path: str, role: Role) -> Iterator[Fault]:
    """Yield what is wrong with a file that is not empty. Raises OSError or ValueError if it cannot be read."""
    if role in (".so", ".cubin"):
        with opened(path, follow=False) as stream:
            found = elf_extent.fault(stream)
        if found is not None:
            yield found
    elif role == ".py":
        yield from _of_python(regular(path, PYTHON_LIMIT, follow=False))
    elif role in (".json", "__grp__", ".best_config"):
        yield from _of_json(path, role, regular(path, JSON_LIMIT, follow=False))


def _of_python(source: bytes) -> Iterator[Fault]:
    """Compile a module to nothing; what it holds is not run.

    By the doctor's own grammar: inductor writes what every Python that its torch supports can read.
    """
    try:
        text = source.decode()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "<cache>", "exec", dont_inherit=True)
    except UnicodeDecodeError:
        yield "not-python", "holds bytes that are no text"
    except SyntaxError as error:
        yield "not-python", f"is no Python from line {error.lineno} on" if error.lineno else "is no Python"
    except (ValueError, OverflowError, RecursionError, MemoryError):
        yield "not-python", "is no Python that can be compiled"


def _of_json(path: str, role: Role, data: bytes) -> Iterator[Fault]:
    try:
        value = json.loads(data.decode())
    except UnicodeDecodeError:
        yield "not-json", "holds bytes that are no text"
        return
    except (ValueError, RecursionError, MemoryError):
        yield "not-json", "is no whole JSON"
        return
    if not isinstance(value, dict):
        yield "not-json", "is JSON, but no object"
    elif role == "__grp__":
        yield from _of_group(path, value)
    elif role == ".json" and _is_for_cuda(value):
        cubin = path.removesuffix(".json") + ".cubin"
        if not os.path.lexists(cubin):
            yield "missing-cubin", f"is there without its {os.path.basename(cubin)}"


def _is_for_cuda(value: Mapping[str, Any]) -> bool:
    target = value.get("target")
    return isinstance(target, dict) and target.get("backend") == "cuda"


def _of_group(path: str, value: Mapping[str, Any]) -> Iterator[Fault]:
    """Look for the files that a kernel consists of, by the absolute paths at which it was built."""
    children = value.get("child_paths")
    if not isinstance(children, dict):
        yield "not-json", "is JSON, but lists no files"
        return
    paths = [child for child in list(children.values())[:CHILDREN] if isinstance(child, str)]
    gone = [child for child in paths if not _exists(child)]
    if len(gone) == 1 and _is_judged_by_its_json(gone[0], os.path.dirname(path)):
        return
    if gone:
        yield "dangling-child", f"names what is not there: {gone[0]}{f' and {len(gone) - 1} more' * (len(gone) > 1)}"


def _is_judged_by_its_json(child: str, folder: str) -> bool:
    """Tell whether a lost file is the cubin that is missed beside name.json already."""
    own = os.path.join(folder, os.path.basename(child))
    return own.endswith(".cubin") and os.path.lexists(f"{own.removesuffix('.cubin')}.json") and not os.path.lexists(own)


def _exists(path: str) -> bool:
    try:
        return os.path.exists(path)
    except ValueError:  # a NUL or a lone surrogate
        return False

"""The libcuda file that triton links its launcher with cannot be found.

Why it matters: before its first kernel triton compiles a helper and links it with libcuda. The driver package brings
libcuda.so.1; releases before 3.6 need libcuda.so as well, and all look only where the linker cache says. CUDA itself
works meanwhile, so that torch runs and only torch.compile fails.

What to do: without root, make a directory with the link that is missing and let TRITON_LIBCUDA_PATH name it; with
root, make the link beside libcuda.so.1, or run ldconfig.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from os.path import dirname, join
from shlex import quote
from typing import Any

from envdoctor.facts.jit_tools import LIBRARY, LINK, JitTools, Place, toolchain
from envdoctor.model import Finding, Severity

FOLDER = "~/.local/lib/triton-libcuda"


def check(jit_tools: JitTools) -> Iterable[Finding]:
    """Search as the installed triton does; without any libcuda.so.1 there is no driver, and nothing to say."""
    row = toolchain(jit_tools.triton.version) if jit_tools.triton else {}
    if not row:
        return
    named = next((place for place in jit_tools.libcuda if place.origin == "TRITON_LIBCUDA_PATH"), None)
    library = _library(jit_tools.libcuda)
    if named is not None and row["variable"]:
        if not _linked(row, [named], jit_tools.libcuda):
            fault = f"TRITON_LIBCUDA_PATH={named.path} holds no {row['links']}"
            yield _finding(named.path, fault, row, jit_tools, library)
        return
    missing = _fault(row, jit_tools.libcuda) if library else None
    if library and missing:
        yield _finding(library, missing, row, jit_tools, library)


def _library(places: Iterable[Place]) -> str | None:
    """Return where the driver's libcuda.so.1 is, or should be by the cache; on LIBRARY_PATH there are stubs."""
    for place in places:
        driver = place.origin in ("ld.so.cache", "LD_LIBRARY_PATH", "linker")
        if driver and (LIBRARY in place.holds or LIBRARY in place.listed):
            return join(place.path, LIBRARY)
    return None


def _fault(row: Mapping[str, Any], places: tuple[Place, ...]) -> str | None:
    """Say what triton would miss; None if it finds all it looks for."""
    lists = row.get("lists")
    searched = [place for place in places if lists and any(lists in name for name in place.listed)]
    if not searched and row["library_path"]:
        searched = [place for place in places if place.origin == "LD_LIBRARY_PATH" and lists in place.holds]
    if lists and not any(lists in place.holds for place in searched):
        if not searched:
            return f"{_library(places)} is not in the linker cache, where triton looks for it"
        return f"the linker cache lists {join(searched[0].path, LIBRARY)}, but {lists} is not there"
    if _linked(row, searched, places):
        return None
    return f"{_library(places)} is there, but no {row['links']}, which triton links its launcher with"


def _linked(row: Mapping[str, Any], searched: list[Place], places: tuple[Place, ...]) -> bool:
    """Tell whether the linker finds its file: in what triton names, on LIBRARY_PATH, or in its own directories."""
    default = [place for place in places if place.origin in ("LIBRARY_PATH", "linker")]
    return any(row["links"] in place.holds for place in (*searched, *default))


def _finding(subject: str, message: str, row: Mapping[str, Any], tools: JitTools, library: str | None) -> Finding:
    version = tools.triton.version if tools.triton else None
    return Finding(
        Severity.ERROR,
        subject,
        message,
        {
            "triton": version,
            "needs": row["links"],
            "places": [{"path": p.path, "origin": p.origin, "holds": list(p.holds)} for p in tools.libcuda],
            "source": row["source"],
        },
        tuple(_remedy(row, library)),
    )


def _remedy(row: Mapping[str, Any], library: str | None) -> Iterator[str]:
    if library is None:
        yield f"unset TRITON_LIBCUDA_PATH, or let it name a directory that holds {row['links']}"
        return
    if row["variable"]:
        names = (LINK, LIBRARY)
        yield f"mkdir -p {FOLDER}"
        yield from (f"ln -sf {quote(library)} {FOLDER}/{name}" for name in names)
        yield f"export TRITON_LIBCUDA_PATH={FOLDER}"
    either = "or as root" if row["variable"] else "as root"
    yield f"{either}: ln -s {LIBRARY} {quote(join(dirname(library), LINK))} and run ldconfig"

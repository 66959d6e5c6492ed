"""Two versions of cuDNN are within the loader's reach.

Why it matters: cuDNN is a small library that opens its parts (libcudnn_ops, libcudnn_cnn, ...) by name. NVIDIA's wheel
looks for them on LD_LIBRARY_PATH before its own directory, so the library and its parts can come from two releases;
and torch refuses a cuDNN older than the one it was built with.

What to do: leave one cuDNN in reach, the wheel's: take the other off LD_LIBRARY_PATH, or remove conda's package where
torch came as a wheel. It is an error where two versions would be loaded together, otherwise a warning.
"""

from __future__ import annotations

import os.path
from collections.abc import Iterable, Mapping

from envdoctor.facts.loader import Copy, Loader, Resolution
from envdoctor.facts.nvidia_wheels import NvidiaWheels
from envdoctor.model import Finding, Severity


def check(loader: Loader, nvidia_wheels: NvidiaWheels) -> Iterable[Finding]:
    """Compare the versions that would be loaded, then those that merely lie in reach."""
    wheels = {item.path: wheel.version for wheel in nvidia_wheels.wheels for item in wheel.libraries if wheel.version}
    loaded = [item for item in loader.resolutions if _is_cudnn(item.soname) and item.path is not None]
    own = {os.path.basename(path): version for path, version in wheels.items() if _is_cudnn(os.path.basename(path))}
    mixed = list(_mixed(loaded, wheels, own))
    if mixed:
        yield _error(mixed, loaded, wheels, own)
        return
    for folder in (*loader.folders, *([loader.conda] if loader.conda else [])):
        others = [copy for copy in folder.libraries if _differs(copy.version, own.get(copy.soname))]
        if others:
            yield _warning(folder.path, others, own, on_path=folder is not loader.conda)


def _is_cudnn(soname: str) -> bool:
    return soname.startswith("libcudnn")


def _mixed(loaded: list[Resolution], wheels: Mapping[str, str], own: Mapping[str, str]) -> Iterable[Resolution]:
    """Yield what would be loaded at another version than the wheel's, or without a wheel than the first one's."""
    first = next((_version(item, wheels) for item in loaded if _version(item, wheels)), None)
    for item in loaded:
        if _differs(_version(item, wheels), own.get(item.soname, first)):
            yield item


def _version(item: Resolution, wheels: Mapping[str, str]) -> str | None:
    return wheels.get(item.path or "", item.version)


def _differs(one: str | None, other: str | None) -> bool:
    """Compare as far as both go, `9.1.0` with `9.1.0.70`; what is not known does not differ."""
    if one is None or other is None:
        return False
    return any(left != right for left, right in zip(one.split("."), other.split("."), strict=False))


def _error(
    mixed: list[Resolution], loaded: list[Resolution], wheels: Mapping[str, str], own: Mapping[str, str]
) -> Finding:
    first = mixed[0]
    version = own.get(first.soname) or next(_version(item, wheels) for item in loaded if _version(item, wheels))
    return Finding(
        Severity.ERROR,
        os.path.dirname(first.path or ""),
        f"{', '.join(item.soname for item in mixed)} would be loaded from {os.path.dirname(first.path or '')} "
        f"(cuDNN {_version(first, wheels)}), the rest of cuDNN is {version}",
        {
            "loaded": [
                {"soname": item.soname, "path": item.path, "by": item.by, "version": _version(item, wheels)}
                for item in loaded
            ],
            "bundled": dict(own),
        },
        _advice(on_path=first.by == "LD_LIBRARY_PATH"),
    )


def _warning(folder: str, others: list[Copy], own: Mapping[str, str], *, on_path: bool) -> Finding:
    first = others[0]
    return Finding(
        Severity.WARNING,
        folder,
        f"{folder} holds cuDNN {first.version} beside the environment's {own[first.soname]}; torch loads its own",
        {"libraries": [{"soname": copy.soname, "path": copy.path, "version": copy.version} for copy in others]},
        _advice(on_path=on_path),
    )


def _advice(*, on_path: bool) -> tuple[str, ...]:
    return ("unset LD_LIBRARY_PATH",) if on_path else ("leave one cuDNN where the loader looks",)

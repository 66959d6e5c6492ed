"""How fast each reader of locks is, on a generated lock of about 1 MB, in MB/s and against parsing TOML or JSON alone.

python tests/bench/lock_readers.py
"""

from __future__ import annotations

import json
import tempfile
import time
import tomllib
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

SIZE = 1_000_000
FILES = 12
ROUNDS = 5
GOAL = 1.0
"""MB/s."""


def digest(text: str) -> str:
    return "sha256:" + sha256(text.encode()).hexdigest()


def wheels(number: int) -> list[tuple[str, str]]:
    """Return names and digests of a package's files."""
    stem = f"package_{number}-1.{number}.0"
    names = [f"{stem}-cp3{minor}-cp3{minor}-manylinux_2_28_x86_64.whl" for minor in range(FILES - 1)]
    return [(name, digest(name)) for name in (*names, f"{stem}.tar.gz")]


def needs(number: int) -> list[int]:
    return sorted({number // 2, number // 3} - {number})


def requirements(number: int) -> str:
    hashes = " \\\n".join(f"    --hash={each}" for _, each in wheels(number))
    return f"package-{number}==1.{number}.0 ; python_version >= '3.10' \\\n{hashes}\n    # via package-{number // 2}\n"


def pylock(number: int) -> str:
    files = ",\n".join(
        f'    {{ url = "https://files.example/{name}", hashes = {{ sha256 = "{each[7:]}" }} }}'
        for name, each in wheels(number)[:-1]
    )
    head = f'[[packages]]\nname = "package-{number}"\nversion = "1.{number}.0"\n'
    return f'{head}index = "https://index.example/simple"\nwheels = [\n{files},\n]\n\n'


def uv(number: int) -> str:
    files = ",\n".join(
        f'    {{ url = "https://files.example/{name}", hash = "{each}", size = 1 }}' for name, each in wheels(number)
    )
    edges = ", ".join(f'{{ name = "package-{each}" }}' for each in needs(number))
    head = f'[[package]]\nname = "package-{number}"\nversion = "1.{number}.0"\n'
    source = 'source = { registry = "https://index.example/simple" }\n'
    return f"{head}{source}dependencies = [{edges}]\nwheels = [\n{files},\n]\n\n"


def listed(number: int) -> str:
    return "\n".join(f'    {{file = "{name}", hash = "{each}"}},' for name, each in wheels(number))


def poetry(number: int) -> str:
    edges = "\n".join(
        f'package-{each} = {{version = ">=1", markers = "os_name == \\"posix\\""}}' for each in needs(number)
    )
    head = f'[[package]]\nname = "package-{number}"\nversion = "1.{number}.0"\noptional = false\n'
    table = f"\n[package.dependencies]\n{edges}\n" if edges else ""
    return f'{head}python-versions = ">=3.10"\nfiles = [\n{listed(number)}\n]\n{table}\n'


def pdm(number: int) -> str:
    edges = ", ".join(f"\"package-{each}>=1; os_name == 'posix'\"" for each in needs(number))
    head = f'[[package]]\nname = "package-{number}"\nversion = "1.{number}.0"\nrequires_python = ">=3.10"\n'
    return f"{head}dependencies = [{edges}]\nfiles = [\n{listed(number)}\n]\n\n"


def grown(entry: Callable[[int], str], head: str = "", end: str = "") -> str:
    """Return a lock of about SIZE bytes."""
    parts, size, number = [head], 0, 0
    while size < SIZE:
        parts.append(entry(number))
        size += len(parts[-1])
        number += 1
    return "".join((*parts, end))


def pipfile() -> str:
    def entry(number: int) -> dict[str, object]:
        hashes = [each for _, each in wheels(number)]
        return {"hashes": hashes, "markers": "python_version >= '3.10'", "version": f"==1.{number}.0"}

    count = SIZE // len(json.dumps(entry(1), indent=12))
    source = {"name": "pypi", "url": "https://index.example/simple", "verify_ssl": True}
    meta = {"hash": {"sha256": "0"}, "pipfile-spec": 6, "requires": {}, "sources": [source]}
    packages = {f"package-{number}": entry(number) for number in range(count)}
    return json.dumps({"_meta": meta, "default": packages, "develop": {}}, indent=4)


def written() -> dict[str, str]:
    """Return the locks by their names."""
    own = '[[package]]\nname = "own"\nsource = { virtual = "." }\ndependencies = [{ name = "package-1" }]\n\n'
    return {
        "requirements.txt": grown(requirements),
        "pylock.toml": grown(pylock, 'lock-version = "1.0"\ncreated-by = "bench"\n\n'),
        "uv.lock": grown(uv, f"version = 1\nrevision = 3\n\n{own}"),
        "poetry.lock": grown(poetry, end='[metadata]\nlock-version = "2.0"\npython-versions = ">=3.10"\n'),
        "pdm.lock": grown(pdm, '[metadata]\ngroups = ["default"]\nlock_version = "4.5.1"\n\n'),
        "Pipfile.lock": pipfile(),
    }


def fastest(run: Callable[[], object]) -> float:
    """Return the seconds of the best round."""
    times = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        run()
        times.append(time.perf_counter() - began)
    return min(times)


def main() -> None:
    from envdoctor import locks

    print(f"  readers of locks, about {SIZE / 1e6:.0f} MB each, best of {ROUNDS} (at least {GOAL:.0f} MB/s)")
    with tempfile.TemporaryDirectory() as folder:
        for name, text in written().items():
            path = Path(folder, name)
            path.write_text(text)
            took = fastest(lambda path=path: locks.read(str(path)))  # type: ignore[misc]
            parse = None if name.endswith(".txt") else json.loads if name == "Pipfile.lock" else tomllib.loads
            alone = fastest(lambda parse=parse, text=text: parse(text)) if parse is not None else None  # type: ignore[misc]
            times = f"{took / alone:5.1f} times its parsing alone" if alone else ""
            pins = sum(1 for pin in locks.read(str(path)).packages if pin.name)
            print(f"    {name:18}{len(text) / 1e6 / took:6.2f} MB/s  {pins:6,} pins  {times}")


if __name__ == "__main__":
    main()

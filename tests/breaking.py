"""Broken targets, locks and snapshots, made from a seed: what stands there is real, then some of it is damaged."""

import json
import os
import random
import shutil
from pathlib import Path

from patients import Patient, Wheel

TREES = (
    Wheel(
        "torch", "2.11.0+cu128", {"torch/__init__.py": "", "torch/version.py": "__version__ = '2.11.0'\n"}, ("numpy",)
    ),
    Wheel("numpy", "2.3.5", {"numpy/__init__.py": "pi = 3\n", "numpy/core.py": ""}),
    Wheel("sglang", "0.5.9", {"sglang/__init__.py": ""}, ("torch==2.11.0", "numpy>=1; extra == 'a'")),
)
SHA = "sha256:" + "1" * 64
LOCKS = {
    "uv.lock": f"""\
version = 1
revision = 3
requires-python = ">=3.11"
[[package]]
name = "project"
version = "0"
source = {{ editable = "." }}
dependencies = [{{ name = "numpy" }}]
[[package]]
name = "numpy"
version = "2.3.5"
source = {{ registry = "https://index.example/simple" }}
wheels = [{{ url = "https://files.example/numpy-2.3.5-py3-none-any.whl", hash = "{SHA}", size = 3 }}]
""",
    "poetry.lock": f"""\
[[package]]
name = "numpy"
version = "2.3.5"
description = "arrays"
optional = false
python-versions = ">=3.11"
groups = ["main"]
files = [{{file = "numpy-2.3.5-py3-none-any.whl", hash = "{SHA}"}}]
[metadata]
lock-version = "2.1"
python-versions = ">=3.11"
content-hash = "{"1" * 64}"
""",
    "pdm.lock": f"""\
[metadata]
groups = ["default"]
strategy = ["inherit_metadata"]
lock_version = "4.5.0"
content_hash = "{SHA}"
[[package]]
name = "numpy"
version = "2.3.5"
requires_python = ">=3.11"
groups = ["default"]
files = [{{file = "numpy-2.3.5-py3-none-any.whl", hash = "{SHA}"}}]
""",
    "Pipfile.lock": json.dumps(
        {
            "_meta": {
                "hash": {"sha256": "1" * 64},
                "pipfile-spec": 6,
                "requires": {"python_version": "3.12"},
                "sources": [{"name": "pypi", "url": "https://index.example/simple", "verify_ssl": True}],
            },
            "default": {"numpy": {"hashes": [SHA], "index": "pypi", "version": "==2.3.5"}},
            "develop": {},
        },
        indent=4,
    ),
}
JUNK = (b"", b"\0", b"\xff\xfe\x00", b"[[[[", b"{}", b"a" * 70_000, b"\n" * 500, "\u202e\u0000é".encode(), b"9" * 5000)
WORDS = (b"[", b"]", b"{", b"}", b'"', b"=", b"\n", b"\\", b"-1", b"1e999", b"null", b"true", b"[]", b"''", b"\x1b[2J")


class Broken:
    """A target with a seal's place and a lock; `damage` breaks one thing after the other, by chance."""

    def __init__(self, folder, seed):
        self.chance = random.Random(seed)  # noqa: S311 - to be repeatable
        self.patient = Patient(folder)
        for wheel in TREES:
            self.patient.install(
                wheel, installer=self.chance.choice(["pip", "uv"]), requested=self.chance.random() < 0.5
            )
        self.patient.add("local.pth", "/srv/src\nimport os\n")
        name = self.chance.choice(["requirements.txt", "pylock.toml", *LOCKS])
        if name in LOCKS:
            self.lock = self.patient.folder / name
            self.lock.write_text(LOCKS[name])
        else:
            self.lock = Path(self.patient.lock(TREES[:2], name))

    def damage(self, times):
        """Break so many things; return what was done, for whoever has to find out why something failed."""
        return [self._once() for _ in range(times)]

    def _once(self):
        path = self.chance.choice(self._files())
        how = self.chance.choice([self.bytes, self.bytes, self.words, self.cut, self.junk, self.gone, self.other])
        how(path)
        return f"{how.__name__} {path}"

    def _files(self):
        """Return what may be broken: the metadata mostly, since programs read that."""
        below = [path for path in self.patient.prefix.rglob("*") if not path.is_dir() or path.is_symlink()]
        likely = [path for path in below if ".dist-info" in str(path) or path.suffix in (".cfg", ".pth")]
        return [*below, *likely * 3, *[self.lock] * 8]

    def _data(self, path):
        if path.is_symlink() or not path.is_file():
            return b""
        with path.open("rb") as stream:
            return stream.read(1 << 20)

    def _replace(self, path, data):
        path.unlink(missing_ok=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    def bytes(self, path):
        data = bytearray(self._data(path) or b"x")
        for _ in range(self.chance.randint(1, 8)):
            data[self.chance.randrange(len(data))] = self.chance.randrange(256)
        self._replace(path, bytes(data))

    def words(self, path):
        data = self._data(path)
        at = self.chance.randint(0, len(data))
        self._replace(path, data[:at] + self.chance.choice(WORDS) * self.chance.choice([1, 1, 300]) + data[at:])

    def cut(self, path):
        data = self._data(path)
        self._replace(path, data[: self.chance.randint(0, len(data))])

    def junk(self, path):
        self._replace(path, self.chance.choice(JUNK))

    def gone(self, path):
        path.unlink(missing_ok=True)
        if self.chance.random() < 0.3 and path.parent not in (self.patient.prefix, self.patient.folder):
            shutil.rmtree(path.parent, ignore_errors=True)

    def other(self, path):
        """Put something there that is no regular file."""
        path.unlink(missing_ok=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        kind = self.chance.choice(["fifo", "loop", "nowhere", "folder", "device", "sparse"])
        if kind == "fifo":
            os.mkfifo(path)
        elif kind == "folder":
            path.mkdir()
        elif kind == "sparse":
            path.touch()
            os.truncate(path, 1 << 40)
        else:
            path.symlink_to({"loop": path.name, "nowhere": "/nowhere/at/all", "device": "/dev/zero"}[kind])


def broken_text(text, seed):
    """Return a text with some of its bytes replaced, cut, doubled or moved."""
    chance = random.Random(seed)  # noqa: S311 - to be repeatable
    data = bytearray(text.encode())
    for _ in range(chance.randint(1, 6)):
        at, width = chance.randrange(len(data) + 1), chance.choice([0, 1, 1, 4, 40])
        new = chance.choice([chance.choice(WORDS), data[at : at + 60], bytes([chance.randrange(256)]), b""])
        data[at : at + width] = new
    return bytes(data)

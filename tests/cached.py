"""A small compile cache and the environment it belongs to, and saves of it made by hand."""

import hashlib
import io
import json
import os
import tarfile
from pathlib import Path

from patients import Patient, Wheel

from envdoctor.cache import workflow
from envdoctor.cache.packing import zstd
from envdoctor.workflows import Wish

TORCH = Wheel(
    "torch",
    "2.11.0",
    {
        "torch/__init__.py": "",
        "torch/version.py": "__version__ = '2.11.0+cu128'\ncuda = '12.8'\ngit_version = 'abc1234'\n",
    },
)
TRITON = Wheel("triton", "3.6.0", {"triton/__init__.py": ""})
KEY = "A" * 52
LONG = f"triton/0/{KEY}/triton_{'per_fused_' * 15}0.cubin"
"""A path that takes a second header in a tar."""
ENTRIES = {
    "ab/cab.py": b"def call(): pass\n",
    "cd/ccd.main.so": b"\x7fELF" + bytes(range(256)) * 40,
    "fxgraph/ab/fabc/entry": b"\x80\x04K\x01.",
    "aotautograd/aabc/entry": b"\x80\x04K\x02.",
    f"triton/0/{KEY}/k.json": json.dumps({"target": {"backend": "cuda", "arch": 90}}).encode(),
    f"triton/0/{KEY}/__grp__k.json": b'{"child_paths": {}}',
    LONG: b"cubin",
    "ef/caf\udce9.cpp": b"not UTF-8 in its name",
    "ef/empty.cpp": b"",
}


def fill(folder, entries=None):
    """Write a cache."""
    for name, content in (ENTRIES if entries is None else entries).items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        Path(path).write_bytes(content)
    return Path(folder)


def contents(folder):
    """Return what lies below a directory, by path."""
    found = {}
    for parent, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(parent, name)
            found[os.path.relpath(path, folder)] = (
                os.readlink(path) if os.path.islink(path) else Path(path).read_bytes()
            )
    return found


class Workshop:
    """An environment with torch, its cache, and the commands about it."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.patient = Patient(self.folder / "project")
        for wheel in (TORCH, TRITON):
            self.patient.install(wheel)
        self.cache = fill(self.folder / "cache")
        self.wish = Wish(target=str(self.patient.prefix))

    def host(self, **env):
        env = {"XDG_DATA_HOME": str(self.folder / "data"), "TORCHINDUCTOR_CACHE_DIR": str(self.cache)} | env
        return self.patient.host(**env)

    def save(self, **asked):
        return workflow.save(self.wish, workflow.Asked(**asked), self.host())


def described(entries, **more):
    """Return a manifest as JSON would hold it."""
    files = [
        {"path": path, "size": len(data), "mode": 0o600, "sha256": hashlib.sha256(data).hexdigest()}
        for path, data in entries.items()
    ]
    made = {"torch": "2.11.0+cu128", "torch_git": "abc1234", "cuda": "12.8", "triton": "3.6.0"}
    made |= {"python": None, "machine": os.uname().machine, "archs": []}
    texts = dict.fromkeys(("envdoctor", "host", "target"), "x") | {"taken_at": "2026-06-01T00:00:00Z"}
    return {"schema": 1, **texts, "cache": "/cache", "made": made, "files": files, "left_out": {}} | more


def handmade(path, manifest, members, *, tail=b"", after=b""):
    """Write a save by hand: members are (TarInfo or name, bytes)."""
    text = manifest if isinstance(manifest, bytes) else json.dumps(manifest).encode()
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.GNU_FORMAT, errors="surrogateescape") as tar:
        for member, data in [("envdoctor-cache.json", text), *members]:
            info = tarfile.TarInfo(member) if isinstance(member, str) else member
            if isinstance(member, str):
                info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    end = len(stream.getvalue().rstrip(b"\0")) if tail else None
    data = stream.getvalue()
    if end is not None:
        data = data[: -(-end // 512) * 512] + tail
    else:  # tarfile fills up to a record of twenty blocks
        used = sum(512 + -(-len(content) // 512) * 512 for _, content in [("", text), *members])
        data = stream.getvalue()[: max(used, -(-len(data.rstrip(bytes(1))) // 512) * 512) + 1024]
    Path(path).write_bytes(zstd.compress(data) + after)
    return str(path)

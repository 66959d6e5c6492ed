"""Real wheels made from values: what the demo and the tests install.

Format: PyPA binary distribution format (PEP 427), recording installed projects (PEP 376, PEP 627), core metadata 2.1
(PEP 566), entry points specification; locks: pip's hash-checking mode and pylock.toml (PEP 751). The same values give
the same bytes.
"""

from __future__ import annotations

import base64
import hashlib
import io
import os
import re
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from envdoctor import __version__


@dataclass(frozen=True, slots=True)
class Wheel:
    """A wheel: what it is called, what it holds, what it needs."""

    name: str
    version: str
    files: Mapping[str, bytes | str] = field(default_factory=dict)
    """Path below site-packages -> content."""
    requires: tuple[str, ...] = ()
    """Requirements (PEP 508), one `Requires-Dist` each."""
    tag: str = "py3-none-any"
    """Compatibility tags as in the file name, e.g. `cp311.cp312-abi3-linux_x86_64`."""
    build_number: str = ""
    """Starts with a digit, e.g. `1local`; "" for none."""
    console_scripts: Mapping[str, str] = field(default_factory=dict)
    """Command -> object reference, e.g. `torchrun` -> `torch.run:main`."""
    requires_python: str = ""
    metadata: tuple[str, ...] = ()
    """More header lines of METADATA, e.g. `Provides-Extra: cuda`."""
    data: Mapping[str, bytes | str] = field(default_factory=dict)
    """Path below `.data` -> content, e.g. `scripts/run.sh`; what is below `scripts` becomes executable."""
    top_level: tuple[str, ...] = ()
    """Names for top_level.txt, which is left out if empty."""

    @property
    def stem(self) -> str:
        """`name-version` as it stands in file and directory names."""
        return f"{_normalised(self.name).replace('-', '_')}-{self.version.replace('-', '_')}"

    @property
    def filename(self) -> str:
        """File name of the wheel."""
        build = f"-{self.build_number}" if self.build_number else ""
        return f"{self.stem}{build}-{self.tag}.whl"

    @property
    def sha256(self) -> str:
        """Digest of the built file, hex."""
        return hashlib.sha256(self.archive()).hexdigest()

    def build(self, folder: str | os.PathLike[str]) -> str:
        """Write the wheel into a folder, made if need be, and return its path. Raises OSError."""
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, self.filename)
        with open(path, "wb") as stream:
            stream.write(self.archive())
        return path

    def archive(self) -> bytes:
        """Return the bytes of the wheel; stored, since what deflate gives depends on the zlib at hand."""
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
            for path, content in self.entries().items():
                info = zipfile.ZipInfo(path)  # dated 1980-01-01, the earliest that the format can say
                info.create_system = 3  # Unix, so that the permission bits count
                info.external_attr = (0o100755 if ".data/scripts/" in path else 0o100644) << 16
                archive.writestr(info, content)
        return buffer.getvalue()

    def entries(self) -> dict[str, bytes]:
        """Return everything in the wheel by path, RECORD last."""
        info = f"{self.stem}.dist-info"
        members: dict[str, bytes | str] = dict(self.files)
        members |= {f"{self.stem}.data/{path}": content for path, content in self.data.items()}
        members |= {f"{info}/METADATA": self._metadata(), f"{info}/WHEEL": self._wheel()}
        if self.console_scripts:
            lines = [f"{command} = {target}" for command, target in self.console_scripts.items()]
            members[f"{info}/entry_points.txt"] = "\n".join(["[console_scripts]", *lines, ""])
        if self.top_level:
            members[f"{info}/top_level.txt"] = "".join(f"{name}\n" for name in self.top_level)
        found = {path: content.encode() if isinstance(content, str) else content for path, content in members.items()}
        found[f"{info}/RECORD"] = _record(found, f"{info}/RECORD")
        return found

    def _metadata(self) -> str:
        lines = ["Metadata-Version: 2.1", f"Name: {self.name}", f"Version: {self.version}"]
        lines += [f"Requires-Python: {self.requires_python}"] if self.requires_python else []
        lines += [*self.metadata, *(f"Requires-Dist: {requirement}" for requirement in self.requires)]
        return "\n".join(lines) + "\n"

    def _wheel(self) -> str:
        pythons, abis, platforms = self.tag.split("-")
        tags = [f"{p}-{a}-{m}" for p in pythons.split(".") for a in abis.split(".") for m in platforms.split(".")]
        pure = "true" if (abis, platforms) == ("none", "any") else "false"
        lines = ["Wheel-Version: 1.0", f"Generator: envdoctor {__version__}", f"Root-Is-Purelib: {pure}"]
        lines += [f"Tag: {tag}" for tag in tags]
        lines += [f"Build: {self.build_number}"] if self.build_number else []
        return "\n".join(lines) + "\n"


def _normalised(name: str) -> str:
    """Write a name as PEP 503 does; packaging's function would cost its import."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _record(members: Mapping[str, bytes], own: str) -> bytes:
    rows = [f"{_csv(path)},sha256={_digest(content)},{len(content)}" for path, content in members.items()]
    return "\n".join([*rows, f"{own},,", ""]).encode()


def _csv(path: str) -> str:
    return '"' + path.replace('"', '""') + '"' if re.search(r'[,"\n]', path) else path


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")


def requirements_lock(wheels: Iterable[Wheel]) -> str:
    """Return a requirements file that pins and hashes these wheels, for `pip install --require-hashes`."""
    return "".join(f"{wheel.name}=={wheel.version} \\\n    --hash=sha256:{wheel.sha256}\n" for wheel in wheels)


def pylock(wheels: Iterable[Wheel], folder: str = ".") -> str:
    """Return a pylock.toml for these wheels, which lie in `folder` as seen from the lock."""
    lines = ['lock-version = "1.0"', 'created-by = "envdoctor"', ""]
    for wheel in wheels:
        lines += ["[[packages]]", f'name = "{_normalised(wheel.name)}"', f'version = "{wheel.version}"']
        lines += ["[[packages.wheels]]", f'path = "{folder}/{wheel.filename}"', f"size = {len(wheel.archive())}"]
        lines += [f'hashes = {{sha256 = "{wheel.sha256}"}}', ""]
    return "\n".join(lines)

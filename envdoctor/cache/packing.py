"""The form of a save: tar in zstd, two frames, of which the first holds the manifest alone.

So `tar --zstd -tf` lists it, and its manifest is read without the rest. The tar is that of GNU (type `L` before a name
of more than 100 bytes); the reader takes regular files alone, in the manifest's order, of the manifest's sizes.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tarfile
from collections.abc import Iterator
from typing import BinaryIO

from envdoctor.cache import manifest as manifests
from envdoctor.cache.manifest import Kept, Manifest
from envdoctor.errors import DamagedSaveError, UsageError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

LEVEL = 3
BLOCK = 1 << 20
"""Bytes that are compressed, decompressed and hashed at a time."""
RECORD = tarfile.BLOCKSIZE
MAGIC = b"\x28\xb5\x2f\xfd"
"""RFC 8878, 3.1.1."""
MANIFEST_LIMIT = 256 << 20
"""Bytes of a manifest; one of 100,000 files takes 30 MB."""
_LONG = "././@LongLink"
_KINDS = {
    tarfile.SYMTYPE: "a symbolic link",
    tarfile.LNKTYPE: "a hard link",
    tarfile.CHRTYPE: "a device",
    tarfile.BLKTYPE: "a device",
    tarfile.FIFOTYPE: "a FIFO",
    tarfile.DIRTYPE: "a directory",
}


class Packer:
    """Writes one frame of members to a descriptor."""

    def __init__(self, descriptor: int, workers: int) -> None:
        self.descriptor = descriptor
        knob = zstd.CompressionParameter
        options: dict[int, int] = {knob.compression_level: LEVEL, knob.nb_workers: workers, knob.checksum_flag: 1}
        self.compressor = zstd.ZstdCompressor(options=options)
        self.waiting = bytearray()

    def member(self, path: str, size: int, mode: int) -> None:
        """Begin a member; its bytes follow."""
        info = tarfile.TarInfo(path)
        info.size, info.mode = size, mode
        self.data(info.tobuf(tarfile.GNU_FORMAT, "utf-8", "surrogateescape"))

    def data(self, data: bytes | memoryview) -> None:
        """Add bytes."""
        self.waiting += data
        if len(self.waiting) >= BLOCK:
            self._write(self.compressor.compress(self.waiting))
            self.waiting = bytearray()

    def pad(self, size: int) -> None:
        """End a member of that size."""
        self.data(bytes(-size % RECORD))

    def close(self) -> None:
        """End the frame."""
        self._write(self.compressor.compress(self.waiting) + self.compressor.flush())

    def _write(self, data: bytes) -> None:
        left = memoryview(data)
        while left:
            left = left[os.write(self.descriptor, left) :]


def write_manifest(descriptor: int, manifest: Manifest) -> None:
    """Write the first frame."""
    packer, text = Packer(descriptor, 0), manifests.dump(manifest)
    packer.member(manifests.NAME, len(text), 0o600)
    packer.data(text)
    packer.pad(len(text))
    packer.close()


class Unpacker:
    """Reads a save, front to back, believing nothing.

    Raises UsageError for what is no save, DamagedSaveError for one that is damaged or was not made by envdoctor.
    """

    def __init__(self, stream: BinaryIO, path: str) -> None:
        self.stream, self.path = stream, path
        self.decompressor = zstd.ZstdDecompressor()
        self.ready = memoryview(b"")
        if stream.read(len(MAGIC)) != MAGIC:
            raise UsageError(f"{path}: is not a save of a compile cache (no zstd)")
        stream.seek(0)
        self.manifest = self._manifest()

    def _manifest(self) -> Manifest:
        head = self._exactly(RECORD)
        if not head.startswith(f"{manifests.NAME}\0".encode()):
            raise UsageError(f"{self.path}: is not a save of a compile cache (no {manifests.NAME} in it)")
        size = self._info(head).size
        if size > MANIFEST_LIMIT:
            raise self.damaged(f"its manifest would take {size:,} bytes")
        text = self._exactly(size)
        self._exactly(-size % RECORD)
        try:
            return manifests.load(text)
        except manifests.ManifestError as error:
            raise self.damaged(str(error)) from None

    def members(self) -> Iterator[tuple[Kept, Iterator[bytes]]]:
        """Yield each file with its bytes, which must be taken before the next; a wrong one raises at its end."""
        for kept in self.manifest.files:
            name, size = self._header()
            if (name, size) != (kept.path, kept.size):
                raise self.damaged(f"{name!r} with {size:,} bytes lies where {kept.path!r} with {kept.size:,} belongs")
            yield kept, self._content(kept)
        self._end()

    def _content(self, kept: Kept) -> Iterator[bytes]:
        digest = hashlib.sha256()
        left = kept.size
        while left:
            block = self._exactly(min(left, BLOCK))
            left -= len(block)
            digest.update(block)
            yield block
        self._exactly(-kept.size % RECORD)
        if digest.hexdigest() != kept.sha256:
            raise self.damaged(f"{kept.path!r} in it is not what was saved")

    def _header(self) -> tuple[str, int]:
        """Read the head of a regular file: its name and size."""
        info = self._info(self._exactly(RECORD))
        if info.type != tarfile.GNUTYPE_LONGNAME:
            return info.name, info.size
        if info.size > 4097:
            raise self.damaged("a name in it is too long")
        name = self._exactly(info.size).rstrip(b"\0").decode("utf-8", "surrogateescape")
        self._exactly(-info.size % RECORD)
        info = self._info(self._exactly(RECORD))
        if info.type == tarfile.GNUTYPE_LONGNAME:
            raise self.damaged("a name in it is followed by another")
        return name, info.size

    def _info(self, head: bytes) -> tarfile.TarInfo:
        if not any(head):
            raise self.damaged("it ends before all that its manifest lists")
        try:
            info = tarfile.TarInfo.frombuf(head, "utf-8", "surrogateescape")
        except tarfile.TarError:
            raise self.damaged("it holds what is no tar") from None
        if info.type not in (tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.GNUTYPE_LONGNAME):
            kind = _KINDS.get(info.type, "no regular file")
            raise self.damaged(f"{info.name!r} in it is {kind}, which envdoctor does not save")
        if info.type != tarfile.GNUTYPE_LONGNAME and (wrong := manifests.unsafe(info.name)):
            raise self.damaged(f"{info.name!r} in it {wrong}")
        if info.size < 0:
            raise self.damaged(f"{info.name!r} in it has a negative size")
        return info

    def _end(self) -> None:
        """See that nothing comes after the last file but the end of the tar."""
        if any(self._exactly(2 * RECORD)):
            raise self.damaged("it holds more than its manifest lists")
        if self.ready or self._pull():
            raise self.damaged("something follows its end")

    def _exactly(self, size: int) -> bytes:
        if size <= len(self.ready):
            taken, self.ready = self.ready[:size], self.ready[size:]
            return bytes(taken)
        parts, missing = [], size
        while missing:
            if not self.ready:
                self.ready = memoryview(self._pull())
            if not self.ready:
                raise self.damaged("it is cut off")
            parts.append(self.ready[:missing])
            missing -= len(parts[-1])
            self.ready = self.ready[len(parts[-1]) :]
        return b"".join(parts)

    def _pull(self) -> bytes:
        """Decompress some more, at most a block; b"" at the end of the last frame."""
        try:
            while True:
                if self.decompressor.eof:
                    rest = self.decompressor.unused_data or self.stream.read(BLOCK)
                    if not rest:
                        return b""
                    self.decompressor = zstd.ZstdDecompressor()
                elif self.decompressor.needs_input:
                    rest = self.stream.read(BLOCK)
                    if not rest:
                        raise self.damaged("it is cut off")
                else:
                    rest = b""
                if data := self.decompressor.decompress(rest, BLOCK):
                    return data
        except zstd.ZstdError:
            raise self.damaged("its bytes are not what was written") from None

    def damaged(self, problem: str) -> DamagedSaveError:
        """Say what is wrong with it."""
        return DamagedSaveError(f"{self.path}: damaged, or not made by envdoctor: {problem}")

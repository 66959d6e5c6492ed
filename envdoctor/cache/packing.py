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
from envdoctor.system.ahead import ahead

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

LEVEL = 3
BLOCK = 1 << 20
"""Bytes that are compressed, decompressed and hashed at a time."""
AHEAD = 8
"""Blocks that are decompressed before they are asked for."""
RECORD = tarfile.BLOCKSIZE
_ZEROS = bytes(2 * RECORD)
MAGIC = b"\x28\xb5\x2f\xfd"
"""RFC 8878, 3.1.1."""
MANIFEST_LIMIT = 256 << 20
"""Bytes of a manifest; one of 100,000 files takes 30 MB."""
NAME_LIMIT = 100
"""Bytes of a name that have room in a head."""
PATH_LIMIT = 4097
"""Bytes of a name before its member."""
_LONG = b"././@LongLink"
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
        name = os.fsencode(path)
        if len(name) > NAME_LIMIT:
            self.data(_header(_LONG, len(name) + 1, 0, tarfile.GNUTYPE_LONGNAME))
            self.data(name)
            self.pad(len(name), least=1)
        self.waiting += _header(name[:NAME_LIMIT], size, mode, tarfile.REGTYPE)

    def data(self, data: bytes | memoryview) -> None:
        """Add bytes."""
        self.waiting += data
        if len(self.waiting) >= BLOCK:
            self._write(self.compressor.compress(self.waiting))
            self.waiting = bytearray()

    def pad(self, size: int, *, least: int = 0) -> None:
        """End a member of that size, with so many zeros at least."""
        self.waiting += _ZEROS[: least + -(size + least) % RECORD]

    def close(self) -> None:
        """End the frame."""
        self._write(self.compressor.compress(self.waiting) + self.compressor.flush())

    def _write(self, data: bytes) -> None:
        left = memoryview(data)
        while left:
            left = left[os.write(self.descriptor, left) :]


def _header(name: bytes, size: int, mode: int, kind: bytes) -> bytes:
    """Return the head of a member: the fields of GNU tar's old format, in order; tarfile takes four times as long.

    Name, mode, owner, group, size, time, checksum (of the whole with blanks in its place), type; then nothing linked,
    the magic, and no names or devices. A size of 8 GiB and more is written in base 256.
    """
    length = b"%011o\0" % size if size < 8 << 30 else b"\x80" + size.to_bytes(11, "big")
    varying = b"%07o\0%b%b%011o\0" % (mode, b"0000000\0" * 2, length, 0)
    checksum = sum(name) + sum(varying) + sum(kind) + _REST_SUM
    return b"%b%b%06o\0 %b%b" % (name.ljust(NAME_LIMIT, b"\0"), varying, checksum, kind, _REST)


_REST = (bytes(100) + b"ustar  \0").ljust(RECORD - 157, b"\0")
"""What follows a type."""
_REST_SUM = sum(_REST) + 8 * ord(" ")


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
        self.blocks = self._decompressed()
        self.ready = memoryview(b"")
        if stream.read(len(MAGIC)) != MAGIC:
            raise UsageError(f"{path}: is not a save of a compile cache (no zstd)")
        stream.seek(0)
        self.manifest = self._manifest()

    def _manifest(self) -> Manifest:
        head = self._exactly(RECORD)
        if not head.startswith(f"{manifests.NAME}\0".encode()):
            raise UsageError(f"{self.path}: is not a save of a compile cache (no {manifests.NAME} in it)")
        _, size, _ = self._parsed(head)
        if size > MANIFEST_LIMIT:
            raise self.damaged(f"its manifest would take {size:,} bytes")
        text = self._exactly(size)
        self._exactly(-size % RECORD)
        try:
            return manifests.load(text)
        except manifests.ManifestError as error:
            raise self.damaged(str(error)) from None

    def members(self) -> Iterator[tuple[Kept, Iterator[memoryview]]]:
        """Yield each file with its bytes, which must be taken before the next; a wrong one raises at its end."""
        self.blocks = ahead(self.blocks, AHEAD)
        for kept in self.manifest.files:
            name, size = self._header()
            if (name, size) != (kept.path, kept.size):  # its path is a safe one, so an equal one is
                if wrong := manifests.unsafe(name):
                    raise self.damaged(f"{name!r} in it {wrong}")
                raise self.damaged(f"{name!r} with {size:,} bytes lies where {kept.path!r} with {kept.size:,} belongs")
            yield kept, self._content(kept)
        self._end()

    def _content(self, kept: Kept) -> Iterator[memoryview]:
        digest = hashlib.sha256()
        left = kept.size
        while left:
            block = self._some(left)
            left -= len(block)
            digest.update(block)
            yield block
        self._exactly(-kept.size % RECORD)
        if digest.hexdigest() != kept.sha256:
            raise self.damaged(f"{kept.path!r} in it is not what was saved")

    def _header(self) -> tuple[str, int]:
        """Read the head of a regular file: its name and size."""
        name, size, kind = self._parsed(self._exactly(RECORD))
        if kind == tarfile.GNUTYPE_LONGNAME:
            if size > PATH_LIMIT:
                raise self.damaged("a name in it is too long")
            name = self._exactly(size).rstrip(b"\0")
            self._exactly(-size % RECORD)
            _, size, kind = self._parsed(self._exactly(RECORD))
        path = name.decode("utf-8", "surrogateescape")
        if kind not in (tarfile.REGTYPE, tarfile.AREGTYPE):
            raise self.damaged(
                f"{path!r} in it is {_KINDS.get(kind, 'no regular file')}, which envdoctor does not save"
            )
        return path, size

    def _parsed(self, head: bytes) -> tuple[bytes, int, bytes]:
        """Return name, size and type of what a head describes; the checksum is taken with blanks in its place."""
        if not any(head):
            raise self.damaged("it ends before all that its manifest lists")
        try:
            said = int(head[148:156].rstrip(b"\0 "), 8)
            size = int.from_bytes(head[125:136], "big") if head[124] == 0x80 else int(head[124:136].rstrip(b"\0 "), 8)
        except ValueError:
            raise self.damaged("it holds what is no tar") from None
        if said != sum(head) - sum(head[148:156]) + 8 * 32 or size < 0:
            raise self.damaged("it holds what is no tar")
        return head[:NAME_LIMIT].rstrip(b"\0"), size, head[156:157]

    def _end(self) -> None:
        """See that nothing comes after the last file but the end of the tar."""
        if any(self._exactly(2 * RECORD)):
            raise self.damaged("it holds more than its manifest lists")
        if self.ready or any(self.blocks):
            raise self.damaged("something follows its end")

    def _exactly(self, size: int) -> bytes:
        if size <= len(self.ready):
            return bytes(self._some(size))
        parts = []
        while size:
            parts.append(self._some(size))
            size -= len(parts[-1])
        return b"".join(parts)

    def _some(self, most: int) -> memoryview:
        """Take bytes that are there, at least one."""
        if not self.ready and most:
            self.ready = memoryview(next(self.blocks, b""))
            if not self.ready:
                raise self.damaged("it is cut off")
        taken, self.ready = self.ready[:most], self.ready[most:]
        return taken

    def _decompressed(self) -> Iterator[bytes]:
        """Yield what all frames hold, at most a block at a time."""
        decompressor = zstd.ZstdDecompressor()
        try:
            while True:
                rest = b""
                if decompressor.eof:
                    rest = decompressor.unused_data or self.stream.read(BLOCK)
                    if not rest:
                        return
                    decompressor = zstd.ZstdDecompressor()
                elif decompressor.needs_input:
                    rest = self.stream.read(BLOCK)
                    if not rest:
                        raise self.damaged("it is cut off")
                if data := decompressor.decompress(rest, BLOCK):
                    yield data
        except zstd.ZstdError:
            raise self.damaged("its bytes are not what was written") from None

    def damaged(self, problem: str) -> DamagedSaveError:
        """Say what is wrong with it."""
        return DamagedSaveError(f"{self.path}: damaged, or not made by envdoctor: {problem}")

"""Shared objects, read and never run: what they need, where they want it looked for, which symbols they have.

Layout: System V ABI, chapters 4 and 5 (ELF header, dynamic section, hash table); the GNU hash table and the symbol
version sections as binutils and glibc write them (elf/dl-lookup.c and include/link.h of glibc 2.36). pyelftools reads
headers and the dynamic section; symbols are looked up by hash, because listing those of libtorch_cpu.so takes seconds.
Each function returns `Unavailable` for a file that cannot be understood, with the reason.
"""

from __future__ import annotations

import mmap
import os
import re
import stat
import struct
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, TypeVar

from envdoctor.model import Unavailable

_T = TypeVar("_T")
_SYMBOL = struct.Struct("<IBBHQQ")
"""Elf64_Sym: name, info, other, section, value, size."""
_WEAK = 2
"""STB_WEAK, the upper half of st_info: the loader puts up with its absence."""
_VERSION_WEAK = 2
"""VER_FLG_WEAK: the loader only warns if the version is not there."""
STRING_LIMIT = 1 << 16
"""Bytes of one name that are read."""
SYMBOL_LIMIT = 1 << 20
"""Symbols of one object that are looked at."""


@dataclass(frozen=True, slots=True)
class Linkage:
    """The dynamic section of a shared object."""

    needed: tuple[str, ...] = ()
    """DT_NEEDED, in order."""
    soname: str | None = None
    rpath: str | None = None
    """DT_RPATH, None where there is a DT_RUNPATH too: the loader then passes over it (ld.so(8))."""
    runpath: str | None = None
    versions: tuple[str, ...] = ()
    """Symbol versions that it needs of other libraries, e.g. `GLIBC_2.32`; sorted as text."""


def linkage(path: str) -> Linkage | Unavailable:
    """Read what a shared object says to the loader."""
    return _read(path, lambda image: image.linkage())


def wants(path: str, pattern: re.Pattern[bytes]) -> tuple[Linkage, tuple[str, ...]] | Unavailable:
    """Read a dynamic section and the undefined symbols that match `pattern` at their beginning, sorted.

    Weak ones are left out.
    """
    return _read(path, lambda image: (image.linkage(), tuple(sorted(image.undefined(pattern)))))


def defined(path: str, names: Iterable[str]) -> frozenset[str] | Unavailable:
    """Return those of `names` that a shared object defines, by its hash table."""
    return _read(path, lambda image: frozenset(name for name in names if image.defines(name.encode())))


def _read(path: str, reader: Callable[[_Image], _T]) -> _T | Unavailable:
    from elftools.common.exceptions import ELFError

    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return Unavailable(f"{path} is not a regular file")
        with open(path, "rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return reader(_Image(stream, data))
    except OSError as error:
        return Unavailable(f"{path}: {error.strerror or error}")
    except (ELFError, struct.error, ValueError, LookupError, ArithmeticError, AttributeError, AssertionError) as error:
        return Unavailable(f"{path} is no shared object that can be read: {str(error) or type(error).__name__}")


class _Image:
    """A 64-bit little-endian ELF file in memory."""

    def __init__(self, stream: BinaryIO, data: mmap.mmap) -> None:
        from elftools.elf.dynamic import DynamicSegment
        from elftools.elf.elffile import ELFFile

        self.data = data
        self.file = ELFFile(stream)
        if self.file.elfclass != 64 or not self.file.little_endian:
            raise ValueError("not 64-bit little-endian")
        segments = list(self.file.iter_segments())
        self.loads = [
            (segment["p_vaddr"], segment["p_filesz"], segment["p_offset"])
            for segment in segments
            if segment["p_type"] == "PT_LOAD"
        ]
        found = next((segment for segment in segments if isinstance(segment, DynamicSegment)), None)
        if found is None:
            raise ValueError("no dynamic section")
        self.tags = [(str(tag.entry.d_tag), int(tag.entry.d_val)) for tag in found.iter_tags()]
        self.first = dict(reversed(self.tags))
        self.strings = self.offset("DT_STRTAB")

    def offset(self, tag: str) -> int:
        """Return where in the file the table of a tag begins. Raises ValueError if there is none."""
        address = self.first.get(tag, -1)
        for start, size, offset in self.loads:
            if start <= address < start + size:
                return int(address - start + offset)
        raise ValueError(f"no {tag}")

    def text(self, index: int) -> bytes:
        """Return a name of the string table."""
        start = self.strings + index
        end = self.data.find(b"\0", start, start + STRING_LIMIT)
        if end < 0:
            raise ValueError("a name without end")
        return self.data[start:end]

    def linkage(self) -> Linkage:
        def named(tag: str) -> list[str]:
            return [os.fsdecode(self.text(value)) for key, value in self.tags if key == tag]

        runpath = next(iter(named("DT_RUNPATH")), None)
        return Linkage(
            needed=tuple(named("DT_NEEDED")),
            soname=next(iter(named("DT_SONAME")), None),
            rpath=next(iter(named("DT_RPATH")), None) if runpath is None else None,
            runpath=runpath,
            versions=tuple(sorted(set(self.versions()))),
        )

    def versions(self) -> Iterator[str]:
        """Walk the needed versions (Elf64_Verneed and Elf64_Vernaux)."""
        if "DT_VERNEED" not in self.first:
            return
        place = self.offset("DT_VERNEED")
        for _ in range(min(self.first.get("DT_VERNEEDNUM", 0), SYMBOL_LIMIT)):
            _, count, _, first, following = struct.unpack_from("<HHIII", self.data, place)
            entry = place + first
            for _ in range(count):
                _, flags, _, name, further = struct.unpack_from("<IHHII", self.data, entry)
                if not flags & _VERSION_WEAK:
                    yield os.fsdecode(self.text(name))
                if not further:
                    break
                entry += further
            if not following:
                break
            place += following

    def undefined(self, pattern: re.Pattern[bytes]) -> Iterator[str]:
        """Walk the symbols in front of the hashed ones, among which the linker puts all undefined ones."""
        begin, count = self.offset("DT_SYMTAB"), min(self.unhashed(), SYMBOL_LIMIT)
        table = memoryview(self.data)[begin : begin + count * _SYMBOL.size]
        try:
            for name, info, _, section, _, _ in _SYMBOL.iter_unpack(table):
                if section == 0 and name and info >> 4 != _WEAK and pattern.match(self.text(name)):
                    yield os.fsdecode(self.text(name))
        finally:
            table.release()

    def unhashed(self) -> int:
        """Return how many symbols have to be looked at to see all undefined ones."""
        if "DT_HASH" in self.first:
            return int(struct.unpack_from("<I", self.data, self.offset("DT_HASH") + 4)[0])
        table = self.offset("DT_GNU_HASH")
        buckets, first, words, _ = struct.unpack_from("<IIII", self.data, table)
        begin = table + 16 + 8 * words
        if any(self.data[begin : begin + 4 * buckets]):
            return int(first)
        section = self.file.get_section_by_name(".dynsym")  # with nothing exported, the hash table is a dummy
        if section is None:
            raise ValueError("its symbols cannot be counted")
        return int(section["sh_size"]) // _SYMBOL.size

    def defines(self, name: bytes) -> bool:
        """Look one name up as the loader does."""
        candidates = self._gnu(name) if "DT_GNU_HASH" in self.first else self._sysv(name)
        begin = self.offset("DT_SYMTAB")
        for index in candidates:
            text, _, _, section, _, _ = _SYMBOL.unpack_from(self.data, begin + index * _SYMBOL.size)
            if section != 0 and self.text(text) == name:
                return True
        return False

    def _gnu(self, name: bytes) -> Iterator[int]:
        value = 5381
        for byte in name:
            value = (value * 33 + byte) & 0xFFFFFFFF
        table = self.offset("DT_GNU_HASH")
        buckets, first, words, shift = struct.unpack_from("<IIII", self.data, table)
        (word,) = struct.unpack_from("<Q", self.data, table + 16 + 8 * (value // 64 % words))
        if not (word >> (value % 64) & 1 and word >> ((value >> shift) % 64) & 1):
            return
        begin = table + 16 + 8 * words
        (index,) = struct.unpack_from("<I", self.data, begin + 4 * (value % buckets))
        chain = begin + 4 * buckets
        while index >= first and index:
            (entry,) = struct.unpack_from("<I", self.data, chain + 4 * (index - first))
            if (entry ^ value) >> 1 == 0:
                yield index
            if entry & 1:
                return
            index += 1

    def _sysv(self, name: bytes) -> Iterator[int]:
        value = 0
        for byte in name:
            value = (value << 4) + byte
            high = value & 0xF0000000
            value = (value ^ high >> 24) & ~high & 0xFFFFFFFF
        table = self.offset("DT_HASH")
        buckets, count = struct.unpack_from("<II", self.data, table)
        (index,) = struct.unpack_from("<I", self.data, table + 8 + 4 * (value % buckets))
        for _ in range(min(count, SYMBOL_LIMIT)):
            if not index:
                return
            yield index
            (index,) = struct.unpack_from("<I", self.data, table + 8 + 4 * (buckets + index))

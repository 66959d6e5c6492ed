"""Whether an ELF file is all there: its own tables say where its last byte lies. Shared objects and cubins alike.

Layout: System V ABI, chapter 4 (headers, extended numbering of sections) and chapter 5 (program header). A cubin is a
64-bit ELF file of machine 190, EM_CUDA; ptxas writes its program headers last, the linker its section headers.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from typing import BinaryIO, Literal

MAGIC = b"\x7fELF"
TABLE_LIMIT = 4 << 20
"""Bytes of one table that are read."""
READ_LIMIT = 2 * TABLE_LIMIT + 128
"""Bytes that judging one file reads at most."""
_HEADER, _SEGMENT, _SECTION = 64, 56, 64
"""Sizes of Elf64_Ehdr, Elf64_Phdr and Elf64_Shdr."""
_MACHINE_CUDA = 190
_NULL, _NOBITS = 0, 8
"""Section types that hold no bytes of the file."""
_PROCESSOR_SPECIFIC = 0x70000000
"""SHT_LOPROC: among NVIDIA's own types are some of memory that is only reserved."""


def fault(stream: BinaryIO) -> tuple[Literal["truncated-elf", "not-elf"], str] | None:
    """Return what is wrong with a 64-bit ELF file, as kind and phrase; None if it is as long as its tables say.

    One of 32 bits is not judged. Raises OSError if it cannot be read.
    """
    size = os.fstat(stream.fileno()).st_size
    header = stream.read(_HEADER)
    if not header or header[:4] != MAGIC[: len(header)]:
        return "not-elf", "does not begin as an ELF file"
    if len(header) < _HEADER:
        return "truncated-elf", f"ends within its ELF header, after {len(header)} bytes"
    if header[4] not in (1, 2) or header[5] not in (1, 2):
        return "not-elf", "has an ELF header without sense"
    if header[4] == 1:
        return None
    try:
        end = max(_ends(stream, size, header), default=0)
    except ValueError as error:
        return "not-elf", str(error)
    if end <= size:
        return None
    return "truncated-elf", f"holds {size:,} bytes of {end:,}" if end < 1 << 40 else f"is cut off after {size:,} bytes"


def _ends(stream: BinaryIO, size: int, header: bytes) -> Iterator[int]:
    """Yield where each table, segment and section ends. Raises ValueError for a header that no loader takes."""
    order = "<" if header[5] == 1 else ">"
    machine, _, _, segments, sections, _, _, segment_size, segment_count, section_size, section_count = struct.unpack(
        f"{order}HIQQQIHHHHH", header[18:62]
    )
    if (segment_count and segment_size != _SEGMENT) or (sections and section_size != _SECTION):
        raise ValueError("has an ELF header without sense")
    if sections and section_count == 0:
        first = _table(stream, size, sections, _SECTION)
        section_count = struct.unpack_from(f"{order}Q", first, 32)[0] if first else 1
    yield segments + segment_count * _SEGMENT if segment_count else 0
    yield sections + section_count * _SECTION if sections else 0
    table = _table(stream, size, segments, segment_count * _SEGMENT)
    for _, _, offset, _, _, held, _, _ in struct.iter_unpack(f"{order}IIQQQQQQ", table):
        yield offset + held if held else 0
    table = _table(stream, size, sections, section_count * _SECTION)
    for _, kind, _, _, offset, held, _, _, _, _ in struct.iter_unpack(f"{order}IIQQQQIIQQ", table):
        reserved = kind in (_NULL, _NOBITS) or (machine == _MACHINE_CUDA and kind >= _PROCESSOR_SPECIFIC)
        yield 0 if reserved else offset + held


def _table(stream: BinaryIO, size: int, start: int, length: int) -> bytes:
    """Read a table, nothing of one that is not wholly there or is too long."""
    if start + length > size or length > TABLE_LIMIT:
        return b""
    stream.seek(start)
    read = stream.read(length)
    return read if len(read) == length else b""

"""Shared objects made of values: valid 64-bit ELF files with a dynamic section and symbols, and no code.

write(path, needed=["libc10.so"], rpath="$ORIGIN", undefined=["_ZN3c104failEv"], versions=["GLIBC_2.32"])
"""

import shutil
import struct
import subprocess

import pytest

NEEDED, HASH, STRTAB, SYMTAB, STRSZ, SYMENT, SONAME, RPATH, RUNPATH = 1, 4, 5, 6, 10, 11, 14, 15, 29
GNU_HASH, VERNEED, VERNEEDNUM = 0x6FFFFEF5, 0x6FFFFFFE, 0x6FFFFFFF


def elf(
    *, needed=(), soname=None, rpath=None, runpath=None, defined=(), undefined=(), weak=(), versions=(), sysv=False
):
    """Return the bytes of a shared object; `sysv` gives it the older hash table alone."""
    strings, tags = bytearray(b"\0"), []

    def text(value):
        place = len(strings)
        strings.extend(value.encode() + b"\0")
        return place

    tags += [(NEEDED, text(name)) for name in needed]
    for tag, value in ((SONAME, soname), (RPATH, rpath), (RUNPATH, runpath)):
        tags += [(tag, text(value))] if value is not None else []
    names = [*undefined, *weak, *defined]
    symbols = bytes(24)
    for name in names:
        info = 0x22 if name in weak else 0x12
        symbols += struct.pack("<IBBHQQ", text(name), info, 0, 1 if name in defined else 0, 0, 0)
    wanted = b""
    if versions:
        wanted = struct.pack("<HHIII", 1, len(versions), text("libc.so.6"), 16, 0)
        for position, name in enumerate(versions):
            last = position == len(versions) - 1
            flags = 2 if name.startswith("?") else 0
            wanted += struct.pack("<IHHII", 0, flags, 2, text(name.lstrip("?")), 0 if last else 16)
    table = sysv_hash(names) if sysv else gnu_hash(len(names) - len(defined) + 1, defined)
    parts = [bytes(strings), symbols, table, wanted]
    places, place = [], 64 + 2 * 56
    for part in parts:
        place += -place % 8
        places.append(place)
        place += len(part)
    tags += [(STRTAB, places[0]), (STRSZ, len(strings)), (SYMTAB, places[1]), (SYMENT, 24)]
    tags += [(HASH if sysv else GNU_HASH, places[2])]
    tags += [(VERNEED, places[3]), (VERNEEDNUM, 1)] if versions else []
    dynamic = b"".join(struct.pack("<QQ", *tag) for tag in [*tags, (0, 0)])
    place += -place % 8
    size = place + len(dynamic)
    body = bytearray(size)
    body[:64] = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 3, 62, 1, 0, 64, 0, 0, 64, 56, 2, 64, 0, 0)
    body[64:120] = struct.pack("<IIQQQQQQ", 1, 4, 0, 0, 0, size, size, 4096)
    body[120:176] = struct.pack("<IIQQQQQQ", 2, 4, place, place, place, len(dynamic), len(dynamic), 8)
    for at, part in zip([*places, place], [*parts, dynamic], strict=True):
        body[at : at + len(part)] = part
    return bytes(body)


def gnu_hash(first, names):
    """One bucket and a filter that lets everything through; the buckets stay empty if nothing is defined."""
    values = []
    for name in names:
        value = 5381
        for byte in name.encode():
            value = (value * 33 + byte) & 0xFFFFFFFF
        values.append(value & ~1)
    if values:
        values[-1] |= 1
    head = struct.pack("<IIIIQI", 1, first, 1, 6, 2**64 - 1, first if names else 0)
    return head + b"".join(struct.pack("<I", value) for value in values)


def sysv_hash(names):
    """One bucket: every symbol is in one chain."""
    count = len(names) + 1
    chain = [0, *range(2, count), 0][:count]
    return struct.pack(f"<III{count}I", 1, count, 1 if names else 0, *chain)


def write(path, **fields):
    """Write such a file, folders included; return its path as text."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(elf(**fields))
    return str(path)


def compiled(path, source, *options):
    """Build a real one with the C compiler; the test is skipped where there is none."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler here")
    path.parent.mkdir(parents=True, exist_ok=True)
    command = [compiler, "-shared", "-fPIC", "-x", "c", "-", "-o", str(path), *options]
    subprocess.run(command, input=source.encode(), check=True, capture_output=True)
    return str(path)

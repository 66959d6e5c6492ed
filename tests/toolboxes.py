"""Pieces of a node's CUDA on disk: toolkits, tools that print a version, the loader's cache."""

import struct

CACHE = "etc/ld.so.cache"


def stub(path, release, text="Cuda compilation tools, release {0}, V{0}.0"):
    """Write a program that prints the version of a CUDA release, as nvcc does; return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho '{text.format(release)}'\n")
    path.chmod(0o755)
    return path


def elf(path, release):
    """Write a file that looks like NVIDIA's programs to whoever only reads it; return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\x7fELF" + bytes(60) + f"Cuda compilation tools, release {release}, V{release}.0\n".encode())
    path.chmod(0o755)
    return path


def headers(path, release):
    """Write a cuda.h of a CUDA release."""
    major, minor = map(int, release.split("."))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"/* CUDA */\n#define CUDA_VERSION {major * 1000 + minor * 10}\n")
    return path


def toolkit(prefix, nvcc=None, header=None, make=stub):
    """Lay a toolkit out: releases of its nvcc and of its headers."""
    if nvcc:
        make(prefix / "bin/nvcc", nvcc)
    if header:
        headers(prefix / "include/cuda.h", header)
    return prefix


def touch(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return path


def ld_cache(root, *entries, before=b""):
    """Write the loader's cache of (name, path) pairs below a root; `before` is a part in the older format."""
    strings, rows = b"", b""
    start = 48 + 24 * len(entries)
    for name, path in entries:
        at = start + len(strings)
        strings += f"{path}\0".encode()
        rows += struct.pack("=iIIIQ", 3, at + len(path) - len(name), at, 0, 0)  # a name is the end of its path
    head = struct.pack("=20sIIB3xI12x", b"glibc-ld.so.cache1.1", len(entries), len(strings), 2, 0)
    file = root / CACHE
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(before + head + rows + strings)
    return file

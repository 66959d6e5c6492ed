from __future__ import annotations

import pytest

from envdoctor import locks


@pytest.fixture
def write(tmp_path):
    """Write a file (text or bytes) and return its path."""

    def write(text, name="train.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    return write


@pytest.fixture
def read(write):
    """Write a lock and read it."""
    return lambda text, name="train.txt": locks.read(write(text, name))


@pytest.fixture
def linux():
    """Marker variables of CPython 3.12 on x86-64 Linux."""
    return {
        "implementation_name": "cpython",
        "implementation_version": "3.12.3",
        "os_name": "posix",
        "platform_machine": "x86_64",
        "platform_python_implementation": "CPython",
        "platform_release": "6.8.0",
        "platform_system": "Linux",
        "platform_version": "#1 SMP",
        "python_full_version": "3.12.3",
        "python_version": "3.12",
        "sys_platform": "linux",
    }

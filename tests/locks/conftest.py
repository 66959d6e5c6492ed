from __future__ import annotations

import pytest
import values

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
    return dict(values.MARKERS)

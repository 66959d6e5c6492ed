from __future__ import annotations

import pytest

from envdoctor import locks


@pytest.fixture
def read(tmp_path):
    """Write a lock and read it; a name in another folder for a second lock of the same name."""

    def read(text, name="train.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return locks.read(str(path))

    return read


@pytest.fixture
def uv_lock(read):
    """Read a uv.lock made of `[[package]]` entries."""
    return lambda entries, name="uv.lock": read('version = 1\nrequires-python = ">=3.11"\n' + entries, name)

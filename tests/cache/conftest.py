import pytest
from cached import Workshop

from envdoctor.cache import saving


@pytest.fixture
def shop(tmp_path, monkeypatch):
    """A workshop whose files need not have been left alone for as long as real ones."""
    monkeypatch.setattr(saving, "REST", 0.02)
    return Workshop(tmp_path)

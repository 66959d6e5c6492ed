"""What tests of file facts share."""

import pytest

from envdoctor.facts import files


@pytest.fixture
def at_once(request, monkeypatch):
    """Compare in this process, which is quicker than two children, except where children are what is tested."""
    if "children" not in request.fixturenames:
        monkeypatch.setattr(files, "gather", lambda tasks, **_: {task.name: task.run() for task in tasks})

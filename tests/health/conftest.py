"""A node for each test that wants one."""

import pytest
from nodes import made


@pytest.fixture
def node():
    yield from made()

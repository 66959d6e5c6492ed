"""Archives are read on several cores, and come in their order."""

import time

import pytest
from installs import archives

from envdoctor.errors import StepError
from envdoctor.installing.contents import read
from envdoctor.installing.layout import Layout
from envdoctor.installing.tables import FEW, read_all
from envdoctor.wheels import Wheel

LAYOUT = Layout("/srv/env", "lib/python3.12/site-packages", "3.12")


@pytest.fixture
def many(tmp_path):
    return archives(tmp_path, [Wheel(f"pack{n}", "1.0", {f"p{n}.py": "x" * n}) for n in range(FEW + 4)])


@pytest.mark.parametrize("cores", [1, 3])
def test_what_is_read_in_children_is_what_is_read_here(cores, many):
    found = read_all(many, LAYOUT, cores=cores, ends=time.monotonic() + 60)
    assert found == [read(archive, LAYOUT) for archive in many]


def test_no_time_left_is_an_error(many, monkeypatch):
    monkeypatch.setattr("envdoctor.installing.tables.read", lambda *_: time.sleep(30))
    with pytest.raises(StepError, match="verify: the archives were not read: no answer within"):
        read_all(many, LAYOUT, cores=2, ends=time.monotonic())

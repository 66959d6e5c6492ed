"""Histories told from values, by the real views."""

import pytest
from values import MARKERS, SITE, files, interpreter, owners

from envdoctor.facts.startup import Startup
from envdoctor.history.installs import Evidence
from envdoctor.history.provenance import provenance
from envdoctor.history.timeline import history
from envdoctor.judge import Values
from envdoctor.model import Target, Unavailable
from envdoctor.policy import Policy
from envdoctor.snapshot import FACTS

__all__ = ["MARKERS", "SITE"]


class Teller:
    """Facts, and what is told of them. What is not given is in good order or, if optional, absent."""

    def __init__(self, distributions, **facts):
        none = {name: Unavailable(f"no {name}") for name in FACTS}
        given = {"interpreter": interpreter(), "files": files(), "owners": owners(), "startup": Startup(), **facts}
        target = Target("/env", "/env/bin/python")
        self.values = Values({**none, **given, "distributions": distributions}, policy=Policy(), target=target)
        names = ("distributions", "requirements", "expected", "blame", "seal", "owners")
        self.evidence = Evidence(*(self.values[name] for name in names))

    @property
    def history(self):
        return history(self.values, self.evidence)

    def provenance(self, name):
        return provenance(name, self.evidence, self.history, self.values["lock"])


@pytest.fixture
def tell():
    return Teller

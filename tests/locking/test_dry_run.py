"""What uv prints of a dry run (uv 0.13.9), read."""

import pytest

from envdoctor.locking.dry_run import _read
from envdoctor.model import LockedPackage
from envdoctor.views.lock_online import DryRun

PINS = (LockedPackage("requests", "2.32.3"), LockedPackage("urllib3", "1.20"))
DONE = """\
Using CPython 3.11.7 interpreter at: /usr/bin/python3
Resolved 4 packages in 236ms
Would install 4 packages
 + Charset_Normalizer==3.4.0
 + requests==2.32.3
 + idna==3.10
 + urllib3==1.20
"""
CONFLICT = """\
error: No solution found when resolving dependencies
  cause: Because requests==2.32.3 depends on urllib3>=1.21.1,<3 and you require requests==2.32.3, we can
         conclude that your requirements are unsatisfiable.
"""
LOST = """\
error: No solution found when resolving dependencies
  cause: Because acme was not found in the package registry and you require acme==1, we can conclude ...
"""
WHEELS = """\
  x No solution found when resolving dependencies:
  ╰─▶ Because antlr==4.9.3 has no wheels with a matching platform and omegaconf depends on antlr==4.9.3, ...
"""


def test_what_it_would_add_is_missing():
    assert _read(DONE, "here", PINS, None, ended=True) == DryRun("here", ("charset-normalizer", "idna"))


def test_a_requirement_that_the_pins_break():
    run = _read(CONFLICT, "here", PINS, None, ended=False)
    assert run.conflict.startswith("Because requests==2.32.3 depends on urllib3>=1.21.1,<3 and you require")
    assert "\n" not in run.conflict


@pytest.mark.parametrize(
    ("text", "problem", "said"),
    [
        (LOST, None, "uv: Because acme was not found"),
        (WHEELS, None, "uv: Because antlr==4.9.3 has no wheels"),
        ("", None, "uv: it failed without a word"),
        ("", "no end within 5 s", "uv: no end within 5 s"),
        ("error: Failed to fetch: connection refused\n", None, "uv: error: Failed to fetch"),
    ],
)
def test_what_says_nothing_of_the_pins_is_unknown(text, problem, said):
    run = _read(text, "here", PINS, problem, ended=False)
    assert (run.extra, run.conflict) == ((), "")
    assert run.problem.startswith(said)

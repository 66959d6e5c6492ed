"""Start-up is most of a check's time: what is slow to import and not needed is not imported."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = str(Path(__file__).parent.parent)
NEVER = {
    "rich",
    "pydantic",
    "email",
    "pynvml",
    "psutil",
    "importlib.metadata",
    "http",
    "xml",
    "asyncio",
    "unittest",
} | {"configparser"}
"""Modules that a check has no use for, whatever it finds."""
LAZY = {"packaging", "csv", "envdoctor.judge", "envdoctor.registry", "envdoctor.demo"}
"""Modules that the first second of the command line has no use for; a check imports some while children read."""
BEGIN = "import envdoctor.cli, envdoctor.workflows"
CHECK = f"""
{BEGIN}
from envdoctor.reports import json, text
wish = envdoctor.workflows.Wish(sys.argv[1], None, None, (), ())
host = envdoctor.workflows.LocalHost({{"HOME": sys.argv[1], "XDG_STATE_HOME": sys.argv[1]}})
report = envdoctor.workflows.check(wish, envdoctor.workflows.Selection(), host)
assert report.seen["packages"] == 1, report
assert "sick" in json.render(report) and "SICK" in text.render(report)
"""


def imported(code, *arguments):
    whole = f"import sys; sys.path.insert(0, {ROOT!r})\n{code}\nprint(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-I", "-c", whole, *arguments],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


@pytest.fixture(scope="module")
def bare():
    """Modules that this interpreter has before anything is asked of it."""
    return imported("")


def test_the_command_line_begins_without_what_is_never_needed(bare):
    assert (imported(BEGIN) - bare) & NEVER == set()


def test_a_whole_check_does_without_it(bare, tmp_path):
    """Judge a dead environment with a broken requirement: facts, views, probes and both reports have their say."""
    info = tmp_path / "lib/python3.12/site-packages/six-1.0.dist-info"
    info.mkdir(parents=True)
    (tmp_path / "pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.12.3\n")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: six\nVersion: 1.0\nRequires-Dist: seven>=7\n")
    (info / "RECORD").write_text("six-1.0.dist-info/METADATA,,\nsix.py,sha256=x,1\n")
    assert (imported(CHECK, str(tmp_path)) - bare) & NEVER == set()


def test_the_command_line_begins_without_parsers_and_probes(bare):
    assert (imported(BEGIN) - bare) & LAZY == set()


def test_a_usage_error_or_help_costs_no_workflow(bare):
    assert not {name for name in imported("import envdoctor.cli") - bare if name.startswith("envdoctor.facts")}
    assert "tomllib" not in imported("import envdoctor.cli") - bare

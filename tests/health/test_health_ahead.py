"""Nothing is imported once root is given up: the doctor's own files, and Python's, may be root's alone."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from nodes import SIX, give

import envdoctor

PACKAGE = Path(envdoctor.__file__).parent
ROOMS = ("facts", "locks", "system", "views", "probes", "judge.py", "marking.py", "recorded.py", "snapshot.py")
"""What a look runs through."""
LATE = """
import os, sys
from envdoctor.health import ahead, workflow
from envdoctor.system.host import LocalHost

class Late:
    def find_spec(self, name, path=None, target=None):
        os.write(written, name.encode() + b"\\n")

ahead.load()
written = os.open(sys.argv[1], os.O_WRONLY)
os.set_inheritable(written, True)
sys.meta_path.insert(0, Late())
from envdoctor.system import confined
confined._close_all_but = lambda kept: None
found = workflow.run(workflow.Asked(sys.argv[2]), LocalHost())
assert [visit for visit in found.visits if visit.report], found
"""


@pytest.mark.whole
def test_nothing_is_imported_once_root_is_given_up(node):
    patient, late = node.patient("one"), node.folder / "late"
    patient.lock([SIX], name="pylock.toml")
    give(patient.folder)
    late.touch()
    text = f'[[target]]\npath = "{patient.prefix}"\nenvironment = {{ CUDA_HOME = "/usr" }}\n'
    code = [sys.executable, "-c", LATE, late, node.configure(text)]
    subprocess.run(code, check=True, env=node.doctor.environment(), cwd="/")
    late_ones = late.read_text().split()
    assert late_ones == []


def imported_late():
    """Yield (file, module) of every import that stands in a function of those rooms."""
    for room in ROOMS:
        for path in (PACKAGE / room).rglob("*.py") if (PACKAGE / room).is_dir() else [PACKAGE / room]:
            tree = ast.parse(path.read_text())
            functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
            for node in (inner for function in functions for inner in ast.walk(function)):
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                names += [node.module] if isinstance(node, ast.ImportFrom) else []
                yield from ((path.name, name) for name in names)


def test_whatever_a_look_imports_late_is_loaded_ahead():
    code = "import sys; from envdoctor.health import ahead, looking; ahead.load(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert [late for late in imported_late() if late[1] not in loaded] == []

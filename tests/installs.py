"""What the tests of installing share: archives of generated wheels, and a venv filled from them."""

import hashlib
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from packaging.utils import parse_wheel_filename

from envdoctor.archives import Archive
from envdoctor.installing.creating import base_of, create
from envdoctor.installing.installers import choose, install
from envdoctor.installing.proving import prove
from envdoctor.progress import Work, silent, unlogged
from envdoctor.system.host import LocalHost
from envdoctor.wheels import Wheel

DEMO = Wheel(
    "demo-pkg",
    "1.0",
    {
        "demo_pkg/__init__.py": "import sys\ndef main():\n    print('demo', *sys.argv[1:])\n",
        "demo_pkg/cli.py": "class App:\n    @staticmethod\n    def run():\n        print('app')\n",
        "demo_pkg/template.py": "def {{ name }}(:\n",
        "demo_pkg/data.txt": "data\n",
    },
    console_scripts={"demo": "demo_pkg:main", "demo-app": "demo_pkg.cli:App.run"},
    data={
        "scripts/tool.py": "#!python\nprint('tool')\n",
        "scripts/tool.sh": "#!/bin/sh\necho tool\n",
        "data/share/demo/note.txt": "shared\n",
        "headers/demo.h": "int demo;\n",
        "purelib/demo_pure.py": "x = 1\n",
        "platlib/demo_plat.py": "x = 2\n",
    },
)
OTHER = Wheel("other", "2.0", {"other.py": "x = 3\n", "other.pth": "import other\n"})
"""Imported at every start of the venv's python: whoever starts it carelessly leaves byte code behind."""
WHEELS = (DEMO, OTHER)


def archive(path):
    """Return a wheel that lies there as an archive of the store."""
    path = Path(path)
    name, version, *_ = parse_wheel_filename(path.name)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return Archive(name, str(version), path.name, digest, str(path), path.stat().st_size)


def archives(folder, wheels=WHEELS):
    """Build wheels into a folder; return them as archives."""
    return [archive(wheel.build(folder)) for wheel in wheels]


def work(env=None, tell=silent, log=unlogged, temporary=""):
    """Return what a step is given, with variables of the caller's beside those that every process needs."""
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG", "TMPDIR")}
    return Work(LocalHost(env=kept | (env or {})), tell, log, temporary=temporary)


@dataclass(frozen=True)
class Installed:
    """A venv that was made and filled by one installer."""

    prefix: str
    archives: list

    @property
    def python(self):
        return f"{self.prefix}/bin/python"

    @property
    def site(self):
        (found,) = Path(self.prefix).glob("lib/python3*/site-packages")
        return found

    def prove(self, archives=None, **options):
        options = {"cores": 2, "work": work(), "deadline": 60.0} | options
        return prove(self.prefix, self.archives if archives is None else archives, **options)

    def faults(self, archives=None, **options):
        """Return {path relative to the prefix: what is wrong}."""
        found = self.prove(archives, **options).faults
        return {os.path.relpath(fault.path, self.prefix): fault.how for fault in found}


def make(place, made, installer, env=None, *, pip=False):
    """Make a venv at a place and fill it from archives."""
    place = Path(os.path.realpath(place))
    python = create(str(place), base_of(sys.executable), pip=pip, prompt="venv", work=work(env))
    installed = Installed(str(place), list(made))
    assert installed.python == python
    if installer:
        fill(installed, made, installer, env)
    return installed


def fill(installed, made, installer, env=None, **told):
    """Install archives from a folder of links to them."""
    links = Path(f"{installed.prefix}-links")
    links.mkdir()
    for item in made:
        os.symlink(item.path, links / item.filename)
    step = work(env, **told)
    install(choose(installer, step.host), installed.python, made, str(links), step)

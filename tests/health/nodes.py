"""A node with users: root, whose configuration names everybody's environments, and Eve, who means ill."""

import json
import os
import shutil
import tempfile
from pathlib import Path

import pytest
from doctor import Doctor
from nobody import NOBODY
from patients import Patient, Wheel

BASE = "/usr/bin/python3"
"""A Python that every user may run; that of the tests may be root's alone."""
SIX = Wheel("six", "1.17.0", {"six.py": ""})
TORCH = Wheel("torch", "2.11.0", {"torch/__init__.py": "", "torch/version.py": "__version__ = '2.11.0+cu128'\n"})
MARKER = "only-root-may-read-this"
LINES = ("Name: {}", "Version: {}", "home = {}", "{}==1.0 --hash=sha256:{}", "{} = '{}'", "/{}", "import {}")
SECRET = "".join(f"{each.replace('{}', MARKER)}\n" for each in LINES)
"""Says the same to whatever reads it: metadata, a lock, TOML, a path file."""


def made():
    """Yield a node, and remove it; root alone can make one."""
    if os.geteuid() != 0:
        pytest.skip("root alone can look after others, and the tests do not run as root")
    if not os.path.exists(BASE):
        pytest.skip(f"no {BASE}")
    found = Node()
    yield found
    found.remove()


class Node:
    """A folder that everybody may enter, with a secret of root's in it."""

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="node-"))
        self.folder.chmod(0o755)
        self.private = self.folder / "root"
        self.private.mkdir(mode=0o700)
        self.secret = self.folder / "shadow"
        self.secret.write_text(SECRET)
        self.secret.chmod(0o600)
        self.state = self.private / "state.sqlite"
        self.doctor = Doctor(self.private)
        self.eve = NOBODY
        """The user who means ill."""

    def remove(self):
        """Leave nothing."""
        shutil.rmtree(self.folder)

    def patient(self, name, uid=None):
        """Return a healthy environment with its lock, yet to be given away."""
        uid = self.eve if uid is None else uid
        home = self.folder / f"user{uid}"
        home.mkdir(exist_ok=True)
        os.chown(home, uid, uid)
        found = Patient(home / name, base=BASE)
        for wheel in (SIX, TORCH):
            found.install(wheel, requested=True)
        found.lock((SIX, TORCH))
        return found

    def configure(self, text=None):
        """Write root's configuration; without a text it names every environment of Eve's."""
        path = self.private / "envdoctor.toml"
        text = text or f'[[target]]\npath = "{self.folder}/user{self.eve}/*/.venv"\nlock = "requirements.txt"\n'
        path.write_text(f'state = "{self.state}"\n{text}')
        return path

    def health(self, *options, text=None, **more):
        """Run it as root with that configuration; nothing of root's may be said or remembered."""
        config = self.configure(text)
        answer = self.doctor("health", "--config", config, *options, **more)
        kept = b"".join(path.read_bytes() for path in self.private.glob("state.sqlite*"))
        assert MARKER not in answer.stdout + answer.stderr
        assert MARKER.encode() not in kept
        return answer

    def looks(self, *options, **more):
        """Return what was said of each environment, by the name of its project."""
        answer = self.health("--format", "json", *options, **more)
        return {Path(item["target"]).parent.name: item for item in json.loads(answer.stdout)["targets"]}


def give(folder, uid=NOBODY):
    """Give a tree away, links and all."""
    for path, folders, files in os.walk(folder):
        for name in (path, *(os.path.join(path, each) for each in (*folders, *files))):
            os.lchown(name, uid, uid)


def found(look):
    """Return (probe, subject) of all findings of a look."""
    return {(finding["probe"], finding["subject"]) for finding in look["report"]["findings"]}

"""The guard that keeps probe tests off the machine holds, and lets through what it must."""

import glob
import importlib.metadata
import os
import pathlib
import socket
import subprocess
import sys
from contextlib import suppress

import pytest

from envdoctor import knowledge
from envdoctor.system.host import LocalHost

HERE = pathlib.Path(__file__)
ATTEMPTS = {
    "open": lambda: open(__file__),  # noqa: SIM115 - refused
    "path": lambda: HERE.read_text(),
    "exists": lambda: os.path.exists(__file__),
    "islink": lambda: os.path.islink(__file__),
    "listdir": lambda: os.listdir("."),
    "walk": lambda: list(os.walk(".")),
    "glob": lambda: glob.glob("*"),
    "metadata": lambda: importlib.metadata.version("pytest"),
    "process": lambda: subprocess.run(["true"], check=True),
    "host": lambda: LocalHost().run(["true"], timeout=1),
    "fork": lambda: os.fork(),
    "socket": lambda: socket.socket(),
}


@pytest.mark.parametrize("name", ATTEMPTS)
def test_touching_the_machine_fails_even_a_probe_that_swallows_errors(name):
    with pytest.raises(pytest.fail.Exception, match="must not touch the machine"), suppress(Exception):
        ATTEMPTS[name]()


def test_lazy_imports_still_work(monkeypatch):
    monkeypatch.delitem(sys.modules, "packaging.licenses._spdx", raising=False)
    monkeypatch.delitem(sys.modules, "packaging.licenses", raising=False)
    import packaging.licenses

    assert packaging.licenses.canonicalize_license_expression("mit") == "MIT"


def test_knowledge_tables_may_be_read():
    knowledge.table.cache_clear()
    assert knowledge.rows("serving")

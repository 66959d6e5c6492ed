"""Which resolver does the work: the one that was named if it can, else pip-tools where it can, else uv."""

from __future__ import annotations

import os
import shutil
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from envdoctor.errors import ResolverError, UsageError
from envdoctor.locking import pipconfig, sources
from envdoctor.locking.interpreters import Python
from envdoctor.locking.platforms import Platform
from envdoctor.locking.resolvers import PATIENCE, Format, PipTools, Resolver, Uv, version_of
from envdoctor.printable import last_lines
from envdoctor.system.host import Completed, Host
from envdoctor.system.pipconfig import PipConfig, parse
from envdoctor.system.reading import regular
from envdoctor.system.tool import perform

Name = Literal["pip-tools", "uv"]
GET_UV = f"install uv beside envdoctor: {sys.executable} -m pip install uv"
_PRIVATE = ("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "VIRTUAL_ENV", "CONDA_PREFIX")
"""Variables of the caller's job, which are nothing to a resolver."""


@dataclass(frozen=True, slots=True)
class Goal:
    """What a lock is to be for."""

    version: str
    """Of Python: `3.12`, `3.12.3`."""
    python: Python | None
    """That Python, if it is here."""
    platform: Platform
    form: Format = "requirements"

    def for_pip_tools(self) -> Python | str:
        """Return the Python under which pip-tools does it, or why it cannot: it resolves for what it runs on alone."""
        if self.form == "pylock":
            return "pip-tools writes no pylock"
        if self.python is None:
            return f"there is no Python {self.version} here, and pip-tools resolves for the Python it runs on"
        if self.python.platform != self.platform:
            here = self.python.platform or "no Linux with glibc"
            return f"this machine is {here}, and pip-tools resolves for the machine it runs on, not for {self.platform}"
        return self.python


def choose(named: Name | None, goal: Goal, folder: str, scratch: str, host: Host) -> Resolver:
    """Return the resolver, ready to run in `folder`. `scratch` is a directory that it may use.

    Raises UsageError if the one that was named, or every one, cannot do it, EnvDoctorError if it cannot be set up.
    """
    able = goal.for_pip_tools()
    if named != "uv" and isinstance(able, Python):
        return _pip_tools(able, scratch, host)
    if named == "pip-tools":
        raise UsageError(f"--resolver pip-tools: {able}; use --resolver uv, and if it is not here, {GET_UV}")
    return find_uv(goal, folder, host, because=able if isinstance(able, str) else None)


def find_uv(goal: Goal, folder: str, host: Host, *, because: str | None = None) -> Uv:
    """Return uv, from PATH or from beside envdoctor, told what pip's configuration says. Raises UsageError."""
    path = shutil.which("uv", path=host.env.get("PATH")) or shutil.which("uv", path=os.path.dirname(sys.executable))
    version = version_of([path, "--version"], host) if path else ""
    if not path or not version:
        reason = f"{because}; uv can do it, and" if because else "uv"
        raise UsageError(f"{reason} is not here: {GET_UV}")
    env = environment(host)
    pip, configured = _pip_config(host), _uv_knows(folder, host)
    no_index = pip.no_index and not configured and not pipconfig.is_set(env)
    env |= pipconfig.for_uv(pip, env, configured=configured)
    return Uv(path, version, env, sys.executable, goal.version, goal.platform, goal.form, no_index)


def environment(host: Host) -> dict[str, str]:
    """Return the caller's variables for a tool: its own configuration stays, what is for the job goes."""
    kept = {name: value for name, value in host.env.items() if name not in _PRIVATE}
    return kept | {"PIP_NO_INPUT": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "NO_COLOR": "1", "UV_NO_PROGRESS": "1"}


def _pip_tools(python: Python, scratch: str, host: Host) -> PipTools:
    """Return pip-tools: envdoctor's own, or the same release in a venv made from the other interpreter."""
    _pip_config(host)  # a broken one makes pip-tools fail in odd ways
    version = version_of([sys.executable, "-I", "-m", "piptools", "compile", "--version"], host)
    if not version:
        raise UsageError("pip-tools is not here: reinstall envdoctor, or use --resolver uv")
    env = environment(host)
    if python.own:
        return PipTools(python.path, version, env)
    venv = os.path.join(scratch, "venv")
    inside = os.path.join(venv, "bin", "python")
    pip = [sys.executable, "-I", "-m", "pip", "--python", inside, "install", "--quiet", "--no-compile"]
    for argv in ([python.path, "-I", "-m", "venv", "--without-pip", venv], [*pip, f"pip-tools=={version}"]):
        done = perform(argv, env=env, cwd=scratch, timeout=PATIENCE)
        if done.problem is not None or done.status:
            raise _unprepared(python, version, done)
    return PipTools(inside, version, env)


def _unprepared(python: Python, version: str, done: Completed) -> ResolverError:
    reason = f"pip-tools {version} could not be set up under Python {python.version}; --resolver uv needs no set-up"
    return ResolverError(reason, last_lines(done.stdout.decode(errors="replace")))


def _pip_config(host: Host) -> PipConfig:
    argv = [sys.executable, "-I", "-m", "pip", "config", "list"]
    done = perform(argv, env=environment(host), cwd=host.cwd, timeout=60.0)
    text = done.stdout.decode(errors="replace")
    if done.status == 0:
        return parse(text)
    if "No module named pip" in text:
        return PipConfig()
    raise ResolverError("pip's configuration cannot be read, so nobody knows where to look", last_lines(text))


def _uv_knows(folder: str, host: Host) -> bool:
    """Tell whether a configuration file that uv reads in `folder` says where to look for packages."""
    return any(pipconfig.names_indexes(table) for table in _uv_tables(folder, host))


def _uv_tables(folder: str, host: Host) -> Iterator[object]:
    home = host.env.get("XDG_CONFIG_HOME") or os.path.join(host.home, ".config")
    for path in (host.env.get("UV_CONFIG_FILE"), os.path.join(home, "uv/uv.toml"), "/etc/uv/uv.toml"):
        yield _toml(path) if path else None
    for above in sources.upwards(folder):
        yield _toml(os.path.join(above, "uv.toml"))
        tools = _toml(os.path.join(above, "pyproject.toml")).get("tool")
        yield tools.get("uv") if isinstance(tools, Mapping) else None


def _toml(path: str) -> Mapping[str, object]:
    try:
        return tomllib.loads(regular(path, 1 << 20).decode())
    except (OSError, ValueError):
        return {}

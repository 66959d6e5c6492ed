"""The target's interpreter: what it says of itself, and what the disk says where it will not speak."""

from __future__ import annotations

import glob
import json
import os
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

from envdoctor.errors import EnvDoctorError
from envdoctor.facts.install_times import modified
from envdoctor.model import Target
from envdoctor.system.host import Completed, Host
from envdoctor.system.reading import head
from envdoctor.system.rooted import joined

PAYLOAD = os.path.join(os.path.dirname(os.path.dirname(__file__)), "payloads", "interpreter.py")
_RELEASE = re.compile(rb"GNU C Library .{0,80}?release version (\d+\.\d+)")
"""glibc's csu/version.c."""
LIBC_LIMIT = 8 << 20
"""Bytes of the C library that are searched; it has about 2 MB."""
ANSWER_WITHIN = 5.0
"""Seconds. A start with -I -S -B takes about 0.02; a hundred times that is a hang or a dying file server."""
UNSEEN = "may not be looked at by this user"
"""Problem of an interpreter below --root, in /root for instance: those who run the job there may see it well."""
_MACHINES = {3: "i686", 21: "ppc64le", 22: "s390x", 40: "armv7l", 62: "x86_64", 183: "aarch64", 243: "riscv64"}
"""ELF e_machine -> what `platform.machine()` says (System V ABI, EM_* values)."""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """Who would run the job."""

    python: str
    """The path that was asked, e.g. `.venv/bin/python`."""
    chain: tuple[str, ...]
    """That path and every link target behind it, up to the file itself or to the name that is not there."""
    answered: bool
    """True if the interpreter ran and spoke; everything else is then its own word, otherwise it is read from disk."""
    problem: str | None
    """Why it did not answer, e.g. `did not start: No such file or directory`; None if it was not asked
    (--root, or it is not to be started)."""
    version: str | None
    """Full version that runs, e.g. `3.12.3`; from disk (pyvenv.cfg, conda-meta) where it did not answer."""
    recorded_version: str | None
    """Version that pyvenv.cfg recorded when the venv was made."""
    markers: Mapping[str, str]
    """Marker environment (PEP 508). Keys that the disk does not tell are missing where it did not answer."""
    kind: Literal["venv", "conda", "prefix"] = "venv"
    pyvenv: Mapping[str, str] = field(default_factory=dict)
    """Keys of pyvenv.cfg (PEP 405), lower case."""
    system_site: bool = False
    """True if pyvenv.cfg switches the base interpreter's site-packages on."""
    base_prefix: str | None = None
    free_threaded: bool = False
    soabi: str = ""
    """Tag in the file names of its extension modules, e.g. `cpython-312-x86_64-linux-gnu`."""
    libc: str = ""
    """E.g. `glibc 2.39`; "" if unknown."""
    include: str | None = None
    stdlib: str | None = None
    created_at: float | None = None
    """When pyvenv.cfg was written, seconds since the epoch: the environment was made, or made anew in place."""

    @property
    def minor(self) -> str | None:
        """`3.12`, the part of the version that names directories and wheel tags."""
        match = re.match(r"\d+\.\d+", self.version or "")
        return match[0] if match else None


def collect(target: Target, host: Host) -> Interpreter:
    """Ask the interpreter, with nothing of the target's own start-up code running (-I -S -B).

    Raises OSError or EnvDoctorError if there is a pyvenv.cfg and it cannot be read: nothing is sure without it.
    """
    pyvenv = parse_pyvenv(_text(os.path.join(target.prefix, "pyvenv.cfg")))
    chain = link_chain(target.python, host.root)
    answer, problem = _ask(target.python, host) if not (host.root or host.still) else (None, _lost(chain))
    disk = _from_disk(target.prefix, pyvenv, chain, host)
    conda = os.path.isdir(os.path.join(target.prefix, "conda-meta"))
    said = answer if answer is not None else disk
    return Interpreter(
        python=target.python,
        chain=chain,
        answered=answer is not None,
        problem=problem,
        version=said["version"],
        recorded_version=recorded_version(pyvenv),
        markers=said["markers"],
        kind="venv" if pyvenv else "conda" if conda else "prefix",
        pyvenv=pyvenv,
        system_site=pyvenv.get("include-system-site-packages", "").lower() == "true",
        base_prefix=said["base_prefix"],
        free_threaded="t" in said["abiflags"],
        soabi=said["soabi"],
        libc=said["libc"],
        include=said["include"],
        stdlib=said["stdlib"],
        created_at=modified(os.path.join(target.prefix, "pyvenv.cfg")) if pyvenv else None,
    )


def _lost(chain: tuple[str, ...]) -> str | None:
    """Say what is wrong with an interpreter that must not be run; UNSEEN where this user cannot tell."""
    try:
        os.stat(chain[-1])
    except PermissionError:
        return UNSEEN
    except (OSError, ValueError):
        return "leads to nothing"
    return None


def _ask(python: str, host: Host) -> tuple[dict[str, Any] | None, str | None]:
    keep = {name: host.env[name] for name in ("PATH", "LD_LIBRARY_PATH", "LANG") if name in host.env}
    return parse_answer(host.run([python, "-I", "-S", "-B", *_script()], timeout=ANSWER_WITHIN, env=keep))


def _script() -> list[str]:
    """Name the payload; carry it along where this user cannot read the doctor's own files."""
    return [PAYLOAD] if os.access(PAYLOAD, os.R_OK) else ["-c", source()]


@cache
def source() -> str:
    """Return the payload's text; to be called before root is given up."""
    with open(PAYLOAD, encoding="utf-8") as stream:
        return stream.read()


def parse_answer(done: Completed) -> tuple[dict[str, Any] | None, str | None]:
    """Turn a finished process into (answer, None) or (None, what was wrong with it)."""
    if done.problem is not None:
        return None, done.problem
    if done.status:
        return None, f"ended with status {done.status}" if done.status > 0 else f"died by signal {-done.status}"
    try:
        answer = json.loads(done.stdout)
    except (ValueError, RecursionError):
        return None, "printed something that is no answer"
    texts = ("version", "base_prefix", "abiflags", "soabi", "libc", "include", "stdlib")
    if not isinstance(answer, dict) or not all(isinstance(answer.get(key), str) for key in texts):
        return None, "printed something that is no answer"
    markers = answer.get("markers")
    if not isinstance(markers, dict) or not all(isinstance(value, str) for value in markers.values()):
        return None, "printed something that is no answer"
    return answer, None


def _text(path: str) -> str:
    """Read a small regular file; "" if there is none."""
    if not os.path.lexists(path):
        return ""
    if os.path.exists(path) and not os.path.isfile(path):
        raise EnvDoctorError(f"{path} is not a regular file")
    with open(path, encoding="utf-8", errors="surrogateescape") as stream:
        return stream.read(1 << 16)


def parse_pyvenv(text: str) -> dict[str, str]:
    """Read pyvenv.cfg as site.py does: `key = value` lines, keys without case."""
    pairs = (line.split("=", 1) for line in text.split("\n") if "=" in line)
    return {key.strip().lower(): value.strip() for key, value in pairs}


def recorded_version(pyvenv: Mapping[str, str]) -> str | None:
    """Return the interpreter version that pyvenv.cfg names: venv writes `version`, virtualenv and uv `version_info`."""
    match = re.match(r"(\d+\.\d+\.\d+)(?:\.?(a|b|rc|alpha|beta|candidate)\.?(\d+))?", _recorded(pyvenv))
    if match is None:
        return None
    stage = {"alpha": "a", "beta": "b", "candidate": "rc"}.get(match[2], match[2]) if match[2] else ""
    return match[1] + (f"{stage}{match[3]}" if stage else "")


def _recorded(pyvenv: Mapping[str, str]) -> str:
    return pyvenv.get("version_info") or pyvenv.get("version") or ""


def link_chain(path: str, root: str = "") -> tuple[str, ...]:
    """Follow a path link by link; a loop ends the chain where it closes."""
    chain = [path]
    while os.path.islink(chain[-1]):
        folder, link = os.path.dirname(chain[-1]), os.readlink(chain[-1])
        # `..` counts from where the link really lies, which normpath cannot know
        step = joined(root, os.path.realpath(folder) if ".." in link else folder, link)
        if step in chain:
            break
        chain.append(step)
    return tuple(chain)


def _from_disk(prefix: str, pyvenv: Mapping[str, str], chain: tuple[str, ...], host: Host) -> dict[str, Any]:
    """Say what can be said of an interpreter that does not speak."""
    version = recorded_version(pyvenv) or _conda_version(prefix) or _directory_version(prefix)
    version = _named_version(chain[-1], version) if host.root else version
    markers = {"os_name": "posix", "sys_platform": "linux", "platform_system": "Linux"}
    markers |= {"implementation_name": "cpython", "platform_python_implementation": "CPython"}
    if version is not None:
        markers |= {"python_version": ".".join(version.split(".")[:2])}
        if version.count(".") == 2:
            markers |= {"python_full_version": version, "implementation_version": version}
    machine = elf_machine(chain[-1]) or _library_machine(prefix)
    if machine is not None:
        markers["platform_machine"] = machine
    home = pyvenv.get("home")
    base = host.at(os.path.dirname(home)) if home else prefix if not pyvenv else None
    stdlib = os.path.join(base, "lib", f"python{markers.get('python_version')}") if base else ""
    return {
        "version": version,
        "markers": markers,
        "base_prefix": base,
        "abiflags": "t" if glob.glob(os.path.join(glob.escape(prefix), "lib", "python3.*t", "site-packages")) else "",
        "soabi": "",
        "libc": glibc(host),
        "include": None,
        "stdlib": stdlib if os.path.isdir(stdlib) else None,
    }


def _named_version(file: str, said: str | None) -> str | None:
    """Go by the name of the interpreter's file, `python3.13`, where that is of another minor version than was recorded.

    That is what an upgrade of the system's Python leaves of a venv that was made with /usr/bin/python3.
    """
    match = re.fullmatch(r"python(3\.\d+)t?", os.path.basename(file))
    if match is None or not os.path.isfile(file) or f"{said}.".startswith(f"{match[1]}."):
        return said
    return match[1]


def glibc(host: Host) -> str:
    """Return the C library's version as `glibc 2.39`, from the text it carries; "" if there is none to be found."""
    for folder in ("/lib", "/lib64", "/usr/lib", "/usr/lib64"):
        for pattern in ("libc.so.6", "*-linux-gnu/libc.so.6"):
            for path in sorted(glob.glob(os.path.join(glob.escape(host.at(folder)), pattern))):
                real = host.at(host.resolve(path.removeprefix(host.root)))
                if found := _RELEASE.search(head(real, LIBC_LIMIT)):
                    return f"glibc {found[1].decode()}"
    return ""


def _conda_version(prefix: str) -> str | None:
    for path in glob.glob(os.path.join(glob.escape(prefix), "conda-meta", "python-[0-9]*.json")):
        match = re.match(r"python-(\d+\.\d+\.\d+)-", os.path.basename(path))
        if match:
            return match[1]
    return None


def _directory_version(prefix: str) -> str | None:
    found = glob.glob(os.path.join(glob.escape(prefix), "lib", "python3.*", "site-packages"))
    versions = [os.path.basename(os.path.dirname(path))[len("python") :].rstrip("t") for path in found]
    return versions[0] if len(versions) == 1 else None


def _library_machine(prefix: str) -> str | None:
    """Read the machine off any compiled extension: all of one environment's are for one machine."""
    pattern = os.path.join(glob.escape(prefix), "lib", "python3.*", "site-packages", "*", "*.so")
    machines = (elf_machine(path) for path in glob.iglob(pattern))
    return next((machine for machine in machines if machine), None)


def elf_machine(path: str) -> str | None:
    """Return the machine that an ELF file is for, as `platform.machine()` would name it; None if it is no such file."""
    start = head(path, 20)
    if len(start) < 20 or start[:4] != b"\x7fELF":
        return None
    return _MACHINES.get(struct.unpack("<H" if start[5] == 1 else ">H", start[18:20])[0])

"""Small environments on disk, healthy until a test damages them.

    patient = Patient(tmp_path)
    patient.install(Wheel("torch", "2.11.0", {"torch/__init__.py": ""}), requested=True, at=JUNE)
    lock = patient.lock([...])
    patient.edit("torch/__init__.py")
    report = patient.check(lock=lock)

No installer and no venv module is started: files are laid out as venv (PEP 405), pip and uv lay them out (PEP 376,
PEP 427, PEP 610, PEP 627), which takes a millisecond. bin/python is a link to the Python that runs the tests.
"""

import base64
import hashlib
import json
import os
import sys
from pathlib import Path

from envdoctor.system.host import LocalHost
from envdoctor.wheels import Wheel, pylock, requirements_lock

JUNE = 1_780_000_000.0
"""A time of installation, seconds since the epoch: 28 May 2026."""
DAY = 86_400.0
MINOR = f"{sys.version_info.major}.{sys.version_info.minor}"
BASE = getattr(sys, "_base_executable", sys.executable)
"""The Python behind the tests' own venv, as venv links it."""


CUDA = (
    *("cache", "cuda", "node", "environment/missing-headers", "environment/no-compiler", "packages/torch-cpu-build"),
    *("packages/companion-mismatch", "packages/extension-abi", "packages/glibc-too-old", "packages/numpy-abi"),
)


class Patient:
    """A venv at `<folder>/<name>`; `folder` is its project and is made if need be.

    `folder`, `prefix`, `python`, `bin` and `site` are `Path`s; paths given to methods are relative to site-packages.
    """

    def __init__(self, folder, name=".venv", *, minor=MINOR, base=BASE):
        self.folder = Path(folder)
        self.prefix = self.folder / name
        self.bin = self.prefix / "bin"
        self.python = self.bin / "python"
        self.site = self.prefix / f"lib/python{minor}/site-packages"
        self.site.mkdir(parents=True)
        self.bin.mkdir()
        (self.prefix / "lib64").symlink_to("lib")
        self.python.symlink_to(base)
        (self.bin / "python3").symlink_to("python")
        (self.bin / f"python{minor}").symlink_to("python")
        full = ".".join(map(str, sys.version_info[:3])) if minor == MINOR else f"{minor}.0"
        self.configure(home=os.path.dirname(base), version=full)

    # What installers do

    def configure(self, **keys):
        """Write pyvenv.cfg: `home`, `version`, and `include_system_site_packages="true"` for instance."""
        known = {"home": os.path.dirname(BASE), "include-system-site-packages": "false", "version": f"{MINOR}.0"}
        known |= getattr(self, "_configured", {}) | {key.replace("_", "-"): value for key, value in keys.items()}
        self._configured = known
        (self.prefix / "pyvenv.cfg").write_text("".join(f"{key} = {value}\n" for key, value in known.items()))

    def install(self, wheel, *, installer="pip", requested=False, at=JUNE, took=0.0, direct_url=None, compiled=True):
        """Unpack a `Wheel`; return its dist-info. `at` (epoch seconds) is when RECORD is written.

        pip: files get the time `at - took`. uv: files keep an older time, REQUESTED is written too. `direct_url` is the
        content of direct_url.json as a dict. `compiled` writes a stand-in .pyc for each module, as pip does.
        Anything that is there already is overwritten, as installers do; use `uninstall` first to upgrade.
        """
        info = f"{wheel.stem}.dist-info"
        written = {}
        for path, content in wheel.entries().items():
            head, data, inner = path.partition(".data/")
            if not path.endswith(".dist-info/RECORD"):
                written[self._placed(inner) if data and "/" not in head else path] = content
        shebang = f"#!{self.python}\n"
        for command, target in wheel.console_scripts.items():
            module, _, function = target.partition(":")
            script = f"{shebang}import sys\nfrom {module} import {function}\nsys.exit({function}())\n"
            written[f"../../../bin/{command}"] = script.encode()
        written[f"{info}/INSTALLER"] = b"pip\n" if installer == "pip" else installer.encode()
        if requested:
            written[f"{info}/REQUESTED"] = b""
        if direct_url is not None:
            written[f"{info}/direct_url.json"] = json.dumps(direct_url).encode()
        rows = [f"{csv_field(path)},{digest_of(content)},{len(content)}" for path, content in written.items()]
        if compiled and installer == "pip":
            for path in [path for path in wheel.files if path.endswith(".py")]:
                cached = self._byte_code(path)
                written[cached] = b"byte code"
                rows.append(f"{csv_field(cached)},,")
        rows.append(f"{info}/RECORD,,")
        for path, content in written.items():
            self._put(self.site / path, content, at - took if installer == "pip" else at - DAY)
        self._put(self.site / info / "RECORD", "\n".join([*rows, ""]).encode(), at)
        return self.site / info

    def uninstall(self, wheel):
        """Delete what the RECORD lists, as pip does, and the directories that become empty."""
        info = self.info(wheel)
        rows = (info / "RECORD").read_text().splitlines()
        for row in rows:
            path = Path(os.path.normpath(self.site / row.rsplit(",", 2)[0].strip('"')))
            path.unlink(missing_ok=True)
            for folder in path.parents:
                if folder in (self.site, self.bin) or not folder.is_relative_to(self.prefix) or any(folder.iterdir()):
                    break
                folder.rmdir()

    def lock(self, wheels, name="requirements.txt"):
        """Write a lock of these wheels into the project and return its path (str): hashed requirements or a pylock."""
        path = self.folder / name
        path.write_text(pylock(wheels, "wheels") if name.startswith("pylock.") else requirements_lock(wheels))
        return str(path)

    # Damage

    def edit(self, path, content=None, *, keep_size=False, keep_time=False, at=JUNE + DAY):
        """Change a file's bytes: to `content`, or by appending, or (`keep_size`) in the first byte; date it `at`.

        `keep_time` sets mtime back to what it was; ctime moves regardless.
        """
        file = self.site / path
        status, old = file.stat(), file.read_bytes()
        changed = bytes([old[0] ^ 1]) + old[1:] if keep_size else old + b"# edited\n"
        file.write_bytes(changed if content is None else content.encode() if isinstance(content, str) else content)
        stamp = (status.st_atime_ns, status.st_mtime_ns) if keep_time else (int(at * 1e9), int(at * 1e9))
        os.utime(file, ns=stamp)

    def truncate(self, path):
        """Leave a file without a byte."""
        self.edit(path, b"")

    def delete(self, path):
        """Remove one file."""
        (self.site / path).unlink()

    def add(self, path, content="", *, at=JUNE + DAY):
        """Write a file that no RECORD lists (stray module, .pth, sitecustomize.py, `~orch/x.so`); return its path."""
        self._put(self.site / path, content.encode() if isinstance(content, str) else content, at)
        return self.site / path

    def fifo(self, path):
        """Replace a file by a named pipe with no writer: who opens it, hangs. `path` may be absolute."""
        file = self.site / path
        file.unlink(missing_ok=True)
        os.mkfifo(file)

    def interpreter(self, script):
        """Replace bin/python by a shell script, e.g. `sleep 60` or `exit 1`."""
        self.python.unlink()
        self.python.write_text(f"#!/bin/sh\n{script}\n")
        self.python.chmod(0o755)

    # What the doctor says

    def info(self, wheel):
        """Return the dist-info of a wheel."""
        return self.site / f"{wheel.stem}.dist-info"

    def host(self, **env):
        """Return this machine with an environment of its own: PATH, HOME and what is given."""
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        return LocalHost(env={"PATH": os.defpath, "HOME": str(home), **env}, cwd=str(self.folder))

    def check(self, *select, lock=None, ignore=(), env=None, deadline=20.0):
        """Run `check` on it with the probes selected (ids or prefixes, all if none) and return the `Report`.

        Probes that look at the CUDA stack and the machine run only if they are selected by name: a patient has neither.
        """
        from envdoctor import workflows

        ignore = (*ignore, *(probe for probe in CUDA if not any(name.startswith(probe) for name in select)))
        wish = workflows.Wish(target=str(self.prefix), lock=lock)
        return workflows.check(wish, workflows.Selection(select, ignore), self.host(**(env or {})), deadline=deadline)

    def seal(self, *, lock=None, force=False):
        """Seal it and return the `Sealed`."""
        from envdoctor import sealing, workflows

        return sealing.seal(workflows.Wish(target=str(self.prefix), lock=lock), self.host(), force=force)

    # Inside

    @staticmethod
    def _placed(inner):
        kind, _, rest = inner.partition("/")
        outside = {"scripts": "../../../bin/", "data": "../../../", "headers": "../../../include/"}
        return outside.get(kind, "") + rest

    @staticmethod
    def _byte_code(path):
        folder, _, name = path.rpartition("/")
        return f"{folder}/__pycache__/".lstrip("/") + f"{name[:-3]}.{sys.implementation.cache_tag}.pyc"

    def _put(self, path, content, at):
        path = Path(os.path.normpath(path))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        if path.parent == self.bin:
            path.chmod(0o755)
        os.utime(path, (at, at))


def findings(report, probe=None):
    """Return the findings of a report as (probe id, subject) pairs, or one probe's findings as a list."""
    if probe is not None:
        return [finding for identity, finding in report.findings() if identity == probe]
    return [(identity, finding.subject) for identity, finding in report.findings()]


def digest_of(content):
    """Write a digest as RECORD does."""
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")


def csv_field(path):
    """Quote a path as the csv module does."""
    return '"' + path.replace('"', '""') + '"' if any(char in path for char in ',"\n') else path


__all__ = ["BASE", "DAY", "JUNE", "MINOR", "Patient", "Wheel", "csv_field", "digest_of", "findings"]

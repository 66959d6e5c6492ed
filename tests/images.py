"""Small unpacked images: a root file system of another machine, with an environment whose python cannot run here."""

import os
import struct
from pathlib import Path

from patients import Patient, Wheel

AARCH64 = 183
LIBC = b"GNU C Library (Debian GLIBC 2.36-9) stable release version 2.36.\n"
WHEELS = (
    Wheel(
        "numpy",
        "2.3.5",
        {"numpy/__init__.py": "pi = 3\n"},
        tag="cp312-cp312-manylinux_2_28_aarch64",
        console_scripts={"f2py": "numpy:main"},
    ),
    Wheel("requests", "2.32.5", {"requests/__init__.py": "x = 1\n", "requests/api.py": ""}, ("numpy",)),
)


def program(machine=AARCH64):
    """Return an executable file's beginning, of a machine that is not this one."""
    return struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 2, machine, 1, 0, 0, 0, 0, 64, 56, 0, 64, 0, 0)


class Image:
    """A usr-merged Debian at `<folder>/image`, with a locked environment in /opt/app/venv made with /usr/bin/python3.

    Every text in the environment names the image's paths, as it would if it had been made there.
    """

    def __init__(self, folder):
        self.outside = Path(folder)
        self.root = self.outside / "image"
        self.prefix = self.root / "opt/app/venv"
        self.write("usr/bin/python3.12", program(), mode=0o755)
        self.write("usr/lib/aarch64-linux-gnu/libc.so.6", LIBC)
        self.write("usr/lib/python3.12/os.py", "")
        self.write("etc/passwd", "root:x:0:0:root:/root:/bin/sh\n")
        self.link("lib", "usr/lib")
        self.link("bin", "usr/bin")
        self.link("usr/bin/python3", "python3.12")
        self.patient = Patient(self.root / "opt/app", "venv", minor="3.12", base="/usr/bin/python3")
        self.patient.configure(home="/usr/bin", version="3.12.3")
        for wheel in WHEELS:
            self.patient.install(wheel, requested=True)
        for script in self.patient.bin.iterdir():
            if not script.is_symlink():
                script.write_text(script.read_text().replace(str(self.root), ""))
        (self.patient.bin / "activate").write_text('VIRTUAL_ENV="/opt/app/venv"\nexport VIRTUAL_ENV\n')
        self.lock = self.patient.lock(WHEELS)
        self.site = self.patient.site

    def write(self, path, content, *, mode=0o644):
        """Write a file of the image."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        file.chmod(mode)
        return file

    def link(self, path, leads):
        """Make a link; what is there already gives way."""
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.unlink(missing_ok=True)
        place.symlink_to(leads)

    def trap(self, path):
        """Put a program there that leaves a mark outside of the image when it is run, and return the mark."""
        mark = self.outside / "was-run"
        (self.root / path).unlink(missing_ok=True)
        self.write(path, f"#!/bin/sh\necho {path} >> {mark}\n", mode=0o755)
        return mark

    def check(self, doctor, *options, target=None, env=None):
        """Run `check --root`."""
        return doctor(
            "check", "--format", "json", "--root", self.root, "--target", target or self.prefix, *options, env=env
        )


def all_files(folder):
    """Return every file below a folder with its bytes, to see that nothing was changed."""
    return {
        path: os.readlink(path) if path.is_symlink() else path.read_bytes()
        for path in sorted(Path(folder).rglob("*"))
        if path.is_symlink() or path.is_file()
    }

"""Become another user for good, with nothing left of root's rights: for a child that reads what that user wrote."""

from __future__ import annotations

import contextlib
import os
import pwd
import resource
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from envdoctor.errors import EnvDoctorError
from envdoctor.system import prctl

NOBODY = 65534
"""The overflow user of Linux (/proc/sys/kernel/overflowuid), where passwd has no `nobody`."""
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
TASKS = 128
"""Processes and threads that may be started beside those that the user has."""
LIMITS: Mapping[int, int] = {
    resource.RLIMIT_CORE: 0,
    resource.RLIMIT_FSIZE: 64 << 20,
    resource.RLIMIT_NOFILE: 512,
    resource.RLIMIT_DATA: 1 << 30,
    resource.RLIMIT_AS: 16 << 30,
}
"""Bytes and descriptors. Libraries of gigabytes are mapped to be looked into, so that the address space says little of
memory; RLIMIT_DATA does (getrlimit(2), Linux 4.7)."""


@dataclass(frozen=True, slots=True)
class Identity:
    """A user as passwd and group have him."""

    uid: int
    gid: int
    groups: tuple[int, ...]
    name: str
    home: str
    shell: str

    def environment(self) -> dict[str, str]:
        """Return the variables that he has of a login, and no others."""
        return {"HOME": self.home, "USER": self.name, "LOGNAME": self.name, "SHELL": self.shell, "PATH": PATH}


def identity(uid: int) -> Identity:
    """Look a user up; one without an entry has no home and belongs to nobody's group. May ask a directory server."""
    try:
        entry = pwd.getpwuid(uid)
    except KeyError:
        return Identity(uid, NOBODY, (), str(uid), "/", "/bin/sh")
    groups = tuple(os.getgrouplist(entry.pw_name, entry.pw_gid))
    return Identity(uid, entry.pw_gid, groups, entry.pw_name, entry.pw_dir or "/", entry.pw_shell or "/bin/sh")


def nobody() -> Identity:
    """Return the user who owns nothing."""
    try:
        entry = pwd.getpwnam("nobody")
    except KeyError:
        return Identity(NOBODY, NOBODY, (), "nobody", "/", "/bin/sh")
    return Identity(entry.pw_uid, entry.pw_gid, (), "nobody", "/", "/bin/sh")


def become(who: Identity, *, seconds: int) -> None:
    """Be this user from now on, within bounds; `seconds` of processor time for each process.

    Raises EnvDoctorError if that cannot be done in full: then nothing of the user's may be touched.
    """
    privileged = os.geteuid() == 0
    try:
        bound({**LIMITS, resource.RLIMIT_CPU: seconds, resource.RLIMIT_NPROC: _tasks(who.uid) + TASKS})
        if privileged:
            prctl.bound_capabilities()
            os.setgroups(who.groups)
            os.setgid(who.gid)
            os.setuid(who.uid)
        prctl.drop_capabilities()
        prctl.gain_nothing()
        prctl.hide_memory()
        prctl.die_with_parent()  # a change of user clears it (prctl(2))
        os.umask(0o077)
        os.chdir("/")
    except OSError as error:
        raise EnvDoctorError(f"cannot become {who.name}: {error.strerror or error}") from error
    _verify(who, privileged=privileged)
    os.environ.clear()
    os.environ.update(who.environment())


def _verify(who: Identity, *, privileged: bool) -> None:
    """Try to get back. Raises EnvDoctorError if anything is left."""
    ways: list[Callable[[], object]] = []
    if who.uid:
        ways += [lambda: os.setuid(0), lambda: os.seteuid(0)]
    if privileged:
        ways += [lambda: os.setgroups([])]
    gained = [way for way in ways if _works(way)]
    ids = {*os.getresuid(), *os.getresgid()} - {who.uid, who.gid}
    if gained or (privileged and (ids or set(os.getgroups()) - {who.gid, *who.groups})):
        raise EnvDoctorError(f"cannot become {who.name}: rights of root are left")


def _works(way: Callable[[], object]) -> bool:
    try:
        way()
    except OSError:
        return False
    return True


def bound(limits: Mapping[int, int] = LIMITS) -> None:
    """Set limits for this process and what it starts, none above what is allowed already."""
    for number, wanted in limits.items():
        _, hard = resource.getrlimit(number)
        value = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(number, (value, value))


def _tasks(uid: int) -> int:
    """Count the threads that a user has: the kernel counts them all against the limit (getrlimit(2))."""
    count = 0
    for entry in os.scandir("/proc"):
        with contextlib.suppress(OSError, ValueError):
            if entry.name.isdigit() and entry.stat().st_uid == uid:
                with open(f"/proc/{entry.name}/stat", "rb") as stream:
                    count += int(stream.read(4096).rpartition(b")")[2].split()[17])
    return count

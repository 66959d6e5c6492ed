"""Find the target, its lock and the configuration, with as little said by the caller as possible.

Everything here reads the file system, so `workflows` calls it in a forked child.
"""

from __future__ import annotations

import errno
import glob
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass

from envdoctor import envs, images
from envdoctor.errors import EnvDoctorError, LockError, PolicyError, UsageError
from envdoctor.images import is_environment
from envdoctor.model import Target
from envdoctor.policy import Policy, parse
from envdoctor.seals import recorded_lock
from envdoctor.system import inside
from envdoctor.system.host import Host
from envdoctor.system.reading import regular

LOCK_PATTERNS = (
    *("pylock.toml", "pylock.*.toml", "uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock"),
    *("lockfiles/*", "requirements*.txt"),
)
"""In the order in which they are tried; `lockfiles/*` and requirements files count only with hashes in them."""
_CONFIG_LIMIT = 1 << 20
"""Bytes of a configuration file."""
_PEEK = 4 << 20
"""Bytes in which a hash must show for a requirements file to count as a lock."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What the caller said on the command line."""

    target: str | None = None
    lock: str | None = None
    config: str | None = None
    groups: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()
    log: str | None = None
    deep: bool = False
    afresh: bool = False
    place: bool = False
    """True for a command that changes what lies there: the link of a generation counts, whichever that leads to, and a
    target that is named may be missing."""


def seek(wish: Wish, host: Host) -> tuple[Target, Policy, Host]:
    """Locate, in a child of its own; return also the host as the facts are to see it.

    Below --root nothing is met but what the image's own processes would meet, and the caller's variables end.
    """
    inside.enter(host.root)
    target, policy = locate(wish, host)
    return target, policy, host.inhabited(target.prefix)


def locate(wish: Wish, host: Host, given: Policy | None = None) -> tuple[Target, Policy]:
    """Return the target to look at and the policy to judge it by, which is looked for unless it is given.

    Raises UsageError, saying what was tried.
    """
    policy = _policy(wish, host) if given is None else given
    prefix, python = _environment(wish, policy, host)
    if given is None and wish.config is None and policy.path is None:
        policy = _policy_above(os.path.dirname(prefix), host.root) or policy
    lock, others = _lock(wish, policy, prefix, host)
    groups, extras = (*policy.groups, *wish.groups), (*policy.extras, *wish.extras)
    log = _plain(os.path.join(host.cwd, os.path.expanduser(wish.log))) if wish.log is not None else None
    chosen = tuple(dict.fromkeys(groups)), tuple(dict.fromkeys(extras))
    superseded = _superseded(prefix)
    return Target(prefix, python, lock, others, *chosen, log, wish.deep, wish.afresh, superseded), policy


def _plain(path: str) -> str:
    """Return a path without `..`, as it is if that would lead elsewhere: the folder before it may be a link."""
    plain = os.path.normpath(path)
    return plain if os.path.realpath(plain) == os.path.realpath(path) else path


def configuration(config: str | None, host: Host) -> Policy:
    """Return the policy where no target is looked at. Raises PolicyError for a --config that is none."""
    return _policy(Wish(config=config), host)


def _policy(wish: Wish, host: Host) -> Policy:
    """Read --config, else the configuration above the named target, else the one above the current directory."""
    if wish.config is not None:
        path = os.path.join(host.cwd, wish.config)
        policy = _read_policy(path)
        if policy is None:
            raise PolicyError(f"{wish.config}: has no [tool.envdoctor]")
        return policy
    above_target = _policy_above(os.path.join(host.cwd, wish.target), host.root) if wish.target else None
    return above_target or _policy_above(host.cwd) or Policy()


def _policy_above(folder: str, top: str = "") -> Policy | None:
    for above in _upwards(folder, top):
        for name in ("envdoctor.toml", "pyproject.toml"):
            path = os.path.join(above, name)
            if os.path.isfile(path):
                policy = _read_policy(path)
                if policy is not None:
                    return policy
        if os.path.exists(os.path.join(above, ".git")):
            return None
    return None


def _read_policy(path: str) -> Policy | None:
    try:
        return parse(regular(path, _CONFIG_LIMIT).decode("utf-8-sig"), path)
    except UnicodeDecodeError as error:
        raise PolicyError(f"{path}: not UTF-8 at byte {error.start}") from error
    except ValueError as error:
        raise PolicyError(f"{path}: {error}") from error
    except OSError as error:
        raise PolicyError(f"{path}: {error.strerror or error}") from error


def _upwards(folder: str, top: str = "") -> Iterable[str]:
    """Yield a folder and those above it, up to `top` if it lies below that: above --root is another machine."""
    folder = os.path.abspath(folder)
    while True:
        yield folder
        parent = os.path.dirname(folder)
        if folder in (parent, top):
            return
        folder = parent


def _environment(wish: Wish, policy: Policy, host: Host) -> tuple[str, str]:
    """Return (prefix, python) of the environment meant."""
    if wish.target is not None:
        named = os.path.join(host.cwd, os.path.expanduser(wish.target))
        if wish.place and _is_place(named):
            return _new(named)
        named = images.placed(named, wish.target, "--target", host) if host.root else named
        return _named(named, "--target", place=wish.place)
    if policy.target is not None and policy.path is not None:
        folder, said = os.path.dirname(policy.path), f"target in {policy.path}"
        named = os.path.join(folder, os.path.expanduser(policy.target))
        named = images.placed(named, policy.target, said, host) if host.root else named
        return _new(named) if wish.place and _is_place(named) else _named(named, said, place=wish.place)
    if host.root:
        raise UsageError(images.unnamed(host))
    return _unasked(host, place=wish.place)


def unasked(host: Host) -> str:
    """Return the caller's own environment, without reading any configuration. Raises UsageError if there is none."""
    if host.root:
        raise UsageError(images.unnamed(host))
    return _unasked(host)[0]


def named(target: str, host: Host) -> str:
    """Return the path of an environment that is named by its directory or its interpreter, without looking into it."""
    path = os.path.abspath(os.path.join(host.cwd, os.path.expanduser(target)))
    path = images.placed(path, target, "--target", host) if host.root else path
    folder, name = os.path.split(path)
    in_bin = os.path.basename(folder) == "bin" and name.startswith("python") and not os.path.isdir(path)
    return os.path.dirname(folder) if in_bin else path


def _unasked(host: Host, *, place: bool = False) -> tuple[str, str]:
    tried = []
    for source, path in _candidates(host):
        if path is None:
            tried.append(f"{source}: not set")
        elif place and os.path.lexists(path) and _is_place(path):
            return _new(path)
        elif reason := _unfit(source, path, host):
            tried.append(f"{source}: {reason}")
        else:
            return identity(path, place=place)
    raise UsageError(
        "no environment to check; tried " + "; ".join(tried) + ". "
        "Name one with --target DIR, or see `envdoctor demo` for what a check looks like"
    )


def _candidates(host: Host) -> Iterable[tuple[str, str | None]]:
    yield "$VIRTUAL_ENV", host.env.get("VIRTUAL_ENV")
    yield "$CONDA_PREFIX", host.env.get("CONDA_PREFIX")
    yield "./.venv", os.path.join(host.cwd, ".venv")
    yield "./venv", os.path.join(host.cwd, "venv")


def _unfit(source: str, path: str, host: Host) -> str | None:
    """Say why this place is not an environment to judge unasked, or None if it is one."""
    if os.path.realpath(path) == os.path.realpath(sys.prefix):
        return f"{path} is envdoctor's own environment"
    if source == "$CONDA_PREFIX" and host.env.get("CONDA_DEFAULT_ENV") == "base":
        return f"{path} is conda's base environment"
    if source == "$CONDA_PREFIX" and os.path.isdir(os.path.join(path, "condabin")):
        return f"{path} is conda's base environment"
    if not os.path.isdir(path):
        return f"{path} is not there" if source.startswith("$") else "not there"
    return None if is_environment(path) else f"{path} is not a Python environment"


def _is_place(path: str) -> bool:
    """Tell whether there is nothing yet, or what was rebuilt there before has been emptied or removed."""
    path = os.path.abspath(path)
    return not os.path.exists(path) or (os.path.isdir(envs.home_of(path)) and not is_environment(path))


def _new(path: str) -> tuple[str, str]:
    """Name an environment that is not there yet, or whose link leads nowhere. Raises UsageError."""
    path = os.path.abspath(path)
    parent = os.path.dirname(path)
    if not os.path.isdir(parent):
        raise UsageError(f"--target: {path} cannot be made: {parent} is no directory")
    return identity(path, place=True)


def _named(path: str, said: str, *, place: bool = False) -> tuple[str, str]:
    """Turn a named directory or interpreter into (prefix, python).

    Raises EnvDoctorError for what this user may not look at: of what is there, that says nothing.
    """
    path = os.path.abspath(path)
    _visible(path, f"{said}: {path}")
    if os.path.isdir(path):
        if is_environment(path):
            return identity(path, place=place)
        if not os.access(path, os.R_OK | os.X_OK):
            raise EnvDoctorError(f"{said}: {path} cannot be looked into: {os.strerror(errno.EACCES)}")
        inside = [name for name in (".venv", "venv") if is_environment(os.path.join(path, name))]
        hint = f"; did you mean {os.path.join(path, inside[0])}?" if inside else ""
        raise UsageError(
            f"{said}: {path} is not a Python environment (no pyvenv.cfg, conda-meta or lib/pythonX.Y){hint}"
        )
    if os.path.lexists(path) and os.path.basename(os.path.dirname(path)) == "bin":
        prefix, _ = identity(os.path.dirname(os.path.dirname(path)), place=place)
        if is_environment(prefix):
            return prefix, os.path.join(prefix, "bin", os.path.basename(path))
    what = "is neither a directory nor an interpreter in a bin directory" if os.path.lexists(path) else "is not there"
    raise UsageError(f"{said}: {path} {what}; name an environment's directory or its bin/python")


def _visible(path: str, said: str) -> None:
    try:
        os.lstat(path)
    except PermissionError as error:
        raise EnvDoctorError(f"{said} cannot be looked at: {error.strerror}") from error
    except (OSError, ValueError):
        return  # whoever looks for it says what is wrong


def identity(prefix: str, *, place: bool = False) -> tuple[str, str]:
    """Map a generation below `.envs/<name>/` to the link that leads to it; that link is the environment's identity.

    One that is active no longer is judged as what it is; with `place` the link counts all the same.
    """
    prefix = os.path.abspath(prefix)
    link = envs.link_of(prefix)
    if link and (place or os.path.realpath(link) == os.path.realpath(prefix)):
        prefix = link
    python = os.path.join(prefix, "bin", "python")
    # Debian's own Python, and a conda package of it, may have no more than python3
    return prefix, f"{python}3" if os.path.lexists(f"{python}3") and not os.path.lexists(python) else python


def _superseded(prefix: str) -> str:
    """Return the link that a generation belongs to and that leads to another; "" for any other environment."""
    link = envs.link_of(os.path.abspath(prefix))
    return link if link and os.path.islink(link) else ""


def _lock(wish: Wish, policy: Policy, prefix: str, host: Host) -> tuple[str | None, tuple[str, ...]]:
    """Return the lock to judge by, and those that were seen beside it."""
    if wish.lock is not None:
        path = os.path.join(host.cwd, os.path.expanduser(wish.lock))
        return _existing(path, wish.lock, images.meant(path, wish.lock, host)), ()
    if policy.lock is not None and policy.path is not None:
        path = os.path.join(os.path.dirname(policy.path), os.path.expanduser(policy.lock))
        return _existing(path, f"{policy.path}: lock = {policy.lock!r}"), ()
    recorded = recorded_lock(prefix, host.root)
    projects = (project_of(path, host.root) for path in (prefix, os.path.realpath(prefix)))
    found = next(filter(None, (list(_locks_in(project)) for project in projects)), [])
    if recorded is not None:
        return recorded, tuple(path for path in found if path != recorded)
    chosen = found[0] if found else None
    return chosen, tuple(path for path in found if path != chosen)


def _existing(path: str, said: str, meant: str | None = None) -> str:
    path = os.path.abspath(path)
    _visible(path, said)
    if not os.path.lexists(path):
        hint = f"did you mean {meant}?" if meant else "name a pylock.toml, uv.lock or hashed requirements file"
        raise LockError(said, f"no such file; {hint}")
    return path


def project_of(prefix: str, top: str = "") -> str:
    """Return the folder of the target's own project: the nearest pyproject.toml or .git above it, else its parent."""
    parent = os.path.dirname(prefix)
    for above in _upwards(parent, top):
        if any(os.path.exists(os.path.join(above, mark)) for mark in ("pyproject.toml", ".git")):
            return above
    return parent


def _locks_in(project: str) -> Iterable[str]:
    for pattern in LOCK_PATTERNS:
        # the plain name before those of its variants: requirements.txt before requirements-dev.txt
        paths = sorted(glob.glob(os.path.join(glob.escape(project), pattern)), key=lambda path: (path.count("-"), path))
        for path in paths:
            if os.path.isfile(path) and (not pattern.endswith((".txt", "/*")) or _looks_like_lock(path)):
                yield path


def _looks_like_lock(path: str) -> bool:
    name = os.path.basename(path)
    if name == "uv.lock" or (name.startswith("pylock.") and name.endswith(".toml")):
        return True
    try:
        with open(path, "rb") as stream:
            return name.endswith((".txt", ".lock")) and b"--hash=" in stream.read(_PEEK)
    except OSError:
        return False

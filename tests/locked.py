"""Locks as text, and rules held against them."""

from textwrap import dedent

from values import findings

from envdoctor.facts import lock_scan
from envdoctor.locks import detect
from envdoctor.locks.environments import stated
from envdoctor.model import Lock, Unavailable
from envdoctor.views.lock_metadata import LockMetadata, Released
from envdoctor.views.lock_targets import NONE_STATED, LockTargets

SHA = "sha256:" + "1" * 64
OTHER = "sha256:" + "2" * 64
NO_TARGET = Unavailable(NONE_STATED)


def read(text, path="/project/requirements.txt"):
    """Read a lock by its own reader; the name says the format."""
    data = bytes_of(text)
    return detect.parser(path, data)(path, data)


def bytes_of(text):
    return text if isinstance(text, bytes) else dedent(text).lstrip("\n").encode()


def target(python="3.12", platform="manylinux_2_28_x86_64"):
    """Return a stated environment."""
    return LockTargets((stated(python, platform),))


def metadata(**requires):
    """Return metadata: name (`_` stands for a hyphen) -> version and requirements."""
    return LockMetadata(
        {name.replace("_", "-"): (Released(version, tuple(texts)),) for name, (version, *texts) in requires.items()}
    )


def audited(check, text, path="/project/requirements.txt", **given):
    """Return what a rule finds in a lock, or its text, without a target unless one is given as `lock_targets`.

    A lock with includes or folders is read where the module is imported: a test of a rule touches no file.
    """
    lock = text if isinstance(text, Lock) else read(text, path)
    scan = lock_scan.LockScan() if isinstance(text, Lock) else lock_scan.scan(bytes_of(text), "")
    return findings(check, **{"lock": lock, "lock_scan": scan, "lock_targets": NO_TARGET, **given})


def uv(*packages, **top):
    """Return the text of a uv.lock: keys of the top as TOML, and packages as `package` makes them."""
    return "version = 1\n" + "".join(f"{key} = {value}\n" for key, value in top.items()) + "".join(packages)


def package(name, registry="https://index.example/simple", **keys):
    """Return the text of a package of a uv.lock; keys are TOML, `_` stands for `-`."""
    given = {"version": '"1.0"', "source": f'{{ registry = "{registry}" }}', **keys}
    lines = (f"{key.replace('_', '-')} = {value}\n" for key, value in given.items())
    return f'\n[[package]]\nname = "{name}"\n' + "".join(lines)


def files(*urls, **keys):
    """Return wheels for a package of a uv.lock, all with a digest."""
    more = "".join(f', {key.replace("_", "-")} = "{value}"' for key, value in keys.items())
    return "[" + ", ".join(f'{{ url = "{url}", hash = "{SHA}"{more} }}' for url in urls) + "]"


ROOT = '\n[[package]]\nname = "trainer"\nversion = "0"\nsource = { virtual = "." }\n'
"""The project of a uv.lock."""


def told(found):
    """Return (subject, line) of findings: what is at fault, and where."""
    return [(finding.subject, finding.evidence.get("line")) for finding in found]

"""Comparisons of versions where PEP 440's own idea of equality is not what a lock means."""

from __future__ import annotations

from functools import cache


@cache
def same_build(installed: str, locked: str | None) -> bool:
    """Tell whether two versions are the same release *and* the same build (local label).

    `2.1.0+cpu` satisfies `==2.1.0` for an installer; it is not the build that a lock of `2.1.0+cu121` means. `2.0` and
    `2.0.0` are the same. What is no version (PEP 440) is compared as text.
    """
    from packaging.version import Version

    if locked is None or installed == locked:
        return True
    try:
        return Version(installed) == Version(locked)
    except ValueError:  # InvalidVersion, and numbers of thousands of digits
        return False


@cache
def same_release(one: str, other: str) -> bool:
    """Tell whether two versions are the same release, their local labels aside."""
    return one == other or public(one) == public(other)


@cache
def public(version: str) -> str:
    """Return a version without its local label, in canonical form where it has one."""
    from packaging.utils import canonicalize_version

    plain = version.partition("+")[0]
    try:
        return canonicalize_version(plain)
    except ValueError:  # numbers of thousands of digits
        return plain


def label(version: str | None) -> str:
    """Return the local label of a version, "" if it has none."""
    return (version or "").partition("+")[2]


@cache
def satisfies(version: str, specifier: str) -> bool:
    """Tell whether a version lies in a specifier set; what is no version or no set does not."""
    from packaging.specifiers import SpecifierSet

    try:
        return SpecifierSet(specifier).contains(version, prereleases=True)
    except ValueError:  # InvalidSpecifier, InvalidVersion, and numbers of thousands of digits
        return False


@cache
def is_prerelease(text: str) -> bool:
    """Tell whether a text is the version of a pre-release or development release (PEP 440)."""
    from packaging.version import Version

    try:
        return Version(text).is_prerelease
    except ValueError:  # InvalidVersion, and numbers of thousands of digits
        return False


@cache
def is_version(text: str) -> bool:
    """Tell whether a text is a version (PEP 440)."""
    from packaging.version import Version

    try:
        Version(text)
    except ValueError:  # InvalidVersion, and numbers of thousands of digits
        return False
    return True

"""Programs of others' that some tests want; CI has them (.ci/run)."""

import os
import shutil

import pytest


def needed(name, where):
    """Return the path of a program; without it the test is skipped, and in CI fails: there nothing goes untested."""
    path = shutil.which(name)
    if path is None:
        reason = f"no {name}: {where}"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)
    return path

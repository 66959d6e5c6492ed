"""The paths of generations: `<parent>/.envs/<name>/<generation>` belongs to the link `<parent>/<name>`."""

from __future__ import annotations

import hashlib
import os

FOLDER = ".envs"


def link_of(path: str) -> str:
    """Return the link of the generation that an absolute path is, or "" if it is none by its shape."""
    home, generation = os.path.split(path)
    folder, name = os.path.split(home)
    parent, envs = os.path.split(folder)
    return os.path.join(parent, name) if envs == FOLDER and name and generation else ""


def home_of(link: str) -> str:
    """Return the folder that holds the generations of a link."""
    parent, name = os.path.split(link)
    return os.path.join(parent, FOLDER, name)


def key_of(prefix: str) -> str:
    """Return sixteen hexadecimal digits that stand for the path that is an environment's identity."""
    identity = os.path.join(os.path.realpath(os.path.dirname(prefix)), os.path.basename(prefix))
    return hashlib.sha256(identity.encode("utf-8", "surrogateescape")).hexdigest()[:16]

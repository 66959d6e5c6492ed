"""The paths of generations: `<parent>/.envs/<name>/<generation>` belongs to the link `<parent>/<name>`."""

from __future__ import annotations

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

"""What a user may not look at in an image is not known to him: it is neither missing nor healthy."""

import shutil
import tempfile
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from images import Image
from nobody import as_nobody

from envdoctor.errors import EnvDoctorError
from envdoctor.facts import files, interpreter
from envdoctor.facts.search_path import PathEntry, SearchPath
from envdoctor.locate import Wish, seek
from envdoctor.model import Target, Unavailable
from envdoctor.probes.environment import dangling_python
from envdoctor.system.forked import call
from envdoctor.system.host import LocalHost


@pytest.fixture
def image():
    """An image that everybody can come to; its Python lies in root's home, where uv and pyenv put theirs."""
    folder = Path(tempfile.mkdtemp(prefix="envdoctor-unseen-"))
    folder.chmod(0o755)
    image = Image(folder)
    (image.root / "root/python/bin").mkdir(parents=True)
    (image.root / "usr/bin/python3.12").rename(image.root / "root/python/bin/python3.12")
    image.link("usr/bin/python3.12", "/root/python/bin/python3.12")
    yield image
    shutil.rmtree(folder)


@contextmanager
def closed(folder):
    """Take every right away from a folder; its owner, if he is not root, is locked out as others are."""
    folder.chmod(0)
    try:
        yield
    finally:
        folder.chmod(0o755)


def judged(image):
    """Return the findings of the probe by the interpreter as it is seen without privilege."""

    def look():
        found = interpreter.collect(
            Target(str(image.prefix), f"{image.prefix}/bin/python"), LocalHost(root=str(image.root))
        )
        return [(one.severity.label, one.message, one.remedy) for one in dangling_python.check(found)]

    return as_nobody(look)


def sought(image, **wish):
    """Return what is raised when the environment is looked for without privilege."""
    named, host = Wish(**{"target": str(image.prefix), **wish}), LocalHost(root=str(image.root), cwd="/")

    def look():
        try:
            call("the search", partial(seek, named, host), timeout=10)
        except EnvDoctorError as error:
            return type(error).__name__, str(error)
        return None

    return as_nobody(look)


@pytest.mark.parametrize("path", ["root", "root/python/bin", "opt/app/venv/bin", "usr/bin"])
def test_a_python_in_a_closed_folder_is_a_note(path, image):
    assert judged(image) == []
    with closed(image.root / path):
        ((severity, message, remedy),) = judged(image)
    assert severity == "note"
    assert "may not be looked at by this user, so whether it is there is not known" in message
    assert remedy[0].startswith("check as a user who may read ")


def test_a_python_that_is_gone_is_an_error_to_anybody(image):
    (image.root / "root/python/bin/python3.12").unlink()
    ((severity, message, _),) = judged(image)
    assert severity == "error"
    assert "leads to nothing" in message


@pytest.mark.parametrize("path", ["opt", "opt/app", "opt/app/venv"])
def test_a_target_in_a_closed_folder_is_the_doctors_failure(path, image):
    assert sought(image) is None
    with closed(image.root / path):
        kind, message = sought(image)
    assert kind == "EnvDoctorError"
    assert message.startswith(f"the search: --target: {image.prefix} cannot be looked ")
    assert message.endswith("Permission denied")


def test_a_lock_in_a_closed_folder_is_not_called_missing(image):
    image.write("srv/locks/requirements.txt", "")
    lock = str(image.root / "srv/locks/requirements.txt")
    with closed(image.root / "srv/locks"):
        kind, message = sought(image, lock=lock)
    assert (kind, message) == ("EnvDoctorError", f"the search: {lock} cannot be looked at: Permission denied")


def compared(image, root):
    """Return which distributions are not in order and what was not seen, for somebody without privilege."""

    def look():
        path = SearchPath((PathEntry(str(image.site), "site-packages"),), None, user_site_enabled=False)
        target = Target(str(image.prefix), f"{image.prefix}/bin/python")
        found = files.collect(target, LocalHost(root=root), path, Unavailable("no seal"))
        return [state.name for state in found.distributions], found.lost

    look()  # imports what it needs: nobody may be unable to read Python itself
    return as_nobody(look)


def test_files_in_a_closed_folder_of_an_image_are_not_called_missing(image):
    names = sorted(path.name for path in image.site.iterdir() if path.is_dir() and "." not in path.name)
    assert compared(image, str(image.root)) == ([], None)
    with closed(image.site / names[0]):
        wrong, lost = compared(image, str(image.root))
        here, _ = compared(image, "")
    assert wrong == []
    assert lost.startswith(f"{image.site}/{names[0]}/")
    assert lost.endswith("may not be looked at by this user; check as one who may")
    assert len(here) == 1, "on the running machine a job of this user's cannot read it either"

"""Projects with environments in them, and what is found there."""

from fakes import FakeHost

from envdoctor.locate import Wish, locate

HASHED = "six==1 --hash=sha256:" + "a" * 64 + "\n"


def make(folder, mark="pyvenv.cfg"):
    folder.mkdir(parents=True)
    (folder / mark).touch() if "/" not in mark and "." in mark else (folder / mark).mkdir(parents=True)
    return folder


def found(project, wish=None, **env):
    return locate(wish or Wish(), FakeHost(env=env, cwd=str(project), home=str(project.parent)))[0]


def policy(project, wish=None):
    return locate(wish or Wish(), FakeHost(cwd=str(project)))[1]

"""The configuration of health: what it may say, and what it is refused for, with the line."""

import os

import pytest
from fakes import FakeHost

from envdoctor.errors import PolicyError
from envdoctor.health import configuring
from envdoctor.health.configuring import Configuration, Wanted

WHOLE = """
state = "/var/lib/x.sqlite"
textfile = "/var/lib/x.prom"
deadline = 20
notify = ["/usr/local/bin/tell", "--ops"]

[[target]]
path = "/home/*/train/.venv"
lock = "requirements.txt"
environment = { CUDA_HOME = "/opt/cuda" }

[[target]]
path = "/srv/env/"
owner = "ann"
groups = ["train"]
extras = ["gpu"]
"""


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Return a function that writes a configuration and reads it, as a user whose own it is."""
    monkeypatch.setattr(configuring.os, "geteuid", lambda: 1000)

    def read(text):
        (tmp_path / "health.toml").write_text(text)
        return configuring.read("health.toml", FakeHost(cwd=str(tmp_path)))

    return read


def test_all_of_it(written, tmp_path):
    assert written(WHOLE) == Configuration(
        str(tmp_path / "health.toml"),
        (
            Wanted("/home/*/train/.venv", "requirements.txt", environment={"CUDA_HOME": "/opt/cuda"}),
            Wanted("/srv/env", owner="ann", groups=("train",), extras=("gpu",)),
        ),
        "/var/lib/x.sqlite",
        "/var/lib/x.prom",
        20.0,
        ("/usr/local/bin/tell", "--ops"),
    )


def test_a_policy_is_read_with_it(written, tmp_path):
    (tmp_path / "policy.toml").write_text('allow = ["ipython"]\n')
    found = written(f'[[target]]\npath = "/srv/env"\npolicy = "{tmp_path}/policy.toml"\n')
    assert found.targets[0].policy.allow == ("ipython",)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("deadline = 20\nsate = 1\n", ":2: unknown key sate; known are deadline, notify, state, target, textfile"),
        ('[[target]]\npath = "/a"\n[[target]]\npath = "/b"\nlocks = "x"\n', ":5: unknown key target.locks"),
        ('[[target]]\nlock = "x"\n', ":1: a target needs a path"),
        ('[[target]]\npath = "/a"\n[[target]]\npath = "b"\n', ":4: path must be an absolute path"),
        ('[[target]]\npath = "/a"\nenvironment = { A = 1 }\n', ":3: environment must be a table of variables"),
        ('[[target]]\npath = "/a"\nenvironment = { "A=" = "1" }\n', ":3: environment must be a table of variables"),
        ("deadline = 0\n", ":1: deadline must be seconds"),
        ("deadline = true\n", ":1: deadline must be seconds"),
        ('notify = "mail"\n', ":1: notify must be a list of names"),
        ("target = 1\n", ":1: target must be a list of tables"),
        ("x = [\n", ":2: not TOML"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(written, text, said):
    with pytest.raises(PolicyError) as error:
        written(text)
    assert said in str(error.value)


def test_without_a_file_there_is_nothing_to_say(tmp_path, monkeypatch):
    monkeypatch.setattr(configuring.os, "geteuid", lambda: 1000)
    assert configuring.read(None, FakeHost(home=str(tmp_path))) == Configuration()


def test_a_users_own_lies_below_his_configuration(tmp_path, monkeypatch):
    monkeypatch.setattr(configuring.os, "geteuid", lambda: 1000)
    path = tmp_path / "envdoctor" / "health.toml"
    path.parent.mkdir()
    path.write_text("deadline = 5\n")
    found = configuring.read(None, FakeHost(env={"XDG_CONFIG_HOME": str(tmp_path)}))
    assert (found.path, found.deadline) == (str(path), 5.0)


def test_one_that_is_no_file_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(configuring.os, "geteuid", lambda: 1000)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(PolicyError, match="is not a regular file"):
        configuring.read("pipe", FakeHost(cwd=str(tmp_path)))

"""`envdoctor lock compile` and `lock from-target` where no index is asked: refusals, and a stand-in for uv."""

import hashlib
import os

import pytest
from doctor import Doctor
from patients import Patient, Wheel

from envdoctor.locks import header

UV = """\
#!/bin/sh
case "$*" in
  --version) echo "uv 0.13.9"; exit;;
esac
while [ $# -gt 1 ]; do [ "$1" = --output-file ] && out="$2"; shift; done
{script}
"""
"""Runs a script that writes to $out; $1 is the input."""
PIN = "six==1.17.0 \\\\\\n    --hash=sha256:{}\\n    # via -r train.in\\n".format("ab" * 32)


class Shop:
    """A project with train.in, and a uv that does as it is told."""

    def __init__(self, folder):
        self.folder, self.doctor = folder, Doctor(folder)
        (folder / "train.in").write_text("six\n")

    def uv(self, script):
        tools = self.folder / "home" / "tools"
        tools.mkdir(exist_ok=True)
        (tools / "uv").write_text(UV.format(script=script))
        (tools / "uv").chmod(0o755)

    def __call__(self, *words, **env):
        path = f"{self.folder / 'home/tools'}:/usr/bin:/bin"
        return self.doctor("lock", *words, env={"PATH": path, "PIP_CONFIG_FILE": os.devnull} | env)

    def names(self):
        return sorted(path.name for path in self.folder.iterdir() if path.name != "home")

    def text(self, name):
        return (self.folder / name).read_text()


@pytest.fixture
def shop(tmp_path):
    return Shop(tmp_path)


AT = ("--python", "3.12", "--platform", "manylinux_2_28_x86_64", "--resolver", "uv")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("gone.in",), "gone.in: no such file; name a requirements file such as train.in"),
        (("train.in", "-o", "train.in"), "is what the lock is compiled from"),
        (("train.in", "-o", "no/where.txt"), "is not a directory"),
        (("train.in", "-o", "letter.txt"), "is there and is not a lock"),
        (("train.in", "-o", "train.toml"), "is no name for a requirements lock"),
        (("train.in", "-o", "a.txt", "--format", "pylock"), "pylock.toml or pylock.NAME.toml"),
        (("train.in", "--python", "three"), "neither a version, such as 3.12, nor the path of a Python"),
        (("train.in", "--python", "./letter.txt"), "no Python that answers"),
        (("train.in", "--platform", "win_amd64"), "no Linux platform"),
        (("train.in", "--upgrade-package=--index-url=x"), "is no package's name"),
        (("train.in", "--python", "3.99", "--resolver", "pip-tools"), "use --resolver uv"),
        (
            ("train.in", "--format", "pylock", "--resolver", "pip-tools"),
            "pip-tools writes no pylock; use --resolver uv",
        ),
    ],
)
def test_each_refusal_is_one_line_and_status_2(shop, words, said):
    (shop.folder / "letter.txt").write_text("dear all\n")
    before = shop.names()
    answer = shop("compile", *words)
    assert (answer.status, answer.stdout, answer.stderr.count("\n")) == (2, "", 1), answer
    assert said in answer.stderr
    assert shop.names() == before


def test_a_lock_says_what_it_was_made_of(shop):
    (shop.folder / "sub").mkdir()
    shop.uv(f"printf '{PIN}' > $out")
    answer = shop("compile", "train.in", "-o", "sub/train.txt", *AT)
    assert answer.stdout == "sub/train.txt: 1 packages locked by uv 0.13.9 for Python 3.12 on manylinux_2_28_x86_64\n"
    assert answer.stderr == "envdoctor: uv 0.13.9 locks train.in for Python 3.12 on manylinux_2_28_x86_64\n"
    digest = hashlib.sha256(b"six\n").hexdigest()
    (shop.folder / ".git").mkdir()  # a project above both: now the input can be named from there
    assert shop("compile", "train.in", "-o", "sub/train.txt").status == 0
    assert header.parse(shop.text("sub/train.txt")) == header.Header(
        "envdoctor lock compile ../train.in -o train.txt " + " ".join(AT),
        "uv 0.13.9",
        "3.12",
        "manylinux_2_28_x86_64",
        (header.Source("../train.in", digest),),
    )
    assert shop.text("sub/train.txt").endswith("\n    # via -r ../train.in\n")


def test_what_is_not_said_is_as_in_the_lock_that_stands_there(shop):
    shop.uv(f"printf '{PIN}' > $out")
    assert shop("compile", "train.in", *AT).status == 0
    first = shop.text("train.txt")
    shop.uv(f"cat $out >&2; echo $*; printf '{PIN}' > $out; exit 1")
    answer = shop("compile", "train.in")
    assert "    six==1.17.0\n" in answer.stderr  # the seed: the old pin, and no old hash
    assert "--hash" not in answer.stderr
    shop.uv(f"printf '{PIN}' > $out")
    assert (shop("compile", "train.in").status, shop.text("train.txt")) == (0, first)


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (
            "echo 'six==1.17.0 @ what' > $out",
            "train.txt: not written, the lock is faulty; it lies in train.txt.rejected",
        ),
        ("echo 'six @ file:///home/me/six-1.0-py3-none-any.whl' > $out", "holds a path of this machine"),
        ("echo 'six @ https://me:hunter2@index.example/six-1.0-py3-none-any.whl' > $out", "holds credentials"),
        (": > $out", "is not a lock: no line pins a version"),
    ],
)
def test_a_lock_that_fails_never_replaces_a_good_one(shop, script, said):
    shop.uv(script)
    answer = shop("compile", "train.in", *AT)
    assert (answer.status, answer.stdout) == (1, "")
    assert said in answer.stderr
    assert "hunter2" not in answer.stderr
    assert shop.names() == ["train.in", "train.txt.rejected"]
    shop.uv(f"printf '{PIN}' > $out")
    assert shop("compile", "train.in", *AT).status == 0
    assert shop.names() == ["train.in", "train.txt"]
    good = shop.text("train.txt")
    shop.uv(script)
    answer = shop("compile", "train.in", *AT)
    assert (answer.status, shop.text("train.txt")) == (1, good)
    assert "the old one stays" in answer.stderr


@pytest.mark.parametrize(
    ("script", "status", "said"),
    [
        ("echo 'error: No solution found when resolving' >&2; exit 1", 1, "uv 0.13.9 finds no solution"),
        ("echo 'error: Failed to fetch: https://me:hunter2@index.example/six/'; exit 2", 3, "ended with status 2"),
        ("kill -9 $$", 3, "was killed"),
        ("exit 0", 3, "left no lock"),
        ("printf '\\033[2Jcleared\\n'; exit 2", 3, "could not resolve"),
    ],
)
def test_a_resolver_that_fails_is_quoted_and_told_in_a_line(shop, script, status, said):
    shop.uv(script)
    answer = shop("compile", "train.in", *AT)
    assert (answer.status, answer.stdout) == (status, "")
    assert said in answer.stderr.splitlines()[-1]
    assert "hunter2" not in answer.stderr
    assert "\x1b" not in answer.stderr
    assert shop.names() == ["train.in"]


def test_uv_is_told_by_its_environment_what_pip_is_configured_for(shop):
    shop.uv('env | grep -E "^(UV_|SSL_|PYTHONPATH)" | sort >&2; echo "$@" >&2; exit 1')
    (shop.folder / "home/pip.conf").write_text("[global]\nindex-url = https://me:hunter2@index.example/simple\n")
    config = str(shop.folder / "home/pip.conf")
    answer = shop("compile", "train.in", *AT, PIP_CONFIG_FILE=config, PIP_FIND_LINKS="/w", PYTHONPATH="/job")
    assert "    UV_DEFAULT_INDEX=https://****@index.example/simple\n    UV_FIND_LINKS=/w\n" in answer.stderr
    assert "hunter2" not in answer.stderr
    assert "PYTHONPATH" not in answer.stderr
    (shop.folder / "uv.toml").write_text('[[index]]\nurl = "https://own.example/simple"\n')
    answer = shop("compile", "train.in", *AT, PIP_CONFIG_FILE=config)
    assert "UV_DEFAULT_INDEX" not in answer.stderr


def test_options_that_the_input_states_stand_in_the_lock(shop):
    (shop.folder / "train.in").write_text("--index-url https://me:hunter2@index.example/simple\n-f wheels\nsix\n")
    shop.uv(f"printf -- '--index-url https://me:hunter2@index.example/simple\\n{PIN}' > $out")
    assert shop("compile", "train.in", *AT).status == 0
    lines = shop.text("train.txt").splitlines()
    assert [line for line in lines if line.startswith("-")] == [
        "--index-url https://index.example/simple",
        "--find-links wheels",
    ]


def test_a_package_to_upgrade_has_to_be_in_the_lock(shop):
    shop.uv(f"printf '{PIN}' > $out")
    assert shop("compile", "train.in", *AT).status == 0
    assert shop("compile", "train.in", "--upgrade-package", "Six").status == 0
    answer = shop("compile", "train.in", "--upgrade-package", "sixx")
    assert (answer.status, answer.stderr) == (2, "envdoctor: --upgrade-package: sixx is not in the lock\n")


def test_from_target_replaces_only_what_it_made(shop):
    patient = Patient(shop.folder / "project")
    patient.install(Wheel("six", "1.17.0", {"six.py": ""}))
    patient.install(
        Wheel("lab", "0.1", {"lab.py": ""}), direct_url={"url": "file:///x", "dir_info": {"editable": True}}
    )
    shop.uv(f"printf '{PIN}' > $out")
    assert shop("compile", "train.in", *AT).status == 0
    answer = shop("from-target", "--target", patient.prefix, "-o", "train.txt")
    assert (answer.status, answer.stdout) == (2, "")
    assert "was not made by this command" in answer.stderr
    for _ in range(2):
        answer = shop("from-target", "--target", patient.prefix, "-o", "now.txt")
        assert answer.status == 1
        assert (
            answer.stdout == "now.txt: 1 packages locked\nnot locked: lab 0.1: installed editable, from a directory\n"
        )
    text = shop.text("now.txt")
    assert text.endswith("\n# Installed and not locked (1):\n# - lab 0.1: installed editable, from a directory\n")
    assert str(shop.folder) not in text
    assert header.parse(text).sources == ()


def test_from_target_of_what_is_not_there_is_usage(shop):
    for words, said in (
        (("-o", "x.txt", "--target", "gone"), "is not there"),
        (("-o", "pylock.toml"), "pylock's name"),
    ):
        answer = shop("from-target", *words)
        assert (answer.status, answer.stderr.count("\n")) == (2, 1)
        assert said in answer.stderr


def test_without_an_index_nothing_is_taken_for_missing(shop):
    patient = Patient(shop.folder / "project")
    patient.install(Wheel("six", "1.17.0", {"six.py": ""}))
    shop.uv("echo 'error: Failed to fetch'; exit 2")
    answer = shop("from-target", "--target", patient.prefix, "-o", "now.txt")
    assert (answer.status, answer.stdout, "now.txt" in shop.names()) == (3, "", False)


@pytest.mark.parametrize("name", ["uv.lock", "poetry.lock", "Pipfile.lock"])
def test_the_lock_of_another_tool_is_never_written_over(doctor, tmp_path, name):
    (tmp_path / "a.in").write_text("six\n")
    (tmp_path / name).write_text("version = 1\n")
    answer = doctor("lock", "compile", "a.in", "-o", name, cwd=tmp_path)
    assert (answer.status, answer.stderr.count("\n")) == (2, 1)
    assert (tmp_path / name).read_text() == "version = 1\n"


@pytest.mark.parametrize("resolver", ["pip-tools", "uv"])
def test_a_broken_configuration_of_pip_is_no_configuration_to_go_by(doctor, tmp_path, resolver):
    (tmp_path / "a.in").write_text("six\n")
    (tmp_path / "pip.conf").write_text("[global]\nindex-url = https://u:S3cr3t@a.example/simple\nindex-url = x\n")
    env = {"PIP_CONFIG_FILE": str(tmp_path / "pip.conf")}
    answer = doctor("lock", "compile", "a.in", "--resolver", resolver, cwd=tmp_path, env=env)
    assert answer.status in ((3,) if resolver == "pip-tools" else (2, 3))  # 2 where there is no uv
    assert not (tmp_path / "a.txt").exists()
    assert "S3cr3t" not in answer.stderr + answer.stdout

"""`envdoctor lock diff` and `envdoctor lock show` as commands."""

import json

import pytest

H1, H2 = ("sha256:" + digit * 64 for digit in "12")


@pytest.fixture
def write(tmp_path):
    def write(name, text):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def test_equal_is_0_and_different_is_1(doctor, write):
    old, same = write("old.txt", f"torch==2.11.0 --hash={H1}\n"), write("same.txt", f"torch==2.11 --hash={H1}\n")
    answer = doctor("lock", "diff", old, same)
    assert (answer.status, answer.stderr) == (0, "")
    assert answer.stdout.startswith("EQUAL\n")
    answer = doctor("lock", "diff", old, write("new.txt", f"torch==2.11.0 --hash={H2}\n"))
    assert (answer.status, answer.stderr) == (1, "")
    assert "none of the digests is what it was" in answer.stdout


def test_json_is_one_object_with_the_same_status(doctor, write):
    old, new = write("old.txt", "torch==2.11.0\n"), write("new.txt", "torch==3.0\n")
    answer = doctor("lock", "diff", old, new, "--format", "json")
    assert answer.status == 1
    assert [(change["group"], change["kind"]) for change in json.loads(answer.stdout)["changes"]] == [
        ("torch", "major")
    ]


@pytest.mark.parametrize("command", ["diff", "show"])
@pytest.mark.parametrize("text", ["", "no lock\n", "[project]\nname = 'x'\n", "a>=1\n"])
def test_what_is_no_lock_is_one_line_and_status_2(doctor, write, command, text):
    good, bad = write("good.txt", "a==1\n"), write("bad.txt", text)
    for files in ((good, bad), (bad, good)) if command == "diff" else ((bad,),):
        answer = doctor("lock", command, *files)
        assert (answer.status, answer.stdout, answer.stderr.count("\n")) == (2, "", 1)
        assert answer.stderr.startswith(f"envdoctor: {bad}: ")


def test_a_missing_lock_is_status_2(doctor, write):
    answer = doctor("lock", "diff", write("good.txt", "a==1\n"), "gone.txt")
    assert (answer.status, answer.stderr) == (
        2,
        "envdoctor: gone.txt: no such file; name a pylock.toml, uv.lock or hashed requirements file\n",
    )
    assert doctor("lock", "diff", "one.txt").status == 2


def test_show_sums_up_and_lists_packages_if_asked(doctor, write):
    lock = write("train.txt", f"--index-url https://u:hunter2@index.example/simple\ntorch==2.11.0 --hash={H1}\n")
    answer = doctor("lock", "show", lock)
    assert (answer.status, answer.stderr) == (0, "")
    assert "hashed           1 of 1 by sha256\n" in answer.stdout
    assert "index            https://****@index.example/simple\n" in answer.stdout
    assert "2.11.0" not in answer.stdout
    assert "torch    2.11.0   index   1" in doctor("lock", "show", lock, "--packages").stdout
    said = json.loads(doctor("lock", "show", lock, "--packages", "--format", "json").stdout)
    assert [package["name"] for package in said["packages"]] == ["torch"]


def test_show_of_a_faulty_lock_says_where(doctor, write):
    lock = write("train.txt", "a==1\n--frobnicate\n")
    answer = doctor("lock", "show", lock)
    assert answer.status == 0
    assert f"  {lock}:2: unknown option '--frobnicate'; installers stop at it\n" in answer.stdout

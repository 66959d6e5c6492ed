"""`envdoctor lock audit` as a user meets it."""

import json
import os
import stat

import pytest
from locked import OTHER, SHA

HASHED = f"six==1.17.0 \\\n    --hash={SHA}\nidna==3.10 \\\n    --hash={OTHER}\n"


@pytest.fixture
def audit(doctor, tmp_path):
    """Audit files of these names and contents, as JSON unless asked otherwise."""

    def run(*options, **contents):
        for name, content in contents.items():
            data = content if isinstance(content, bytes) else content.encode()
            (tmp_path / name.replace("_", ".")).write_bytes(data)
        files = [name.replace("_", ".") for name in contents]
        form = () if "--format" in options else ("--format", "json")
        return doctor("lock", "audit", *files, *form, *options, cwd=tmp_path)

    return run


def test_a_sound_lock(audit):
    answer = audit(lock_txt=HASHED)
    assert (answer.status, answer.report["findings"], answer.report["target"]) == (0, [], None)
    assert answer.report["seen"]["locks"] == "lock.txt"
    assert answer.report["failed"] == answer.report["crashed"] == []


def test_a_fault_has_file_line_column_and_words(audit):
    answer = audit(lock_txt=HASHED + "numpy>=1.26\n")
    (finding,) = answer.findings("lock/unpinned")
    assert answer.status == 1
    assert finding["evidence"] == {"file": "lock.txt", "line": 5, "column": 1, "text": "numpy>=1.26"}
    assert finding["subject"] == "numpy"


def test_several_locks_are_one_report(audit):
    answer = audit(a_txt=HASHED + "numpy\n", b_txt=HASHED + "torch\n")
    assert {(f["evidence"]["file"], f["subject"]) for f in answer.findings("lock/unpinned")} == {
        ("a.txt", "numpy"),
        ("b.txt", "torch"),
    }


def test_an_include_is_named_where_it_lies(audit, tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts/more.txt").write_text(f"idna==3.10 --hash={OTHER}\nnumpy\n")
    answer = audit(lock_txt=f"six==1.17.0 --hash={SHA}\n-r parts/more.txt\n")
    (finding,) = answer.findings("lock/unpinned")
    assert finding["evidence"]["file"].endswith("parts/more.txt")
    assert finding["evidence"]["line"] == 2


def test_the_machine_is_no_input(audit, tmp_path):
    """Without a target, and with nothing declared, a lock for another machine is judged as one for this."""
    text = f"six==1.17.0 --hash={SHA} ; sys_platform == 'win32'\n"
    one, other = audit(lock_txt=text), audit(lock_txt=text)
    left = [
        {key: value for key, value in each.report.items() if key not in ("seconds", "taken_at")}
        for each in (one, other)
    ]
    assert left[0] == left[1]
    skipped = [item for item in one.report["skipped"] if "no target stated" in item["reason"]]
    assert skipped


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--python", "three"), "--python: 'three' is no version"),
        (("--platform", "win_amd64"), "--platform: 'win_amd64' is no Linux platform tag"),
        (("--target", ".", "--python", "3.12"), "give either it, or --python and --platform"),
        (("--target", "nowhere"), "nowhere is not there"),
        (("--wheelhouse", "nowhere"), "--wheelhouse: "),
        (("--config", "nowhere.toml"), "nowhere.toml: No such file"),
    ],
)
def test_a_wrong_option_is_one_line(audit, options, said):
    answer = audit(*options, lock_txt=HASHED)
    assert (answer.status, answer.stdout, answer.stderr.count("\n")) == (2, "", 1)
    assert said in answer.stderr


BAD = {
    "empty": (b"", "is empty"),
    "binary": (b"\0\1\2\3" * 100, "is a binary file"),
    "prose": (b"This is no lock.\nNot at all.\n" * 40, "is not a lock"),
    "json": (b'{"a": 1}', "is JSON or markup"),
    "nested": (b"lock-version = '1.0'\na = " + b"[" * 30_000, "lock.txt"),
    "truncated": (b"lock-version = '1.0'\n[[packages]]\nname = 'six'\nversion = ", "lock.txt:4: is not valid TOML"),
    "unknown version": (
        b"version = 9\nrequires-python = '>=3.12'\n[[package]]\nname = 'x'\n",
        "version 9 is not known",
    ),
}


@pytest.mark.parametrize(("content", "said"), BAD.values(), ids=BAD.keys())
def test_what_is_no_lock_is_one_line(audit, content, said):
    answer = audit(lock_txt=content)
    assert (answer.status, answer.stdout, answer.stderr.count("\n")) == (2, "", 1)
    assert said in answer.stderr


@pytest.mark.parametrize(
    "content",
    [
        HASHED.replace("\n", "\r\n").encode(),
        b"\xef\xbb\xbf" + HASHED.encode(),
        HASHED.encode("utf-16"),
        (HASHED + f"numpy==2.4.6 --hash={SHA.replace('1', '4')}\r\n").encode(),
    ],
    ids=["crlf", "bom", "utf-16", "mixed"],
)
def test_odd_encodings_are_read(audit, content):
    answer = audit(lock_txt=content)
    assert answer.status in (0, 1)
    assert answer.report["seen"]["pins"] >= 2


def test_a_hundred_megabytes_are_refused_at_once(doctor, tmp_path):
    with (tmp_path / "large.txt").open("wb") as file:
        file.truncate(100 << 20)
    answer = doctor("lock", "audit", "large.txt", cwd=tmp_path)
    assert (answer.status, answer.stderr.count("\n")) == (2, 1)


@pytest.mark.parametrize("kind", ["fifo", "directory", "nothing", "dangling"])
def test_what_is_no_file(doctor, tmp_path, kind):
    path = tmp_path / "lock.txt"
    make = {
        "fifo": lambda: os.mkfifo(path),
        "directory": path.mkdir,
        "dangling": lambda: path.symlink_to("nowhere"),
        "nothing": lambda: None,
    }
    make[kind]()
    answer = doctor("lock", "audit", "lock.txt", cwd=tmp_path)
    assert (answer.status, answer.stdout, answer.stderr.count("\n")) == (2, "", 1)
    assert "lock.txt" in answer.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(doctor, tmp_path):
    path = tmp_path / "lock.txt"
    path.write_text(HASHED)
    path.chmod(stat.S_IWUSR)
    assert doctor("lock", "audit", "lock.txt", cwd=tmp_path).status == 2


def test_a_merge_left_half_done_is_a_finding(audit):
    answer = audit(lock_txt=HASHED + "<<<<<<< HEAD\nnumpy==1.0\n=======\nnumpy==2.0\n>>>>>>> x\n")
    (finding,) = answer.findings("lock/over-limit")
    assert (answer.status, finding["evidence"]["line"]) == (1, 5)


def test_a_cycle_of_includes_ends(audit, tmp_path):
    (tmp_path / "b.txt").write_text("-r a.txt\nidna==3.10\n")
    answer = audit(a_txt="-r b.txt\nsix==1.17.0\n")
    assert answer.status == 1
    assert answer.report["seen"]["pins"] == 2


def test_severity_and_mute_come_from_the_configuration(audit, tmp_path):
    (tmp_path / "envdoctor.toml").write_text('severity = { "lock/unpinned" = "note" }\n')
    assert audit(lock_txt=HASHED + "numpy\n").findings("lock/unpinned", "note")
    (tmp_path / "envdoctor.toml").write_text('mute = [{ probe = "lock/unpinned", why = "known" }]\n')
    answer = audit(lock_txt=HASHED + "numpy\n")
    assert (answer.findings("lock/unpinned"), len(answer.report["muted"])) == ([], 1)


def test_secrets_are_never_printed(audit):
    text = HASHED + "--index-url https://ci:hunter2@index.example/simple\nbroken @@ https://x:hunter2@y.example/\n"
    for form in ("json", "text"):
        answer = audit("--format", form, lock_txt=text)
        assert "hunter2" not in answer.stdout + answer.stderr
    assert json.dumps(audit(lock_txt=text).report)


def test_a_check_sums_it_up(doctor, patient, tmp_path):
    lock = tmp_path / "project/requirements.txt"
    lock.parent.mkdir(exist_ok=True)
    lock.write_text("six==1.17.0\nnumpy>=1\n")
    answer = doctor.check(patient.prefix, "--lock", lock)
    (finding,) = answer.findings("lock/faulty")
    assert finding["severity"] == "warning"
    assert finding["evidence"]["rules"]["lock/unpinned"] == 1
    assert finding["remedy"] == [f"envdoctor lock audit {lock}"]
    assert not answer.findings("lock/unpinned")


def test_the_command_that_made_a_lock_is_what_makes_it_again(doctor, tmp_path):
    (tmp_path / "locks").mkdir()
    (tmp_path / "locks/a.in").write_text("six\n")
    head = "# Locked by envdoctor. To lock again, in the directory of this file:\n"
    head += "#     envdoctor lock compile a.in -o a.txt\n"
    head += (
        f"# from: a.in sha256:{'0' * 64}\n# resolver: uv 0.13.9\n# python: 3.12\n# platform: manylinux_2_28_x86_64\n"
    )
    for text in (head, "# reviewed\n" + head, head.replace("\n", "\r\n")):
        (tmp_path / "locks/a.txt").write_bytes(f"{text}six==1.17.0 --hash={SHA}\n    # via -r a.in\n".encode())
        answer = doctor("lock", "audit", "locks/a.txt", "--format", "json", cwd=tmp_path)
        (finding,) = answer.findings("lock/outdated")
        assert finding["remedy"] == ["compile the lock again: (cd locks && envdoctor lock compile a.in -o a.txt)"]
        assert finding["message"] == "a.in has changed since the lock was compiled from it"
        assert "lock/orphan" in answer.report["passed"]

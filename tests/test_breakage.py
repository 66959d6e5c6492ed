"""What somebody broke locks with: a run of blanks, a name of a million tags, numbers that nothing holds."""

import time

import pytest

from envdoctor.errors import LockError
from envdoctor.locks import detect, lines, text
from envdoctor.printable import redact
from envdoctor.views import lock_uploads

PYLOCK = 'lock-version = "1.0"\ncreated-by = "x"\n[[packages]]\nname = "a"\nversion = "1.0"\nwheels = [{{ {} }}]\n'


def read(data, path="/p/requirements.txt"):
    return detect.parser(path, data)(path, data)


@pytest.mark.parametrize("blank", [" ", "\t", "\u00a0"])
def test_a_run_of_blanks_takes_no_longer_than_other_text(blank):
    began = time.monotonic()
    assert list(lines.logical_lines(f"six==1.0{blank * 200_000}x # y")) == [(1, f"six==1.0{blank * 200_000}x")]
    assert time.monotonic() - began < 2


def test_comments_are_told_as_before():
    assert list(lines.logical_lines("a==1#b\nb==1 #c\n  # d\n#e\nf==1 \\\n# g\nh==1\n")) == [
        (1, "a==1#b"),
        (2, "b==1"),
        (5, "f==1"),
        (7, "h==1"),
    ]


def test_a_wheel_that_stands_for_a_million_tags_is_refused():
    tags = "-".join(".".join(f"{kind}{number}" for number in range(100)) for kind in "pnq")
    assert text.tag_count(f"a-1.0-{tags}.whl") == 1_000_000
    file = f'url = "https://x.example/a-1.0-{tags}.whl", hashes = {{ sha256 = "{"1" * 64}" }}'
    with pytest.raises(LockError, match="stands for more than 4,096 tags"):
        read(PYLOCK.format(file).encode(), "/p/pylock.toml")


def test_a_size_that_no_file_has_is_none():
    file = f'url = "https://x.example/a-1.0-py3-none-any.whl", size = {"9" * 40}, hashes = {{ sha256 = "{"1" * 64}" }}'
    assert read(PYLOCK.format(file).encode(), "/p/pylock.toml").packages[0].artifacts[0].size is None


def test_a_time_that_no_clock_shows_is_none():
    assert lock_uploads._moment("9999-12-31T23:59:59-23:59") is None


@pytest.mark.parametrize(
    "said",
    [
        "--find-links user:S3cr3t@h/x",
        "https://u:12/S3cr3t@h/simple",
        "https://first.last:S3cr3t/x@h/simple",
        "https://first.last:S3cr3t?x@h/simple",
        "//user:S3cr3t@h",
        "https:/user:S3cr3t@h/",
        "http//user:S3cr3t@h x",
        "'user:S3cr3t@h'",
    ],
)
def test_a_password_without_a_scheme_is_hidden(said):
    assert "S3cr3t" not in redact(said)


@pytest.mark.parametrize(
    "said",
    [
        "apex @ git+https://github.com/NVIDIA/apex@24.04.01",
        "git@github.com:org/repo.git",
        "git+ssh://****@github.com/org/repo@v1",
        "https://a.example:8443/x@1",
        "http://localhost:8080/x@1",
        "http://127.0.0.1:8080/x@1",
        "train.txt:12:1 me@host",
        "sha256:abc",
    ],
)
def test_what_is_no_password_stays(said):
    assert redact(said) == said

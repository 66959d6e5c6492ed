import hashlib

import pytest

from envdoctor.errors import UsageError
from envdoctor.locking import sources


def written(folder, **files):
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def read(folder, name="train.in"):
    return sources.read(str(folder / name), name)


def test_a_file_is_known_with_all_that_it_includes(tmp_path):
    written(
        tmp_path, train_in="-r sub/base.in\n-c c.txt\nsix\n", sub__base_in="-r more.in\n", sub__more_in="", c_txt=""
    )
    found = read(tmp_path)
    assert [file.path for file in found.files] == [
        str(tmp_path / name) for name in ("train.in", "sub/base.in", "sub/more.in", "c.txt")
    ]
    assert found.files[0].sha256 == hashlib.sha256((tmp_path / "train.in").read_bytes()).hexdigest()


def test_options_that_the_input_states_are_kept_without_passwords(tmp_path):
    text = """\
-i https://me:pw@index.example/simple
--extra-index-url=https://${TOKEN}@index.example/whl/cu128
--find-links ./wheels
--require-hashes
--pre
six
"""
    assert read(written(tmp_path, train_in=text)).options == (
        ("--index-url", "https://index.example/simple"),
        ("--extra-index-url", "https://${TOKEN}@index.example/whl/cu128"),
        ("--find-links", f"{tmp_path}/./wheels"),
        ("--pre", ""),
    )


@pytest.mark.parametrize(
    "line",
    [
        "six",
        "torch==2.11.0+cu128",
        'uvicorn[standard]>=0.30,<1 ; python_version < "3.13"',
        "six @ https://index.example/six-1.17.0-py2.py3-none-any.whl",
        "https://index.example/six-1.17.0-py2.py3-none-any.whl",
        "six --no-binary six",
    ],
)
def test_what_can_be_locked(tmp_path, line):
    read(written(tmp_path, train_in=f"# a comment\n{line}\n"))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("-e .", "an editable project has no hash"),
        ("--editable=git+https://h.example/x#egg=x", "an editable project has no hash"),
        ("./wheels/six.whl", "is of this machine"),
        ("six @ file:///home/me/six.whl", "is of this machine"),
        ("file:///home/me/six.whl", "is of this machine"),
        ("../project", "is of this machine"),
        ("git+https://h.example/x", "a repository has no hash"),
        ("x @ git+https://h.example/x@main", "a repository has no hash"),
        ("-r https://h.example/more.txt", "only files are included"),
        ("-r ${WHERE}/more.txt", "only files are included"),
        ("six === === 1", "is no requirement"),
        ("what is this", "is no requirement"),
    ],
)
def test_what_cannot_is_refused_with_its_line(tmp_path, line, said):
    with pytest.raises(UsageError, match=r"^train\.in:2: ") as caught:
        read(written(tmp_path, train_in=f"seven\n{line}\n"))
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("gone.in", None, "gone.in: no such file; name a requirements file such as train.in"),
        ("train.in", b"\x7fELF\0\0", "is a binary file"),
        ("pyproject.toml", b"[project]\n", "is TOML or INI"),
        ("setup.cfg", b"[metadata]\nname = x\n", "is TOML or INI"),
        ("x.json", b'{"a": 1}', "is JSON or markup"),
        ("latin.in", b"# caf\xe9\nsix\n", "latin.in:1: byte 5"),
    ],
)
def test_what_is_no_requirements_file(tmp_path, name, data, said):
    if data is not None:
        (tmp_path / name).write_bytes(data)
    with pytest.raises(UsageError) as caught:
        read(tmp_path, name)
    assert said in str(caught.value)


def test_includes_that_have_no_end_or_no_file(tmp_path):
    with pytest.raises(UsageError, match="includes itself"):
        read(written(tmp_path, train_in="-r base.in\n", base_in="-r train.in\n"))
    with pytest.raises(UsageError, match=r"^gone\.in: no such file"):
        read(written(tmp_path, train_in="-c gone.in\n"))
    deep = {f"d{n}_in": f"-r d{n + 1}.in\n" for n in range(20)}
    with pytest.raises(UsageError, match="more than 8 levels"):
        read(written(tmp_path, **deep), "d0.in")


def test_the_project_begins_where_its_marks_are(tmp_path):
    written(tmp_path, sub__train_in="")
    assert sources.project(str(tmp_path / "sub/train.in")) == str(tmp_path / "sub")
    (tmp_path / ".git").mkdir()
    assert sources.project(str(tmp_path / "sub/train.in")) == str(tmp_path)

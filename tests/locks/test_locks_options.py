"""Options as they are written, and what stands for them in a uv.lock."""

import pytest

from envdoctor.locks import options

UV = """\
version = 1
conflicts = [[{ package = "Trainer", extra = "cpu" }, { package = "trainer", group = "Dev_X" }, { package = "b" }], 1]

[options]
prerelease-mode = "allow"

[[package]]
name = "trainer"
version = "0"
source = { virtual = "." }
"""


@pytest.mark.parametrize("text", ["--pre", "-f ./wheels", "--find-links=./wheels", "--index-url  https://a.example/x"])
def test_an_option_keeps_its_words(text):
    (option,), _ = options.parse(text)
    assert option.written == " ".join(text.split())


def test_an_option_with_a_secret_keeps_its_name_alone(read):
    address = "u:hunter2@a.example"
    lines = (f"--index-url https://{address}/x", f"-i=https://{address}/x", "-f ./w", f"-i {address}")
    lock = read("\n".join((*lines, "six==1.17.0")))
    assert [option.text for option in lock.options] == ["--index-url", "-i", "-f ./w", "-i"]
    assert lock.options[-1].value == "****@a.example"
    assert "hunter2" not in str(lock)


def test_how_uv_resolved_and_what_excludes_each_other(read):
    lock = read(UV, "uv.lock")
    assert [(option.name, option.line, option.text) for option in lock.options] == [
        ("--pre", 5, 'prerelease-mode = "allow"')
    ]
    assert lock.conflicts == (("extra-7-trainer-cpu", "group-7-trainer-dev-x", "project-1-b"),)


@pytest.mark.parametrize("value", ["1", "[1]", '"x"', "[[1]]", "{ a = 1 }"])
def test_conflicts_of_another_shape_are_passed_over(read, value):
    lock = read(UV.replace(UV.split("\n")[1], f"conflicts = {value}"), "uv.lock")
    assert lock.conflicts == ()

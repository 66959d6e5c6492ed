import pytest

from envdoctor.locking import tidying

FROM_PIP_COMPILE = """\
--index-url https://me:pw@index.example/simple
--find-links /srv/wheels

six==1.17.0 \\
    --hash=sha256:aa \\
    --hash=sha256:bb
    # via
    #   -c /etc/pip/constraints.txt
    #   -r train.in
    #   python-dateutil
tzdata==2026.6 \\
    --hash=sha256:cc
    # via -c /etc/pip/constraints.txt

# The following packages are considered to be unsafe in a requirements file:
setuptools==81.0.0 \\
    --hash=sha256:dd
    # via
    #   -c /etc/pip/constraints.txt
    #   torch
"""
TIDIED = """\
six==1.17.0 \\
    --hash=sha256:aa \\
    --hash=sha256:bb
    # via
    #   -r ../train.in
    #   python-dateutil
tzdata==2026.6 \\
    --hash=sha256:cc
setuptools==81.0.0 \\
    --hash=sha256:dd
    # via torch
"""


def shown(path):
    return "" if path.startswith("/") else f"../{path}"


def test_pins_hashes_and_reasons_stay_and_nothing_of_this_machine():
    assert tidying.tidy(FROM_PIP_COMPILE, shown) == TIDIED


def test_a_list_of_reasons_that_has_none_left_goes():
    text = "six==1\n    # via\n    #   -c /a\n    #   -c /b\nseven==7\n    # via\n    #   -c /a\n"
    assert tidying.tidy(text, shown) == "six==1\nseven==7\n"


def test_tidying_twice_changes_nothing():
    assert tidying.tidy(TIDIED, lambda path: path) == TIDIED


@pytest.mark.parametrize(
    "line",
    [
        "six @ file:///home/me/six.whl",
        "--find-links /srv/wheels",
        "    # via -r /home/me/train.in",
        'path = "/srv/wheels/six.whl"',
        "--index-url https://me:pw@index.example/simple",
        "--index-url https://token@index.example/simple",
    ],
)
def test_what_nobody_else_may_or_can_read_is_a_leak(line):
    (said,) = tidying.leaks(f"seven==7\n{line}\n")
    assert said.startswith("line 2: ")
    assert "pw@" not in said
    assert "token@" not in said


def test_a_lock_without_such_has_none():
    fine = "six @ https://index.example/six.whl\n--find-links ./wheels\n--index-url https://${TOKEN}@index.example/s\n"
    assert list(tidying.leaks(TIDIED + fine)) == []

"""Secrets in addresses; the rule itself never has them."""

import pytest
from locked import audited, told

from envdoctor.model import Severity
from envdoctor.probes.lock.url_credentials import check

SECRET = "S3CRETs3cret"


def held(address, around="--index-url {}\nnumpy==2.4.6\n"):
    found = audited(check, around.format(address))
    assert SECRET not in str(found)
    return found


@pytest.mark.parametrize(
    "address",
    [
        f"https://ci-bot:{SECRET}@index.example/simple",
        f"https://{SECRET}@index.example/simple",
        f"https://:{SECRET}@index.example/simple",
        f"https://__token__:{SECRET}@index.example:8443/simple",
        f"https://${{USER}}:{SECRET}@index.example/simple",
        f"https://index.example/simple?token={SECRET}",
        f"https://index.example/simple?x=1&X-Amz-Signature={SECRET}",
        f"https://me:{SECRET}/with#more@index.example/simple",
        f"git+ssh://git:{SECRET}@index.example/x.git",
    ],
)
def test_a_password_or_token(address):
    (finding,) = found = held(address)
    assert (finding.severity, finding.subject.split(":")[0], told(found)[0][1]) == (Severity.ERROR, "index.example", 1)
    assert "holds a password or token" in finding.message


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("https://${PYPI_TOKEN}@index.example/simple", "variable"),
        ("https://__token__:${PYPI_TOKEN}@index.example/simple", "variable"),
        ("https://index.example/simple?api_key=${KEY}", "variable"),
        ("https://somebody@index.example/simple", "names a user"),
    ],
)
def test_a_variable_or_a_bare_name_is_a_note(address, said):
    (finding,) = held(address)
    assert finding.severity == Severity.NOTE
    assert said in finding.message


@pytest.mark.parametrize(
    "address",
    [
        "https://index.example/simple?format=json",
        "https://oauth2accesstoken@index.example/simple",
        "https://index.example:8080/x@1/simple",
        "https://index.example/simple#sha256=" + "1" * 64,
    ],
)
def test_addresses_without_one(address):
    assert held(address) == []


@pytest.mark.parametrize(
    "address", ["ssh://git@github.example/x", "ssh://deploy@h.example/x", "https://git@h.example/x"]
)
def test_a_user_that_ssh_and_git_are_told(address):
    line = f"x @ git+{address}@0123456789abcdef0123456789abcdef01234567\n"
    assert audited(check, line) == []


def test_each_line_once_and_comments_too():
    address = f"https://u:{SECRET}@index.example/simple"
    text = f"# uv pip compile --index-url {address} in.txt\n-i {address}\n--extra-index-url {address} # {address}\n"
    assert told(held(address, text + "six==1.17.0\n")) == [
        ("index.example", 1),
        ("index.example", 2),
        ("index.example", 3),
    ]


def test_a_line_that_is_broken_is_reported_all_the_same():
    assert len(held(f"https://u:{SECRET}@index.example/x.whl", "six==1.17.0\nbad @@ {}\n")) == 1

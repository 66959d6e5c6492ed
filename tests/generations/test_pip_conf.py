"""The text of a pip.conf that requires hashes, and that pip's own parser agrees."""

import configparser

import pytest

from envdoctor.facts.freeze import requires_hashes
from envdoctor.generations.pip_conf import LINE, NOTE, hashed, unhashed

PUT = NOTE + b"\n" + LINE + b"\n"
TEXTS = {
    "nothing": b"",
    "another section": b"[global]\nindex-url = https://index.example/simple\n",
    "no end of line": b"[global]\nindex-url = https://index.example/simple",
    "the section": b"[install]\nno-compile = yes\n[global]\ntimeout = 9\n",
    "the section without end of line": b"# mine\n[install]",
    "switched off": b"[install]\nrequire-hashes = false\nno-compile = yes\n",
    "switched off otherwise": b"[install]\nrequire_hashes: no\n",
    "carriage returns": b"[global]\r\ntimeout = 9\r\n[install]\r\nno-compile = yes\r\n",
    "no UTF-8": b"[global]\ncert = /caf\xe9.pem\n",
    "several lines": b"[install]\nfind-links =\n    /srv/wheels\n    /srv/more\n",
}


@pytest.mark.parametrize("name", TEXTS)
def test_hashes_are_required_and_all_else_stays(name):
    made = hashed(TEXTS[name])
    assert requires_hashes(made)
    before, after = parsed(TEXTS[name]), parsed(made)
    for said in (before, after):
        said["install"] = {key: value for key, value in said.get("install", {}).items() if "hashes" not in key}
    assert after == before


def parsed(text):
    parser = configparser.RawConfigParser()
    parser.read_string(text.decode("utf-8", "replace"))
    return {section: dict(parser.items(section)) for section in parser.sections()}


@pytest.mark.parametrize("name", [name for name in TEXTS if "off" not in name and "end" not in name])
def test_the_line_can_be_taken_out_again(name):
    left = unhashed(hashed(TEXTS[name]))
    assert left in (TEXTS[name], TEXTS[name] + b"[install]\n")
    assert unhashed(TEXTS[name]) == TEXTS[name]


@pytest.mark.parametrize("text", [b"index-url = x\n", b"[global]\n[global]\n", b"[install]\na = 1\na = 2\n"])
def test_what_pip_cannot_read_is_refused(text):
    with pytest.raises(ValueError, match="pip itself could not read it"):
        hashed(text)


@pytest.mark.parametrize(
    ("text", "required"),
    [
        (b"[install]\nrequire-hashes = true\n", True),
        (b"[global]\nrequire-hashes = 1\n", True),
        (b"[global]\nrequire-hashes = 1\n[install]\nrequire-hashes = 0\n", False),
        (b"[install]\n# require-hashes = true\n", False),
        (b"[download]\nrequire-hashes = true\n", False),
        (b"", False),
        (b"damaged", False),
    ],
)
def test_whether_hashes_are_required(text, required):
    assert requires_hashes(text) is required

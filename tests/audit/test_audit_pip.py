"""What pip says of its configuration, and of a release."""

import json
import os
import sys

import pytest
from fakes import FakeHost

from envdoctor.audit import pip
from envdoctor.errors import EnvDoctorError
from envdoctor.system.host import Completed
from envdoctor.system.web import UnreadError
from envdoctor.views.lock_online import Listed, ListedFile

HELP = """
  -i, --index-url <url>       Base URL of the Python Package Index (default
                              https://default.example/simple). This should
                              point to a repository
"""


def host(configuration="", **given):
    """Return one whose pip has this configuration."""

    def answer(argv):
        said = configuration if argv[1:] == ["config", "list"] else HELP
        return Completed(0, said.encode())

    return FakeHost(answer=answer, **given)


def configured(configuration="", **given):
    return pip.configured(["pip"], host(configuration, **given))


def test_what_is_said_later_counts_more():
    found = configured(
        "global.index-url='https://global.example/simple/'\n"
        ":env:.index-url='https://env.example/simple'\n"
        "install.index-url='https://install.example/simple'\n"
        "download.index-url='https://download.example/simple'\n"
        "global.extra-index-url='\\nhttps://a.example/simple\\nhttps://b.example/simple'\n"
        "global.trusted-host='a.example b.example:8443'\n"
        "global.cert='/etc/ca.pem'\n"
        "no line of ours\n"
        "global.proxy=no literal\n"
    )
    names = ("env", "a", "b")
    assert found.indexes == tuple(f"https://{name}.example/simple" for name in names)
    assert (found.access.cert, found.access.proxy) == ("/etc/ca.pem", "")
    assert found.access.trusted == ("a.example", "b.example:8443")


def test_told_of_no_index_pip_has_one():
    assert configured("global.extra-index-url='https://a.example/simple'").indexes == (
        "https://default.example/simple",
        "https://a.example/simple",
    )


def test_a_directory_is_an_index():
    found = configured("global.index-url='mirror/simple'\nglobal.extra-index-url='file:///m/simple/'", cwd="/here")
    assert found.indexes == ("file:///here/mirror/simple", "file:///m/simple")


def test_certificates_and_netrc_of_the_environment():
    found = configured(env={"REQUESTS_CA_BUNDLE": "/ca", "NETRC": "/netrc"})
    assert (found.access.cert, found.access.netrc) == ("/ca", "/netrc")
    assert configured().access.netrc == "/nowhere/home/.netrc"


def test_no_index_at_all():
    with pytest.raises(EnvDoctorError, match="no-index"):
        configured(":env:.no-index='1'")
    with pytest.raises(EnvDoctorError, match="does not say which index"):
        pip.configured(["pip"], FakeHost(answer=Completed(0, b"pip 99")))
    with pytest.raises(EnvDoctorError, match="pip does not answer: exit status 1"):
        pip.configured(["pip"], FakeHost(answer=Completed(1, b"")))
    with pytest.raises(EnvDoctorError) as raised:
        configured("global.index-url='https://a:s3cret@[index.example/simple'")
    assert "s3cret" not in str(raised.value)


def test_the_real_pip_answers():
    from envdoctor.workflows import LocalHost

    env = {"PATH": os.environ["PATH"], "PIP_CONFIG_FILE": os.devnull}
    found = pip.configured(pip.command(LocalHost()), LocalHost(env=env))
    assert len(found.indexes) == 1
    assert found.indexes[0].startswith("https://")
    env |= {
        "PIP_INDEX_URL": "https://a:b@index.example/simple",
        "PIP_EXTRA_INDEX_URL": "https://x.example https://y.example",
    }
    found = pip.configured(pip.command(LocalHost()), LocalHost(env=env))
    assert found.indexes == ("https://a:b@index.example/simple", "https://x.example", "https://y.example")


def test_a_program_is_not_taken_from_the_current_directory(tmp_path, monkeypatch):
    tool = tmp_path / "pip-audit"
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    assert pip.on_path("pip-audit", FakeHost(env={"PATH": f":.:{tmp_path}"})) == [str(tool)]
    assert pip.on_path("pip-audit", FakeHost(env={"PATH": ":."})) is None
    (tmp_path / "no_module_anywhere.py").touch()
    assert pip.as_module("json") == [sys.executable, "-P", "-m", "json"]


def report(**more):
    info = {"url": "https://a:b@x.example/six-1.17.0%2Bx.whl?sig=1", "archive_info": {"hashes": {"sha256": "AB"}}}
    return json.dumps({"version": "1", "install": [{"download_info": info} | more]}).encode()


def taken(done):
    asked = FakeHost(answer=done)
    return pip.taken(["pip"], ("six", "1.17.0"), asked, 1.0), asked.ran[0]


def test_the_file_that_pip_would_take():
    found, argv = taken(Completed(0, report(is_yanked=True)))
    assert found == Listed((ListedFile("six-1.17.0+x.whl", ("sha256:ab",), ""),), whole=False)
    assert argv[-1] == "six==1.17.0"
    assert {"--dry-run", "--no-deps", "--only-binary"} <= set(argv), "nothing is installed and nothing built"
    assert taken(Completed(0, report()))[0].files[0].yanked is None


@pytest.mark.parametrize(
    "done",
    [
        Completed(1, b""),
        Completed(None, b"", "no end within 1 s"),
        Completed(0, b"{"),
        Completed(0, b'{"install": []}'),
    ],
)
def test_pip_finds_nothing(done):
    with pytest.raises(UnreadError):
        taken(done)

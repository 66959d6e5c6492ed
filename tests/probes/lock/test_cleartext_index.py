"""Places that are reached without encryption."""

from dataclasses import replace

import pytest
from locked import SHA, audited, files, package, read, told, uv
from values import findings

from envdoctor.model import Severity
from envdoctor.probes.lock.cleartext_index import check

DIRECT = "demo @ http://files.example/demo-1.0-py3-none-any.whl"


def test_each_option_line():
    lines = "--index-url http://index.example/simple\n--find-links http://mirror.example/w/\nnumpy==2.4.6\n"
    found = audited(check, lines)
    assert told(found) == [("index.example", 1), ("mirror.example", 2)]
    assert {finding.severity for finding in found} == {Severity.ERROR}
    assert found[0].message == "index.example is reached by http, without encryption: others may answer in its place"
    assert found[0].evidence["text"] == "--index-url http://index.example/simple"


def test_a_digest_exempts_no_index():
    (finding,) = audited(check, f"--index-url http://index.example/simple\nsix==1.17.0 --hash={SHA}\n")
    assert finding.severity == Severity.ERROR


@pytest.mark.parametrize(
    ("line", "severity"),
    [
        (DIRECT, Severity.ERROR),
        (f"{DIRECT} --hash={SHA}", Severity.WARNING),
        (f"{DIRECT}#md5=0123456789abcdef0123456789abcdef", Severity.ERROR),
        ("apex @ git+http://files.example/apex@0123456789abcdef0123456789abcdef01234567", Severity.ERROR),
        ("apex @ git+git://files.example/apex@0123456789abcdef0123456789abcdef01234567", Severity.ERROR),
    ],
)
def test_files_and_repositories(line, severity):
    (finding,) = found = audited(check, f"six==1.17.0\n{line}\n")
    assert (finding.severity, told(found)) == (severity, [("files.example", 2)])


def test_the_files_of_a_host_are_one_finding():
    lock = uv(*(package(name, wheels=files(f"http://f.example/{name}-1.0-py3-none-any.whl")) for name in "ab"))
    (finding,) = audited(check, lock, "/project/uv.lock")
    assert (finding.severity, finding.evidence["count"]) == (Severity.WARNING, 2)
    assert finding.evidence["text"] == "http://f.example"
    (index,) = audited(check, uv(package("a", registry="http://f.example/simple")), "/project/uv.lock")
    assert index.severity == Severity.ERROR


@pytest.mark.parametrize(
    "line",
    [
        "--index-url https://index.example/simple",
        "--index-url http://localhost:3141/root",
        "-i http://127.0.0.1/simple",
        "--find-links ./wheels",
        "# see http://docs.example",
    ],
)
def test_what_is_encrypted_or_crosses_no_network(line):
    assert audited(check, f"{line}\nsix==1.17.0\n") == []


def test_an_editable_repository():
    lock = read("apex @ git+http://files.example/apex@main\n")
    editable = replace(lock, packages=(replace(lock.packages[0], source="editable"),))
    assert told(findings(check, lock=editable)) == [("files.example", 1)]


def test_one_file_without_a_digest_is_enough():
    wheel = files("http://f.example/a-1.0-py3-none-any.whl")
    bare = wheel.replace(f', hash = "{SHA}"', "")
    (finding,) = audited(check, uv(package("a", wheels=wheel), package("b", wheels=bare)), "/project/uv.lock")
    assert finding.severity == Severity.ERROR


def test_an_index_that_a_comment_records_is_reached_by_nobody():
    lock = read("six==1.17.0\n")
    noted = replace(lock, packages=(replace(lock.packages[0], url="http://index.example/simple"),))
    assert findings(check, lock=noted) == []

"""Locks of which some files have a digest."""

from locked import OTHER, SHA, audited, told

from envdoctor.model import Severity
from envdoctor.probes.lock.partly_hashed import check

UV = """
version = 1
[[package]]
name = "vllm"
version = "0.11"
source = { registry = "https://index.example/simple" }
wheels = [
  { url = "https://x.example/vllm-0.11-py3-none-any.whl", hash = "%s" },
  { url = "https://x.example/vllm-0.11-cp312-cp312-linux_x86_64.whl" },
]
[[package]]
name = "apex"
source = { git = "https://x.example/apex#0123456789abcdef0123456789abcdef01234567" }
[[package]]
name = "far"
version = "1"
source = { url = "https://x.example/far-1-py3-none-any.whl" }
wheels = [{ url = "https://x.example/far-1-py3-none-any.whl" }]
"""


def test_requirements_are_one_finding():
    (finding,) = found = audited(check, f"six==1.17.0 --hash={SHA}\nidna==3.10\nnumpy==2.4.6\n")
    assert (finding.severity, told(found)) == (Severity.ERROR, [("/project/requirements.txt", 2)])
    assert finding.message == "2 of the lock's packages have no digest: idna, numpy"
    assert (finding.evidence["count"], finding.evidence["packages"]) == (2, ["idna", "numpy"])


def test_files_that_are_named_are_told_by_package():
    (finding,) = found = audited(check, UV % SHA, "/project/uv.lock")
    assert told(found) == [("vllm", 3)], "a commit has no digest, and an address is another rule's"
    assert finding.evidence["text"] == "vllm-0.11-cp312-cp312-linux_x86_64.whl"


def test_all_or_none():
    assert audited(check, f"six==1.17.0 --hash={SHA}\nidna==3.10 --hash={OTHER}\n") == []
    assert audited(check, "six==1.17.0\nidna==3.10\n") == []


def test_a_digest_that_is_malformed_is_another_rules():
    assert audited(check, f"six==1.17.0 --hash={SHA}\nidna==3.10 --hash=sha256:x\n") == []
    assert told(audited(check, "six==1.17.0\nidna==3.10 --hash=sha256:x\n")) == [("/project/requirements.txt", 1)]


def test_what_comes_from_no_index_needs_none():
    text = f"six==1.17.0 --hash={SHA}\na @ git+https://x.example/a@main\nb @ https://x.example/b-1.zip\n"
    assert audited(check, text) == []

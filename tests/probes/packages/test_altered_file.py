"""An edited file is an error; what a collision explains and what sites replace on purpose is not."""

import pytest
from values import PIP, collision, distribution, distributions, files, findings, owners, state

from envdoctor.model import Severity
from envdoctor.probes.packages.altered_file import check

TORCH = distribution("torch", "2.11.0")


def judge(altered, *, collisions=(), **fields):
    given = {"distributions": distributions(TORCH, "pip"), "files": files(state(TORCH, altered=altered, **fields))}
    return findings(check, owners=owners(collisions), **given)


@pytest.mark.parametrize(
    ("how", "said"), [("size", "99 bytes instead of 100"), ("content", "content"), ("not a file", "no regular file")]
)
def test_one_edited_file_is_an_error(how, said):
    (finding,) = judge({"torch/nn/functional.py": how})
    assert (finding.severity, finding.subject) == (Severity.ERROR, "torch")
    assert finding.message.startswith("torch/nn/functional.py of torch 2.11.0")
    assert said in finding.message
    assert finding.evidence["how"] == {"torch/nn/functional.py": how}
    assert finding.remedy == (f"{PIP} install --force-reinstall --no-deps torch==2.11.0",)


def test_many_files_of_one_package_are_one_finding_with_the_whole_count():
    (finding,) = judge({"a.py": "size", "b.py": "content"}, altered_count=70)
    assert (finding.evidence["count"], finding.evidence["paths"]) == (70, ["a.py", "b.py"])
    assert "69 more" in finding.message


@pytest.mark.parametrize(
    ("altered", "severity"),
    [
        (["certifi/cacert.pem"], Severity.NOTE),
        (["certifi/cacert.pem", "pip/_vendor/certifi/cacert.pem"], Severity.NOTE),
        (["certifi/cacert.pem", "certifi/core.py"], Severity.ERROR),
        (["torch/notcacert.pem"], Severity.ERROR),
    ],
)
def test_a_bundle_of_the_sites_certificates_is_a_note(altered, severity):
    (finding,) = judge(dict.fromkeys(altered, "size"))
    assert finding.severity == severity
    assert bool(finding.remedy) == (severity == Severity.ERROR)


@pytest.mark.parametrize(
    ("altered", "severity"),
    [
        ({"a.py": "link"}, Severity.NOTE),
        ({"a.py": "link", "certifi/cacert.pem": "content"}, Severity.NOTE),
        ({"a.py": "link", "b.py": "content"}, Severity.ERROR),
    ],
)
def test_links_put_in_the_place_of_files_are_a_note(altered, severity):
    (finding,) = judge(altered)
    assert (finding.severity, bool(finding.remedy)) == (severity, severity == Severity.ERROR)
    assert "a.py of torch 2.11.0" in finding.message
    assert "it is a link to a file with other bytes" in finding.message


def test_a_bundle_among_more_than_is_listed_is_no_excuse():
    (finding,) = judge({"certifi/cacert.pem": "size"}, altered_count=51)
    assert finding.severity == Severity.ERROR


def test_a_collision_explains_its_file_and_no_other():
    collisions = [collision("cv2/__init__.py", "torch", "opencv-python")]
    assert judge({"cv2/__init__.py": "content"}, collisions=collisions) == []
    (finding,) = judge({"cv2/__init__.py": "content", "a.py": "size"}, collisions=collisions)
    assert (finding.evidence["paths"], finding.evidence["count"]) == (["a.py"], 1)


def test_what_was_not_hashed_is_said():
    (finding,) = findings(check, files=files(unverified=3))
    assert (finding.severity, finding.evidence) == (Severity.NOTE, {"count": 3})
    assert "too much to hash in a plain check" in finding.message
    assert finding.remedy == ("envdoctor check --deep",)


def test_what_a_deep_check_could_not_compare_is_said():
    (finding,) = findings(check, files=files(unverified=3, deep=True))
    assert finding.message == "3 digests are of an algorithm that is not known here"
    assert finding.remedy == ()


def test_a_lost_stat_index_means_nothing_to_a_deep_check():
    assert findings(check, files=files(index_lost=True, deep=True)) == []


def test_a_lost_stat_index_is_a_warning():
    (finding,) = findings(check, files=files(index_lost=True))
    assert (finding.severity, finding.subject, finding.remedy) == (Severity.WARNING, "stat index", ("envdoctor seal",))


def test_files_in_order_say_nothing():
    assert judge({}) == []


@pytest.mark.parametrize(
    "fields", [{"site": "/usr/lib/python3/dist-packages"}, {"installer": "debian"}], ids=["place", "installer"]
)
def test_packages_of_the_operating_system_are_a_note(fields):
    item = distribution("six", **fields)
    changed = files(state(item, altered={"six.py": "size"}))
    (finding,) = findings(check, distributions=distributions(item), files=changed)
    assert (finding.severity, finding.remedy) == (Severity.NOTE, ())


def test_what_was_not_read_is_not_called_good():
    (finding,) = findings(check, files=files(deep=True, lost="3 of 10 files were not hashed"))
    assert (finding.severity, finding.message) == (Severity.NOTE, "not all was read: 3 of 10 files were not hashed")

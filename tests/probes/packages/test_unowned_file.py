"""Strays at the top level are warnings, those inside a package one note for it."""

from values import SITE, findings, owners

from envdoctor.facts.owners import Unowned
from envdoctor.model import Severity
from envdoctor.probes.packages.unowned_file import check


def judge(*unowned):
    return findings(check, owners=owners(unowned=unowned))


def test_a_stray_module_is_a_warning():
    (finding,) = judge(Unowned(f"{SITE}/hack.py", None, 1, ("hack.py",)))
    assert (finding.severity, finding.subject) == (Severity.WARNING, f"{SITE}/hack.py")
    assert finding.message == "hack.py in site-packages belongs to no package"


def test_a_stray_folder_says_how_much_it_holds():
    (finding,) = judge(Unowned(f"{SITE}/hack", None, 3, ("hack/a.py", "hack/b.py", "hack/c.py")))
    assert finding.message == "hack (3 files) in site-packages belongs to no package"


def test_a_whiteout_is_told_for_what_it_is():
    """An image whose layers were laid over each other as they are."""
    (finding,) = judge(Unowned(f"{SITE}/.wh.sglang", None, 1, (".wh.sglang",)))
    assert finding.message == ".wh.sglang in site-packages is an image layer's mark, not applied, that deletes sglang"
    assert "unpack the image's layers with a tool that applies such marks" in finding.remedy[0]
    (finding,) = judge(Unowned(f"{SITE}/.wh..wh..opq", None, 1, (".wh..wh..opq",)))
    assert finding.message.endswith("that deletes all that lower layers have there")


def test_what_lies_below_a_package_is_one_note_for_it():
    (finding,) = judge(Unowned(f"{SITE}/torch/lib", "torch", 41, ("torch/lib/a.so",)))
    assert (finding.severity, finding.subject) == (Severity.NOTE, "torch")
    assert finding.message == "41 files below torch came from no package"
    assert (finding.evidence["count"], finding.remedy) == (41, ())


def test_none_say_nothing():
    assert judge() == []

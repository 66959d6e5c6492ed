from dataclasses import replace

from envdoctor.facts.distributions import Distribution
from envdoctor.facts.metadata import DirectUrl
from envdoctor.locking.from_target import _hashed, _looked_up
from envdoctor.locking.installed import Left, remarks, sort_out

SIX = Distribution("six", "1.17.0", "six", "/v/site", "/v/site/six-1.17.0.dist-info", "site-packages")
TORCH = replace(SIX, name="torch", version="2.11.0+cu128")


def reason(**changes):
    (one,) = sort_out([replace(SIX, **changes)]).left
    return one.reason


def test_what_came_from_an_index_is_pinned_with_its_label():
    assert sort_out([TORCH, SIX]).pins == (("six", "1.17.0"), ("torch", "2.11.0+cu128"))


def test_what_did_not_is_left_with_its_reason_and_without_paths():
    assert reason(direct_url=DirectUrl("file:///home/me/lab", editable=True)) == "installed editable, from a directory"
    assert reason(direct_url=DirectUrl("file:///home/me/x.whl")) == "installed from a local file or directory"
    assert reason(direct_url=DirectUrl("https://h.example/x", vcs="git", commit="0ab")) == (
        "installed from a git repository https://h.example/x at 0ab"
    )
    assert reason(direct_url=DirectUrl("file:///home/me/x", vcs="git", commit="0ab")) == (
        "installed from a git repository at 0ab"
    )
    assert reason(direct_url=DirectUrl("https://h.example/six.whl")) == "installed from https://h.example/six.whl"
    assert reason(kind="egg-link") == "installed editable, from a directory"
    assert reason(version=None) == reason(version="what\n-r x") == "its metadata names no version"
    assert reason(origin="user-site") == "lies outside the environment (user-site)"


def test_two_versions_of_a_name_are_not_guessed_between():
    found = sort_out([SIX, replace(SIX, version="1.16.0")])
    assert (found.pins, found.left[0].reason) == ((), "is there more than once: 1.17.0, 1.16.0")


def test_a_copy_outside_does_not_matter():
    found = sort_out([replace(SIX, origin="user-site", version="1.0"), SIX])
    assert (found.pins, found.left) == ((("six", "1.17.0"),), ())


def test_remarks_are_comments():
    assert remarks([]) == ""
    assert remarks([Left("lab", "", "why")]) == "\n# Installed and not locked (1):\n# - lab: why\n"


class Index:
    """Has some releases; counts what it is asked."""

    def __init__(self, *releases):
        self.releases, self.asked = set(releases), 0

    def __call__(self, pins):
        self.asked += 1
        return "".join(f"{n}=={v}\n" for n, v in pins) if set(pins) <= self.releases else None


PINS = [(f"p{n}", "1") for n in range(100)]


def test_all_at_once_if_the_index_has_all():
    index = Index(*PINS)
    assert _looked_up(PINS, index, "absent") == ("".join(f"{n}==1\n" for n, _ in PINS), [])
    assert index.asked == 1


def test_what_is_missing_is_found_by_halving():
    index = Index(*[pin for pin in PINS if pin[0] not in ("p3", "p97")])
    text, missing = _looked_up(PINS, index, "absent")
    assert [one.name for one in missing] == ["p3", "p97"]
    assert text.count("==") == 98
    assert index.asked < 35


def test_another_build_under_the_same_number_is_not_what_is_installed():
    def index(pins):
        return "".join(f"{name}=={version}{'+cpu' if name == 'torch' else ''}\n" for name, version in pins)

    text, missing = _looked_up([("six", "1.17.0"), ("torch", "2.13.0")], index, "absent")
    assert text == "six==1.17.0\n"
    assert missing == [Left("torch", "2.13.0", "the index offers 2.13.0+cpu alone")]


def test_pins_without_hashes_are_asked_for_again():
    def index(pins):
        return "".join(f"{name}=={version} --hash=sha256:bb\n" for name, version in pins)

    assert _hashed("a==1\nb==1 --hash=sha256:aa\nc==1\n", index) == (
        "a==1 --hash=sha256:bb\nb==1 --hash=sha256:aa\nc==1 --hash=sha256:bb\n",
        [],
    )
    text, missing = _hashed("a==1\nb==1 --hash=sha256:aa\n", lambda _: None)
    assert (text, [one.name for one in missing]) == ("b==1 --hash=sha256:aa\n", ["a"])

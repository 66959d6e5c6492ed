"""Names that are not in normal form."""

from locked import audited, told

from envdoctor.model import Severity
from envdoctor.probes.lock.unnormalised_name import check

PYLOCK = 'lock-version = "1.0"\ncreated-by = "x"\n[[packages]]\nname = "PyYAML"\ndirectory = { path = "." }\n'


def test_one_note_for_a_file():
    (finding,) = found = audited(check, "six==1\nFoo_Bar==1.0\nzope.interface==7.2\nPyYAML==6.0.2\nA.B==1\n")
    assert (finding.severity, told(found)) == (Severity.NOTE, [("/project/requirements.txt", 2)])
    assert finding.message == (
        "4 names not in normal form: Foo_Bar (foo-bar), zope.interface (zope-interface), PyYAML (pyyaml) and 1 more"
    )
    assert (finding.evidence["text"], finding.evidence["lines"]) == ("Foo_Bar", [2, 3, 4, 5])


def test_a_pylock_is_then_invalid():
    (finding,) = found = audited(check, PYLOCK, "/project/pylock.toml")
    assert (finding.severity, told(found)) == (Severity.ERROR, [("/project/pylock.toml", 4)])
    assert finding.message.startswith("1 name not ")


def test_extras_comments_and_files_are_no_names():
    text = "uvicorn[Standard_X]==1  # via Foo_Bar\nfoo-bar @ https://x.example/Foo_Bar-1.0-py3-none-any.whl\n"
    assert audited(check, text) == []

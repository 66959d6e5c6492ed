"""One digest for two packages."""

from locked import OTHER, SHA, audited, told

from envdoctor.model import Severity
from envdoctor.probes.lock.shared_hash import check

WHEEL = 'wheels = [{{ url = "https://{}", hash = "{}" }}]\n'


def uv(*entries):
    text = "version = 1\n"
    for name, version, source, file in entries:
        head = f'[[package]]\nname = "{name}"\nversion = "{version}"\nsource = {{ registry = "https://{source}" }}\n'
        text += head + WHEEL.format(f"{source}/{file}", SHA)
    return text


def test_two_projects():
    text = f"a-lib==1.0 --hash={SHA}\nb-lib==1.0 --hash={SHA}\nc-lib==3.0 --hash={OTHER}\n"
    (finding,) = found = audited(check, text)
    assert (finding.severity, told(found)) == (Severity.ERROR, [("b-lib", 2)])
    assert finding.message == f"b-lib 1.0 has a digest that is also that of a-lib 1.0: {SHA}"
    assert (finding.evidence["lines"], finding.evidence["text"]) == ([1, 2], "1" * 64)


def test_two_releases_and_a_list_that_was_copied():
    both = f"--hash={SHA} --hash={OTHER}"
    (finding,) = audited(
        check, f"a==1.0 {both} ; os_name == 'nt'\n".replace(f"{both} ; os_name == 'nt'", both) + f"a==2.0 {both}\n"
    )
    assert (finding.subject, finding.evidence["count"]) == ("a", 2)


def test_two_file_names_of_one_project():
    text = uv(("a", "1", "x.example", "a-1-py3-none-any.whl"), ("a", "1", "y.example", "a-1-py2-none-any.whl"))
    assert told(audited(check, text, "/project/uv.lock")) == [("a", 8)]


def test_one_file_from_two_indexes_and_one_release_on_two_lines():
    text = uv(("a", "1", "x.example", "a-1-py3-none-any.whl"), ("a", "1", "y.example", "a-1-py3-none-any.whl"))
    assert audited(check, text, "/project/uv.lock") == []
    assert audited(check, f"a==1.0 --hash={SHA} --hash={SHA}\na==1 --hash={SHA}\n") == []

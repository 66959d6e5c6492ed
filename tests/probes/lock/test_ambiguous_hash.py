"""One file name with two digests."""

from locked import OTHER, SHA, audited, told

from envdoctor.model import Severity
from envdoctor.probes.lock.ambiguous_hash import check

FILES = ("torch-2.9.1-cp310-none-macosx_11_0_arm64.whl", "torch-2.9.1-cp311-none-macosx_11_0_arm64.whl")
ROOT = '[[package]]\nname = "own"\nsource = {{ virtual = "." }}\ndependencies = [\n{}]\n'


def entry(source, digest, files=FILES):
    wheels = "".join(f'  {{ url = "https://{source}/{file}", hash = "{digest}" }},\n' for file in files)
    head = f'[[package]]\nname = "torch"\nversion = "2.9.1"\nsource = {{ registry = "https://{source}" }}\n'
    return f"{head}wheels = [\n{wheels}]\n"


def uv(*entries, markers=("sys_platform == 'linux'", "sys_platform != 'linux'")):
    sources = ("a.example", "b.example")
    edges = "".join(
        f'  {{ name = "torch", marker = "{marker}", source = {{ registry = "https://{source}" }} }},\n'
        for source, marker in zip(sources, markers, strict=True)
    )
    return "version = 1\n" + ROOT.format(edges) + "".join(entries)


def test_entries_that_never_meet_are_a_note():
    (finding,) = found = audited(check, uv(entry("a.example", SHA), entry("b.example", OTHER)), "/project/uv.lock")
    assert (finding.severity, told(found)) == (Severity.NOTE, [("torch", 18)])
    assert finding.message == (
        f"{FILES[0]} (and 1 more) has one digest at https://a.example and another at https://b.example: "
        "two builds under one name"
    )
    assert (finding.evidence["count"], finding.evidence["digests"]) == (2, [SHA, OTHER])
    assert finding.evidence["text"] == FILES[0]


def test_entries_that_meet_are_a_warning():
    text = uv(
        entry("a.example", SHA), entry("b.example", OTHER), markers=("os_name == 'posix'", "sys_platform == 'linux'")
    )
    assert [finding.severity for finding in audited(check, text, "/project/uv.lock")] == [Severity.WARNING]


def test_two_digests_in_one_entry_are_a_warning():
    again = f'  {{ url = "https://a.example/{FILES[0]}", hash = "{OTHER}" }},\n]\n'
    text = uv(entry("a.example", SHA, FILES[:1]).removesuffix("]\n") + again)
    assert [finding.severity for finding in audited(check, text, "/project/uv.lock")] == [Severity.WARNING]


def test_one_digest_from_two_indexes_and_several_algorithms():
    assert audited(check, uv(entry("a.example", SHA), entry("b.example", SHA)), "/project/uv.lock") == []
    assert audited(check, uv(entry("a.example", SHA), entry("b.example", f"md5:{'1' * 32}")), "/project/uv.lock") == []
    other = tuple(file.replace("2.9.1-", "2.9.1-4-") for file in FILES)
    assert audited(check, uv(entry("a.example", SHA), entry("b.example", OTHER, other)), "/project/uv.lock") == []


def test_requirements_name_no_files():
    assert audited(check, f"a==1 --hash={SHA} --hash={OTHER}\n") == []


def test_a_lock_that_names_no_files_has_none_with_two_digests():
    entry = f'{{"version": "==1", "hashes": ["{SHA}", "{OTHER}"]}}'
    text = f'{{"_meta": {{"pipfile-spec": 6}}, "default": {{"a": {entry}, "b": {entry}}}}}'
    assert audited(check, text, "/project/Pipfile.lock") == []

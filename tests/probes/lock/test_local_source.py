"""What is installed from a folder."""

import pytest
from locked import SHA, audited, read, told

from envdoctor.model import Severity
from envdoctor.probes.lock.local_source import check

COMMIT = "0123456789abcdef0123456789abcdef01234567"
UV = 'version = 1\n[[package]]\nname = "own"\nversion = "1"\nsource = {{ {} }}\n'
HEAD = 'lock-version = "1.0"\ncreated-by = "x"\n[[packages]]\nname = "own"\n'


PATHS = {
    "-e .": ".",
    "-e ./own#egg=own": "./own",
    "./wheels/own-1.0-py3-none-any.whl": "./wheels/own-1.0-py3-none-any.whl",
    "own @ file:///srv/own-1.0.zip": "file:///srv/own-1.0.zip",
    f"own @ file:///srv/own-1.0.zip#{SHA.replace(':', '=')}": "file:///srv/own-1.0.zip",
    "./own": "./own",
}
OTHERS = (
    f"-e git+https://x.example/own@{COMMIT}#egg=own",
    "-e git+https://x.example/own@main#egg=own",
    "-e git+https://x.example/own@main",
    "own @ https://x.example/own-1.0.zip",
    f"./wheels/own-1.0-py3-none-any.whl --hash={SHA}",
)
LOCKS = {line: read(f"six==1.17.0\n{line}\n") for line in (*PATHS, *OTHERS)}
AWAY = ('editable = "../own"', 'directory = "/srv/own"', 'path = "../own-1-py3-none-any.whl"')
WITHIN = ('editable = "."', 'virtual = "../x"', 'directory = "libs/own"', 'editable = "libs/own"')


@pytest.mark.parametrize(("line", "text"), PATHS.items())
def test_a_path_in_requirements(line, text):
    (finding,) = audited(check, LOCKS[line])
    assert (finding.severity, finding.evidence["line"], finding.evidence["text"]) == (Severity.ERROR, 2, text)


@pytest.mark.parametrize("line", OTHERS)
def test_what_another_rule_judges_and_a_digest(line):
    assert audited(check, LOCKS[line]) == []


@pytest.mark.parametrize("source", AWAY)
def test_a_uv_lock_that_leaves_its_tree(source):
    assert told(audited(check, UV.format(source), "/project/uv.lock")) == [("own", 3)]


@pytest.mark.parametrize("source", WITHIN)
def test_a_uv_lock_of_its_own_tree(source):
    assert audited(check, UV.format(source), "/project/uv.lock") == []


@pytest.mark.parametrize(("digest", "count"), [("", 1), (f', hash = "{SHA}"', 0)])
def test_a_wheel_beside_a_uv_lock_wants_a_digest(digest, count):
    wheels = f'wheels = [{{ filename = "own-1-py3-none-any.whl"{digest} }}]\n'
    text = UV.format('path = "wheels/own-1-py3-none-any.whl"') + wheels
    assert len(audited(check, text, "/project/uv.lock")) == count


def test_a_pylock_with_a_folder_and_with_a_wheel_beside_it():
    assert told(audited(check, HEAD + 'directory = { path = "." }\n', "/project/pylock.toml")) == [("own", 4)]
    wheel = f'wheels = [{{ path = "own-1-py3-none-any.whl", hashes = {{ sha256 = "{SHA[7:]}" }} }}]\n'
    assert audited(check, HEAD + wheel, "/project/pylock.toml") == []

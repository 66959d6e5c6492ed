"""`lock audit` on where a lock takes its packages from, and what it must never repeat."""

import pytest

SECRET = "S3CRETs3cret"
USER = f"https://ci-bot:{SECRET}@index.example/simple"
DIGEST = "1" * 64
REQUIREMENTS = f"""\
# uv pip compile --index-url {USER} in.txt
--index-url {USER}
--extra-index-url={USER}
-f https://{SECRET}@index.example/wheels?token={SECRET}
--trusted-host {SECRET}@index.example
-i ci-bot:{SECRET}@index.example/simple
numpy==2.4.6 --hash=sha256:{DIGEST}
    # from {USER}
six @ https://u:{SECRET}/x#y@index.example/six-1.0.zip#sha256={DIGEST}
bad @@ {USER}
-e git+https://{SECRET}@index.example/x.git
--frobnicate {USER}
-r {USER}
"""
UV = f"""\
version = 1
revision = 3

[[package]]
name = "torch"
version = "2.11.0"
source = {{ registry = "{USER}" }}
wheels = [{{ url = "https://u:{SECRET}@index.example/torch-2.11.0-py3-none-any.whl", hash = "sha256:{DIGEST}" }}]
sdist = {{ url = "{USER}/torch-2.11.0.tar.gz", hash = "https://u:{SECRET}@x" }}

[[package]]
name = "bad"
source = {{ git = "{USER}?rev=main#{DIGEST[:40]}" }}
dependencies = [{{ name = "x", marker = "{USER}" }}, {{ name = "gone", source = {{ url = "{USER}" }} }}]
"""
PYLOCK = f"""\
lock-version = "1.0"
created-by = "{USER}"
[[packages]]
name = "torch"
version = "2.11.0"
index = "{USER}"
wheels = [{{ url = "{USER}/torch-2.11.0-py3-none-any.whl", hashes = {{ sha256 = "{DIGEST}" }} }}]
"""
LOCKS = {"requirements.txt": REQUIREMENTS, "uv.lock": UV, "pylock.toml": PYLOCK}
NO_LOCKS = {
    "requirements.txt": f"-i {USER}\nbad @@ {USER}\n{USER}\n",
    "pylock.toml": PYLOCK.replace('version = "2.11.0"', f'version = "{USER}"'),
    "pylock.x.toml": PYLOCK + f'index = "{USER}"\nx = {USER}\n',
    "uv.lock": f'version = "{USER}"\n',
}


@pytest.fixture
def audit(doctor, tmp_path):
    """Audit a lock of this text; whatever is said must not hold the secret."""

    def audit(text, *options, name="requirements.txt", **env):
        (tmp_path / name).write_text(text)
        answer = doctor("lock", "audit", name, *options, env=env)
        assert SECRET not in answer.stdout + answer.stderr
        return answer

    return audit


@pytest.mark.parametrize("output", ["json", "text"])
@pytest.mark.parametrize("name", LOCKS)
def test_no_report_repeats_a_secret(audit, name, output):
    answer = audit(LOCKS[name], "--format", output, name=name)
    assert answer.status == 1
    assert "url-credentials" in answer.stdout


def test_each_line_with_a_secret_is_reported(audit):
    found = audit(REQUIREMENTS, "--format", "json").findings("lock/url-credentials")
    lines = [
        number
        for number, line in enumerate(REQUIREMENTS.split("\n"), 1)
        if "://" in line or "bot" in line or "trusted" in line
    ]
    assert [finding["evidence"]["line"] for finding in found] == lines
    assert {finding["severity"] for finding in found} == {"error"}
    assert found[1]["evidence"]["column"] == len("--index-url ") + 1


@pytest.mark.parametrize("name", NO_LOCKS)
def test_what_is_no_lock_repeats_none_either(audit, name):
    answer = audit(NO_LOCKS[name], name=name)
    assert answer.status == (1 if name == "pylock.toml" else 2), "a pylock is read entry by entry"
    assert name in answer.stdout + answer.stderr


def test_the_configuration_of_the_machine_is_a_note_that_says_so(audit):
    text = f"--index-url https://u.example/simple\nsix==1.17.0 --hash=sha256:{DIGEST}\n"
    assert audit(text, "--format", "json").findings("lock/unlisted-host") == []
    env = {"PIP_INDEX_URL": f"https://u:{SECRET}@index.example/simple"}
    answer = audit(text, "--format", "json", **env)
    (finding,) = answer.findings("lock/unlisted-host")
    assert (finding["severity"], finding["subject"], answer.report["verdict"]) == ("note", "u.example", "healthy")
    assert finding["message"] == "the lock takes packages from u.example, which is not listed in PIP_INDEX_URL"
    assert (finding["evidence"]["line"], finding["evidence"]["column"]) == (1, 1)


def test_the_policy_decides_alone(audit, tmp_path):
    text = f"--index-url https://u.example/simple\nsix==1.17.0 --hash=sha256:{DIGEST}\n"
    (tmp_path / "envdoctor.toml").write_text('hosts = ["v.example"]\n')
    options = ("--format", "json", "--config", "envdoctor.toml")
    (finding,) = audit(text, *options, PIP_INDEX_URL="https://u.example/simple").findings("lock/unlisted-host")
    assert (finding["severity"], finding["evidence"]["listed"]) == ("warning", ["v.example"])

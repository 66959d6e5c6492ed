"""Locks whose wheels do not fit the environment."""

import pytest
from locked import audited, read, target, told
from values import distributions, findings, judged

from envdoctor.locks.environments import LockEnvironment
from envdoctor.model import Severity, Target, Unavailable
from envdoctor.policy import Policy
from envdoctor.probes.lock.no_wheel import check
from envdoctor.views.lock_targets import LockTargets

HASHES = f'hashes = {{ sha256 = "{"9" * 64}" }}'
SDIST = f'sdist = {{ url = "https://files.example/torch-2.11.0.tar.gz", {HASHES} }}\n'
LINUX = "cp312-cp312-manylinux_2_28_x86_64"


def lock(*tags, more="", requires=">=3.9"):
    """Return a lock of a torch that has wheels with these tags."""
    wheels = ", ".join(f'{{ url = "https://files.example/torch-2.11.0-{tag}.whl", {HASHES} }}' for tag in tags)
    head = f'lock-version = "1.0"\nrequires-python = "{requires}"\ncreated-by = "demo"\n[[packages]]\nname = "torch"\n'
    return f'{head}version = "2.11.0"\nwheels = [{wheels}]\n{more}'


def judge(text, python="3.12", platform="manylinux_2_28_x86_64", **given):
    return audited(check, text, "/project/pylock.toml", lock_targets=target(python, platform), **given)


@pytest.mark.parametrize(
    "tag",
    [
        "cp313-cp313-manylinux_2_28_x86_64",
        "cp312-cp312-manylinux_2_28_aarch64",
        "cp312-cp312-manylinux_2_34_x86_64",
        "cp312-cp312t-manylinux_2_28_x86_64",
        "cp313-abi3-manylinux_2_28_x86_64",
        "cp312-cp312-musllinux_1_2_x86_64",
        "cp312-cp312-win_amd64",
    ],
    ids=["Python", "machine", "glibc", "free-threaded", "newer abi3", "musl", "Windows"],
)
def test_wheels_for_something_else(tag):
    (finding,) = found = judge(lock(tag))
    assert (finding.severity, told(found)) == (Severity.ERROR, [("torch", 5)])
    assert finding.message == (
        "torch 2.11.0 has no wheel for Python 3.12 on manylinux_2_28_x86_64, and no source archive"
    )


def test_with_an_sdist_it_is_a_warning_unless_it_may_be_built():
    text = lock("cp313-cp313-manylinux_2_28_x86_64", more=SDIST)
    (finding,) = judge(text)
    assert finding.severity == Severity.WARNING
    assert judge(text, policy=Policy(sdists=("torch",))) == []


def test_a_wheel_from_an_address():
    url = "https://x.example/flash_attn-2.8.3+cu128torch2.10-cp312-cp312-linux_x86_64.whl"
    found = audited(check, f"six==1.17.0\nflash-attn @ {url}\n", lock_targets=target("3.11"))
    assert told(found) == [("flash-attn", 2)]


def test_of_two_pins_lock_conflicting_pins_speaks():
    text = "x @ https://a.example/x-1.0-cp39-cp39-win32.whl\nx @ https://b.example/x-1.0-py3-none-any.whl\n"
    assert audited(check, text, lock_targets=target()) == []


@pytest.mark.parametrize(
    "tag",
    [
        LINUX,
        "cp312-cp312-manylinux2014_x86_64.manylinux_2_17_x86_64",
        "cp310.cp311.cp312-abi3-linux_x86_64",
        "cp39-abi3-manylinux_2_24_x86_64.manylinux_2_28_x86_64",
        "py3-none-any",
        "py2.py3-none-manylinux_2_5_x86_64",
    ],
)
def test_wheels_that_fit(tag):
    assert judge(lock("cp313-cp313-win_amd64", tag)) == []


def test_what_is_not_known_refuses_nothing():
    newest = lock("cp312-cp312-manylinux_2_39_x86_64")
    assert judge(newest, platform="linux_x86_64") == [], "glibc unknown"
    unknown = LockTargets((LockEnvironment("x", {"sys_platform": "linux", "platform_machine": "x86_64"}),))
    assert audited(check, lock("cp27-cp27m-win32"), "/p/pylock.toml", lock_targets=unknown) == [], "Python unknown"
    assert judge(lock(more=SDIST).replace("wheels = []\n", "")) == [], "no wheel at all"


def test_a_python_that_the_lock_excludes_is_said_once():
    assert judge(lock("cp313-cp313-manylinux_2_28_x86_64", requires=">=3.13")) == []


GROUPS = f"""
version = 1
[[package]]
name = "demo"
source = {{ virtual = "." }}
dependencies = [{{ name = "six" }}]
[package.dev-dependencies]
dev = [{{ name = "torch" }}]
[[package]]
name = "six"
version = "1.17.0"
source = {{ registry = "https://index.example/simple" }}
wheels = [{{ url = "https://files.example/six-1.17.0-py2.py3-none-any.whl", hash = "sha256:{"1" * 64}" }}]
[[package]]
name = "torch"
version = "2.11.0"
source = {{ registry = "https://index.example/simple" }}
wheels = [{{ url = "https://files.example/torch-2.11.0-cp313-cp313-win_amd64.whl", hash = "sha256:{"2" * 64}" }}]
"""


def test_a_group_that_was_left_out_of_the_target():
    """`uv sync --no-dev`: the lock does not say so, what is installed does."""
    given = {"lock": read(GROUPS, "/project/uv.lock")}
    assert findings(check, **given, distributions=distributions("six==1.17.0")) == []
    assert len(findings(check, **given, distributions=distributions("six==1.17.0", "torch==2.11.0"))) == 1


def test_a_group_that_the_environment_may_have():
    """Nothing is installed where an environment is only stated: what `uv sync --group` may ask for counts."""
    text = GROUPS.replace("dev = [", "extra = [")
    found = audited(check, text, "/project/uv.lock", lock_targets=target())
    assert told(found) == [("torch", 14)]
    assert findings(check, lock=read(text, "/project/uv.lock"), distributions=distributions("six==1.17.0")) == []


def test_a_lock_that_names_no_files_is_skipped():
    assert judged(check, lock=read("torch==2.11.0\n")).skipped == Unavailable("the lock names no files")


FORKS = f"""
version = 1
[[package]]
name = "demo"
source = {{ virtual = "." }}
dependencies = [
    {{ name = "torch", version = "2.11.0", marker = "extra == 'extra-4-demo-cpu' and extra == 'extra-4-demo-gpu'" }},
    {{ name = "torch", version = "2.11.0+cu128" }},
]
[[package]]
name = "torch"
version = "2.11.0"
source = {{ registry = "https://index.example/whl/cpu" }}
wheels = [{{ url = "https://files.example/torch-2.11.0-cp312-none-macosx_11_0_arm64.whl", hash = "sha256:{"1" * 64}" }}]
[[package]]
name = "torch"
version = "2.11.0+cu128"
source = {{ registry = "https://index.example/whl/cu128" }}
wheels = [{{ url = "https://files.example/torch-2.11.0+cu128-{LINUX}.whl", hash = "sha256:{"2" * 64}" }}]
"""


def test_a_pin_that_is_meant_for_other_machines_is_not_judged_beside_one_that_fits():
    assert audited(check, FORKS, "/project/uv.lock", lock_targets=target()) == []


def test_with_an_extra_that_was_asked_for_only_its_fork_counts():
    """A CPU fork that has a wheel is no comfort to who asks for the CUDA one."""
    fork = '[[package]]\nname = "torch"\nversion = "2.9.1+{0}"\nsource = {{ registry = "https://x.example/whl/{0}" }}\n'
    fork += 'wheels = [{{ url = "https://x.example/torch-2.9.1%2B{0}-{1}-{1}-manylinux_2_28_x86_64.whl" }}]\n'
    root = '[[package]]\nname = "demo"\nversion = "0"\nsource = {{ virtual = "." }}\n[package.optional-dependencies]\n'
    for name in ("cpu", "cu128"):
        root += f'{name} = [{{{{ name = "torch", version = "2.9.1+{name}", source = '
        root += f'{{{{ registry = "https://x.example/whl/{name}" }}}} }}}}]\n'
    text = "version = 1\n" + root.format() + fork.format("cpu", "cp314") + fork.format("cu128", "cp313")
    given = {"path": "/project/uv.lock", "lock_targets": target("3.14")}
    assert audited(check, text, **given) == []
    (finding,) = audited(check, text, **given, target=Target("", "", extras=("cu128",)))
    assert finding.message.startswith("torch 2.9.1+cu128 has no wheel for Python 3.14")

"""A universal lock stores torch +cpu for macOS, where no such wheel is: astral-sh/uv#10059."""

from doctor import Doctor

LOCK = """\
version = 1
revision = 3
requires-python = "==3.12.*"
supported-markers = [
    "sys_platform == 'darwin' and platform_machine == 'arm64'",
    "sys_platform == 'linux' and platform_machine == 'x86_64'",
]

[[package]]
name = "job"
version = "0.1.0"
source = {{ virtual = "." }}
dependencies = [{{ name = "torch" }}]

[[package]]
name = "torch"
version = "{version}"
source = {{ registry = "https://wheels.example/whl/cpu" }}
wheels = [
    {{ url = "{place}-cp312-cp312-manylinux_2_28_x86_64.whl", hash = "sha256:{one}" }},
    {{ url = "{place}-cp312-cp312-{platform}.whl", hash = "sha256:{two}" }},
]
"""


def audit(folder, version, platform):
    place = f"https://wheels.example/whl/cpu/torch-{version.replace('+', '%2B')}"
    text = LOCK.format(version=version, place=place, platform=platform, one="1" * 64, two="2" * 64)
    (folder / "uv.lock").write_text(text)
    return Doctor(folder)("lock", "audit", "--format", "json", "uv.lock")


def test_the_platform_without_a_wheel_is_an_error(tmp_path):
    (found,) = audit(tmp_path, "2.5.1+cpu", "win_amd64").findings("lock/no-wheel")
    assert (found["severity"], found["subject"]) == ("error", "torch")
    assert "darwin" in str(found)
    assert "win_amd64" in str(found), "the tags that there are"


def test_control_a_wheel_for_each_is_silent(tmp_path):
    answer = audit(tmp_path, "2.5.1", "macosx_11_0_arm64")
    assert answer.findings("lock/no-wheel") == []
    assert "lock/no-wheel" in answer.report["passed"]

"""Releases without a wheel."""

import pytest
from locked import OTHER, SHA, audited, files, package, told, uv

from envdoctor.model import Severity
from envdoctor.policy import Policy
from envdoctor.probes.lock.source_only import check

SDIST = f'{{ url = "https://files.example/demo-1.0.tar.gz", hash = "{SHA}" }}'
WHEEL = files("https://files.example/demo-1.0-py3-none-any.whl")
PINNED = f"antlr4-python3-runtime==4.9.3 --hash={SHA}\n"


def test_a_package_that_lists_an_sdist_alone():
    (finding,) = found = audited(check, uv(package("demo", sdist=SDIST)), "/project/uv.lock")
    assert (finding.severity, told(found), finding.evidence["text"]) == (Severity.WARNING, [("demo", 4)], "demo")


@pytest.mark.parametrize(
    "given",
    [
        package("demo", sdist=SDIST, wheels=WHEEL),
        package("demo", wheels=WHEEL),
        package("demo"),
        package("demo", source='{ git = "https://x.example/demo#0123456789abcdef0123456789abcdef01234567" }'),
        package("demo", source='{ directory = "demo" }'),
    ],
    ids=["both", "wheel", "no files", "repository", "folder"],
)
def test_other_packages(given):
    assert audited(check, uv(given), "/project/uv.lock") == []


@pytest.mark.parametrize("line", [PINNED, "deepspeed==0.18.4\n", "langdetect==1.0.9\n", "flash-attn==2.8.3\n"])
def test_a_pin_of_which_no_wheel_is_published(line):
    assert told(audited(check, f"six==1.17.0\n{line}")) == [(line.split("==")[0], 2)]


@pytest.mark.parametrize(
    "text",
    [
        "antlr4-python3-runtime==4.11.0\n",
        f"--index-url https://vendor.example/simple\n{PINNED}",
        f"--find-links https://vendor.example/w\n{PINNED}",
        PINNED.replace("\n", f" --hash={OTHER}\n"),
        "flash-attn @ https://x.example/flash_attn-2.8.3-cp312-cp312-linux_x86_64.whl\n",
        "deepspeed==99.0\n",
        "flash-attn==2.8.1+cu13torch2.10\n",
        "numpy==2.4.6\n",
    ],
    ids=["wheel", "own index", "own page", "two files", "address", "later release", "label", "unknown"],
)
def test_its_neighbours(text):
    assert audited(check, text) == []


def test_the_configuration_may_allow_it():
    assert audited(check, PINNED, policy=Policy(sdists=("antlr4-*",))) == []


def test_an_archive_by_its_address_is_built_too():
    assert told(audited(check, f"demo @ https://x.example/demo-1.0.tar.gz#{SHA.replace(':', '=')}\n")) == [("demo", 1)]

"""What an object names, or a tag promises, against the glibc that the interpreter runs with."""

import pytest
from values import PIP, distribution, distributions, extension, extensions, findings, interpreter, lock

from envdoctor.model import Severity
from envdoctor.probes.packages.glibc_too_old import check

PLAIN = ("cp312-cp312-linux_x86_64",)


def judge(*objects, libc="glibc 2.31", tags=PLAIN, **facts):
    package = distribution("flash-attn", "2.8.0", tags=tags)
    given = {"distributions": distributions(package, "pip"), "interpreter": interpreter(libc=libc)}
    return findings(check, extensions=extensions(*objects), **(given | facts))


def test_an_object_that_names_a_newer_glibc_is_an_error_with_need_and_have():
    (found,) = judge(extension(glibc="2.32", path="a.so"))
    assert (found.severity, found.subject) == (Severity.ERROR, "flash-attn")
    assert (found.evidence["need"], found.evidence["have"], found.evidence["where"]) == ("2.32", "2.31", "a.so")
    assert found.remedy[0].startswith("build it here: ")
    assert "--no-binary flash-attn" in found.remedy[0]


def test_the_neediest_object_is_shown_once():
    (found,) = judge(extension(glibc="2.32"), extension(glibc="2.38", path="b.so"), extension(glibc="2.34"))
    assert (found.evidence["need"], found.evidence["where"]) == ("2.38", "b.so")


def test_versions_are_numbers():
    assert judge(extension(glibc="2.4")) == []
    assert len(judge(extension(glibc="2.10"), libc="glibc 2.9")) == 1


def test_the_lock_has_the_version_that_ran_here():
    (found,) = judge(extension(glibc="2.32"), lock=lock("flash-attn==2.7.4.post1"))
    assert found.remedy == (f"{PIP} install --force-reinstall --no-deps flash-attn==2.7.4.post1",)


def test_an_unknown_glibc_is_a_note_that_says_what_is_needed():
    (found,) = judge(extension(glibc="2.17"), extension(glibc="2.34", path="b.so"), libc="")
    assert (found.severity, found.evidence["need"]) == (Severity.NOTE, "2.34")
    assert "not known" in found.message


@pytest.mark.parametrize(
    ("tags", "libc"),
    [
        (("cp312-cp312-manylinux_2_34_x86_64",), "glibc 2.31"),
        (("cp312-cp312-manylinux_2_39_x86_64.manylinux_2_34_x86_64",), "glibc 2.31"),
        (("cp312-cp312-manylinux2014_x86_64",), "glibc 2.12"),
    ],
    ids=["one", "lowest of two", "old name"],
)
def test_a_manylinux_tag_for_a_newer_glibc_is_an_error(tags, libc):
    (found,) = judge(tags=tags, libc=libc)
    assert found.severity == Severity.ERROR
    assert found.evidence["where"] == tags[0]


@pytest.mark.parametrize(
    ("objects", "libc", "tags"),
    [
        ([extension(glibc="2.31")], "glibc 2.31", PLAIN),
        ([extension(glibc="2.17")], "glibc 2.31.9000", PLAIN),
        ([extension(glibc=None)], "glibc 2.31", PLAIN),
        ([extension(glibc="2.99")], "musl 1.2.5", PLAIN),
        ([extension(glibc=None)], "", PLAIN),
        ([], "glibc 2.28", ("cp312-cp312-manylinux_2_28_x86_64",)),
        ([], "glibc 2.28", ("cp312-cp312-manylinux_2_34_x86_64.manylinux2014_x86_64",)),
        ([], "glibc 2.28", ("py3-none-any",)),
        ([], "glibc 2.28", ("py3-none-any", "py3-none-manylinux_2_34_x86_64")),
        ([], "glibc 2.28", ("cp312-cp312-musllinux_1_2_x86_64",)),
    ],
    ids=[
        "equal",
        "older",
        "none named",
        "another libc",
        "nothing to know",
        "tag",
        "older tag",
        "pure",
        "pure as well",
        "musl",
    ],
)
def test_healthy_neighbours(objects, libc, tags):
    assert judge(*objects, libc=libc, tags=tags) == []

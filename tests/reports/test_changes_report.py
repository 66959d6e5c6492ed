"""A comparison for people: the grave first, many details in one line, what is unknown at the end."""

import pytest
from compared import found
from values import arch_list, distributions, driver, fx_flag, gpu, torch_build

from envdoctor.changes.telling import Seen, document
from envdoctor.model import Unavailable
from envdoctor.reports.changes import render
from envdoctor.reports.layout import Style

BEFORE = Seen("healthy", "history", 12, "2026-06-01T00:00:00Z", "node7", "/env", None, "0.1.0")
AFTER = Seen("now", "now", None, "2026-06-03T00:00:00Z", "node7", "/env", None, "0.1.0")


def shown(style=None, after=AFTER, **changes):
    return render(document(found(**changes), BEFORE, after), style)


def test_no_change_is_one_word():
    first, before, after, *rest = shown().splitlines()
    assert (first, rest) == ("NO CHANGE", [])
    assert before == "before  /env on node7, 1 June 2026 at 00:00:00 UTC, run 12, the last healthy one"
    assert after.endswith(", now")


def test_the_grave_comes_first_with_its_area():
    text = shown(torch_build=torch_build("2.12.0+cu130"), fx_flag=fx_flag("masked"))
    assert text.startswith("CHANGED  2 grave\n")
    assert "GRAVE    torch: 2.11.0+cu130 -> 2.12.0+cu130  [torch]" in text


def test_many_details_are_one_line():
    names = [f"package-{number:02}==1" for number in range(30)]
    text = shown(distributions=distributions("torch==2.11.0", "transformers==5.6.0", "six==1.17.0", *names))
    assert "detail   30 added: package-00 1, " in text
    assert text.count("package-") == 8


def test_many_of_one_area_are_cut_and_counted():
    gpus = driver(*(gpu(number) for number in range(2, 40)))
    assert "and 18 more of driver (all of them: --format json)" in shown(driver=gpus)


def test_what_cannot_be_compared_is_said_each_reason_once():
    lost = Unavailable("gone", failed=True)
    text = shown(files=lost, owners=lost, node=Unavailable("elsewhere"))
    assert "NO CHANGE  in what could be compared" in text
    assert "FAILED   not comparable: files, owners: after: gone" in text
    assert "unknown  not comparable: node: after: elsewhere" in text


def test_another_host_and_target_are_said_in_the_head():
    text = shown(after=Seen("b.json", "file", None, "2026-05-01T00:00:00Z", "node8", "/other", None, "0.1.0"))
    assert "note    of different hosts: node7 and node8" in text
    assert "note    of different targets: /env and /other" in text
    assert "note    the first one is the younger one" in text
    assert "(b.json)" in text


@pytest.mark.parametrize("width", [80, 120])
def test_it_keeps_to_the_width(width):
    text = shown(
        Style(width), torch_build=torch_build("2.12.0+cu130", "12.8"), arch_list=arch_list("sm_80"), fx_flag=fx_flag()
    )
    assert max(map(len, text.splitlines())) <= width
    assert (
        text.split()
        == shown(
            torch_build=torch_build("2.12.0+cu130", "12.8"), arch_list=arch_list("sm_80"), fx_flag=fx_flag()
        ).split()
    )


def test_colour_is_for_terminals():
    assert "\033[" not in shown(fx_flag=fx_flag())
    assert "\033[31;1mGRAVE" in shown(Style(80, colour=True), fx_flag=fx_flag())


def test_no_control_character_gets_through():
    text = shown(
        distributions=distributions("torch==2.11.0", "transformers==5.6.0", "six==1.17.0", "evil\x1b]0;x\x07==1")
    )
    assert "\x1b" not in text
    assert "evil" in text

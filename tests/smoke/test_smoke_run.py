"""What a run makes of what a process writes: told by a stand-in for the target's interpreter that writes as it is told.

Hangs, crashes and what is left of them are tested where processes are watched.
"""

import json
import sys

import pytest

from envdoctor.errors import EnvDoctorError
from envdoctor.facts.smoke import FRESH, STEPS
from envdoctor.smoke.run import Order, smoke


def end(device, step, state="passed", detail=None, **more):
    return {
        "event": "end",
        "device": device,
        "step": step,
        "state": state,
        "seconds": 1,
        "detail": detail or {},
        **more,
    }


STAND_IN = """#!{python}
import json, os, sys
order = json.loads(sys.stdin.readline())
for place, lines in {script!r}:
    if order["devices"] and place == [order["devices"][0], order["steps"][0]]:
        for line in lines:
            os.write(int(sys.argv[2]), (line if isinstance(line, str) else json.dumps(line)).encode() + b"\\n")
"""


@pytest.fixture
def run(tmp_path):
    def run(*turns, devices=("cuda:0",)):
        """Run with processes that write these lines, told by the device and the step that they are to begin with."""
        python = tmp_path / "python"
        python.write_text(STAND_IN.format(python=sys.executable, script=turns))
        python.chmod(0o755)
        order = Order(str(python), devices, "quick", {}, str(tmp_path), str(tmp_path), 20.0)
        heard = []
        found = smoke(order, heard.append)
        ran = [item for item in found.attempts if item.state != "never-ran"]
        assert sorted(ran, key=str) == sorted(heard, key=str), "each is told as it comes"
        return found

    return run


def states(found):
    return {(item.device, item.step): item.state for item in found.attempts}


def well(device="cuda:0"):
    """Return the turns of a device on which all goes well."""
    first = [end("", "torch-import", detail={"torch": "2.11.0", "cache": "/c"})]
    first += [end(device, step) for step in STEPS["quick"]]
    return ([device, "device"], first), ([device, FRESH], [end("", "torch-import"), end(device, FRESH)])


def test_all_that_went_well_is_told(run):
    found = run(*well())
    assert list(states(found)) == [("torch", "torch-import")] + [("cuda:0", step) for step in (*STEPS["quick"], FRESH)]
    assert set(states(found).values()) == {"passed"}
    assert (found.build, found.cache) == ({"torch": "2.11.0"}, "/c")


def test_a_failure_ends_the_device_and_leaves_the_others_to_another_process(run):
    failed = end("cuda:0", "device", "failed", error={"type": "RuntimeError", "message": "no"})
    found = run(
        (["cuda:0", "device"], [end("", "torch-import"), failed]), *well("cuda:1"), devices=("cuda:0", "cuda:1")
    )
    assert states(found)["cuda:0", "compile"] == "never-ran"
    assert {item.reason for item in found.attempts if item.state == "never-ran"} == {"device failed"}
    assert {state for (device, _), state in states(found).items() if device == "cuda:1"} == {"passed"}


@pytest.mark.parametrize(
    "line",
    [
        "Traceback (most recent call last):",
        "[1, 2",
        '{"event": "end", "device": "cuda:0", "step": "device", "state": "fine"}',
        '{"event": "end", "device": "cuda:0", "step": "device", "state": "failed", "error": 7}',
        json.dumps(end("cuda:9", "device")),
        json.dumps(end("cuda:0", "x\x1b[2J")),
        json.dumps(end("cuda:0", FRESH)),
    ],
)
def test_what_the_payload_would_not_write_is_passed_over(run, line):
    (begin, lines), fresh = well()
    assert states(run((begin, [lines[0], line, *lines[1:]]), fresh)) == states(run(*well()))


def test_a_process_that_ends_before_its_work_is_done_has_failed(run):
    (begin, lines), _ = well()
    found = run((begin, lines[:3]))
    lost = next(item for item in found.attempts if item.state == "failed")
    assert (lost.step, lost.failure.how) == ("allocate", "died")
    assert lost.failure.message == "the process ended with status 0 before its work was done"
    assert states(found)["cuda:0", "compile"] == "never-ran"


def test_an_import_that_fails_is_tried_once(run):
    failed = end("", "torch-import", "failed", error={"type": "ImportError", "message": "no"})
    found = run((["cuda:0", "device"], [failed]), (["cuda:1", "device"], [failed]), devices=("cuda:0", "cuda:1"))
    assert [item.device for item in found.attempts if item.state == "failed"] == ["torch"]
    assert {item.reason for item in found.attempts if item.state == "never-ran"} == {"torch could not be imported"}


def test_an_import_that_fails_in_the_fresh_process_is_the_fresh_process_s_fault(run):
    failed = end("", "torch-import", "failed", error={"type": "ImportError", "message": "no"})
    first, _ = well()
    assert states(run(first, (["cuda:0", FRESH], [failed])))["cuda:0", FRESH] == "failed"


def test_what_was_not_compiled_is_not_looked_for_in_the_cache(run):
    begin, lines = well()[0]
    skipped = end("cuda:0", "compile", "skipped", {"reason": "no compiler"})
    changed = [skipped if line["step"] == "compile" else line for line in lines]
    fresh = next(item for item in run((begin, changed)).attempts if item.step == FRESH)
    assert fresh.state == "never-ran"


def test_an_interpreter_that_is_not_there_is_one_line(tmp_path):
    order = Order("/nowhere/python", ("cpu",), "quick", {}, str(tmp_path), str(tmp_path), 5.0)
    with pytest.raises(EnvDoctorError, match=r"^/nowhere/python did not start: No such file or directory$"):
        smoke(order, print)

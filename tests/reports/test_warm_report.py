"""The report of a warm-up for people, from documents alone."""

import pytest

from envdoctor.reports import warm
from envdoctor.reports.layout import Style

RUN = {"seconds": 31.24, "status": 0, "counters": {}, "processes": 1, "new_files": 0}
FAULT = {"kind": "forward-only", "said": "forward only: 1 of 2 graphs ran no backward", "remedy": ["loss.backward()"]}
COLD = {"device": "cuda:6", "keys": 0, "mark": 206, "counts": True}


def device(name="cuda:5", **more):
    found = {"device": name, "warm": True, "warm_up": RUN, "proof": RUN | {"seconds": 9.8}, "already_warm": False}
    counts = {"keys": {"aotautograd": 206, "fxgraph": 412}, "new_keys": {"aotautograd": 2, "triton": 7}}
    return found | counts | {"mark": None, "faults": []} | more


def document(*devices, **more):
    head = {"target": "/srv/envs/train", "torch": "2.11.0+cu130", "entry": "drafter.warm:step", "script": None}
    cache = {"cache": "/srv/cache", "why": "TORCHINDUCTOR_CACHE_DIR", "seconds": 93.14, "command": None}
    told = dict.fromkeys(("unknown", "saved", "not_saved", "state"))
    devices = devices or (device(),)
    proven = all(each["warm"] for each in devices)
    return head | cache | told | {"devices": list(devices), "warm": proven, "cold": []} | more


def text(*devices, width=None, colour=False, **more):
    return warm.as_text(document(*devices, **more), Style(width, colour))


def test_a_whole_report():
    assert text(device(), device("cuda:6", warm=False, proof=None, faults=[FAULT])) == (
        "NOT WARM  1 of 2 devices warm and proven from a fresh process\n"
        "/srv/envs/train: torch 2.11.0+cu130\n"
        "entry drafter.warm:step\n"
        "cache /srv/cache (TORCHINDUCTOR_CACHE_DIR), 93.1 s\n"
        "\n"
        "                     warm-up      proof   keys   new keys\n"
        "cuda:5    ok          31.2 s      9.8 s    206   2 aotautograd, 7 triton\n"
        "cuda:6    FAILED      31.2 s          -    206   2 aotautograd, 7 triton\n"
        "\n"
        "FAILED   cuda:6: forward only: 1 of 2 graphs ran no backward\n"
        "         next: loss.backward()\n"
    )


def test_devices_that_were_left_out_fail_where_a_mark_covers_them_and_are_named_where_not():
    said = text(cold=[COLD, COLD | {"device": "cuda:7"}], warm=False)
    assert "not all devices were warmed, and a mark covers the others: cuda:6 has 0 of 206 keys, cuda:7 has 0" in said
    assert "next: warm them as well: --devices 6,7\n" in said
    assert text(cold=[COLD | {"counts": False}]).endswith("\n\nnote     cuda:6 stays cold\n")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"unknown": "/srv/cache holds much"}, "keys were not compared: /srv/cache holds much"),
        ({"saved": {"path": "/s.zst", "bytes": 2048, "written": True}}, "saved in /s.zst (2 KiB)"),
        ({"saved": {"path": "/s.zst", "bytes": 2048, "written": False}}, "as it was saved already in /s.zst (2 KiB)"),
        ({"not_saved": "not everything is proven"}, "not saved: not everything is proven"),
        ({"state": "no room"}, "no mark was raised: no room"),
        ({"entry": None, "script": "a.py"}, "script a.py"),
        ({"entry": None, "command": "python a.py"}, "command python a.py"),
    ],
)
def test_what_else_there_is_is_said_in_a_line(more, said):
    assert said in text(**more).splitlines()


def test_what_is_not_known_is_no_number():
    assert text(device(keys=None, new_keys=None)).endswith("9.8 s      ?   not counted\n")


@pytest.mark.parametrize("colour", [False, True])
def test_it_keeps_to_the_width(colour):
    new = {"aotautograd": 1206, "fxgraph": 2412, "triton": 12345}
    faults = [FAULT | {"said": "word " * 40}]
    said = text(device(new_keys=new), device(warm=False, faults=faults), cold=[COLD], width=80, colour=colour)
    plain = said.replace("\033[0m", "").replace("\033[31;1m", "").replace("\033[32m", "").replace("\033[1m", "")
    assert max(map(len, plain.splitlines())) <= 80
    assert (said != plain) == colour

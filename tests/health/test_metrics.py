"""Metrics of a round, as Prometheus' own parser and promtool read them."""

import subprocess
from dataclasses import replace

import pytest
from prometheus_client.parser import text_string_to_metric_families
from rounds import FOREIGN, lost, round_, visit
from tools import needed
from values import NOW, caches, driver, finding, jit_tools, torch_build, warm

from envdoctor.health import metrics
from envdoctor.health.metrics import Past
from envdoctor.model import Outcome, Severity, Unavailable
from envdoctor.reports import prometheus

WARM = {"torch_build": torch_build(), "driver": driver(), "jit_tools": jit_tools()}
EVIL = 'a"b\\c\nd\x1b[2J,e="f"} 9\n# HELP evil'


def text(*visits, past=None, **fields):
    return prometheus.render(metrics.families(round_(*visits, **fields), past or {}))


def read(*visits, **more):
    """Return every sample as {name: {labels: value}}, by the parser of prometheus_client."""
    found = {}
    for family in text_string_to_metric_families(text(*visits, **more)):
        for sample in family.samples:
            assert sample.timestamp is None
            labels = {name: value for name, value in sample.labels.items() if name != "target"}
            found.setdefault(sample.name, {})[tuple(sorted(labels.items()))] = sample.value
    return found


def labelled(**labels):
    return tuple(sorted(labels.items()))


def test_a_sick_environment():
    found = read(visit(FOREIGN, finding("tilelang"), finding("six", Severity.WARNING)))
    assert found["envdoctor_up"] == {(): 1}
    verdicts = {dict(labels)["verdict"]: value for labels, value in found["envdoctor_verdict"].items()}
    assert verdicts == {"sick": 1, "warnings": 0, "healthy": 0}
    assert found["envdoctor_findings"] == {
        labelled(probe="packages/foreign", severity="error"): 2,
        labelled(probe="packages/foreign", severity="warning"): 1,
    }
    assert found["envdoctor_skipped"] == {(): 1}
    assert found["envdoctor_crashed"] == {(): 0}


def test_the_run_and_what_it_took():
    found = read(visit(seconds={"driver": 0.25}), seconds=1.5)
    assert found["envdoctor_run_seconds"] == {(): 1.5}
    assert found["envdoctor_targets"] == {(): 1}
    assert found["envdoctor_fact_seconds"] == {labelled(fact="driver"): 0.25}


def test_versions():
    labels = dict(next(iter(read(visit())["envdoctor_info"])))
    expected = {"owner": "alice", "python": "3.12.3", "torch": "2.11.0+cu130", "cuda": "13.0", "driver": "580.95.05"}
    assert labels == expected


def test_keys_by_device_and_of_a_kind_without_any():
    found = read(visit(facts=WARM | {"compile_caches": caches(warm("cuda:0", "cuda:1", graphs=10, triton=4))}))
    assert found["envdoctor_cache_keys"] == {
        **{labelled(kind=kind, device=f"cuda:{n}"): 10 for kind in ("aotautograd", "fxgraph") for n in (0, 1)},
        labelled(kind="triton"): 4,
    }
    assert found["envdoctor_cache_bytes"] == {labelled(cache="inductor"): 1 << 20}


def test_where_not_every_graph_was_read_nothing_is_said_by_device():
    found = read(visit(facts=WARM | {"compile_caches": caches(warm("cuda:0", graphs=10, sampled=False))}))
    assert set(found["envdoctor_cache_keys"]) == {labelled(kind=kind) for kind in ("aotautograd", "fxgraph", "triton")}


def test_a_wiped_cache_has_no_keys_and_that_is_known():
    found = read(visit(facts=WARM | {"compile_caches": caches(warm(graphs=0, keys={}, size=0))}))
    assert set(found["envdoctor_cache_keys"].values()) == {0}
    assert found["envdoctor_cache_bytes"] == {labelled(cache="inductor"): 0}


@pytest.mark.parametrize("seen", [Unavailable("no torch"), caches(warm("cuda:0", complete=False))])
def test_a_cache_of_which_not_all_was_seen_has_no_numbers(seen):
    found = read(visit(facts=WARM | {"compile_caches": seen}))
    assert found.keys().isdisjoint({"envdoctor_cache_keys", "envdoctor_cache_bytes"})


def test_what_is_not_known_is_left_out():
    found = read(lost())
    assert found["envdoctor_up"] == {(): 0}
    assert set(found) == {"envdoctor_up", "envdoctor_targets", "envdoctor_run_seconds", "envdoctor_build_info"}
    assert "envdoctor_up" not in read(lost(visited=False))


def test_an_environment_that_was_not_due_is_what_it_was():
    found = read(lost("at most hourly", last="sick"))
    assert found["envdoctor_up"] == {(): 1}
    assert found["envdoctor_verdict"][labelled(verdict="sick")] == 1


def test_times_come_from_the_state():
    found = read(visit(FOREIGN), past={"/env": Past(checked=NOW)})
    assert found["envdoctor_last_check_timestamp_seconds"] == {(): NOW.timestamp()}
    assert "envdoctor_last_healthy_timestamp_seconds" not in found


def test_labels_cannot_break_out():
    (family,) = [
        family for family in text_string_to_metric_families(text(visit(target=EVIL))) if family.name == "envdoctor_up"
    ]
    assert [sample.labels["target"] for sample in family.samples] == [r'a"b\c\x0ad\x1b[2J,e="f"} 9\x0a# HELP evil']


def test_nobody_can_make_as_many_series_as_he_likes():
    crowd = [f"cuda:{n}" for n in range(900)] + [f"xpu:{n}" for n in range(900)]
    outcomes = tuple(Outcome(f"packages/p{n}", (FOREIGN,)) for n in range(900))
    one = visit(facts=WARM | {"compile_caches": caches(warm(*crowd))}, seconds={f"f{n}": 1.0 for n in range(900)})
    one = replace(one, report=replace(one.report, outcomes=outcomes))
    found = read(one)
    assert max(map(len, found.values())) == metrics.SERIES
    targets = [replace(visit(), target=f"/home/u{n}/.venv", snapshot=None) for n in range(metrics.TARGETS + 9)]
    said = text(*targets)
    assert said.count("envdoctor_up{") == metrics.TARGETS
    assert f"envdoctor_targets {metrics.TARGETS + 9}\n" in said


def test_numbers_that_are_none_are_left_out():
    found = read(visit(seconds={"driver": float("nan"), "node": float("inf")}))
    assert "envdoctor_fact_seconds" not in found


def test_two_environments_of_one_name_make_no_series_twice():
    said = text(visit(), visit(FOREIGN))
    assert said.count('envdoctor_up{target="/env"}') == 1


def test_promtool_has_no_complaint():
    """`promtool check metrics` parses as the server does and holds names against the conventions."""
    promtool = needed("promtool", "Debian's package prometheus has it")
    said = text(
        visit(FOREIGN, facts=WARM | {"compile_caches": caches(warm("cuda:0", triton=3))}, seconds={"driver": 0.1}),
        visit(target=EVIL),
        lost(target="/lost"),
        past={"/env": Past(NOW, NOW)},
    )
    assert said.count("\n# HELP") + 1 == said.count("\n# TYPE") == len(metrics._METRICS) + 3
    done = subprocess.run([promtool, "check", "metrics"], input=said.encode(), capture_output=True, check=False)
    assert (done.returncode, done.stdout + done.stderr) == (0, b"")

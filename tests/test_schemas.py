"""The schemas say what is written, all of it, and nothing else."""

import dataclasses
import json
from datetime import UTC, datetime

import fastjsonschema
import pytest
from compared import found
from patients import Patient, Wheel
from values import fx_flag, variables

from envdoctor import judge, recorded, registry, schemas, snapshot
from envdoctor.changes import telling
from envdoctor.changes.telling import Seen
from envdoctor.codec import to_json
from envdoctor.model import Finding, Outcome, Report, Severity, Target, Trial, Unavailable
from envdoctor.policy import Policy
from envdoctor.reports import json as json_report
from envdoctor.snapshot import FACTS

NOW = datetime(2026, 6, 3, 14, 22, tzinfo=UTC)


def closed(schema):
    """Return a schema under which no key may be there that it does not name: readers stay lenient, this test not."""
    if isinstance(schema, dict):
        inner = {key: closed(value) for key, value in schema.items()}
        named = schema.get("type") == "object" and "properties" in schema
        return inner | ({"additionalProperties": False} if named else {})
    return [closed(item) for item in schema] if isinstance(schema, list) else schema


def strict(what):
    return fastjsonschema.compile(closed(json.loads(schemas.render(what))))


@pytest.fixture(scope="module")
def validate():
    return {what: strict(what) for what in ("report", "snapshot", "diff")}


@pytest.fixture(scope="module")
def taken(tmp_path_factory):
    """A real snapshot of a small sick environment, and the target."""
    patient = Patient(tmp_path_factory.mktemp("project"))
    wheels = [Wheel("a", "1", {"a.py": "x = 1\n"}), Wheel("b", "2", {"b.py": ""}, ("a",))]
    for wheel in wheels:
        patient.install(wheel)
    lock = patient.lock(wheels[:1])
    patient.edit("a.py", "x = 22\n")
    target = Target(str(patient.prefix), str(patient.python), lock)
    return snapshot.take(target, patient.host(), FACTS, deadline=30), target


def test_a_real_snapshot_is_as_its_schema_says(taken, validate):
    facts, target = taken
    text = recorded.render(recorded.record(facts, target, Policy(), "node7", NOW))
    validate["snapshot"](json.loads(text))


def test_a_comparison_is_as_its_schema_says(validate):
    told = found(driver=Unavailable("silent", failed=True), fx_flag=fx_flag("global"), variables=variables())
    seen = Seen("now", "now", None, "2026-06-03T14:22:00Z", "node7", "/env", None, "0.1.0")
    document = telling.document(told, seen, seen)
    validate["diff"](document)
    assert document["events"]
    assert document["not_comparable"]
    with pytest.raises(fastjsonschema.JsonSchemaException):
        validate["diff"]({**document, "events": [{**document["events"][0], "weight": "heavy"}]})


def test_what_the_schema_forbids_is_told(taken, validate):
    facts, target = taken
    document = json.loads(recorded.render(recorded.record(facts, target, Policy(), "node7", NOW)))
    for fact, value in {"files": [], "lock": {"path": 1}, "variables": {"values": {}, "more": 1}}.items():
        with pytest.raises(fastjsonschema.JsonSchemaException):
            validate["snapshot"](document | {"facts": document["facts"] | {fact: value}})


def test_a_real_report_is_as_its_schema_says(taken, validate):
    facts, target = taken
    outcomes = judge.judge(registry.select(), facts, Policy(), target, NOW)
    report = Report(target, "3.12.3", "node7", NOW, 0.3, outcomes, failed=facts.failed(), seen={"packages": 2})
    assert any(outcome.findings for outcome in outcomes)
    assert any(outcome.skipped for outcome in outcomes)
    validate["report"](json.loads(json_report.render(report)))


def test_every_kind_of_entry_is_in_the_schema(validate):
    finding = Finding(Severity.NOTE, "x", "y", {"a": [1]}, ("z",))
    outcomes = (
        Outcome("a/found", (finding,), (finding,)),
        Outcome("a/skipped", skipped=Unavailable("why", failed=True)),
        Outcome("a/crashed", crashed="ValueError: x"),
    )
    trial = Trial("smoke/compile", "cuda:0", "never-ran", 0.0, "")
    report = Report(None, None, "n", NOW, 1.0, outcomes, "/e.toml", {"files": "late"}, {"locks": 1}, (trial,))
    validate["report"](json.loads(json_report.render(report)))


def test_every_field_of_a_fact_that_has_a_doc_is_described():
    """The strings below attributes reach the reader of a schema."""
    definitions = schemas.snapshot()["definitions"]
    assert definitions["node.Node"]["description"]
    described = [
        name for table in definitions.values() for name, value in table["properties"].items() if "description" in value
    ]
    assert len(described) > 150


def test_every_fact_is_in_it_and_every_reference_leads_somewhere():
    document = schemas.snapshot()
    assert document["properties"]["facts"]["properties"].keys() == FACTS.keys()
    text = json.dumps(document)
    assert {name for name in document["definitions"] if f"#/definitions/{name}" not in text} == set()


def test_a_report_survives_its_way_through_json():
    """`check --reuse` keeps reports so."""
    from envdoctor.codec import from_json

    finding = Finding(Severity.ERROR, "x", "y", {"a": [1, None, {"b": 2.5}]}, ("z",))
    outcomes = (Outcome("a/b", (finding,), skipped=Unavailable("r", failed=True)),)
    trial = Trial("smoke/compile", "cuda:0", "passed", 1.5, "")
    report = Report(Target("/p", "/p/bin/python"), None, "n", NOW, 1.0, outcomes, None, {"f": "r"}, {"a": 1}, (trial,))
    assert from_json(Report, json.loads(json.dumps(to_json(report)))) == report
    assert dataclasses.replace(report, host="m") != report

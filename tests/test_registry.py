"""Probes are found, held to their contract and selected by id or prefix."""

from types import ModuleType

import pytest

from envdoctor import registry
from envdoctor.errors import EnvDoctorError, PolicyError, UsageError
from envdoctor.model import Severity
from envdoctor.policy import Mute, Policy
from envdoctor.snapshot import FACTS


def ids(*chosen, ignored=()):
    return [probe.id for probe in registry.select(chosen, ignored)]


class TestSelect:
    def test_nothing_said_is_all_sorted(self):
        kept = {*registry.TOLD, registry.SUMMARY}
        every = [probe for probe in registry.probes() if probe.area not in ("smoke", "lock") or probe.id in kept]
        assert ids() == sorted(probe.id for probe in every)

    def test_a_rule_for_locks_is_no_part_of_a_check_but_its_sum_is(self):
        with pytest.raises(UsageError, match="run `envdoctor lock audit`"):
            ids("lock/unhashed")
        assert ids("lock/conflicting-pins") == ["lock/conflicting-pins"]
        assert registry.SUMMARY in ids("lock")
        assert registry.SUMMARY not in {probe.id for probe in registry.audited()}

    @pytest.mark.parametrize("prefix", ["smoke", "smoke/compile"])
    def test_what_is_tried_out_on_a_device_is_no_part_of_a_check(self, prefix):
        with pytest.raises(UsageError, match="run `envdoctor smoke`"):
            ids(prefix)

    def test_an_id_is_that_probe_alone(self):
        assert ids("packages/missing") == ["packages/missing"]

    @pytest.mark.parametrize("prefix", ["packages", "packages/"])
    def test_an_area_is_all_in_it(self, prefix):
        assert {identity.partition("/")[0] for identity in ids(prefix)} == {"packages"}

    def test_the_beginning_of_some_is_those(self):
        assert ids("packages/missing-") == ["packages/missing-file", "packages/missing-record"]

    def test_several_add_up_each_once(self):
        assert ids("packages/foreign", "packages/foreign", "policy") == ["packages/foreign", "policy/expired-mute"]

    def test_ignored_ones_are_taken_away(self):
        left = ids("packages", ignored=["packages/missing"])
        assert "packages/missing" not in left
        assert "packages/missing-file" in left

    def test_nothing_left_is_a_usage_error(self):
        with pytest.raises(UsageError, match="nothing to judge: --ignore drops every probe"):
            registry.select(["packages/missing"], ["packages"])

    @pytest.mark.parametrize("given", [{"chosen": ["packagse"]}, {"ignored": ["packages/missing-fil3"]}])
    def test_what_matches_nothing_is_a_usage_error(self, given):
        with pytest.raises(UsageError, match=r"no probe is called or begins with 'packag"):
            registry.select(**given)


class TestPolicy:
    @pytest.mark.parametrize("name", ["packages/foreign", "packages", "packages/", "*/foreign", "packages/miss*", "*"])
    def test_may_speak_of_ids_areas_and_patterns(self, name):
        registry.known_to(Policy(severity={name: Severity.NOTE}, mutes=(Mute(name, "known"),)))

    @pytest.mark.parametrize("name", ["packages/foriegn", "packagse", "foreign", "packages/foreign/x", ""])
    @pytest.mark.parametrize("severity", [True, False])
    def test_may_not_speak_of_none(self, name, severity):
        rule = {"severity": {name: Severity.NOTE}} if severity else {"mutes": (Mute(name, "known"),)}
        with pytest.raises(PolicyError, match=r"^/p\.toml: no probe is called or begins with "):
            registry.known_to(Policy("/p.toml", **rule))


class TestFacts:
    def test_of_a_probe_are_those_of_its_views_too(self):
        assert registry.facts_for(registry.select(["packages/missing"])) == {"lock", "distributions", "interpreter"}

    def test_of_none_are_none(self):
        assert registry.facts_for([]) == frozenset()


def fits(lock, policy, moment, target):
    return ()


def misspelt(lokc):
    return ()


def module(doc="A fault.", **names):
    made = ModuleType("made", doc)
    for name, value in names.items():
        setattr(made, name, value)
    return made


class TestContract:
    def test_a_probe_knows_its_title_and_needs(self):
        made = registry._probe("a/b", module("A fault.\n\nWhy: x.", check=fits))
        assert (made.id, made.title) == ("a/b", "A fault.")
        assert [need.name for need in made.needs] == ["lock", "policy", "moment", "target"]

    @pytest.mark.parametrize(
        ("made", "problem"),
        [
            (module(), "a function check"),
            (module(check=3), "a function check"),
            (module(None, check=fits), "a docstring"),
            (module(check=misspelt), "asks for 'lokc', which is no fact, view or given"),
        ],
        ids=["no check", "no function", "no docstring", "misspelt"],
    )
    def test_a_module_that_breaks_it_is_named(self, made, problem):
        with pytest.raises(EnvDoctorError, match=problem) as raised:
            registry._probe("packages/new", made)
        assert "packages/new" in str(raised.value)


def test_names_of_facts_views_and_givens_are_apart():
    names = [*FACTS, *registry.views(), *registry.GIVEN]
    assert len(names) == len(set(names))


def test_load_imports_every_view_and_probe(monkeypatch):
    imported = []
    real = registry.import_module
    monkeypatch.setattr(registry, "import_module", lambda name: imported.append(name) or real(name))
    list(registry.load(registry.areas()))
    assert {probe.check.__module__ for probe in registry.probes()} <= set(imported)
    assert {view.__name__ for view in registry.views().values()} <= set(imported)

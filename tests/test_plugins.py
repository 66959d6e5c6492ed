"""Plug-ins: found beside envdoctor alone, treated like our own probes, and harmless when broken."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from junit_rules import broken_rules
from plugged import Site, distribution, probe
from values import NOW, TARGET, interpreter, report, torch_build

from envdoctor import docs, plugins, registry
from envdoctor.errors import PolicyError, UsageError
from envdoctor.judge import judge
from envdoctor.model import Severity, Unavailable
from envdoctor.plugins import Plugin
from envdoctor.policy import Mute, Policy
from envdoctor.registry import Probe
from envdoctor.reports import json as as_json
from envdoctor.reports import junit, sarif, text
from envdoctor.snapshot import Snapshot

OURS = registry.probes()


@pytest.fixture
def site(tmp_path, monkeypatch):
    """An empty site-packages, in place of that of the tests."""
    made = Site(tmp_path / "site-packages")
    made.folder.mkdir()
    monkeypatch.setattr(plugins, "folders", lambda: (str(made.folder),))
    monkeypatch.syspath_prepend(made.folder)
    made.forget()
    yield made
    registry.use_plugins(True)
    monkeypatch.undo()
    made.forget()


def others():
    return [each for each in registry.probes() if each.origin]


def only() -> Probe:
    (found,) = others()
    return found


def judged(policy=None, snapshot=None, probes=None):
    taken = snapshot or Snapshot(interpreter=interpreter())
    return judge(others() if probes is None else probes, taken, policy or Policy(), TARGET, NOW)


def outcome(**given):
    (found,) = judged(**given)
    return found


def crash():
    found = outcome()
    assert (found.findings, found.muted, found.skipped) == ((), (), None)
    assert report(found).status() == 3
    return found.probe, found.crashed


class TestFinding:
    def test_they_are_looked_for_where_envdoctor_is_installed_alone(self, tmp_path):
        """Neither PYTHONPATH nor the current directory nor the user's site-packages is the doctor's own."""
        code = "import sys; sys.path.insert(0, sys.argv[1]); from envdoctor import plugins; print(plugins.folders())"
        root = str(Path(plugins.__file__).parent.parent)
        env = {"PYTHONPATH": str(tmp_path), "PYTHONUSERBASE": str(tmp_path), "HOME": str(tmp_path)}
        done = subprocess.run(
            [sys.executable, "-c", code, root], cwd=tmp_path, env=env, capture_output=True, text=True, check=True
        )
        assert str(tmp_path) not in done.stdout
        assert root in done.stdout
        assert sys.prefix in done.stdout

    def test_a_package_holds_one_probe_a_module(self, site):
        site.holds({"badge_expired": probe(), "badge_lost": probe(), "_helper": "raise ValueError"})
        assert [(each.id, each.title, each.origin) for each in others()] == [
            ("acme/badge-expired", "The badge has expired.", "acme-probes 1.0"),
            ("acme/badge-lost", "The badge has expired.", "acme-probes 1.0"),
        ]

    def test_a_module_is_a_probe_itself(self, site):
        site.holds({"badge_expired": probe()}, {"acme": "acme_probes.badge_expired"})
        assert only().id == "acme/badge-expired"

    def test_our_own_area_may_grow(self, site):
        site.holds({"mascot_missing": probe()}, {"packages": "acme_probes"})
        assert only().id == "packages/mascot-missing"
        assert only() in registry.select(["packages"])
        assert len(registry.probes()) == len(OURS) + 1

    def test_ids_are_known_without_running_probes(self, site):
        site.holds({"badge_expired": "raise ValueError('imported')"})
        assert "acme/badge-expired" in registry.ids()
        assert "acme_probes.badge_expired" not in sys.modules

    def test_of_two_copies_of_a_distribution_the_first_counts(self, tmp_path):
        for folder, area in (("a", "one"), ("b", "two")):
            Site(tmp_path / folder).add(distribution("acme-probes", entries={area: "acme_probes"}))
        found = plugins.installed([str(tmp_path / "a"), str(tmp_path / "b"), str(tmp_path / "none")])
        assert found == (Plugin("one", "acme_probes", "acme-probes 1.0"),)

    @pytest.mark.parametrize(
        "text",
        ["", "[console_scripts]\nenvdoctor.probes = a:b\n", "# [envdoctor.probes]\n", "[envdoctor.probes]\n"],
    )
    def test_a_distribution_without_any_is_none(self, text):
        assert list(plugins._parsed(text, "a", "a 1.0")) == []

    @pytest.mark.parametrize(
        ("text", "area", "problem"),
        [
            ("[envdoctor.probes\n", "a", "entry_points.txt cannot be read: File contains no section headers."),
            ("[envdoctor.probes]\nacme\n", "a", "entry_points.txt cannot be read: "),
            ("[envdoctor.probes]\nAcme = a\n", "Acme", "'Acme' is no name of an area"),
            ("[envdoctor.probes]\na/b = a\n", "a/b", "'a/b' is no name of an area"),
            ("[envdoctor.probes]\nsmoke = a\n", "smoke", "steps that envdoctor tries out itself"),
            ("[envdoctor.probes]\nacme = a.b:c\n", "acme", "'a.b:c' is no package or module"),
            ("[envdoctor.probes]\nacme =\n", "acme", "'' is no package or module"),
        ],
    )
    def test_an_entry_that_means_nothing_says_why(self, text, area, problem):
        (found,) = plugins._parsed(text, "a", "a 1.0")
        assert (found.area, found.origin) == (area, "a 1.0")
        assert problem in found.problem


def test_load_imports_them_while_facts_are_read(site):
    site.holds({"badge_expired": probe()})
    list(registry.load())
    assert "acme_probes.badge_expired" in sys.modules


class TestBroken:
    @pytest.mark.parametrize(
        ("source", "said"),
        [
            ("import nothing_of_that_name\n", "ModuleNotFoundError: No module named 'nothing_of_that_name'"),
            ("def check(:\n", "SyntaxError: "),
            ("raise SystemExit(7)\n", "SystemExit: 7 (badge_expired.py:1)"),
            ("def check(target):\n    return ()\n", "a probe module has a docstring and a function check()"),
            ('""" """\ndef check(target):\n    return ()\n', "a probe module has a docstring and a function check()"),
            ('"""A."""\n', "a probe module has a docstring and a function check()"),
            ('"""A."""\ncheck = print\n', "a probe module has a docstring and a function check()"),
            (probe(asks="gremlins"), "asks for 'gremlins', which is no fact, view or given"),
            (probe(asks="target, limit=3"), "asks for 'limit'"),
            (probe(asks="lock_faults"), "asks for 'lock_faults', which envdoctor's own probes alone get"),
            (probe(asks="smoke"), "asks for 'smoke', which envdoctor's own probes alone get"),
        ],
    )
    def test_what_cannot_be_loaded_is_crashed_with_its_distribution_and_reason(self, site, source, said):
        site.holds({"badge_expired": source})
        identity, crashed = crash()
        assert identity == "acme/badge-expired"
        assert crashed.startswith("acme-probes 1.0: ")
        assert said in crashed

    @pytest.mark.parametrize(
        ("body", "said"),
        [
            ("raise ValueError('no luck')", "ValueError: no luck (badge_expired.py:11)"),
            ("raise SystemExit(0)", "check() called for an exit with 0"),
            ("import sys; sys.exit('bye')", "check() called for an exit with 'bye'"),
            ("return None", "check() returned a NoneType, not findings"),
            ("return 'badge'", "check() yielded a str, not a Finding"),
            ("return Finding(Severity.NOTE, 'a', 'b')", "check() returned a Finding, not findings"),
            ("yield ('badge', 'expired')", "check() yielded a tuple, not a Finding"),
            ("yield Finding('error', 'a', 'b')", "'error', not a Severity"),
            ("yield Finding(3, 'a', 'b')", "3, not a Severity"),
            ("yield Finding(Severity.NOTE, None, 'b')", "the subject of a finding is None"),
            ("yield Finding(Severity.NOTE, 'a', '')", "the message of a finding is ''"),
            ("yield Finding(Severity.NOTE, 'a', 'b', [1])", "the evidence of a finding is a list"),
            ("yield Finding(Severity.NOTE, 'a', 'b', {'x': object()})", "evidence holds a object"),
            ("yield Finding(Severity.NOTE, 'a', 'b', {'x': [float('nan')]})", "evidence holds a nan"),
            ("yield Finding(Severity.NOTE, 'a', 'b', {'x': 10 ** 5000})", "evidence holds a int"),
            ("x = {}; x['x'] = x; yield Finding(Severity.NOTE, 'a', 'b', x)", "RecursionError"),
            ("yield Finding(Severity.NOTE, 'a', 'b', {}, 'do it')", "the remedy of a finding is no tuple of texts"),
            ("yield Finding(Severity.NOTE, 'a', 'b', {}, (1,))", "the remedy of a finding is no tuple of texts"),
            ("yield Finding(Severity.NOTE, 'a', 'b'); raise KeyError('late')", "KeyError: 'late'"),
        ],
    )
    def test_what_goes_wrong_in_a_check_is_crashed_too(self, site, body, said):
        site.holds({"badge_expired": probe(body)})
        identity, crashed = crash()
        assert identity == "acme/badge-expired"
        assert crashed.startswith("acme-probes 1.0: ")
        assert said in crashed

    @pytest.mark.parametrize(
        ("modules", "entries", "said"),
        [
            ({"__init__": "import nothing_of_that_name"}, {"acme": "acme_probes"}, "acme_probes cannot be imported: "),
            ({"__init__": "raise SystemExit"}, {"acme": "acme_probes"}, "acme_probes cannot be imported: SystemExit"),
            ({}, {"acme": "nothing_of_that_name"}, "No module named 'nothing_of_that_name'"),
            ({}, {"acme": "acme_probes"}, "acme_probes holds no module"),
            ({"_x": ""}, {"acme": "acme_probes"}, "acme_probes holds no module"),
        ],
    )
    def test_a_package_that_cannot_be_listed_is_crashed_under_its_entry_points_name(self, site, modules, entries, said):
        site.holds(modules, entries)
        identity, crashed = crash()
        assert identity == "acme"
        assert crashed.startswith("acme-probes 1.0: ")
        assert said in crashed

    def test_a_module_whose_name_is_no_fault_is_crashed(self, site):
        site.holds({"BadgeLost": probe()})
        identity, crashed = crash()
        assert identity == "acme/BadgeLost"
        assert "no name of a fault" in crashed

    def test_it_hides_no_other_probe(self, site):
        site.holds({"a_bad": "x = ", "b_good": probe(), "c_bad": probe("yield 1"), "d_good": probe()})
        assert [(each.probe, bool(each.crashed)) for each in judged()] == [
            ("acme/a-bad", True),
            ("acme/b-good", False),
            ("acme/c-bad", True),
            ("acme/d-good", False),
        ]

    def test_findings_outrank_it(self, site):
        site.holds({"bad": "x = ", "good": probe()})
        assert report(*judged()).status() == 3
        assert report(*judged()).status(Severity.WARNING) == 1

    def test_a_package_that_cannot_be_listed_hides_nothing_of_its_area(self, site):
        site.holds({}, {"packages": "nothing_of_that_name"})
        chosen = [each.id for each in registry.select(["packages"])]
        assert "packages" in chosen
        assert {each.id for each in OURS if each.area == "packages"} < set(chosen)
        assert [each.id for each in registry.select(["packages/missing"])] == ["packages/missing"]

    @pytest.mark.parametrize("area", ["smoke", "lock"])
    def test_in_an_area_of_another_command_a_check_says_it(self, site, area):
        site.holds({}, {area: "nothing_of_that_name"})
        assert area in [each.id for each in registry.select()]
        assert area not in [each.id for each in registry.tried()]


class TestClashes:
    def test_one_of_ours_is_never_replaced_and_that_is_said(self, site):
        site.holds({"foreign": probe(), "mascot_missing": probe()}, {"packages": "acme_probes"})
        (ours,) = (each for each in registry.probes() if each.id == "packages/foreign")
        assert ours in OURS
        assert [each.id for each in others()] == ["packages", "packages/mascot-missing"]
        told = judged()[0].crashed
        assert told == "acme-probes 1.0: packages/foreign is there already, from our own, and stays"

    def test_of_two_plug_ins_the_first_by_name_wins(self, site):
        site.holds({"badge": probe()}, name="b-probes", entries={"acme": "b_probes"})
        site.holds({"badge": probe()}, name="a-probes", entries={"acme": "a_probes"})
        assert [(each.id, each.origin) for each in others()] == [
            ("acme", "b-probes 1.0"),
            ("acme/badge", "a-probes 1.0"),
        ]
        assert "from a-probes 1.0" in judged()[0].crashed

    def test_problems_of_several_in_one_area_are_one_outcome(self, site):
        for name in ("a-probes", "b-probes"):
            site.holds({}, {"acme": "nothing_of_that_name"}, name)
        found = only()
        assert (found.id, found.origin) == ("acme", "a-probes 1.0, b-probes 1.0")
        assert found.broken.count("nothing_of_that_name cannot be imported") == 2


class TestAlike:
    """What holds for our own probes holds for others."""

    def test_facts_are_asked_for_and_what_is_not_there_skips(self, site):
        site.holds({"badge": probe(asks="distributions")})
        assert registry.facts_for(others()) == {"distributions"}
        gone = Snapshot(distributions=Unavailable("nobody looked"))
        assert outcome(snapshot=gone).skipped == Unavailable("nobody looked")

    def test_views_are_computed(self, site):
        body = "yield Finding(Severity.NOTE, 'lock', str(lock_targets.environments[0].name))"
        site.holds({"badge": probe(body, asks="lock_targets")})
        assert registry.facts_for(others()) == {"interpreter"}
        (found,) = outcome().findings
        assert found.message.startswith("Python 3.12")

    def test_a_view_may_be_missing(self, site):
        body = "yield Finding(Severity.NOTE, 'lock', str(lock))"
        site.holds({"badge": probe(body, asks="lock: 'Lock | Unavailable'")})
        assert "no lock" in outcome(snapshot=Snapshot(lock=Unavailable("no lock"))).findings[0].message

    def test_they_are_selected_and_ignored(self, site):
        site.holds({"badge_expired": probe(), "badge_lost": probe()})
        assert [each.id for each in registry.select(["acme"])] == ["acme/badge-expired", "acme/badge-lost"]
        assert [each.id for each in registry.select(["acme"], ["acme/badge-lost"])] == ["acme/badge-expired"]
        assert not [each for each in registry.select((), ["acme"]) if each.origin]

    def test_a_misspelt_name_is_a_usage_error_with_the_nearest(self, site):
        site.holds({"badge_expired": probe()})
        with pytest.raises(UsageError, match="did you mean acme/badge-expired"):
            registry.select(["acme/badge-expird"])
        with pytest.raises(UsageError, match="did you mean acme/badge-expired"):
            docs.explanation("badge-expired", None)

    def test_the_policy_mutes_and_sets_severities(self, site):
        site.holds({"badge_expired": probe()})
        policy = Policy("/p", severity={"acme": Severity.ERROR}, mutes=(Mute("acme/*", "known", "other"),))
        registry.known_to(policy)
        assert [each.severity for each in outcome(policy=policy).findings] == [Severity.ERROR]
        muted = outcome(policy=Policy("/p", mutes=(Mute("acme/badge-expired", "known", "badge"),)))
        assert (muted.findings, len(muted.muted)) == ((), 1)
        registry.use_plugins(False)
        with pytest.raises(PolicyError):
            registry.known_to(policy)

    def test_secrets_and_control_characters_are_hidden(self, site):
        body = r"yield Finding(Severity.NOTE, 'a\x1b[2J', 'b', {'https://me:secret@x.example': '\u202e'})"
        site.holds({"badge": probe(body)})
        (found,) = outcome().findings
        assert found.subject == r"a\x1b[2J"
        assert "secret" not in str(found.evidence)

    def test_every_format_has_them(self, site):
        site.holds({"bad": probe("yield 1"), "good": probe()})
        made = report(*judged(), seen={"plugins": "acme-probes 1.0"})
        document = json.loads(as_json.render(made))
        assert [f["probe"] for f in document["findings"]] == ["acme/good"]
        assert document["crashed"][0]["error"].startswith("acme-probes 1.0: TypeError")
        assert document["seen"]["plugins"] == "acme-probes 1.0"
        (run,) = json.loads(sarif.render(made, registry.documented(["acme/good", "acme/bad"])))["runs"]
        assert run["tool"]["driver"]["rules"][1]["shortDescription"]["text"] == "The badge has expired."
        assert "acme-probes 1.0" in run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"]
        root = ET.fromstring(junit.render(made))
        assert broken_rules(root) == []
        assert [case.get("name") for case in root.iter("testcase")] == ["acme/bad", "acme/good"]
        said = text.render(made)
        assert "with probes of acme-probes 1.0" in said
        assert "see: envdoctor explain acme/good" in said
        assert "acme/bad crashed: acme-probes 1.0: TypeError" in said

    def test_a_rule_for_locks_joins_the_audit_and_the_sum(self, site):
        body = "yield Finding(Severity.WARNING, lock.path, 'has no badge', {'file': lock.path})"
        site.holds({"badge_lost": probe(body, asks="lock"), "bad": "x ="}, {"lock": "acme_probes"})
        assert {"lock/badge-lost", "lock/bad"} <= {each.id for each in registry.audited()}
        with pytest.raises(UsageError, match="run `envdoctor lock audit`"):
            registry.select(["lock/badge-lost"])
        found = judged(probes=registry.select(["lock/faulty"]))
        assert [each.probe for each in found if each.crashed] == ["lock/bad"], "a rule that crashed is not passed over"


class TestStreams:
    def test_what_they_print_goes_to_stderr(self, site, capsys):
        source = "print('importing')\n" + probe("print('checking'); yield Finding(Severity.NOTE, 'a', 'b')")
        site.holds({"__init__": "print('listing')", "badge": f"'''A.'''\n{source}"})
        assert len(outcome().findings) == 1
        out, err = capsys.readouterr()
        assert (out, err.split()) == ("", ["listing", "importing", "checking"])


class TestSwitch:
    def test_the_configuration_leaves_them_out(self, site):
        site.holds({"__init__": "raise SystemExit"})
        assert len(registry.probes()) == len(OURS) + 1
        registry.use_plugins(False)
        assert registry.probes() == OURS
        assert "acme" not in registry.areas()
        registry.use_plugins(True)
        assert len(registry.probes()) == len(OURS) + 1


class TestExplained:
    def test_the_list_says_where_they_come_from(self, site):
        site.holds({"bad": "import nothing_of_that_name", "good": probe()})
        lines = docs.table(None).splitlines()
        assert "acme" in lines
        assert any(line.endswith("The badge has expired. [acme-probes 1.0]") for line in lines)
        assert any("broken: ModuleNotFoundError" in line for line in lines)

    def test_one_is_explained_with_its_origin(self, site):
        site.holds({"bad": "x =", "good": probe(asks="lock")})
        said = docs.explanation("acme/good", None)
        assert "What to do: nothing." in said
        assert "Judged from: lock.\n\nComes from: acme-probes 1.0." in said
        assert "Broken: SyntaxError" in docs.explanation("acme", 80)

    def test_an_area_that_cannot_be_listed_is_explained_with_the_rest(self, site):
        site.holds({}, {"packages": "nothing_of_that_name"})
        said = docs.explanation("packages", None)
        assert said.startswith("packages\n\nComes from: acme-probes 1.0.\n\nBroken: ")
        assert "packages/foreign\n" in said

    def test_readme_lists_our_own_alone(self, site):
        before = docs.markdown()
        site.holds({"bad": "x =", "good": probe()}, {"packages": "acme_probes"})
        assert docs.markdown() == before
        assert "packages/good" in docs.table(None)


class TestReadme:
    def test_its_example_is_a_probe(self, site):
        readme = Path(__file__).parent.parent / "README.md"
        section = readme.read_text(encoding="utf-8").partition("### Probes of your own\n")[2]
        entry, example = (section.split(f"```{language}\n")[1].partition("```")[0] for language in ("toml", "python"))
        assert tomllib.loads(entry)["project"]["entry-points"][plugins.GROUP] == {"acme": "acme_probes"}
        site.holds({"torch_nightly": example})
        found = outcome(snapshot=Snapshot(torch_build=torch_build("2.12.0.dev20260601")))
        assert (found.probe, [each.subject for each in found.findings]) == ("acme/torch-nightly", ["torch"])
        assert outcome(snapshot=Snapshot(torch_build=torch_build())).findings == ()

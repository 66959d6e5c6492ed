"""The report for code hosts: valid by the standard's own schema, on the right line, and the same when lines move."""

import json
import re
from dataclasses import replace
from urllib.parse import unquote, urlsplit

import fastjsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sarif_rules import is_taken_by_github, is_valid
from values import TARGET, at, finding, outcome, report

from envdoctor import __version__
from envdoctor.model import Finding, Outcome, Severity, Unavailable
from envdoctor.printable import printable
from envdoctor.reports.sarif import BASE, FINGERPRINT, GITHUB, render

DOC = """A pin is not pinned.

Why it matters: the
venv differs.

What to do: pin {it}.
"""
UNPINNED = "lock/unpinned"


def run(*outcomes, docs=None, folder="", **fields):
    text = render(report(*outcomes, **{"target": None, "python": None} | fields), docs, folder)
    assert text.isascii()
    document = json.loads(text)
    is_valid(document)
    (only,) = document["runs"]
    return only


def results(*found, **fields):
    return run(outcome(UNPINNED, *found), **fields)["results"]


def only(*found, **fields):
    (result,) = results(*found, **fields)
    return result


def location(found, **fields):
    (place,) = only(found, **fields)["locations"]
    return place


def region(found):
    return location(found)["physicalLocation"]["region"]


def said(message):
    return only(finding(message=message))["message"]["text"]


def test_the_schema_refuses_what_is_wrong():
    document = json.loads(render(report(outcome(UNPINNED, at("a.txt:1")))))
    document["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"] = 0
    with pytest.raises(fastjsonschema.JsonSchemaValueException):
        is_valid(document)


def test_a_whole_result_is_written_as_expected():
    found = at("train.txt:12:1", "numpy>=1.26,<3", message="numpy is not pinned", remedy=["pin it", "lock again"])
    assert only(found) == {
        "ruleId": UNPINNED,
        "ruleIndex": 0,
        "level": "error",
        "message": {"text": "numpy is not pinned\nnext: pin it\nthen: lock again"},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": "train.txt", "uriBaseId": BASE},
                    "region": {
                        "startLine": 12,
                        "startColumn": 1,
                        "endColumn": 15,
                        "snippet": {"text": "numpy>=1.26,<3"},
                    },
                }
            }
        ],
        "partialFingerprints": {FINGERPRINT: only(found)["partialFingerprints"][FINGERPRINT]},
        "suppressions": [],
    }


@pytest.mark.parametrize("severity", Severity)
def test_levels_are_those_of_the_findings(severity):
    assert only(at("a.txt:1", severity=severity))["level"] == severity.label


class TestRules:
    def test_a_rule_has_the_descriptions_that_code_hosts_need(self):
        driver = run(outcome(UNPINNED), docs={UNPINNED: DOC})["tool"]["driver"]
        assert (driver["name"], driver["version"]) == ("envdoctor", __version__)
        assert driver["rules"] == [
            {
                "id": UNPINNED,
                "shortDescription": {"text": "A pin is not pinned."},
                "fullDescription": {"text": "A pin is not pinned. Why it matters: the venv differs."},
                "help": {"text": DOC.strip().replace("{it}", "{{it}}")},
            }
        ]

    def test_without_documentation_the_id_speaks(self):
        (rule,) = run(outcome(UNPINNED))["tool"]["driver"]["rules"]
        assert {rule[key]["text"] for key in ("shortDescription", "fullDescription", "help")} == {UNPINNED}

    def test_a_full_description_is_cut_at_what_github_takes(self):
        (rule,) = run(outcome(UNPINNED), docs={UNPINNED: f"A.\n\n{'long ' * 900}\n\nZ."})["tool"]["driver"]["rules"]
        assert len(rule["fullDescription"]["text"]) == 1024

    def test_every_probe_is_a_rule_and_results_point_at_theirs(self):
        done = run(
            outcome("lock/a"),
            outcome("lock/b", at("x.txt:1")),
            outcome("lock/c", skipped=Unavailable("no target stated")),
            outcome("lock/b", at("y.txt:1")),
        )
        rules = [rule["id"] for rule in done["tool"]["driver"]["rules"]]
        assert rules == ["lock/a", "lock/b", "lock/c"]
        assert [rules[result["ruleIndex"]] for result in done["results"]] == ["lock/b", "lock/b"]


class TestRegions:
    @pytest.mark.parametrize("column", [0, None, "7", -1])
    def test_without_a_column_the_whole_line_is_meant(self, column):
        assert region(at("a.txt:3", "six", column=column)) == {"startLine": 3, "snippet": {"text": "six"}}

    @pytest.mark.parametrize("line", [0, None, "3", -1])
    def test_without_a_line_code_hosts_get_the_first_one(self, line):
        assert region(at("a.txt", "six", line=line, column=9)) == {"startLine": 1}

    @pytest.mark.parametrize(
        "text",
        ["https://****@index.example/simple", r"six\x1b[2J", r"\u202etxt", "x" * 197 + "...", "six\x00"],
    )
    def test_a_text_that_is_not_as_written_has_no_end(self, text):
        found = region(at("a.txt:3:5", text))
        assert (found["startColumn"], "endColumn" in found) == (5, False)

    def test_columns_count_characters(self):
        assert region(at("a.txt:3:5", "é🔥x"))["endColumn"] == 8
        assert run()["columnKind"] == "unicodeCodePoints"

    def test_a_redacted_text_is_declared(self):
        assert run()["redactionTokens"] == ["****"]


class TestAddresses:
    @pytest.mark.parametrize(
        ("file", "uri"),
        [
            ("train.txt", "train.txt"),
            ("./lockfiles//train.txt", "lockfiles/train.txt"),
            ("lockfiles/../train.txt", "train.txt"),
            ("/src/repo/lockfiles/train.txt", "lockfiles/train.txt"),
            ("a b%#?é:.txt", "a%20b%25%23%3F%C3%A9%3A.txt"),
            ("py+cu128.txt", "py%2Bcu128.txt"),
            ("C:x.txt", "C%3Ax.txt"),
        ],
    )
    def test_a_file_below_the_folder_is_relative_to_it(self, file, uri):
        physical = location(at("x:1", file=file), folder="/src/repo")["physicalLocation"]
        assert physical["artifactLocation"] == {"uri": uri, "uriBaseId": BASE}

    @pytest.mark.parametrize(
        ("file", "uri"),
        [
            ("../train.txt", "file:///src/train.txt"),
            ("/src/repository/train.txt", "file:///src/repository/train.txt"),
            ("/a b.txt", "file:///a%20b.txt"),
            ("//server/x.txt", "file:///server/x.txt"),
        ],
    )
    def test_another_is_absolute_and_has_no_base(self, file, uri):
        physical = location(at("x:1", file=file), folder="/src/repo")["physicalLocation"]
        assert physical["artifactLocation"] == {"uri": uri}

    def test_the_root_is_a_folder_too(self):
        physical = location(at("x:1", file="/repo/a.txt"), folder="/")["physicalLocation"]
        assert physical["artifactLocation"] == {"uri": "repo/a.txt", "uriBaseId": BASE}

    def test_without_a_folder_paths_stay_as_they_were_named(self):
        assert location(at("../a.txt:1"))["physicalLocation"]["artifactLocation"]["uri"] == "../a.txt"

    def test_the_folder_itself_has_an_address_as_well(self):
        physical = location(finding("/../"), folder="/", target=TARGET)["physicalLocation"]
        assert physical["artifactLocation"] == {"uri": ".", "uriBaseId": BASE}

    def test_what_is_in_no_file_is_named(self):
        assert location(finding("sglang")) == {"logicalLocations": [{"fullyQualifiedName": "sglang"}]}

    @pytest.mark.parametrize(
        ("found", "uri"),
        [
            (finding("sglang"), "file:///project/train.txt"),
            (finding("/usr/local/bin/nvcc"), "file:///usr/local/bin/nvcc"),
            (finding("CUDA_HOME", path="/opt/cuda 13"), "file:///opt/cuda%2013"),
            (finding("six", path="six.py"), "file:///project/train.txt"),
            (finding("six", path=["/x"], file=""), "file:///project/train.txt"),
            (at("/env/pyvenv.cfg", subject="/env"), "file:///env/pyvenv.cfg"),
        ],
        ids=["a package", "a path", "with a path", "with a relative path", "with a list", "in a file"],
    )
    def test_without_a_line_of_a_file_the_path_at_fault_or_the_lock_stands_in(self, found, uri):
        physical = location(found, target=TARGET)["physicalLocation"]
        assert physical == {"artifactLocation": {"uri": uri}, "region": {"startLine": 1}}

    def test_without_a_lock_the_environment_does(self):
        found = location(finding("six"), target=replace(TARGET, lock=None), folder="/")
        assert found["physicalLocation"]["artifactLocation"] == {"uri": "env", "uriBaseId": BASE}

    def test_what_a_place_stands_for_is_named(self):
        assert location(finding("sglang"), target=TARGET)["logicalLocations"] == [{"fullyQualifiedName": "sglang"}]
        assert "logicalLocations" not in location(at("a.txt:1"), target=TARGET)

    def test_the_base_is_declared_without_a_path_of_this_machine(self):
        assert run(folder="/secret/place")["originalUriBaseIds"][BASE].keys() == {"description"}


def test_further_lines_are_related_locations():
    lines = [3, 9, 9, "./a.txt:9", "/src/repo/b c.txt:4", "x", 0, None, ":7"]
    found = only(at("a.txt:3:1", lines=lines), folder="/src/repo")
    assert found["relatedLocations"] == [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": uri, "uriBaseId": BASE},
                "region": {"startLine": line},
            }
        }
        for uri, line in (("a.txt", 9), ("b%20c.txt", 4))
    ]


class TestFingerprints:
    def of(self, *found):
        return [result["partialFingerprints"][FINGERPRINT] for result in results(*found)]

    def test_they_stay_when_lines_move_or_the_sentence_changes(self):
        assert self.of(at("a.txt:3:1", "six", message="line 3")) == self.of(at("a.txt:9:4", "six", message="line 9"))

    def test_rule_subject_and_text_tell_them_apart(self):
        found = self.of(at("a.txt:3:1", "six>1"), at("a.txt:3:1", "six>2"), at("a.txt:3:1", "six>1", "six"))
        assert len(set(found)) == 3
        (other,) = run(outcome("lock/other", at("a.txt:3:1", "six>1")))["results"]
        assert other["partialFingerprints"][FINGERPRINT] not in found

    def test_they_stay_when_a_file_is_called_by_another_path(self):
        assert self.of(at("a.txt:3", subject="a.txt")) == self.of(at("b/a.txt:3", subject="b/a.txt"))

    def test_equal_ones_of_a_file_are_counted(self):
        found = self.of(at("b.txt:3"), at("a.txt:9"), at("a.txt:3"))
        assert [value.partition(":")[2] for value in found] == ["1", "2", "1"]
        assert len({value.partition(":")[0] for value in found}) == 1

    def test_where_many_stand_on_one_line_they_bring_githubs_as_well(self):
        """It would be the same for all of them, and GitHub would take those of one rule for one."""
        found = results(finding("a"), finding("b"), finding("b"), target=TARGET)
        marks = [result["partialFingerprints"] for result in found]
        assert [mark[GITHUB] for mark in marks] == [mark[FINGERPRINT] for mark in marks]
        assert len({mark[GITHUB] for mark in marks}) == 3

    def test_github_works_out_its_own(self):
        assert list(only(at("a.txt:1"))["partialFingerprints"]) == [FINGERPRINT]
        assert "primaryLocationLineHash" not in FINGERPRINT


def test_results_come_file_by_file_and_line_by_line():
    found = results(at("b.txt:1"), at("a.txt:10"), at("a.txt:9:2"), at("a.txt:9:1"), finding("x"))
    physical = [place.get("physicalLocation") for result in found for place in result["locations"]]
    lines = [p and (p["artifactLocation"]["uri"], p["region"]["startLine"]) for p in physical]
    assert lines == [None, ("a.txt", 9), ("a.txt", 9), ("a.txt", 10), ("b.txt", 1)]


class TestSuppressions:
    def test_what_is_muted_is_a_suppressed_result(self):
        (result,) = run(outcome(UNPINNED, muted=(at("a.txt:1"),)), config="/p/envdoctor.toml")["results"]
        assert result["suppressions"] == [
            {"kind": "external", "status": "accepted", "justification": "muted by /p/envdoctor.toml"}
        ]

    def test_results_say_all_or_none_whether_they_are(self):
        found = run(outcome(UNPINNED, at("a.txt:1"), muted=(at("a.txt:2"),)))["results"]
        assert [len(result["suppressions"]) for result in found] == [0, 1]


class TestInvocation:
    def invocation(self, *outcomes, **fields):
        (done,) = run(*outcomes, **fields)["invocations"]
        return done

    def test_all_judged_is_a_success_whatever_was_found(self):
        done = self.invocation(outcome(UNPINNED, at("a.txt:1")))
        assert done == {
            "executionSuccessful": True,
            "endTimeUtc": "2026-06-03T14:30:00Z",
            "toolExecutionNotifications": [],
        }

    @pytest.mark.parametrize(
        ("fields", "level", "text", "successful"),
        [
            ({"skipped": Unavailable("no target stated")}, "note", "no target stated", True),
            ({"skipped": Unavailable("no answer in 10 s", failed=True)}, "error", "no answer in 10 s", False),
            ({"crashed": "KeyError: 'x' (y.py:1)"}, "error", "crashed: KeyError: 'x' (y.py:1)", False),
        ],
    )
    def test_what_was_not_judged_is_told_with_its_rule(self, fields, level, text, successful):
        done = self.invocation(outcome("lock/a"), outcome(UNPINNED, **fields))
        assert done["executionSuccessful"] is successful
        assert done["toolExecutionNotifications"] == [
            {"level": level, "message": {"text": text}, "associatedRule": {"id": UNPINNED, "index": 1}}
        ]

    def test_a_fact_that_could_not_be_read_is_a_failure(self):
        done = self.invocation(failed={"wheelhouse": "stale file handle"})
        assert done["executionSuccessful"] is False
        assert done["toolExecutionNotifications"] == [
            {"level": "error", "message": {"text": "stale file handle: wheelhouse"}}
        ]


class TestMessages:
    def test_braces_are_no_placeholders_and_brackets_no_links(self):
        assert said("${TOKEN} of {0}") == "${{TOKEN}} of {{0}}"
        assert said("uvicorn[standard](==1.0) [click](https://evil.example)") == (
            "uvicorn[standard] (==1.0) [click] (https://evil.example)"
        )

    def test_an_alternative_is_worded_as_one(self):
        found = finding(message="bad", remedy=["pin it", "or drop it"])
        assert only(found)["message"]["text"] == "bad\nnext: pin it\nor drop it"

    def test_characters_that_harm_are_shown(self):
        assert said("x\x1b[2J\u202e\udcff") == r"x\x1b[2J\u202e\xff"


texts = st.text(max_size=12) | st.sampled_from(["{0}", "](x)", "\udcff", "/../", "a.txt", "\x00", "//x"])
numbers = st.none() | st.integers(-2, 99) | texts
evidences = st.fixed_dictionaries(
    {}, optional={"file": texts, "line": numbers, "column": numbers, "text": texts, "lines": st.lists(numbers)}
)
some_findings = st.builds(Finding, st.sampled_from(Severity), texts, texts, evidences, st.tuples(texts))
outcomes = st.builds(
    Outcome,
    texts,
    st.lists(some_findings, max_size=3).map(tuple),
    st.lists(some_findings, max_size=2).map(tuple),
    st.none() | st.builds(Unavailable, texts, st.booleans()),
    st.none() | texts,
)


@given(
    st.lists(outcomes, max_size=4),
    st.dictionaries(texts, texts, max_size=2),
    st.dictionaries(texts, texts, max_size=2),
    st.sampled_from(["", "/", "/src/repo"]),
    st.sampled_from([None, TARGET, replace(TARGET, lock=None)]),
)
def test_any_report_is_valid_and_hides_nothing(found, failed, docs, folder, target):
    done = run(*found, docs=docs, folder=folder, failed=failed, target=target)
    assert target is None or all(is_taken_by_github(result) for result in done["results"])
    assert len(done["results"]) == sum(len(item.findings) + len(item.muted) for item in found)
    for result in done["results"]:
        for place in result["locations"]:
            uri = place.get("physicalLocation", {}).get("artifactLocation", {}).get("uri", "x")
            assert re.fullmatch(r"(file:///)?[\w.~/%-]*", uri, re.ASCII)
            assert urlsplit(uri).scheme in ("", "file")
            assert printable(unquote(uri)) == unquote(uri)

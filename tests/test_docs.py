"""`explain`, the table of probes, and README's copy of it."""

import subprocess
import sys
from pathlib import Path

import pytest

from envdoctor import docs, knowledge, registry
from envdoctor.errors import EnvDoctorError, UsageError

README = Path(__file__).parent.parent / "README.md"


def test_readme_holds_the_present_table():
    text = README.read_text(encoding="utf-8")
    assert docs.markdown() in text, "run `nox -s docs -- --write`"
    assert docs.updated(text) == text


def test_markdown_has_a_row_for_every_probe():
    rows = docs.markdown().splitlines()
    assert len(rows) == 2 + len(registry.probes())
    assert all(row.count("|") == 3 for row in rows)


def test_the_table_is_replaced_and_nothing_else():
    assert docs.updated(f"before\n{docs.BEGIN}\nold\n{docs.END}\nafter\n") == (
        f"before\n{docs.BEGIN}\n{docs.markdown()}\n{docs.END}\nafter\n"
    )


@pytest.mark.parametrize("text", ["", docs.BEGIN, docs.END])
def test_lost_markers_are_an_error(text):
    with pytest.raises(EnvDoctorError, match="markers"):
        docs.updated(text)


@pytest.mark.parametrize("flag", ["--check", "--write"])
def test_check_compares_and_write_renews(tmp_path, flag):
    readme = tmp_path / "README.md"
    readme.write_text(f"{docs.BEGIN}\n{docs.END}\n")
    environment = {"PYTHONPATH": str(README.parent)}
    done = subprocess.run([sys.executable, "-m", "envdoctor.docs", flag], cwd=tmp_path, env=environment, check=False)
    assert done.returncode == (1 if flag == "--check" else 0)
    assert (docs.markdown() in readme.read_text()) == (flag == "--write")


class TestTable:
    def test_names_every_probe_under_its_area(self):
        lines = docs.table(None).splitlines()
        assert [line.split()[0] for line in lines if line.startswith("  ")] == [probe.id for probe in registry.probes()]
        assert {"packages", "environment", "policy"} <= set(lines)

    def test_keeps_to_the_width(self):
        assert max(map(len, docs.table(80).splitlines())) <= 80
        assert docs.table(80).split() == docs.table(None).split()


class TestExplanation:
    def test_is_the_whole_docstring_and_what_it_is_judged_from(self):
        said = docs.explanation("packages/missing", None)
        assert said.startswith("packages/missing\n\nA package that the lock wants here is not installed.\n\n")
        assert "Why it matters: " in said
        assert "What to do: " in said
        assert said.endswith("Judged from: distributions, interpreter, lock.\n")

    def test_of_an_id_is_of_that_one_alone(self):
        assert "packages/missing-file\n" not in docs.explanation("packages/missing", 80)

    @pytest.mark.parametrize("area", ["environment", "environment/"])
    def test_of_an_area_is_of_all_in_it(self, area):
        said = docs.explanation(area, 80)
        assert said.count("Judged from: ") == sum(probe.id.startswith("environment/") for probe in registry.probes())
        assert max(map(len, said.splitlines())) <= 80

    @pytest.mark.parametrize(
        ("wrong", "hint"),
        [
            ("packages/foriegn", "did you mean packages/foreign"),
            ("thread-rase", "did you mean compile/thread-race"),
            ("nope", "'nope'; `envdoctor explain` lists"),
            ("", "; `envdoctor explain` lists"),
            ("/", "lists"),
        ],
    )
    def test_of_none_names_the_nearest(self, wrong, hint):
        with pytest.raises(UsageError) as raised:
            docs.explanation(wrong, None)
        assert hint in str(raised.value)


def test_explain_shows_the_tables_with_their_sources():
    said = docs.explanation("cuda/driver-too-old", None)
    assert "knowledge/drivers_major.toml" in said
    assert "checked 2026-11-29]" in said
    assert docs.tables(next(probe for probe in registry.probes() if probe.id == "packages/leftover")) == []


@pytest.mark.parametrize("width", [None, 80])
def test_known_failures_are_told_in_blocks_without_their_patterns(width):
    said = docs.explanation("log/known-failure", width)
    head, *blocks = said[said.index("knowledge/signatures.toml") :].strip().split("\n\n")
    assert head == "knowledge/signatures.toml"
    assert [block.splitlines()[0] for block in blocks] == [row["id"] for row in knowledge.rows("signatures")]
    for row, block in zip(knowledge.rows("signatures"), blocks, strict=True):
        assert [f"  {number}. " in block for number in range(1, len(row["cure"]) + 1)] == [True] * len(row["cure"])
        assert ("  confirms: " in block) == ("confirms" in row)
        assert "(?" not in block
        assert "{" not in block


def test_no_sentence_of_a_list_of_commands_is_cut_at_80_columns():
    from typer.main import get_command

    from envdoctor.cli import application

    pending = [get_command(application.app)]
    while pending:
        group = pending.pop()
        pending += [command for command in group.commands.values() if getattr(command, "commands", None)]
        said = group.get_help(application.typer.Context(group, max_content_width=80, terminal_width=80))
        assert len(said.partition("Commands:")[2].splitlines()) > len(group.commands)
        assert "..." not in said.partition("Commands:")[2], said


def test_a_table_is_shown_where_it_matters_and_once():
    found = {probe.id: docs.tables(probe) for probe in registry.probes()}
    assert found["compile/thread-race"] == ["fx_guard"]
    assert [name for name, tables in found.items() if "guards" in tables] == ["environment/guard-bypassed"]
    said = docs.explanation("cuda", None)
    assert said.count("knowledge/torch_arch.toml\n  ") == 1
    assert "knowledge/torch_arch.toml: see above\n" in said


@pytest.mark.parametrize("width", [None, 60])
def test_lists_of_a_docstring_survive_and_the_name_of_a_guard_leads_to_what_it_mends(width):
    said = docs.explanation("fx-race", width)
    assert said.startswith("compile/thread-race\n")
    assert "\n  - the guard: 0 of 20, 0 of 10\n" in said


def test_one_known_failure_is_explained_alone():
    said = docs.explanation("library-missing", None)
    assert "\n\nlibrary-missing\n  says: the loader found no <library>\n  1. install the package" in said
    assert "no-c-compiler" not in said


def test_steps_in_a_table_are_kept_apart():
    assert docs._plain(["sm_80", "sm_90"]) == "sm_80 sm_90"
    assert docs._plain(["rm it", "run again"]) == "rm it; run again"


def test_a_step_of_smoke_is_explained_without_the_tables_of_all_that_a_diagnosis_may_ask():
    said = docs.explanation("smoke/fresh-process", 100)
    assert "what `envdoctor smoke` tries out" in said
    assert "knowledge/" not in said

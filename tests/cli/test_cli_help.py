"""What `--help` says of every command: words of the field for what an option takes, none of Python's types."""

import re

import pytest
from typer.main import get_command

from envdoctor import cli

RAW = re.compile(r"<[a-z ]+>|<\d|\b(?:TEXT|INTEGER|FLOAT|STR|INT)\b")


def commands(command, *path):
    """Yield each command with its words."""
    yield " ".join(path), command
    for name, below in getattr(command, "commands", {}).items():
        yield from commands(below, *path, name)


COMMANDS = dict(commands(get_command(cli.app)))


@pytest.mark.parametrize("name", COMMANDS)
def test_no_option_shows_a_raw_type(name):
    context = COMMANDS[name].context_class(COMMANDS[name])
    shown = [
        parameter.make_metavar(context)
        for parameter in COMMANDS[name].params
        if not getattr(parameter, "is_flag", False)
    ]
    assert [metavar for metavar in shown if RAW.search(metavar)] == []


def test_options_of_threads_say_so():
    of_threads = {"per_device", "states", "tries", "remedy"}
    said = {option.name: option.help for option in COMMANDS["smoke"].params if option.name in of_threads}
    assert [text.startswith("With --level threads: ") for text in said.values()] == [True] * 4

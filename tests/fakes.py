"""A machine made of values."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from envdoctor.system.host import Completed
from envdoctor.system.rooted import below, resolve

NOW = datetime(2026, 6, 3, 14, 22, tzinfo=UTC)


@dataclass
class FakeHost:
    """A Host with fixed values; `answer` is what every process gives, or a function of its argv."""

    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str = "/nowhere"
    home: str = "/nowhere/home"
    name: str = "node7"
    answer: Completed | Callable[[list[str]], Completed] = field(
        default_factory=lambda: Completed(None, b"", "did not start: No such file or directory")
    )
    ran: list[list[str]] = field(default_factory=list)
    """The argv of every process asked for, in order."""
    environments: list[Mapping[str, str] | None] = field(default_factory=list)
    """The environment given to each."""
    moment: datetime = NOW
    root: str = ""
    still: str = ""

    def at(self, path):
        return below(self.root, path)

    def resolve(self, path):
        return resolve(self.root, path)

    @property
    def own(self):
        return {"HOME": self.home, **self.env}

    def inhabited(self, prefix):  # noqa: ARG002
        return self

    def now(self) -> datetime:
        return self.moment

    def run(self, argv, *, timeout, env=None):  # noqa: ARG002
        self.ran.append(list(argv))
        self.environments.append(env)
        return self.answer(list(argv)) if callable(self.answer) else self.answer

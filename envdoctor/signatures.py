"""Known failures by the texts they leave in a log or a traceback: the table `signatures`, ready to be searched for.

Lines that have such a text and tell of no failure are known by the table `routine`.

Pure: bytes or text in, matches out. A log is searched in blocks, line by line only around the words in `TRIGGERS`, of
which every pattern has one. Most of a training log is digits and bars, so a block is first reduced to its letters: that
more than doubles the speed at which the words are looked for in vain.

A match quotes the log. Secrets are hidden in the whole line before anything is cut out of it: a part may have lost what
tells that it is one. Lines without a match are not looked at for that.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Literal

from envdoctor import knowledge
from envdoctor.printable import redact

_WORDS = (
    "C compiler|CxxCompiler|C++ compiler|Python.h: No such|cannot found!|annot find -l|ptxas|current version is|"
    "PTX codegen error|PTXAS|out of resource:|too old to be supported|working triton installation|"
    "that you are using FX|kernel image is|the provided PTX was|driver on your system|driver version is insufficient|"
    "is a stub library|rary version mismatch|unsupported display driver|not yet initialized|on non supported HW|"
    "not compiled with CUDA|CUDA-capable device|invalid device ordinal|uncorrectable ECC|illegal memory access|"
    "unspecified launch failure|misaligned address|device-side assert|out of memory|CUDNN_STATUS_|"
    "Unable to load any of|version incompatibility|undefined symbol:|: cannot open shared object|' not found|"
    "torchvision::nms|compiled using NumPy|_ARRAY_API not|Numpy is not available|mismatches the version|"
    "re-initialize CUDA|killed by signal:|bus error encountered|out of shared memory|shared memory object <|"
    "to write to file <|shared memory segment|failed to extend|Too many open files|items of ancdata|"
    "space left on device|Disk quota exceeded|failed to map segment|Permission denied:|Stale file handle|"
    "has no attribute 'call'|Failed to import|file too short|invalid ELF header|PyInit_kernel|json.load|Unknown key:|"
    "unable to load compiled graph|getpwuid|ncclRemoteError|remote process exited|collective operation timeout|"
    "unhandled cuda error|unhandled system error|directory: 'openssl'|No CUDA GPUs are|CUDA unknown error|NVRM: Xid (|"
    "CUBLAS_STATUS_|size changed, may|slurmstepd: error|(SIGKILL) received|(SIGSEGV) received|pthread_create failed|"
    "temporarily unavailable|can't start new thread|Duplicate GPU|seconds waiting for|Error: cannot import name|"
    "Error: No module named|Segmentation fault"
)
TRIGGERS = tuple(_WORDS.split("|"))
"""Words without which no pattern matches. Long ones are found faster than short ones."""
LONGEST = 64 << 10
"""Bytes of a line that are looked at on either side of a trigger."""
WHICH = frozenset(
    {"arch", "file", "gpu", "library", "model", "module", "path", "pci", "pid", "place", "symbol", "uid", "version"}
    | {"written", "xid"}
)
"""Groups that tell which thing failed; the others tell how much, or how often.

`library` and `file` are names without a directory, `path` is a file's, `place` and `written` are on the disk that was
full. `gpu` is torch's number of a GPU, `model` its name, `pci` its address and `xid` the driver's code of an error;
`pid` is that of the process which is in the way; `module` is what was to be imported, with its dots.
"""
THINGS = 8
"""Things of which one signature tells. What is at fault may come after what is harmless, or be many."""
QUOTED = 400
"""Characters of a line that a match keeps: enough for what torch says when a GPU has no memory left."""
_CUT = "..."
"""Where a line is cut."""
_WORD = 80
"""Characters of a word or a path that is not cut in two."""
_MEMORABLE = 300
"""Characters of a group that go into a sentence or a step."""
_AROUND = 400
"""Characters before and after a match in which a line is known to be routine."""
_CUDA = frozenset({"found", "built"})
"""Groups that may tell a version of CUDA as its API does: 1000 times the major, and 10 times the minor."""
_GAP = re.compile(r"\s+")
_INTEGER = re.compile(r"[0-9]{4,6}")
_HIDDEN = "****"
"""What stands for a group that is, or is within, a secret."""
_CONTEXT = 8 << 10
"""Bytes on either side of the place where a line that is too long is torn: they are looked at from both parts."""
_CONTROL = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\r\n]*(?:\x07|\x1b\\))")
"""Colours and hyperlinks of a terminal: CSI and OSC sequences of ECMA-48. One without an end hides no line after it."""
_NO_LETTERS = bytes(set(range(256)) - set(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"))


@dataclass(frozen=True, slots=True)
class Match:
    """A known failure that a text shows."""

    id: str
    """The signature's slug."""
    says: str
    """What happened, in one sentence without a full stop."""
    cure: tuple[str, ...]
    """Steps in the order to try them; what comes from the text is quoted for a shell."""
    confirms: tuple[str, ...]
    """Ids of the probes that judge the same fault, or `probe:subject` where only one of its subjects is meant."""
    severity: Literal["error", "warning"]
    line: int
    """1-based, counted by newlines."""
    text: str
    """The line, trimmed, without terminal sequences, at most `QUOTED` characters around the match."""
    groups: Mapping[str, str] = field(default_factory=dict)
    """What the text tells, by the names of the pattern's groups."""
    count: int = 1
    """Lines on which it shows."""

    @property
    def things(self) -> Mapping[str, str]:
        """What failed, as far as the text tells: those of the groups that are in `WHICH`."""
        return {name: value for name, value in self.groups.items() if value and name in WHICH}


@dataclass(frozen=True, slots=True, eq=False)
class _Signature:
    rank: int
    id: str
    pattern: re.Pattern[str]
    says: str
    cure: tuple[str, ...]
    confirms: tuple[str, ...]
    severity: Literal["error", "warning"]
    routine: tuple[re.Pattern[str], ...]
    """Lines on which it does not count."""

    def find(self, text: str) -> re.Match[str] | None:
        """Return where one line of text shows it, if it does."""
        hit = self.pattern.search(text)
        if hit is not None:
            low, high = max(0, hit.start() - _AROUND), hit.end() + _AROUND
            if any(pattern.search(text, low, high) for pattern in self.routine):
                return None
        return hit

    def read(self, text: str, hit: re.Match[str], line: int) -> Match:
        """Return what a line that shows it tells, without secrets."""
        safe = redact(text)
        start = hit.start() if safe == text else _start(self.pattern, safe, len(redact(text[: hit.start()])))
        groups = {name: _told(name, _memorable(value or "", safe)) for name, value in hit.groupdict().items()}
        quoted = {name: shlex.quote(value) for name, value in groups.items()}
        return Match(
            id=self.id,
            says=self.says.format(**groups),
            cure=tuple(step.format(**quoted) for step in self.cure),
            confirms=self.confirms,
            severity=self.severity,
            line=line,
            text=shortened(safe, start),
            groups=groups,
        )


def first(text: str) -> Match | None:
    """Return the most specific known failure that a traceback or output shows, by the order of the table."""
    ranks = {signature.id: signature.rank for signature in _signatures()}
    return min(found([text.encode(errors="replace")]), key=lambda match: ranks[match.id], default=None)


def found(blocks: Iterable[bytes]) -> tuple[Match, ...]:
    """Return each known failure that a log shows, at its first line, in the order of lines.

    A failure of another thing (library, path, GPU ...) is another one, up to `THINGS` of each kind. `blocks` are the
    log's bytes, cut anywhere. Memory is bounded by the largest block, time is linear.
    """
    kept: dict[tuple[str, ...], Match] = {}
    counts: Counter[tuple[str, ...]] = Counter()
    kinds: Counter[str] = Counter()
    passed = 0
    for part in _parts(blocks):
        for signature, hit, line in _in_part(part, passed):
            key = (signature.id, *(hit[name] or "" for name in signature.pattern.groupindex if name in WHICH))
            if key not in kept and kinds[signature.id] < THINGS:
                kinds[signature.id] += 1
                kept[key] = signature.read(hit.string, hit, line)
            if key in kept:
                counts[key] += 1
        passed += part.text.count(b"\n")
    return tuple(replace(match, count=counts[key]) for key, match in kept.items())


@cache
def _signatures() -> tuple[_Signature, ...]:
    routine = [(row.get("silences", ()), re.compile(row["pattern"])) for row in knowledge.rows("routine")]
    return tuple(
        _Signature(
            rank,
            row["id"],
            re.compile(row["pattern"], re.MULTILINE),
            row["says"],
            tuple(row["cure"]),
            tuple(row.get("confirms", ())),
            row.get("severity", "error"),
            tuple(pattern for silenced, pattern in routine if row["id"] in silenced or not silenced),
        )
        for rank, row in enumerate(knowledge.rows("signatures"))
    )


@dataclass(frozen=True, slots=True)
class _Trigger:
    word: bytes
    letters: bytes
    signatures: tuple[_Signature, ...]
    """Those in whose pattern the word stands."""


@cache
def _triggers() -> tuple[_Trigger, ...]:
    patterns = {signature: signature.pattern.pattern.replace("\\", "") for signature in _signatures()}
    return tuple(
        _Trigger(
            word.encode(),
            word.encode().translate(None, _NO_LETTERS),
            tuple(signature for signature, pattern in patterns.items() if word in pattern),
        )
        for word in TRIGGERS
    )


@dataclass(frozen=True, slots=True)
class _Part:
    """A piece of a log, without terminal sequences."""

    text: bytes
    begin: int
    """Triggers before it were looked at with the part before."""
    end: int
    """Triggers from it on will be looked at with the next part."""


def _parts(blocks: Iterable[bytes]) -> Iterator[_Part]:
    """Cut blocks at line ends, so that no line is torn unless it is longer than `LONGEST`; torn parts overlap."""
    rest, begin = b"", 0
    for block in blocks:
        whole = rest + block
        end = max(whole.rfind(b"\n"), whole.rfind(b"\r")) + 1
        if len(whole) - end > LONGEST:
            plain = uncoloured(whole)
            torn = max(begin, len(plain) - _CONTEXT)
            yield _Part(plain, begin, torn)
            begin = min(torn, _CONTEXT)
            rest = plain[torn - begin :]
        elif end:
            plain = uncoloured(whole[:end])
            yield _Part(plain, begin, len(plain))
            rest, begin = whole[end:], 0
        else:
            rest = whole
    plain = uncoloured(rest)
    yield _Part(plain, begin, len(plain))


def uncoloured(text: bytes) -> bytes:
    """Return a text without terminal sequences."""
    return _CONTROL.sub(b"", text) if b"\x1b" in text else text


def _in_part(part: _Part, passed: int) -> Iterator[tuple[_Signature, re.Match[str], int]]:
    """Yield each line that shows a failure, with its number and the first signature in order that finds it there."""
    counted, line = 0, passed + 1
    for (start, end), candidates in sorted(_candidates(part).items()):
        line += part.text.count(b"\n", counted, start)
        counted = start
        text = part.text[start:end].decode(errors="replace")
        for signature in sorted(candidates, key=lambda signature: signature.rank):
            hit = signature.find(text)
            if hit is not None:
                yield signature, hit, line
                break


def _candidates(part: _Part) -> dict[tuple[int, int], set[_Signature]]:
    """Return the lines that hold a trigger, with the signatures to try on them. A carriage return ends a line too."""
    lines: dict[tuple[int, int], set[_Signature]] = {}
    letters = part.text.translate(None, _NO_LETTERS)
    for trigger in _triggers():
        last = part.end + len(trigger.word) - 1
        at = part.text.find(trigger.word, part.begin, last) if trigger.letters in letters else -1
        while at >= 0:
            bounds = _line_around(part.text, at)
            lines.setdefault(bounds, set()).update(trigger.signatures)
            at = part.text.find(trigger.word, bounds[1], last)
    return lines


def _line_around(block: bytes, at: int) -> tuple[int, int]:
    """Return where the line around a place begins and ends, at most `LONGEST` away."""
    low, high = max(0, at - LONGEST), min(len(block), at + LONGEST)
    start = block.rfind(b"\n", low, at)
    start = max(start, block.rfind(b"\r", max(start, low), at)) + 1 or low
    end = block.find(b"\n", at, high)
    end = high if end < 0 else end
    carriage = block.find(b"\r", at, end)
    return max(start, low), end if carriage < 0 else carriage


def _start(pattern: re.Pattern[str], safe: str, otherwise: int) -> int:
    """Return where the match is in the line whose secrets are hidden; some of it may have been hidden with them."""
    hit = pattern.search(safe)
    return otherwise if hit is None else hit.start()


def _memorable(value: str, safe: str) -> str:
    """Return what a group tells, unless the line no longer shows it once its secrets are hidden."""
    return value[:_MEMORABLE] if value in safe else _HIDDEN


def _told(name: str, value: str) -> str:
    """Return what a group tells as people write it: CUDA's 12020 is 12.2."""
    return f"{int(value) // 1000}.{int(value) % 1000 // 10}" if name in _CUDA and _INTEGER.fullmatch(value) else value


def shortened(text: str, start: int = 0) -> str:
    """Return a line, or the part of a long one around a place, with a mark where it is cut, between two words."""
    if len(text) <= QUOTED:
        return text.strip()
    room = QUOTED - 2 * (len(_CUT) + 1)
    low = max(0, min(start - room // 4, len(text) - room))
    high = low + room
    if low > 0 and (gap := _GAP.search(text, low - 1, min(start, low + _WORD))):
        low = gap.end()
    if high < len(text) and (gaps := list(_GAP.finditer(text, max(start, high - _WORD), high + 1))):
        high = gaps[-1].start()
    before, behind = f"{_CUT} " if low > 0 else "", f" {_CUT}" if high < len(text) else ""
    return f"{before}{text[low:high].strip()}{behind}"

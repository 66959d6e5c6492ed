"""What Slurm is to be told of a node at fault: the reason, and the line that an administrator's script may run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from envdoctor.model import Finding

LEADER = "envdoctor:"
"""By its beginning a reason tells who has drained the node, as with `NHC:` of LBNL Node Health Check."""
LONGEST = 200
"""Characters of a reason; `sinfo -R` shows twenty, `scontrol show node` all of them."""
_OTHERS = re.compile(r"[^A-Za-z0-9 .,:;/()%+=_-]+")
"""What a shell, or a list of nodes, might take for something else."""


def reason(faults: Sequence[tuple[str, Finding]]) -> str:
    """Put faults of the node into one line of plain characters; "" if there are none."""
    if not faults:
        return ""
    told = "; ".join(f"{finding.message} ({probe})" for probe, finding in faults)
    text = f"{LEADER} {_OTHERS.sub('_', told)}"
    return f"{text[: LONGEST - 4]} ..." if len(text) > LONGEST else text


def render(why: str, node: str) -> str:
    """Return two lines: the reason alone, and the command that drains the node; nothing if there is no reason."""
    named = _OTHERS.sub("_", node).replace(" ", "_")
    return f"{why}\nscontrol update NodeName={named} State=DRAIN Reason={shlex.quote(why)}\n" if why else ""

"""`run` below and above a real torchrun: every rank has its variables, the target and the guard."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from doctor import Doctor

pytestmark = pytest.mark.torch

ENVDOCTOR = str(Path(sys.executable).parent / "envdoctor")
RANK = """
import os, sys, threading
import torch.fx._symbolic_trace as tracer
tracer._is_fx_tracing_flag = True
seen = []
thread = threading.Thread(target=lambda: seen.append(tracer.is_fx_tracing()))
thread.start()
thread.join()
print(os.environ["RANK"], os.environ["LOCAL_RANK"], sys.prefix, *seen)
"""


@pytest.mark.parametrize("outside", [True, False], ids=["run torchrun", "torchrun run"])
def test_every_rank_is_guarded_and_knows_its_number(outside, tmp_path):
    target = os.environ["ENVDOCTOR_TORCH_TARGET"]
    doctor = Doctor(tmp_path)
    (tmp_path / "rank.py").write_text(RANK)
    ours = [ENVDOCTOR, "run", "--target", target, "--no-check", "--quiet", "--guard", "fx-race", "--"]
    launch = ["--standalone", "--nproc-per-node", "2"]
    torchrun = os.path.join(target, "bin", "torchrun")
    command = (
        [*ours, "torchrun", *launch, "rank.py"]
        if outside
        else [torchrun, *launch, "--no-python", *ours, "python", "rank.py"]
    )
    done = subprocess.run(
        command, cwd=tmp_path, env=doctor.environment(), capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == [f"{rank} {rank} {target} False" for rank in (0, 1)]

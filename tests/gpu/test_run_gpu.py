"""`envdoctor run --guard fx-race` on two GPUs: a training script with a thread a GPU, unchanged, comes to its end."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from doctor import Doctor
from layers import LAYER

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(shutil.which("nvidia-smi") is None, reason="no nvidia-smi: no NVIDIA GPU here"),
]
TARGET = Path(os.environ.get("ENVDOCTOR_GPU_TARGET", "/nowhere"))
"""An environment with a CUDA build of torch that has the flag of the whole process."""
RUNS = 4
TRAIN = (
    LAYER
    + """
import sys, threading, time
def train(number):
    torch.cuda.set_device(number)
    time.sleep(WAIT * number)
    model = torch.nn.Sequential(Layer(512), Layer(512)).to(f"cuda:{number}", torch.bfloat16)
    compiled = torch.compile(model, dynamic=False)
    data = torch.randn(2, 1024, 512, device=f"cuda:{number}", dtype=torch.bfloat16)
    for step in range(40):
        compiled(data).float().pow(2).mean().backward()
    torch.cuda.synchronize()
    done.append(number)

done, WAIT = [], float(sys.argv[2])
if sys.argv[1] == "in-turn":
    for number in range(torch.cuda.device_count()):
        train(number)
else:
    threads = [threading.Thread(target=train, args=[number]) for number in range(torch.cuda.device_count())]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
print("trained on", sorted(done))
sys.exit(0 if len(done) == torch.cuda.device_count() else 1)
"""
)


@pytest.fixture
def job(tmp_path):
    """Return a command's runner; the cache is warm for all GPUs, forward and backward."""
    if not (TARGET / "bin" / "python").exists():
        pytest.skip("ENVDOCTOR_GPU_TARGET names no environment with torch")
    if len(subprocess.run(["nvidia-smi", "-L"], check=True, capture_output=True).stdout.splitlines()) < 2:
        pytest.skip("one GPU: there is no thread to meet another")
    (tmp_path / "train.py").write_text(TRAIN)
    doctor = Doctor(tmp_path, within=300)
    env = {name: os.environ[name] for name in ("CC", "LD_LIBRARY_PATH", "LIBRARY_PATH") if name in os.environ}
    env["TORCHINDUCTOR_CACHE_DIR"] = str(tmp_path / "cache")

    def run(*words):
        command = ["python", tmp_path / "train.py", *map(str, words)]
        return doctor("run", "--no-check", "--quiet", "--target", TARGET, *run.options, "--", *command, env=env)

    run.options = []
    assert run("in-turn", 0).status == 0
    return run


def test_an_unchanged_script_runs_with_the_guard(job):
    starts = [0, 1.5]
    """Seconds by which the second thread starts later: at once both wait for one lock, and may miss each other."""
    plain = [job("threads", starts[number % 2]) for number in range(RUNS)]
    met = ["using FX to symbolically trace" in answer.stderr for answer in plain]
    job.options = ["--guard", "fx-race"]
    guarded = [job("threads", starts[number % 2]) for number in range(RUNS)]
    print(f"plain: {sum(met)} of {RUNS} with the FX error; guarded: {[answer.status for answer in guarded]}")
    assert any(met), "this machine did not show the race"
    assert [(answer.status, answer.stdout) for answer in guarded] == [(0, "trained on [0, 1]\n")] * RUNS
    assert all("is each thread's own" in answer.stderr for answer in guarded)

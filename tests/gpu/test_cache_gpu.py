"""The story on real GPUs: a training cache is saved, deleted, warmed again by halves, judged, restored and hit."""

import json
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from doctor import Doctor

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(shutil.which("nvidia-smi") is None, reason="no nvidia-smi: no NVIDIA GPU here"),
]
TARGET = Path(os.environ.get("ENVDOCTOR_GPU_TARGET", "/nowhere"))
"""An environment with a CUDA build of torch."""
TRAIN = """
import json, sys, time
import torch
from torch import nn
from torch._dynamo.utils import counters
from torch.nn.attention.flex_attention import flex_attention

class Layer(nn.Module):
    def __init__(self, width=512, heads=4):
        super().__init__()
        self.heads, self.norm = heads, nn.LayerNorm(width)
        self.inner, self.outer = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.inner(self.norm(x)).chunk(3, -1)
        q, k, v = (y.view(batch, length, self.heads, -1).transpose(1, 2) for y in parts)
        x = x + self.outer(flex_attention(q, k, v).transpose(1, 2).reshape(batch, length, width))
        return x + self.mlp(x)

said = {}
for number in map(int, sys.argv[2].split(",")):
    device = torch.device("cuda", number)
    torch.cuda.set_device(device)
    counters.clear()
    model = nn.Sequential(Layer(), Layer()).to(device, torch.bfloat16)
    data = torch.randn(2, 1024, 512, device=device, dtype=torch.bfloat16)
    torch.cuda.synchronize(device)
    began = time.perf_counter()
    torch.compile(model, dynamic=False)(data).float().pow(2).mean().backward()
    torch.cuda.synchronize(device)
    said[str(device)] = {
        "seconds": round(time.perf_counter() - began, 2),
        "hit": counters["aot_autograd"]["autograd_cache_hit"],
        "miss": counters["aot_autograd"]["autograd_cache_miss"],
        "graphs": counters["inductor"]["fxgraph_cache_hit"],
        "lost": counters["inductor"]["fxgraph_cache_miss"],
    }
with open(sys.argv[1], "w") as file:
    json.dump(said, file)
"""


@pytest.fixture
def job(tmp_path):
    """A training job of its own cache: `train` runs it on some devices, `ask` envdoctor about it."""
    if not (TARGET / "bin" / "python").exists():
        pytest.skip("ENVDOCTOR_GPU_TARGET names no environment with torch")
    return Job(tmp_path)


class Job:
    def __init__(self, folder):
        self.folder, self.cache, self.doctor = folder, folder / "cache", Doctor(folder)
        self.env = {"TORCHINDUCTOR_CACHE_DIR": str(self.cache)}
        self.env |= {name: os.environ[name] for name in ("CC", "LD_LIBRARY_PATH", "LIBRARY_PATH") if name in os.environ}
        (folder / "train.py").write_text(TRAIN)

    def argv(self, devices):
        return [str(TARGET / "bin/python"), str(self.folder / "train.py"), str(self.folder / "said"), ",".join(devices)]

    def said(self):
        return json.loads((self.folder / "said").read_text())

    def train(self, title, devices):
        began = time.perf_counter()
        subprocess.run(self.argv(devices), check=True, capture_output=True, env=self.doctor.environment(**self.env))
        print(f"{title:22} {time.perf_counter() - began:5.1f} s", self.said())
        return self.said()

    def ask(self, *words):
        began = time.perf_counter()
        answer = self.doctor(*words, "--target", TARGET, env=self.env)
        print(f"{' '.join(words[:2]):22} {time.perf_counter() - began:5.1f} s, status {answer.status}")
        return answer

    def check(self):
        answer = self.ask("check", "--format", "json", "--select", "cache")
        assert answer.report["crashed"] == answer.report["failed"] == []
        found = {f["probe"]: f for f in answer.findings() if f["severity"] != "note"}
        print(*(f["message"] for f in found.values()), sep="\n")
        return found


def test_a_lost_cache_is_missed_and_its_save_is_hit_on_every_device(job):
    count = len(subprocess.run(["nvidia-smi", "-L"], check=True, capture_output=True).stdout.splitlines())
    devices = [str(number) for number in range(count)]
    cold = job.train("cold", devices)
    assert all(item["miss"] and not item["hit"] for item in cold.values())
    job.train("warm", devices)
    whole = job.check()
    assert whole == {}
    saved = job.ask("cache", "save")
    assert (saved.status, saved.stderr) == (0, "")
    print(saved.stdout)

    shutil.rmtree(job.cache)
    assert set(job.check()) == {"cache/missing"}
    if count > 1:
        job.train("warmed on one device", devices[:1])
        found = job.check()
        assert set(found) == {"cache/shrunken", "cache/cold-device"}
        assert "none for cuda:1" in found["cache/shrunken"]["message"]
        assert found["cache/cold-device"]["subject"] == f"cuda:{count - 1}"

    restored = job.ask("cache", "restore", "--latest")
    assert (restored.status, restored.stderr) == (0, "")
    print(restored.stdout)
    assert job.check() == {}
    again = job.train("restored", devices)
    assert all(item["hit"] and item["graphs"] and not item["miss"] + item["lost"] for item in again.values())
    proof = job.doctor(*("cache", "verify", "--target", TARGET, "--run", "--", *job.argv(devices)), env=job.env)
    print(proof.stdout)
    assert proof.status == 0

"""`envdoctor warm` on real GPUs: each device in turn with all of them visible, and what stays cold is told."""

import json
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
"""An environment with a CUDA build of torch."""
TRAIN = (
    LAYER
    + """
import json, os, sys
SAID = os.path.join(os.path.dirname(os.path.abspath(__file__)), "said")

def step(device):
    model = Layer(256).to(device, torch.bfloat16)
    data = torch.randn(2, 512, 256, device=device, dtype=torch.bfloat16)
    torch.compile(model, dynamic=False)(data).float().pow(2).mean().backward()
    with open(SAID, "a") as stream:
        said = [str(device), torch.cuda.current_device(), torch.cuda.device_count(), os.environ["ENVDOCTOR_DEVICE"]]
        stream.write(json.dumps(said) + chr(10))

if __name__ == "__main__":
    step(sys.argv[1] if len(sys.argv) > 1 else "cuda")
"""
)


class Job:
    def __init__(self, folder):
        self.folder, self.doctor = folder, Doctor(folder, within=500)
        self.env = {"TORCHINDUCTOR_CACHE_DIR": str(folder / "cache")}
        self.env |= {name: os.environ[name] for name in ("CC", "LD_LIBRARY_PATH", "LIBRARY_PATH") if name in os.environ}
        (folder / "train.py").write_text(TRAIN)

    def warm(self, *words, **variables):
        words = ("warm", "--format", "json", "--target", TARGET, *words)
        answer = self.doctor(*words, env=self.env | variables)
        print(answer.stderr[-3000:])
        report = answer.report
        assert answer.status == report["status"]
        for device in report["devices"]:
            print(device["device"], device["warm_up"], device["proof"], device["new_keys"], device["faults"])
        return report

    def said(self):
        lines = (self.folder / "said").read_text().splitlines()
        (self.folder / "said").unlink()
        return [json.loads(line) for line in lines]


@pytest.fixture
def job(tmp_path):
    if not (TARGET / "bin" / "python").exists():
        pytest.skip("ENVDOCTOR_GPU_TARGET names no environment with torch")
    return Job(tmp_path)


def gpus():
    return len(subprocess.run(["nvidia-smi", "-L"], check=True, capture_output=True).stdout.splitlines())


def kinds(report):
    return {device["device"]: [fault["kind"] for fault in device["faults"]] for device in report["devices"]}


def test_each_device_is_warmed_in_turn_with_all_of_them_visible(job):
    count = gpus()
    report = job.warm("--entry", "train:step", "--devices", "0")
    (first,) = report["devices"]
    assert (report["status"], first["device"], first["already_warm"]) == (0, "cuda:0", False)
    assert first["new_keys"]["aotautograd"] >= 1
    assert first["proof"]["counters"]["autograd_cache_hit"] >= 1
    assert first["proof"]["new_files"] == 0
    assert job.said() == [["cuda:0", 0, count, "cuda:0"]] * 2
    assert [each["device"] for each in report["cold"]] == [f"cuda:{n}" for n in range(1, count)]
    if count == 1:
        return

    report = job.warm("--entry", "train:step", "--devices", "all", "--expect-keys", "1")
    assert (report["status"], report["cold"]) == (0, [])
    assert [device["already_warm"] for device in report["devices"]] == [True] + [False] * (count - 1)
    assert all(device["new_keys"]["aotautograd"] >= 1 for device in report["devices"][1:])
    last = f"cuda:{count - 1}"
    assert job.said()[-1] == [last, count - 1, count, last]

    shutil.rmtree(job.folder / "cache")
    report = job.warm("--entry", "train:step", CUDA_VISIBLE_DEVICES="0")
    assert (report["status"], kinds(report)) == (1, {"cuda:0": []})
    assert [each["device"] for each in report["cold"] if each["counts"]] == [f"cuda:{n}" for n in range(1, count)]
    subset = job.warm("--entry", "train:step", "--devices", "0")
    assert (subset["status"], [each["counts"] for each in subset["cold"]]) == (0, [False] * (count - 1))


def test_a_script_gets_its_device_and_one_that_takes_another_is_told(job):
    count = gpus()
    last = f"cuda:{count - 1}"
    report = job.warm("--script", "train.py", "--devices", str(count - 1))
    assert (report["status"], kinds(report)) == (0, {last: []})
    assert job.said() == [["cuda", count - 1, count, last]] * 2
    if count == 1:
        return
    report = job.warm("--devices", str(count - 1), "--", "python", "train.py", "cuda:0")
    assert (report["status"], kinds(report)) == (1, {last: ["device"]})
    assert f"ran on cuda:0 and never on {last}" in report["devices"][0]["faults"][0]["said"]


def test_a_device_that_is_not_there_fails_and_the_others_are_warmed(job):
    report = job.warm("--entry", "train:step", "--devices", "63,0")
    assert report["status"] == 1
    assert kinds(report) == {"cuda:63": ["command"], "cuda:0": []}

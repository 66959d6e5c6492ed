"""Whose the FX-tracing flag is, from source text of every known kind and of none."""

import os

import pytest
import tracers

from envdoctor.facts.fx_flag import FxFlag, collect
from envdoctor.facts.torch_build import TorchBuild
from envdoctor.model import Unavailable


def read(folder):
    return collect(None, None, TorchBuild(str(folder / "torch" / "version.py"), "2.11.0"))


def kind(tmp_path, **given):
    found = read(tracers.write(tmp_path, **given))
    return found.kind if isinstance(found, FxFlag) else found.reason.replace(str(tmp_path), "")


def test_a_module_level_flag_is_the_process_s(tmp_path):
    path = str(tmp_path / "torch/fx/_symbolic_trace.py")
    found = read(tracers.write(tmp_path))
    assert found == FxFlag(path, "global", 3)
    assert found.shared


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"tracer": "_is_fx_tracing_flag: bool = False\n"}, "global"),
        ({"tracer": tracers.OF_EACH_THREAD}, "thread-local"),
        ({"tracer": "def symbolic_trace(root):\n    # is_fx_tracing\n    return root\n"}, "absent"),
        (tracers.MASKING, "masked"),
        (tracers.MASKING | {"tracer": tracers.OF_EACH_THREAD}, "thread-local"),
        (tracers.MASKING | {"torch/_dynamo/convert_frame.py": "nothing enters it\n"}, "global"),
        ({"torch/compiler/__init__.py": "_is_compiling_flag = False\n"}, "global"),
    ],
    ids=["annotated", "thread-local", "none", "masked", "2.14", "masked by nobody", "not masked"],
)
def test_kinds(tmp_path, given, expected):
    assert kind(tmp_path, **given) == expected


UNKNOWN = "/torch/fx/_symbolic_trace.py says in no known way whose the FX-tracing flag is"


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"tracer": "from torch.flags import is_fx_tracing\ndef f():\n    return is_fx_tracing()\n"}, UNKNOWN),
        ({"tracer": "_is_fx_tracing_flag = make_flag()\n"}, UNKNOWN),
        ({"tracer": "_is_fx_tracing_flag = False\n" + tracers.OF_EACH_THREAD}, UNKNOWN),
        ({"tracer": "def f(:\n"}, "/torch/fx/_symbolic_trace.py is not Python"),
        ({"tracer": "a\0b"}, "/torch/fx/_symbolic_trace.py is not Python"),
        ({"tracer": "(" * 20_000}, "/torch/fx/_symbolic_trace.py is not Python"),
        ({"tracer": "#" * (1 << 20) + "\n"}, "more than any should"),
        (tracers.MASKING | {"torch/compiler/__init__.py": "def f(:\n"}, "/torch/compiler/__init__.py is not Python"),
    ],
    ids=["moved away", "a call", "two flags", "no Python", "NUL", "nested", "huge", "no Python beside it"],
)
def test_what_is_not_known_is_said_with_its_file(tmp_path, given, reason):
    assert reason in kind(tmp_path, **given)


def test_a_torch_without_the_file(tmp_path):
    (tracers.write(tmp_path) / "torch/fx/_symbolic_trace.py").unlink()
    assert read(tmp_path) == Unavailable(f"{tmp_path}/torch/fx/_symbolic_trace.py is not there")


def test_a_pipe_in_its_place_is_not_waited_for(tmp_path):
    path = tracers.write(tmp_path) / "torch/fx/_symbolic_trace.py"
    path.unlink()
    os.mkfifo(path)
    assert read(tmp_path).reason == f"{path} is not a regular file"


def test_one_that_may_not_be_read_is_a_failure(tmp_path, monkeypatch):
    tracers.write(tmp_path)
    monkeypatch.setattr(
        "envdoctor.facts.fx_flag.regular", lambda *_: (_ for _ in ()).throw(PermissionError(13, "no", "f"))
    )
    assert read(tmp_path) == Unavailable("f: no", failed=True)

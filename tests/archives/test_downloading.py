"""What pip is told, and what is heard of it."""

from envdoctor.archives.downloading import Attempt, Ear, target, wishes
from envdoctor.archives.fetching import BATCH_BYTES, _batches
from envdoctor.archives.narrowing import Narrowed, Pin
from envdoctor.archives.sources import Told
from envdoctor.locks.environments import stated

SHA, OTHER = "sha256:" + "1" * 64, "sha256:" + "2" * 64
URL = "https://****@h.example/torch-2.11.0-py3-none-any.whl"
TOLD = Told({}, ("--index-url https://own.example",), ("--extra-index-url https://other.example",), ())


def test_the_requirements_say_where_to_look_and_the_digests():
    pins = [Pin("six", "1.17.0", (SHA, OTHER), operator="==="), Pin("torch", "2.11.0", (SHA,), URL)]
    six = f"six===1.17.0 --hash={SHA} --hash={OTHER}\n"
    own = "--index-url https://own.example\n"
    assert wishes(pins, TOLD, Attempt()) == f"{own}{six}torch==2.11.0 --hash={SHA}\n"
    there = URL.replace("****@", "")
    assert wishes(pins, TOLD, Attempt(frozenset({"torch"}), wide=True)) == (
        f"{own}--extra-index-url https://other.example\n{six}torch @ {there} --hash={SHA}\n"
    )


def test_a_target_is_its_python_its_abi_and_all_its_platforms():
    tags = stated("3.13t", "manylinux_2_17_aarch64").ordered_tags()
    words = target(Narrowed((), (), "3.13.1rc1", tags))
    assert words[:6] == ["--implementation", "cp", "--python-version", "3.13.1", "--abi", "cp313t"]
    assert words[6:12:2] == ["--platform"] * 3
    assert words[7:13:2] == ["linux_aarch64", "manylinux_2_17_aarch64", "manylinux2014_aarch64"]


def test_portions_are_bounded_by_number_and_by_bytes():
    def cut(*sizes):
        return [
            len(batch) for batch in _batches([Pin(f"p{n}", "1", (SHA,), size=size) for n, size in enumerate(sizes)])
        ]

    assert cut(*[None] * 40) == [16, 16, 8]
    assert cut(BATCH_BYTES + 1, 1, BATCH_BYTES - 1, 1) == [1, 2, 1]
    assert cut() == []


def test_the_log_gets_what_pip_says_but_for_its_progress_which_is_told():
    log, told = [], []
    ear = Ear(log.append, lambda *said: told.append(said))
    for block in (
        b"Collecting six\n  Downlo",
        b"ading https://h.example/six-1.whl (3 MB)\nProgress 1 of 3\nPro",
        b"gress 3 of 3\nSaved\n",
    ):
        ear(block)
    assert b"".join(log) == b"Collecting six\n  Downloading https://h.example/six-1.whl (3 MB)\nSaved\n"
    assert told == [("six-1.whl", 0, 0), ("six-1.whl", 1, 3), ("six-1.whl", 3, 3)]

"""`envdoctor cache` as a user meets it: what it prints, its exit statuses, and what a kill leaves behind."""

import json
import os
import random
import shutil
import signal
import time
from pathlib import Path

import pytest
from cached import ENTRIES, Workshop, contents, fill
from doctor import Doctor

SEED = 20260604
"""Of the moments at which a command is killed."""


@pytest.fixture
def shop(tmp_path):
    found = Workshop(tmp_path)
    for path in [found.cache, *found.cache.rglob("*")]:
        os.utime(path, (1_700_000_000, 1_700_000_000))
    return found


@pytest.fixture
def cache(shop, tmp_path):
    doctor = Doctor(tmp_path)
    env = dict(shop.host().env)

    def run(*words, **options):
        place = () if words[0] == "prune" else ("--target", shop.patient.prefix)
        return doctor("cache", words[0], *place, *words[1:], env=env, **options)

    run.doctor, run.env = doctor, env
    return run


def test_saved_listed_verified_lost_and_restored(cache, shop):
    saved = cache("save")
    assert (saved.status, saved.stderr) == (0, "")
    assert saved.stdout.startswith(f"saved {shop.cache} (9 files, 10.1 KiB)\nin {shop.folder}/data/envdoctor/caches/")
    assert "made for torch 2.11.0+cu128, triton 3.6.0, Python 3." in saved.stdout
    assert "cuda:90" in saved.stdout
    again = cache("save")
    assert (again.status, again.stdout.splitlines()[0].split(" as it was")[0]) == (
        0,
        f"nothing to save: {shop.cache} is",
    )
    listed = cache("list", "--format", "json")
    (found,) = listed.report["saves"]
    assert (found["files"], found["torch"], found["archs"]) == (9, "2.11.0+cu128", ["cuda:90"])
    assert found["path"] in cache("list").stdout
    assert cache("verify", "--latest").stdout.startswith(f"{found['path']}: all is what was saved (9 files, ")
    shutil.rmtree(shop.cache)
    restored = cache("restore", "--latest")
    assert (restored.status, restored.stderr) == (0, "")
    assert restored.stdout.startswith(f"restored 9 files into {shop.cache} (TORCHINDUCTOR_CACHE_DIR)\n")
    assert contents(shop.cache) == ENTRIES


def test_each_refusal_is_one_line_with_its_status(cache, shop, tmp_path):
    (tmp_path / "letter").write_text("dear")
    path = Path(cache("save", "-o", tmp_path / "mine.tar.zst") and tmp_path / "mine.tar.zst")
    (tmp_path / "cut.tar.zst").write_bytes(path.read_bytes()[:-40])
    cases = [
        (2, "no save for this environment", "restore", "--latest"),
        (2, "is not a save of a compile cache", "verify", tmp_path / "letter"),
        (2, "No such file or directory", "verify", tmp_path / "nothing"),
        (2, "is not a directory, so no save", "save", "-o", tmp_path / "no/where.tar.zst"),
        (2, "is not there, so there is no compile cache", "save", "--cache", tmp_path / "nothing"),
        (1, "damaged, or not made by envdoctor: it is cut off", "verify", tmp_path / "cut.tar.zst"),
        (1, "damaged, or not made by envdoctor: it is cut off", "restore", tmp_path / "cut.tar.zst"),
        (2, "nonsense: did not start", "verify", "--run", "--", "nonsense"),
    ]
    for status, said, *words in cases:
        answer = cache(*words)
        assert (answer.status, answer.stdout, answer.stderr.count("\n")) == (status, "", 1), answer
        assert said in answer.stderr


@pytest.mark.parametrize(
    "words",
    [
        *(("verify",), ("restore",), ("verify", "a", "b"), ("verify", "--run"), ("save", "--keep", "0"), ("status2",)),
        *(("save", "--cache", ""), ("verify", "--cache", "", "--run", "--", "true")),
    ],
)
def test_what_makes_no_sense_is_a_usage_error(cache, words):
    answer = cache(*words)
    assert (answer.status, answer.stdout) == (2, "")


def test_cache_alone_shows_its_commands(cache):
    answer = cache.doctor("cache")
    assert all(name in answer.stdout + answer.stderr for name in ("save", "restore", "verify", "list", "prune"))


def test_prune_lists_first_and_then_does_it(cache, shop):
    bad = fill(shop.folder / "bad", {"ab/empty.py": b"", "ab/good.py": b"x = 1\n"})
    for path in bad.rglob("*"):
        os.utime(path, (1_700_000_000, 1_700_000_000))
    listed = cache("prune", "--cache", bad)
    assert (listed.status, (bad / "ab/empty.py").exists()) == (1, True)
    assert listed.stdout == (
        f"damaged  {bad}/ab/empty.py\n    is empty: every run fails with it, and nothing replaces it: "
        "the module has no attribute 'call'\n"
        "nothing was removed: --yes moves these into a quarantine beside the cache\n"
    )
    done = cache("prune", "--cache", bad, "--yes", "--format", "json")
    assert (done.status, contents(bad)) == (0, {"ab/good.py": b"x = 1\n"})
    assert contents(done.report["quarantine"]) == {"ab/empty.py": b""}
    assert cache("prune", "--cache", bad).stdout == f"{bad}: nothing damaged or abandoned\n"


def test_hostile_names_are_shown_safely(cache, shop):
    fill(shop.cache, {"ab/\x1b[2Jempty.py": b""})
    os.utime(shop.cache / "ab/\x1b[2Jempty.py", (1_700_000_000, 1_700_000_000))
    for words in (("prune",), ("prune", "--format", "json")):
        assert "\x1b" not in cache(*words).stdout


def test_a_commands_output_is_not_the_report(cache):
    answer = cache("verify", "--format", "json", "--run", "--", "python", "-c", "print('noise'); raise SystemExit(7)")
    assert (answer.status, answer.report["proven"], answer.report["status"]) == (1, False, 7)
    assert answer.stderr == "noise\n"


def large(folder):
    """Fill a cache that takes long enough to be killed at many points."""
    noise = random.Random(SEED)  # noqa: S311
    entries = {f"a{'bcdefgh'[n % 7]}/{n}.py": b"x = %d\n" % n + noise.randbytes(4000) for n in range(1500)}
    return fill(folder, entries), entries


def killed(cache, shop, moments, words):
    """Start a command, kill it after a while, and return whether that came in time."""
    process = cache.doctor.start("cache", words[0], "--target", str(shop.patient.prefix), *words[1:], env=cache.env)
    time.sleep(moments)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    return process.returncode == -signal.SIGKILL


def timed(cache, *words):
    """Return how long a command takes that is left to itself."""
    began = time.monotonic()
    assert cache(*words).status == 0
    return time.monotonic() - began


def kill_saves(cache, shop, times):
    folder, _ = large(shop.folder / "large")
    words = ("save", "--cache", folder)
    usual, moments, hit = timed(cache, *words), random.Random(SEED), 0  # noqa: S311
    (folder / "ab/0.py").write_text("# again: the first run is slower than those that follow")
    usual = min(usual, timed(cache, *words))
    (store,) = (shop.folder / "data/envdoctor/caches").iterdir()
    for number in range(times):
        (folder / "ab/0.py").write_text(f"# {number}")
        time.sleep(1.1)  # so long must a file be left alone, or the save waits
        hit += killed(cache, shop, usual * moments.uniform(0.1, 0.9), words)
        for save in store.glob("*.tar.zst"):
            assert cache("verify", save).status == 0
    assert hit
    assert cache(*words).status == 0
    assert not [name for name in os.listdir(store) if name.startswith(".")]


MINE = {"ab/0.py": b"mine", "zz/z.py": b"mine too"}


def kill_restores(cache, shop, times):
    """Kill a restore, now into nothing, now into a cache that has files of its own; then let one end."""
    folder, entries = large(shop.folder / "large")
    save = shop.folder / "large.tar.zst"
    assert cache("save", "--cache", folder, "-o", save).status == 0
    words = ("restore", save, "--to", folder)
    shutil.rmtree(folder)
    usual, moments, hit = timed(cache, *words), random.Random(SEED), 0  # noqa: S311
    shutil.rmtree(folder)
    usual = min(usual, timed(cache, *words))
    for number in range(times):
        shutil.rmtree(folder)
        mine = MINE if number % 2 else {}
        fill(folder, mine)
        hit += killed(cache, shop, usual * moments.uniform(0.1, 0.9), words)
        there = {name: data for name, data in contents(folder).items() if not name.startswith("tmp.")}
        assert [name for name, data in there.items() if data != mine.get(name, entries.get(name))] == []
        assert mine.keys() <= there.keys()
        assert cache(*words).status == 0
        assert contents(folder) == entries | mine
    assert hit
    assert [name for name in os.listdir(shop.folder) if "tmp.envdoctor" in name] == []


def test_kill_during_save_loses_nothing(cache, shop):
    kill_saves(cache, shop, 10)


def test_kill_during_restore_loses_nothing(cache, shop):
    kill_restores(cache, shop, 10)


@pytest.mark.soak
def test_a_hundred_kills_during_save(cache, shop):
    kill_saves(cache, shop, 100)


@pytest.mark.soak
def test_a_hundred_kills_during_restore(cache, shop):
    kill_restores(cache, shop, 100)


def test_json_of_an_empty_store(cache):
    answer = cache("list", "--format", "json")
    assert (answer.status, json.loads(answer.stdout)["saves"]) == (0, [])

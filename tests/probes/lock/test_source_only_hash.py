"""Digests of nothing but the source archive."""

from locked import OTHER, SHA, audited, target, told

from envdoctor.model import Severity
from envdoctor.probes.lock.source_only_hash import check
from envdoctor.views.lock_online import Listed, ListedFile, LockOnline

SDIST = ListedFile("flash_attn-2.8.3.tar.gz", (SHA,))
WHEEL = ListedFile("flash_attn-2.8.3-cp312-cp312-linux_x86_64.whl", (OTHER,))
TEXT = f"six==1.17.0\nflash-attn==2.8.3 \\\n    --hash={SHA}\n"


def found(text, *files, **given):
    answers = LockOnline((), {("flash-attn", "2.8.3"): Listed(files)})
    return audited(check, text, **{"lock_online": answers, "lock_targets": target(), **given})


def test_the_index_has_a_wheel_that_fits():
    (finding,) = said = found(TEXT, SDIST, WHEEL)
    assert (finding.severity, told(said)) == (Severity.ERROR, [("flash-attn", 2)])
    assert finding.evidence["wheel"] == WHEEL.name
    assert finding.evidence["text"] == "1" * 64


def test_neighbours():
    assert found(TEXT, SDIST) == [], "there is no wheel"
    assert found(TEXT, SDIST, WHEEL, lock_targets=target("3.13")) == [], "the wheel does not fit"
    assert found(TEXT.replace(SHA, f"{SHA} --hash={OTHER}"), SDIST, WHEEL) == [], "the wheel is admitted"
    assert found(TEXT.replace(SHA, OTHER), SDIST, WHEEL) == [], "the wheel alone is admitted"
    assert found(TEXT.replace(f" \\\n    --hash={SHA}", ""), SDIST, WHEEL) == [], "everything is admitted"
    assert found(TEXT.replace(SHA, SHA[:-1] + "3"), SDIST, WHEEL) == [], "no file has that digest"
    assert found(TEXT, SDIST, WHEEL, lock_targets=target("3.12", None)) == [], "nobody knows the platform"

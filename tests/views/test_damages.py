"""Damaged entries, put together by cache, kind and consequence."""

from values import cache, caches, damage, jit_tools, view

from envdoctor.model import Severity


def groups(*items, **given):
    return view("damages", compile_caches=caches(*items), **given).groups


def test_entries_of_one_kind_and_consequence_are_one_group_in_each_cache():
    one = cache(damage=damage((".py", "empty", "/c/a.py"), (".py", "empty", "/c/b.py"), (".so", "empty", "/c/a.so")))
    two = cache("triton", "/t", damage=damage((".cubin", "empty", "/t/K/k.cubin")))
    assert [(group.cache.path, len(group.entries)) for group in groups(one, two)] == [
        ("/cache", 2),
        ("/cache", 1),
        ("/t", 1),
    ]


def test_without_known_versions_the_worst_is_taken():
    found = cache(damage=damage(("__grp__", "empty", "/c/K/__grp__k.json")))
    assert groups(found)[0].severity == Severity.ERROR
    assert groups(found, jit_tools=jit_tools("3.8.1"))[0].severity == Severity.WARNING


def test_the_first_entries_are_named_for_removal_and_the_rest_is_counted():
    found = cache(damage=damage(*((".py", "empty", f"/c/{number:02}.py") for number in range(20))))
    (said,) = (group.finding() for group in groups(found))
    assert said.remedy[1] == "remove the 12 others too: --format json lists them"

"""Rights count on the running machine alone."""

from values import ME, cache, caches, view

from envdoctor.model import Unavailable


def test_below_a_root_nobody_s_rights_count():
    assert view("own_caches", compile_caches=caches(cache())).uid == ME
    assert isinstance(view("own_caches", compile_caches=caches(cache(), uid=None)), Unavailable)

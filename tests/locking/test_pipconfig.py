import pytest

from envdoctor.locking import pipconfig
from envdoctor.system.pipconfig import PipConfig, parse

PRINTED = """\
global.cert='/etc/ssl/ours.pem'
global.constraint='/etc/pip/constraints.txt'
global.extra-index-url='https://a.example/simple https://b.example/simple'
global.index-url='https://old.example/simple'
install.index-url='https://me:pw@index.example/simple'
install.trusted-host='index.example'
download.index-url='https://not.example/simple'
freeze.timeout='10'
:env:.find-links='/srv/wheels\\nhttps://c.example/links'
:env:.no-index='0'
this is no setting
"""
PIP = PipConfig(
    "https://me:pw@index.example/simple",
    ("https://a.example/simple", "https://b.example/simple"),
    ("/srv/wheels", "https://c.example/links"),
    ("index.example",),
    "/etc/ssl/ours.pem",
)


def test_what_pip_prints_is_read_level_over_level():
    assert parse(PRINTED) == PIP
    assert parse("") == PipConfig()
    assert parse(":env:.no-index='true'\nglobal.index-url=broken(\n") == PipConfig(no_index=True)


def test_uv_is_told_where_pip_looks_in_the_same_order():
    assert pipconfig.for_uv(PIP, {}, configured=False) == {
        "SSL_CERT_FILE": "/etc/ssl/ours.pem",
        "UV_INSECURE_HOST": "index.example",
        "UV_INDEX": "https://me:pw@index.example/simple https://a.example/simple",
        "UV_DEFAULT_INDEX": "https://b.example/simple",
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        "UV_FIND_LINKS": "/srv/wheels,https://c.example/links",
    }


def test_an_index_alone_is_the_default_one_and_none_leaves_uv_alone():
    assert pipconfig.for_uv(PipConfig("https://x.example/s"), {}, configured=False) == {
        "UV_DEFAULT_INDEX": "https://x.example/s"
    }
    assert pipconfig.for_uv(PipConfig(), {}, configured=False) == {}


def test_without_an_index_none_is_passed_on():
    pip = PipConfig("https://x.example/s", ("https://y.example/s",), ("/w",), no_index=True)
    assert pipconfig.for_uv(pip, {}, configured=False) == {"UV_FIND_LINKS": "/w"}


@pytest.mark.parametrize(("env", "configured"), [({"UV_INDEX_URL": "https://mine.example/s"}, False), ({}, True)])
def test_uv_s_own_configuration_stays(env, configured):
    told = pipconfig.for_uv(PIP, env, configured=configured)
    assert told == {"SSL_CERT_FILE": "/etc/ssl/ours.pem", "UV_INSECURE_HOST": "index.example"}


def test_a_variable_that_is_set_is_not_set_again():
    assert "SSL_CERT_FILE" not in pipconfig.for_uv(PIP, {"SSL_CERT_FILE": "/mine"}, configured=True)


@pytest.mark.parametrize(
    ("table", "names"),
    [
        ({"index": [{"url": "x"}]}, True),
        ({"pip": {"extra-index-url": ["x"]}}, True),
        ({"index-strategy": "first-index"}, False),
        (None, False),
        ("x", False),
    ],
)
def test_uv_s_settings_name_indexes_or_do_not(table, names):
    assert pipconfig.names_indexes(table) is names

"""Strings from a target are data, and secrets do not leave."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envdoctor.printable import moment_of, printable, redact, size_of


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain ~ text", "plain ~ text"),
        ("Ünïcode 日本", "Ünïcode 日本"),
        ("\x1b[31mred", r"\x1b[31mred"),
        ("a\nb\tc\r\0", r"a\x0ab\x09c\x0d\x00"),
        ("\x9b31m", r"\x9b31m"),
        ("evil\u202egpj.exe", r"evil\u202egpj.exe"),
        ("z\u200bw\ufeff\u2028", r"z\u200bw\ufeff\u2028"),
        ("\udce9.py", r"\xe9.py"),
        ("\ud800", r"\ud800"),
        ("\U000e0001", r"\U000e0001"),
        ("", ""),
    ],
)
def test_what_could_act_on_a_terminal_is_shown(text, shown):
    assert printable(text) == shown


@given(st.text(st.characters()))
def test_nothing_that_is_shown_acts(text):
    shown = printable(text)
    assert not {unicodedata.category(char) for char in shown} & {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    assert printable(shown) == shown
    shown.encode()


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("https://me:pw@index.example/simple", "https://****@index.example/simple"),
        ("https://token@index.example", "https://****@index.example"),
        ("https://me:p@ss@index.example/x", "https://****@index.example/x"),
        ("git+ssh://git@host.example/a", "git+ssh://****@host.example/a"),
        ("https://a.example/x?y=1&token=abc&z=2", "https://a.example/x?y=1&token=****&z=2"),
        ("https://a.example/x?X-Amz-Signature=abc", "https://a.example/x?X-Amz-Signature=****"),
        ("https://a.example/x#sha256=abc", "https://a.example/x#sha256=abc"),
        ("https://a.example/x?mail=me@b.example", "https://a.example/x?mail=me@b.example"),
        (
            "one https://u:p@a.example two https://v:q@b.example",
            "one https://****@a.example two https://****@b.example",
        ),
        ("me@host.example", "me@host.example"),
        ('os.environ["HF_TOKEN"]="hf_abc"', 'os.environ["HF_TOKEN"]="****"'),
        ("API_KEY = 'abc'; x", "API_KEY = '****'; x"),
        ("export WANDB_API_KEY=abc PASSWORD=def", "export WANDB_API_KEY=**** PASSWORD=****"),
        ('{"secret": "abc", "db_pwd": "x"}', '{"secret": "****", "db_pwd": "****"}'),
        ("tokenizers==0.22.1 secretstorage==3", "tokenizers==0.22.1 secretstorage==3"),
        ("token==1 secret>=2", "token==1 secret>=2"),
        ("max_tokens = 4096", "max_tokens = 4096"),
        ("https://a.example/@scope/x", "https://a.example/@scope/x"),
    ],
)
def test_secrets_in_urls_are_hidden(text, safe):
    assert redact(text) == safe


SECRET = st.text("abcdefgXYZ0123456789:@!$%.-_", min_size=8).map(lambda text: "S3CRET" + text + "S3CRET")


@given(
    SECRET, st.sampled_from(["https://{}@a.example/x", "https://me:{}@a.example", "https://a.example/?access_token={}"])
)
def test_no_secret_survives(secret, form):
    assert "S3CRET" not in redact(f"--index-url {form.format(secret)} --x")


@pytest.mark.parametrize(
    ("seconds", "text"), [(None, None), (0, "1970-01-01T00:00:00Z"), (1.9, "1970-01-01T00:00:01Z")]
)
def test_times_are_rfc_3339(seconds, text):
    assert moment_of(seconds) == text


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (0, "0 bytes"),
        (925 << 10, "925 KiB"),
        (64 << 20, "64 MiB"),
        (int(63.5 * (1 << 30)), "63.5 GiB"),
        (3 << 40, "3.0 TiB"),
    ],
)
def test_sizes_are_said_in_powers_of_1024(count, said):
    assert size_of(count) == said

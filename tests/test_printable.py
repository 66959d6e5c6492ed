"""Strings from a target are data, and secrets do not leave."""

import time
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
        ("Authorization: Bearer abc.DEF-1", "Authorization: Bearer ****"),
        ("{'Authorization': 'Basic bWU6cHc=', 'x': 'y'}", "{'Authorization': 'Basic ****', 'x': 'y'}"),
        ("authorization: 0123456789abcdef", "authorization: ****"),
        ("(b'authorization', b'Bearer abc12345')", "(b'authorization', b'Bearer ****')"),
        ("-H X-Api-Key: abc -H 'PRIVATE-TOKEN: def'", "-H X-Api-Key: **** -H 'PRIVATE-TOKEN: ****'"),
        ("serve --api-key sk-abc --port 1", "serve --api-key **** --port 1"),
        ("x --hf-token abc --hub_token 'd e' y", "x --hf-token **** --hub_token '****' y"),
        ("x --password hunter2 --secret-key abc", "x --password **** --secret-key ****"),
        ("x --api-key=abc --private-key=def", "x --api-key=**** --private-key=****"),
        ("['x', '--token', 'abc']", "['x', '--token', '****']"),
    ],
)
def test_secrets_are_hidden(text, safe):
    assert redact(text) == safe
    assert redact(safe) == safe


LOOKS = {
    "hf_": "AbCdEfGhIjKlMnOpQrStUvWxYzAbCdEfGh",
    "ghp_": "0123456789abcdefghijABCDEFGHIJ012345",
    "gho_": "0123456789abcdefghijABCDEFGHIJ012345",
    "ghs_": "0123456789abcdefghijABCDEFGHIJ012345",
    "github_pat_": "11ABCDEFG0abcdefghijkl_0123456789abcdefghijABCDEFGHIJ0123456789abcdefghijABCDEFGHIJ012",
    "glpat-": "0123456789-abcd_EFGH",
    "sk-": "0123456789abcdefghijABCDEFGHIJ0123456789abcdefgh",
    "sk-proj-": "ab_cD-0123456789abcdefghijABCDEFGHIJ",
    "sk-ant-api03-": "ab_cD-0123456789abcdefghijABCDEFGHIJ",
    "xoxb-": "123456789012-1234567890123-abcdefABCDEF",
    "AKIA": "IOSFODNN7EXAMPLE",
    "AIza": "SyA0123456789abcdefghijABCDEFGHIJ01",
    "nvapi-": "0123456789abcdefghij_ABCDEF-0123",
    "eyJ": "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijklmnop",
}
"""Beginnings by which tokens are known, and what follows them."""


@pytest.mark.parametrize("around", ["{}", "login {} ok", '"{}"', "key={}", "/home/{}/x", "[{}]", "x\t{}\n"])
@pytest.mark.parametrize(("start", "rest"), LOOKS.items())
def test_a_token_is_known_by_its_beginning_wherever_it_stands(start, rest, around):
    hidden = redact(around.format(start + rest))
    assert not any(rest[at : at + 6] in hidden for at in range(len(rest) - 5))
    assert redact(hidden) == hidden


@pytest.mark.parametrize(
    "text",
    [
        "sk-learn scikit-learn sk-learn-contrib-imbalanced-ensemble sk-SK disk-usage-of-0123456789abcdef",
        "sk-ssh-ed25519@openssh.com sk-ecdsa-sha2-nistp256@openssh.com",
        "hf_transfer==0.1.9 hf_hub_download hf_internal_testing_tiny_random_model tf_hf_model",
        "key=value monkey=1 public_key=ab --key value",
        "x --token-file /run/token --token --password-stdin --secret-name a --tokenizer gpt2 --max-tokens 4096",
        "pass --token or --password to the launcher; a --token is needed",
        "authorization: none; bearer authentication is off; the bearer of this",
        "token: str, password: see the manual; a secret is kept",
        "pypi-server glob-match-everything-here gh_actions AKIAlike xoxo-kisses",
        "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
        "/env/lib/libcudnn.so.9: cannot open shared object file: No such file or directory",
        "_ZN3c105ErrorC2ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
    ],
)
def test_what_is_no_secret_stays(text):
    assert redact(text) == text


HARD = [
    "token",
    "=",
    " ",
    "'",
    '"',
    "--",
    "-a",
    "-",
    "?",
    "://",
    "@",
    ":",
    "authorization",
    "bearer ",
    "x-",
    "eyJ",
    ".",
]
HARD += ["sk-", "sk-a", "a-", "A", "0", "hf_", "github_pat_", "gla", "password", "api_key", ",", "]", "\t", "é"]
"""Bits that the patterns of secrets begin with or repeat."""


@given(st.lists(st.sampled_from(HARD), min_size=1, max_size=4))
def test_no_text_is_slow_to_redact(bits):
    text = "".join(bits)
    text *= (1 << 17) // len(text)
    began = time.process_time()
    redact(text)
    assert time.process_time() - began < 2


SECRET = st.text("abcdefgXYZ0123456789:@!$%.-_", min_size=8).map(lambda text: "S3CRET" + text + "S3CRET")


@given(
    SECRET,
    st.sampled_from(
        [
            "https://{}@a.example/x",
            "https://me:{}@a.example",
            "https://a.example/?access_token={}",
            "Authorization: Bearer {}",
            "x --token {}",
        ]
    ),
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

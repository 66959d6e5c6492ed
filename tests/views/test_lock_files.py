"""Files of a lock, with their digests."""

import pytest
from locked import OTHER, SHA, read

from envdoctor.views.lock_files import LockFile, view

MD5 = "md5:" + "1" * 32
UV = f"""
version = 1
[[package]]
name = "a"
version = "1"
source = {{ registry = "https://index.example/simple" }}
sdist = {{ url = "https://x.example/a-1.tar.gz" }}
wheels = [{{ url = "https://x.example/a-1%2Bcpu-py3-none-any.whl?x=1", hash = "{SHA}" }}]
[[package]]
name = "b"
version = "1"
source = {{ path = "../b-1-py3-none-any.whl" }}
[[package]]
name = "c"
source = {{ virtual = "." }}
"""


def test_pins_are_files_without_a_name_and_commits_none():
    fetched = f"c @ https://x.example/c-1.zip#{SHA.replace(':', '=')}"
    text = f"a==1 --hash={SHA} --hash={OTHER}\nb @ git+https://x.example/b\n{fetched}\n"
    files = view(read(text)).files
    assert [(file.package.name, file.name, file.hashes) for file in files] == [
        ("a", "", (SHA, OTHER)),
        ("c", "c-1.zip", (SHA,)),
    ]
    assert [file.package.name for file in view(read(text)).indexed()] == ["a"]


def test_files_of_a_uv_lock():
    wheel, sdist, path = view(read(UV, "/project/uv.lock")).files
    assert (wheel.name, wheel.written) == ("a-1+cpu-py3-none-any.whl", "a-1%2Bcpu-py3-none-any.whl")
    assert (wheel.named(), sdist.named()) == (("a", "1+cpu"), ("a", "1"))
    assert (sdist.hashes, path.url, path.local, wheel.local) == ((), "../b-1-py3-none-any.whl", True, False)


@pytest.mark.parametrize("hashes", [(MD5, SHA), ("blake2s:0",), ("sha3_256:0",)])
def test_strong_digests(hashes):
    assert LockFile(None, "", "", hashes).strong


@pytest.mark.parametrize("hashes", [(), (MD5,), ("sha224:0",)])
def test_weak_digests(hashes):
    assert not LockFile(None, "", "", hashes).strong

"""Files of another package or version."""

import pytest
from locked import SHA, audited, told

from envdoctor.model import Severity
from envdoctor.probes.lock.file_name_mismatch import check

HEAD = 'lock-version = "1.0"\ncreated-by = "x"\n'
INDEX = 'registry = "https://index.example/simple"'


def uv(name, version, file, source=INDEX):
    wheels = f'wheels = [{{ url = "https://x.example/{file}", hash = "{SHA}" }}]'
    sdist = f'sdist = {{ url = "https://x.example/{file}", hash = "{SHA}" }}'
    files = wheels if file.endswith(".whl") else sdist
    return f'version = 1\n[[package]]\nname = "{name}"\nversion = "{version}"\nsource = {{ {source} }}\n{files}\n'


@pytest.mark.parametrize(
    ("name", "version", "file"),
    [
        ("numpy", "2.4.6", "numpy-2.4.5-cp312-cp312-manylinux_2_28_x86_64.whl"),
        ("numpy", "2.4.6", "scipy-2.4.6-cp312-cp312-manylinux_2_28_x86_64.whl"),
        ("numpy", "2.4.6", "numpy-2.4.5.tar.gz"),
        ("numpy", "2.4.6", "numpy_extra-2.4.6.tar.gz"),
        ("torch", "2.9.1+cpu", "torch-2.9.1%2Bcu128-cp312-cp312-linux_x86_64.whl"),
        ("torch", "2.9.1", "torch-2.9.1%2Bcu128-cp312-cp312-linux_x86_64.whl"),
    ],
)
def test_another_package_or_version(name, version, file):
    (finding,) = found = audited(check, uv(name, version, file), "/project/uv.lock")
    assert (finding.severity, told(found), finding.evidence["text"]) == (Severity.ERROR, [(name, 3)], file)


def test_a_pylock_and_an_address_of_any_format():
    wheel = f'url = "https://x.example/numpy-2.4.5-py3-none-any.whl", hashes = {{ sha256 = "{SHA[7:]}" }}'
    text = f'{HEAD}[[packages]]\nname = "numpy"\nversion = "2.4.6"\nwheels = [{{ {wheel} }}]\n'
    assert told(audited(check, text, "/project/pylock.toml")) == [("numpy", 4)]
    assert told(audited(check, "a==1\nnumpy @ https://x.example/scipy-1-py3-none-any.whl\n")) == [("numpy", 2)]


@pytest.mark.parametrize(
    ("name", "version", "file"),
    [
        ("torch", "2.9.1+cpu", "torch-2.9.1%2Bcpu-cp312-cp312-linux_x86_64.whl"),
        ("flash-attn", "2.8.3+cu128torch2.11", "flash_attn-2.8.3+cu128torch2.11-cp312-cp312-linux_x86_64.whl"),
        ("numpy", "2.4.0", "numpy-2.4-1-cp312-cp312-linux_x86_64.whl"),
        ("zope-interface", "7.2", "zope.interface-7.2.tar.gz"),
        ("antlr4-python3-runtime", "4.9.3", "antlr4-python3-runtime-4.9.3.tar.gz"),
        ("old", "1.0.post2", "old-1.0-2.tar.gz"),
        ("old", "1.0", "v1.0.zip"),
    ],
)
def test_names_that_fit_or_say_nothing(name, version, file):
    assert audited(check, uv(name, version, file), "/project/uv.lock") == []


@pytest.mark.parametrize("file", ["flash_attn-2.8.3%2Bcu128-cp312-cp312-linux_x86_64.whl", "repository-9.tar.gz"])
def test_a_file_at_an_address_may_be_renamed(file):
    text = uv("flash-attn", "2.8.3", file, f'url = "https://x.example/{file}"')
    assert audited(check, text, "/project/uv.lock") == []

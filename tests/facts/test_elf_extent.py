"""A file that was cut off is seen by its own tables, wherever it was cut; one that is whole is left alone."""

import struct

import pytest
from elves import compiled, elf
from hypothesis import given
from hypothesis import strategies as st

from envdoctor.facts import elf_extent


@pytest.fixture
def judge(tmp_path):
    def judge(data):
        path = tmp_path / "x"
        path.write_bytes(data)
        with path.open("rb") as stream:
            return elf_extent.fault(stream)

    return judge


def cubin(*, reserved=0, kind=8, machine=190, order="<"):
    """Return a file as ptxas lays one out: sections, their table, the program headers last."""
    code = b"\x42" * 128
    sections = struct.pack(f"{order}IIQQQQIIQQ", *[0] * 10)
    sections += struct.pack(f"{order}IIQQQQIIQQ", 0, 1, 6, 0, 64, len(code), 0, 0, 128, 0)
    sections += struct.pack(f"{order}IIQQQQIIQQ", 0, kind, 3, 0, 192, reserved, 0, 0, 4, 0)
    segments = struct.pack(f"{order}IIQQQQQQ", 1, 5, 64, 0, 0, len(code), len(code), 8)
    places = (len(code) + 64 + len(sections), 64 + len(code))
    ident = b"\x7fELF\2" + (b"\1" if order == "<" else b"\2") + b"\1\x33\7"
    header = struct.pack(f"{order}16sHHIQQQIHHHHHH", ident, 2, machine, 128, 0, *places, 0, 64, 56, 1, 64, 3, 1)
    return header + code + sections + segments


def lengths(size):
    return sorted({*range(0, size, max(1, size // 97)), 1, 3, 4, 63, 64, 65, size - 64, size - 1} & set(range(size)))


def test_a_real_library_is_whole_and_cut_off_at_every_length(tmp_path, judge):
    path = compiled(tmp_path / "real.so", "int table[999] = {1}; int f(int x) { return table[x]; }", "-g")
    with open(path, "rb") as stream:
        data = stream.read()
    assert judge(data) is None
    for length in lengths(len(data)):
        assert (judge(data[:length]) or ("", ""))[0] == ("truncated-elf" if length else "not-elf"), length


@pytest.mark.parametrize("make", [cubin, elf, lambda: cubin(order=">")], ids=["cubin", "no sections", "big endian"])
def test_a_made_one_is_whole_and_cut_off_at_every_length(make, judge):
    data = make()
    assert judge(data) is None
    assert judge(data + b"more") is None
    assert {(judge(data[:length]) or ("",))[0] for length in range(1, len(data))} == {"truncated-elf"}


def test_the_phrase_tells_how_much_is_left(judge):
    data = cubin()
    assert judge(data[:100]) == ("truncated-elf", f"holds 100 bytes of {len(data)}")
    assert judge(data[:10]) == ("truncated-elf", "ends within its ELF header, after 10 bytes")


@pytest.mark.parametrize("kind", [8, 0x7000000A])
def test_memory_that_is_only_reserved_is_no_part_of_a_cubin(kind, judge):
    assert judge(cubin(reserved=1 << 16, kind=kind)) is None


def test_a_section_beyond_the_end_is(judge):
    assert judge(cubin(reserved=1 << 16, kind=1))[0] == "truncated-elf"
    assert judge(cubin(reserved=1 << 16, kind=0x7000000A, machine=62))[0] == "truncated-elf"


@pytest.mark.parametrize("data", [b"MZ\x90", b"\0" * 4096, b"\x7fELG" + b"\0" * 100, b"\x7fELF" + b"\xff" * 60])
def test_what_is_none_is_not_elf(data, judge):
    assert judge(data)[0] == "not-elf"


def test_a_table_of_another_width_is_nonsense(judge):
    data = bytearray(cubin())
    data[54:56] = b"\1\0"
    assert judge(bytes(data)) == ("not-elf", "has an ELF header without sense")


def test_more_sections_than_the_header_can_count_are_counted_in_the_first(judge):
    data = bytearray(cubin())
    data[60:62] = b"\0\0"
    data[192 + 32 : 192 + 40] = struct.pack("<Q", 3)
    assert judge(bytes(data)) is None
    data[192 + 32 : 192 + 40] = struct.pack("<Q", 1 << 40)
    assert judge(bytes(data)) == ("truncated-elf", f"is cut off after {len(data)} bytes")


def test_one_of_32_bits_is_not_judged(judge):
    assert judge(b"\x7fELF\1\1\1" + b"\0" * 57) is None


@given(st.binary(max_size=60), st.lists(st.tuples(st.integers(4, 500), st.integers(0, 255)), max_size=8))
def test_any_bytes_have_an_answer(tmp_path_factory, rest, changes):
    data = bytearray(cubin() + rest)
    for place, value in changes:
        data[place % len(data)] = value
    path = tmp_path_factory.getbasetemp() / "any"
    path.write_bytes(data)
    with path.open("rb") as stream:
        found = elf_extent.fault(stream)
    assert found is None or found[0] in ("truncated-elf", "not-elf")

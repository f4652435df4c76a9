"""Cells as bytes: headers, the check of OAM cells, and what is told apart."""

from types import SimpleNamespace

import numpy as np
import pytest

from qospec.capture.adaptation import Frames, compute_crc10, with_crc10
from qospec.capture.cells import (
    Addresses,
    Reassembly,
    build_cells,
    build_oam_payload,
    build_rm_payload,
    build_security_payload,
)
from qospec.engine.items.batch import allocate_batch
from qospec.engine.security.seal import TAMPERED
from qospec.payload.fill import Fill
from qospec.payload.flight import Items


def no_frames(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return that connections are no circuits, and that none of their cells is marked as last."""
    return np.zeros(count, np.int64), np.zeros(count, np.bool_)


def erf_cell(channel: int, payload_type: int, content: int) -> bytes:
    """Return a record of a cell of ERF: 16 bytes, the header of I.361, and a payload."""
    header = (channel << 4 | payload_type << 1).to_bytes(4, "big")
    return (
        bytes([1, 2, 3, 4, 5, 6, 7, 8, 3, 4, 0, 68, 0, 0, 0, 52]) + header + bytes([content]) * 48
    )


def test_cells_are_joined_by_connection_up_to_one_that_ends_a_frame() -> None:
    """The last cell of the second frame of 33 is lost: it goes on with the third."""
    cells = [
        *(erf_cell(32, 0, 1), erf_cell(33, 1, 2), erf_cell(32, 5, 3), erf_cell(32, 1, 4)),
        *(erf_cell(33, 0, 5), erf_cell(33, 0, 6), erf_cell(33, 1, 7)),
    ]
    reassembly = Reassembly()
    joined = reassembly.join(cells[:2]) + reassembly.join(cells[2:])
    assert [place for place, _ in joined] == [1, 1, 4]
    assert [record[20:] for _, record in joined] == [
        bytes([2]) * 48,
        bytes([1]) * 48 + bytes([4]) * 48,
        bytes([5]) * 48 + bytes([6]) * 48 + bytes([7]) * 48,
    ]
    assert [record[:8] for _, record in joined] == [bytes(range(1, 9))] * 3
    assert joined[1][1][8:20] == bytes([4, 4, 0, 116, 0, 0, 0, 100, 0, 0, 2, 2])


def test_what_is_too_long_for_a_record_is_left_out() -> None:
    """Such as what never ends, and then does: cells of AAL1 ahead of one that is marked."""
    reassembly = Reassembly()
    longest = [*[erf_cell(32, 0, 0)] * 1_363, erf_cell(32, 1, 0)]
    assert [len(record) for _, record in reassembly.join(longest)] == [20 + 48 * 1_364]
    assert reassembly.join([erf_cell(32, 0, 0), *longest]) == []
    assert [len(record) for _, record in reassembly.join([erf_cell(32, 1, 0)])] == [20 + 48]


GENERATOR = 0b11000110011
"""x^10 + x^9 + x^5 + x^4 + x + 1 (ITU-T I.610, 10.1)."""


IN_THE_CLEAR = SimpleNamespace(
    encrypt=lambda _, plain: plain,
    find_announced=lambda _: (np.zeros(0, np.int64), np.zeros((0, 9), np.uint8)),
)
"""Cells that no device has encrypted."""
NO_FRAMES = Frames(None, 4, ())
"""Cells that carry no packets."""


def items(connections: list[int], at_ps: int = 0, marks: int = 0) -> Items:
    n = len(connections)
    batch = allocate_batch(n)._replace(
        at_ps=np.full(n, at_ps),
        sent_ps=np.arange(n),
        connection=np.array(connections, np.int32),
        size_bytes=np.full(n, 53, np.int32),
        marks=np.full(n, marks, np.uint32),
    )
    return Items(batch, np.arange(n) + 258, np.full(n, 53, np.int32), *[np.zeros(n, np.int64)] * 2)


def remainder(value: int) -> int:
    """Return the remainder of a polynomial by the generator, by long division."""
    while value.bit_length() > 10:
        value ^= GENERATOR << (value.bit_length() - 11)
    return value


@pytest.mark.parametrize(
    "payload",
    [
        build_oam_payload(),
        build_rm_payload(),
        build_security_payload(b"123456789"),
        with_crc10(bytes(range(46))),
    ],
)
def test_a_payload_with_its_check_leaves_no_remainder(payload: bytes) -> None:
    assert len(payload) == 48
    assert remainder(int.from_bytes(payload, "big")) == 0
    changed = bytearray(payload)
    changed[7] ^= 0x10
    assert remainder(int.from_bytes(changed, "big")) != 0


def test_the_check_of_a_single_bit_is_the_generator() -> None:
    assert compute_crc10(bytes(45) + b"\x01") == remainder(1 << 16)


def test_a_header_has_vpi_vci_payload_type_and_priority() -> None:
    addresses = Addresses(
        np.array([7, 0xFFF, 7, 0xFFF]),
        np.array([32, 0xFFFF, 32, 0xFFFF]),
        np.array([0, 0, 1, 1]),
        ("user", "oam"),
        *no_frames(4),
    )
    made = build_cells(items([0, 1, 2, 3], marks=1), addresses, Fill(0), IN_THE_CLEAR, NO_FRAMES)
    headers = [int.from_bytes(packet[16:20], "big") for packet in made]
    assert [header >> 20 for header in headers] == [7, 0xFFF, 7, 0xFFF]
    assert [header >> 4 & 0xFFFF for header in headers] == [32, 0xFFFF, 32, 0xFFFF]
    assert [header >> 1 & 7 for header in headers] == [0, 0, 5, 5]
    assert {header & 1 for header in headers} == {1}
    assert [packet[20:] == build_oam_payload() for packet in made] == [False, False, True, True]
    assert made[1][20:44] == b"QOS1" + bytes([0, 0, 0, 1]) + bytes(6) + b"\1\3" + bytes(7) + b"\1"


@pytest.mark.parametrize("at_ps", [0, 1, 10**12 - 1, 10**12, 3_600 * 10**12 + 123_456_789_012])
def test_the_time_of_a_record_is_in_units_of_two_to_the_minus_32(at_ps: int) -> None:
    addresses = Addresses(np.array([0]), np.array([32]), np.array([0]), ("user",), *no_frames(1))
    (made,) = build_cells(items([0], at_ps), addresses, Fill(0), IN_THE_CLEAR, NO_FRAMES)
    assert int.from_bytes(made[:8], "little") == (at_ps << 32) // 10**12
    assert made[8:16] == bytes([3, 4, 0, 68, 0, 0, 0, 52])
    assert len(made) == 68


def test_what_was_changed_on_the_way_is_another_payload() -> None:
    addresses = Addresses(
        np.array([0, 0]),
        np.array([32, 32]),
        np.array([0, 1]),
        ("user", "oam"),
        *no_frames(2),
    )
    sent = items([0, 1])
    changed = sent._replace(batch=sent.batch.with_column("seal", np.full(2, TAMPERED)))
    whole, other = (
        build_cells(packets, addresses, Fill(0), IN_THE_CLEAR, NO_FRAMES)
        for packets in (sent, changed)
    )
    for before, after in zip(whole, other, strict=True):
        differs = int.from_bytes(before, "big") ^ int.from_bytes(after, "big")
        assert differs.bit_count() == 1
        assert differs < 1 << 48 * 8  # in the payload
    assert remainder(int.from_bytes(other[1][20:], "big")) != 0

"""A receiver opens packets one by one, and counts what it discards by cause."""

import numpy as np
import pytest
from associations import association, packets_of

from qospec.ciphers.esp import Rows
from qospec.ciphers.receiver import Receiver
from qospec.protocol.esp import ENCRYPTIONS, INTEGRITIES, Esp

GCM = Esp(ENCRYPTIONS["aes_256_gcm"])
EXTENDED = Esp(ENCRYPTIONS["aes_128_cbc"], INTEGRITIES["hmac_sha2_256_128"], extended=True)


def sealed_by(esp, numbers, name="test"):
    """Return packets and what they become with these numbers."""
    packets = packets_of("ipv4", 60, len(numbers))
    (rows,) = association(esp, name).seal(Rows(np.array(numbers), packets))
    return [row.tobytes() for row in packets], [row.tobytes() for row in rows]


def test_an_esp_receiver_returns_what_was_sealed():
    packets, sealed = sealed_by(GCM, [1, 2, 5])
    receiver = Receiver(association(GCM))
    assert list(map(receiver.receive, sealed)) == packets
    assert receiver.discarded == {}


def test_an_esp_receiver_counts_replayed_and_stale_packets():
    """100 moves the window on to 37; packets in it may come late, but once."""
    packets, sealed = sealed_by(GCM, [36, 37, 100])
    receiver = Receiver(association(GCM))
    arrivals = [2, 1, 1, 0, 2]
    assert [receiver.receive(sealed[each]) for each in arrivals] == [
        packets[2], packets[1], None, None, None,
    ]  # fmt: skip
    assert receiver.discarded == {"replayed": 2, "stale": 1}


def test_an_esp_receiver_does_not_move_its_window_for_a_forged_packet():
    """One that claims a number far ahead would shut out all that follow."""
    packets, sealed = sealed_by(GCM, [1, 2, 3])
    forged = bytearray(sealed[2])
    forged[GCM.clear_bytes - 10] ^= 0x80  # of the sequence number
    receiver = Receiver(association(GCM))
    assert receiver.receive(bytes(forged)) is None
    assert list(map(receiver.receive, sealed)) == packets
    assert receiver.discarded == {"tampered": 1}


def test_an_esp_receiver_counts_what_is_malformed():
    _, sealed = sealed_by(GCM, [1])
    receiver = Receiver(association(GCM))
    assert receiver.receive(sealed[0][:20]) is None
    assert receiver.receive(sealed[0][:-1]) is None
    assert receiver.discarded == {"malformed": 2}


def test_an_esp_receiver_finds_the_half_of_a_number_that_is_not_sent():
    numbers = [2**31, 2**32 - 1, 2**32 + 1, 2**32, 2**32 - 2, 2**32 + 2**31]
    packets, sealed = sealed_by(EXTENDED, sorted(numbers))
    order = [sorted(numbers).index(number) for number in numbers]
    receiver = Receiver(association(EXTENDED))
    assert [receiver.receive(sealed[each]) for each in order] == [packets[each] for each in order]
    assert receiver.discarded == {}


def test_an_esp_receiver_s_window_has_its_least_size():
    with pytest.raises(ValueError, match="at least 32 packets, not 31"):
        Receiver(association(GCM), 31)

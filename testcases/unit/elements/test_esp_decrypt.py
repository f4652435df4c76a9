"""The receiving end of a security association of ESP: what it refuses."""

import numpy as np
import pytest

from qospec.catalogue.kinds import Lifetime
from qospec.elements.esp_decrypt import EspDecrypt
from qospec.elements.esp_encrypt import EspEncrypt
from qospec.engine.items.batch import count_columns
from qospec.engine.security.seal import TAMPERED

CBC = ("aes_128_cbc", "hmac_md5_96")


@pytest.fixture
def encrypted(lab):
    """Return packets of 1,500 bytes behind an encryptor."""

    def carry(count, **parameters):
        batch = lab.cells(range(count), size_bytes=[1_500] * count)
        return lab.carry(EspEncrypt(*CBC, **parameters), lab.setting(), batch).departures[0]

    return carry


def decrypted(lab, batch, **parameters):
    """Return the outcome of packets at a decryptor, as two batches."""
    middle = [int(batch.at_ps[batch.count // 2])]
    return lab.carry(EspDecrypt(*CBC, **parameters), lab.setting(), batch, cuts=middle)


def test_esp_refuses_what_it_has_accepted(lab, encrypted):
    once = encrypted(4)
    twice = once.select(np.array([0, 1, 1, 2, 0, 3])).with_times(np.arange(6))
    outcome = decrypted(lab, twice)
    assert outcome.departures[0].at_ps.tolist() == [0, 1, 3, 5]
    assert [(cause, item) for cause, *_, item in outcome.lost] == [("replayed", 1), ("replayed", 0)]


def test_what_is_decrypted_carries_no_column_further(lab, encrypted):
    behind = encrypted(4)
    assert behind.more.shape == (4, count_columns("seal"))
    assert decrypted(lab, behind).departures[0].more.shape == (0, 0)


@pytest.mark.parametrize(("overtaken_by", "accepted"), [(63, 100), (64, 99)])
def test_esp_refuses_what_lies_behind_the_window_of_64(lab, encrypted, overtaken_by, accepted):
    order = [*range(1, overtaken_by + 1), 0, *range(overtaken_by + 1, 100)]
    outcome = decrypted(lab, encrypted(100).select(np.array(order)).with_times(np.arange(100)))
    assert outcome.departures[0].count == accepted
    assert [cause for cause, *_ in outcome.lost] == ["behind_window"] * (100 - accepted)


def test_esp_refuses_what_is_in_the_clear_or_of_another_association(lab, encrypted):
    outcome = decrypted(lab, lab.cells([0, 1], size_bytes=[1_500, 100]))
    assert [cause for cause, *_ in outcome.lost] == ["unprotected"] * 2
    outcome = decrypted(lab, encrypted(2, spi=257))
    assert [cause for cause, *_ in outcome.lost] == ["unknown_association"] * 2
    assert not outcome.departures[0].count


@pytest.mark.parametrize(
    ("overlap", "closed"), [(None, [2, 3]), (0, [1]), (3, [1]), (4, []), (10**12, [])]
)
def test_esp_opens_packets_of_the_association_before_during_the_overlap(
    lab, encrypted, overlap, closed
):
    """The second packet of the old association arrives 3 ps after the first of the new one."""
    sent = encrypted(4, rekey=Lifetime(2, "packet"))
    late = sent.select(np.array([0, 2, 3, 1])).with_times(np.array([0, 1, 2, 4]))
    outcome = decrypted(lab, late, overlap=overlap)
    assert [(cause, item) for cause, *_, item in outcome.lost] == [
        ("unknown_association", item) for item in closed
    ]


def test_each_association_of_esp_has_a_window_of_its_own(lab, encrypted):
    sent = encrypted(6, rekey=Lifetime(2, "packet"))
    order = np.array([0, 2, 2, 0, 1, 4, 2, 3, 0, 5, 5])
    outcome = decrypted(lab, sent.select(order).with_times(np.arange(11)), overlap=100)
    assert sorted((cause, item) for cause, *_, item in outcome.lost) == [
        *(("replayed", item) for item in (0, 2, 2, 5)),
        ("unknown_association", 0),
    ]


def test_esp_knows_an_association_whose_predecessors_were_lost(lab, encrypted):
    sent = encrypted(6, rekey=Lifetime(1, "packet"))
    outcome = decrypted(lab, sent.select(np.array([0, 4, 5])).with_times(np.arange(3)), overlap=100)
    assert not outcome.lost


def test_esp_opens_nothing_beyond_the_successors_that_there_can_be(lab, encrypted):
    last, beyond = encrypted(1, spi=256 + 4_095), encrypted(1, spi=256 + 4_096)
    assert not decrypted(lab, last, overlap=0).lost
    assert [cause for cause, *_ in decrypted(lab, beyond, overlap=0).lost] == [
        "unknown_association"
    ]


def test_a_packet_that_was_changed_replaces_no_association(lab, encrypted):
    sent = encrypted(4, rekey=Lifetime(2, "packet"))
    sent = sent.with_column("seal", sent.read_column("seal") | np.array([0, 0, TAMPERED, 0]))
    came = sent.select(np.array([0, 2, 1, 3])).with_times(np.arange(4))
    assert [(cause, item) for cause, *_, item in decrypted(lab, came, overlap=0).lost] == [
        ("tampered", 2)
    ]

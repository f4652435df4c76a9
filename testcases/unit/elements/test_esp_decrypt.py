"""The receiving end of a security association of ESP: what it refuses."""

import numpy as np
import pytest

from qospec.elements.esp_decrypt import EspDecrypt
from qospec.elements.esp_encrypt import EspEncrypt

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
    twice = once.select(np.array([0, 1, 1, 2, 0, 3])).moved(np.arange(6))
    outcome = decrypted(lab, twice)
    assert outcome.departures[0].at_ps.tolist() == [0, 1, 3, 5]
    assert [(cause, item) for cause, *_, item in outcome.lost] == [("replayed", 1), ("replayed", 0)]


@pytest.mark.parametrize(("overtaken_by", "accepted"), [(63, 100), (64, 99)])
def test_esp_refuses_what_lies_behind_the_window_of_64(lab, encrypted, overtaken_by, accepted):
    order = [*range(1, overtaken_by + 1), 0, *range(overtaken_by + 1, 100)]
    outcome = decrypted(lab, encrypted(100).select(np.array(order)).moved(np.arange(100)))
    assert outcome.departures[0].count == accepted
    assert [cause for cause, *_ in outcome.lost] == ["behind_window"] * (100 - accepted)


def test_esp_refuses_what_is_in_the_clear_or_of_another_association(lab, encrypted):
    outcome = decrypted(lab, lab.cells([0, 1], size_bytes=[1_500, 100]))
    assert [cause for cause, *_ in outcome.lost] == ["unprotected"] * 2
    outcome = decrypted(lab, encrypted(2, spi=257))
    assert [cause for cause, *_ in outcome.lost] == ["unknown_association"] * 2
    assert not outcome.departures[0].count

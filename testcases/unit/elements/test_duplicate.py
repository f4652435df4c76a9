"""Copies that a test injects: which packets they follow, and what refuses them."""

import pytest

from qospec.elements.duplicate import Duplicate
from qospec.elements.esp_decrypt import EspDecrypt
from qospec.elements.esp_encrypt import EspEncrypt
from qospec.engine.items.contract import Contract


@pytest.fixture
def two_flows(lab):
    return lab.setting(contracts=[Contract("packets", 1, 0)] * 2, inserted=("copies",))


def test_a_copy_follows_its_packet_and_is_not_copied_again(lab, two_flows):
    packets = lab.cells([0, 10, 20, 30], connection=[0, 1, 0, 0], size_bytes=[60, 70, 80, 90])
    outcome = lab.carry(Duplicate(first=2, every=2), two_flows, packets, cuts=[15])
    (left,) = outcome.departures
    assert left.at_ps.tolist() == [0, 10, 20, 20, 30]
    assert left.connection.tolist() == [0, 1, 0, 2, 0]
    assert left.size_bytes.tolist() == [60, 70, 80, 80, 90]
    again = lab.carry(Duplicate(first=1, every=1), two_flows, left)
    assert again.departures[0].connection.tolist() == [0, 2, 1, 3, 0, 2, 2, 0, 2]


def test_esp_accepts_a_packet_once(lab, two_flows):
    (batch,) = lab.carry(EspEncrypt("aes_128_gcm"), two_flows, lab.cells([0, 1, 2])).departures
    (batch,) = lab.carry(Duplicate(first=2), two_flows, batch).departures
    outcome = lab.carry(EspDecrypt("aes_128_gcm"), two_flows, batch)
    assert outcome.departures[0].connection.tolist() == [0, 0, 0]
    assert [(cause, at) for cause, *_, at in outcome.lost] == [("replayed", 1)]

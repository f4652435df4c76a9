"""Packets that become the payload of larger ones."""

import pytest

from qospec.catalogue.form import Form
from qospec.elements.encapsulate import Encapsulate


def test_each_packet_gains_the_header_and_nothing_else(lab):
    batch = lab.cells(
        [0, 7, 7], size_bytes=[40, 576, 1_500], marks=[0, 368, 8], connection=[1, 0, 1]
    )
    (left,) = lab.carry(Encapsulate(20), lab.setting(), batch, cuts=[7]).departures
    assert left.size_bytes.tolist() == [60, 596, 1_520]
    assert left.equals(batch.with_sizes(left.size_bytes))


def test_it_states_the_sizes_behind_it():
    mix = Form("packet", ((40, 7), (576, 4), (1_500, 1)), 12)
    assert [size for size, _ in Encapsulate(24).predict_form(mix).sizes] == [64, 600, 1_524]
    assert Encapsulate(24).predict_form(Form("packet")) == Form("packet", headers=(24,))


def test_a_packet_of_ip_has_a_largest_size():
    longest = Form("packet", ((65_515, 1),))
    assert Encapsulate(20).predict_form(longest).largest_bytes == 65_535
    with pytest.raises(ValueError, match="65515 B and a header of 21 B exceed the 65535 B"):
        Encapsulate(21).predict_form(longest)

"""Packets that come out of larger ones."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.catalogue.form import Form
from qospec.elements.decapsulate import Decapsulate
from qospec.elements.encapsulate import Encapsulate
from qospec.engine.event.process import EventProcess
from qospec.engine.items.batch import FOREVER_PS


@given(sizes=st.lists(st.integers(20, 1_500), max_size=20), header=st.integers(1, 4_096))
def test_events_give_the_same_as_batches(lab, sizes, header):
    batch = lab.cells(range(len(sizes)), size_bytes=sizes)
    for element in (Encapsulate(header), Decapsulate(header)):
        step = EventProcess(element, lab.setting()).process((batch,), FOREVER_PS)
        (left,) = lab.carry(element, lab.setting(), batch).departures
        assert step.departures[0].equals(left)


@given(sizes=st.lists(st.integers(20, 1_500), max_size=20), header=st.integers(1, 4_096))
def test_it_undoes_an_encapsulation_of_the_same_header(lab, sizes, header):
    batch = lab.cells(range(len(sizes)), size_bytes=sizes)
    (inside,) = lab.carry(Encapsulate(header), lab.setting(), batch).departures
    (left,) = lab.carry(Decapsulate(header), lab.setting(), inside).departures
    assert left.equals(batch)


def test_what_is_left_has_an_ip_header_of_its_own():
    sizes = Form("packet", ((44, 1), (1_500, 1)), 2)
    assert Decapsulate(24).predict_form(sizes).smallest_bytes == 20
    with pytest.raises(ValueError, match="44 B hold no IP packet behind a header of 25 B"):
        Decapsulate(25).predict_form(sizes)

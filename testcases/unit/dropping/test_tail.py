"""Tail drop, by name, is what a queue does of itself."""

from hypothesis import given
from hypothesis import strategies as st

from qospec.dropping.tail import Tail
from qospec.elements.fifo import Fifo


@given(data=st.data())
def test_it_loses_what_finds_no_room(bench, data):
    traffic = data.draw(bench.traffic(clock=data.draw(bench.clocks)))
    limit = data.draw(bench.limits)
    bench.agree(traffic, limit, Tail(), bench.rules("", {}, {}, None))
    assert bench.carry(traffic, limit, Tail()) == bench.carry(traffic, limit, None)


def test_its_queue_discards_for_want_of_room_only(bench):
    assert Fifo(bench.packets(3), Tail()).discards_for == ("overflow",)

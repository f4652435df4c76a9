"""The parts of a flow, and what they consist of."""

import pytest

from qospec.protocol.parts import items_of


@pytest.mark.parametrize(
    ("population", "carries", "said"),
    [
        ("ask", "packet", ("packet", "ask")),
        ("ask.answers", "packet", ("answer", "ask")),
        ("bare.ask[2].exchanges", "packet", ("exchange", "bare.ask[2]")),
        ("user.oam", "cell", ("cell", "user.oam")),
    ],
)
def test_a_part_of_a_flow_has_items_of_its_own(population, carries, said):
    assert items_of(population, carries) == said

"""Links hold back what is above the horizon; nodes process up to the lowest watermark."""

from collections.abc import Callable

import pytest

from qospec.engine.element import Step
from qospec.engine.graph.node import Link, NodeRuntime, Unconnected
from qospec.engine.items.batch import FOREVER_PS, Batch
from qospec.engine.items.totals import Totals
from qospec.engine.measure.observation import Recorder
from qospec.protocol.streams import number_flow

Maker = Callable[..., Batch]


class Unused(Recorder):
    """A recorder that nothing may be told."""

    def __init__(self) -> None:
        """Record nothing."""
        self.totals = Totals(number_flow(1))


def runtime(
    calls: list[tuple[list[list[int]], int]], inputs: list[int]
) -> tuple[NodeRuntime, list[Link]]:
    """Return one that notes what it is given, with so many links to each input, and the links."""

    def process(arrivals: tuple[Batch, ...], until_ps: int) -> Step:
        calls.append(([batch.at_ps.tolist() for batch in arrivals], until_ps))
        return Step((), ())

    made = NodeRuntime("s", process, Unused(), lookahead_ps=0, stamps=False, inserts=())
    ports = tuple(tuple(Link(0) for _ in range(links)) for links in inputs)
    made.connect(ports, ())
    return made, [link for port in ports for link in port]


def test_a_link_gives_what_is_below(batch_of: Maker) -> None:
    link = Link(0)
    link.put(batch_of([1, 5, 5, 9]), 10)
    assert link.take(5).at_ps.tolist() == [1]
    assert link.cells == 3
    assert link.take(6).at_ps.tolist() == [5, 5]
    assert link.bound_first_ps() == 9
    assert link.take(10).at_ps.tolist() == [9]
    assert (link.cells, link.bound_first_ps()) == (0, 10)


def test_a_link_joins_what_arrived_in_several_batches(batch_of: Maker) -> None:
    link = Link(0)
    for at_ps in ([1, 2], [], [2, 7], [8]):
        link.put(batch_of(at_ps), 9)
    assert link.take(8).at_ps.tolist() == [1, 2, 2, 7]
    assert link.take(9).at_ps.tolist() == [8]


def test_a_batch_that_is_taken_whole_is_not_copied(batch_of: Maker) -> None:
    link, batch = Link(0), batch_of([1, 2])
    link.put(batch, 3)
    assert link.take(3) is batch


def test_a_node_processes_up_to_the_lowest_watermark(batch_of: Maker) -> None:
    calls: list[tuple[list[list[int]], int]] = []
    made, (one, two) = runtime(calls, [1, 1])
    one.put(batch_of([1, 4]), 5)
    two.put(batch_of([2]), 3)
    assert made.advance()
    two.put(batch_of([]), FOREVER_PS)
    assert made.advance()
    assert calls == [([[1], [2]], 3), ([[4], []], 5)]


def test_a_node_whose_horizon_does_not_rise_is_skipped(batch_of: Maker) -> None:
    calls: list[tuple[list[list[int]], int]] = []
    made, (one, two) = runtime(calls, [1, 1])
    one.put(batch_of([1]), 5)
    two.put(batch_of([]), 0)
    assert not made.advance()
    assert calls == []


def test_a_node_processes_no_further_than_its_cap(batch_of: Maker) -> None:
    calls: list[tuple[list[list[int]], int]] = []
    made, (link,) = runtime(calls, [1])
    link.put(batch_of([1, 2, 3]), 9)
    assert made.advance(2)
    assert not made.advance(2)
    assert calls == [([[1]], 2)]


def test_links_to_one_input_are_merged_in_their_order(batch_of: Maker) -> None:
    calls: list[tuple[list[list[int]], int]] = []
    made, links = runtime(calls, [3])
    for link, at_ps in zip(links, ([3, 6], [1, 3], [2]), strict=True):
        link.put(batch_of(at_ps), 5 if at_ps == [2] else 7)
    made.advance()
    assert calls == [([[1, 2, 3, 3]], 5)]


def test_an_input_without_links_gets_nothing_and_holds_up_nothing(batch_of: Maker) -> None:
    calls: list[tuple[list[list[int]], int]] = []
    made, (link,) = runtime(calls, [0, 1])
    link.put(batch_of([1]), 2)
    made.advance()
    assert calls == [([[], [1]], 2)]


def test_no_cell_may_leave_by_an_output_that_leads_nowhere(batch_of: Maker) -> None:
    nowhere = Unconnected("switch.exit[3]")
    nowhere.put(batch_of([]), 5)
    with pytest.raises(ValueError, match=r"switch\.exit\[3\]"):
        nowhere.put(batch_of([4]), 5)

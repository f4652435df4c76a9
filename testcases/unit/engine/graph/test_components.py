"""Orders of visits, and cycles that take no time."""

from typing import NamedTuple

import pytest

from qospec.engine.experiment import END, Node, Wire
from qospec.engine.graph.components import find_components, find_zero_delay_cycle, is_cyclic
from qospec.engine.line.clock import Clock


class Step(NamedTuple):
    """An element that is known by its least delay only."""

    least_ps: int

    def find_lookahead_ps(self, clock: Clock | None) -> int:
        assert clock is None
        return self.least_ps


def graph(delays_ps: dict[str, int], wires: str) -> tuple[list[Node], list[Wire]]:
    """Return nodes with these delays, and wires such as `ab bc c.`, where `.` is the end."""
    nodes = [Node(path, Step(least_ps)) for path, least_ps in delays_ps.items()]
    order = list(delays_ps)
    ends = {**{path: order.index(path) for path in order}, ".": END}
    return nodes, [Wire(ends[wire[0]], 0, ends[wire[1]]) for wire in wires.split()]


def test_a_chain_is_visited_along_its_way() -> None:
    assert find_components([[2], [], [1]]) == [[0], [2], [1]]


def test_a_cycle_is_one_component_between_what_is_before_and_behind() -> None:
    #  0 -> 1 -> 2 -> 3 -> 1,  3 -> 4
    order = find_components([[1], [2], [3], [1, 4], []])
    assert order == [[0], [1, 2, 3], [4]]


def test_two_cycles_with_one_node_in_common_are_one_component() -> None:
    (component,) = find_components([[1], [0, 2], [1]])
    assert sorted(component) == [0, 1, 2]


def test_two_cycles_with_a_wire_between_are_two_components() -> None:
    assert [sorted(component) for component in find_components([[1], [0, 2], [3], [2]])] == [
        [0, 1],
        [2, 3],
    ]


def test_every_feeder_comes_before_what_it_feeds() -> None:
    onward = [[3], [3, 4], [], [2], [2]]
    place = {node: n for n, (node,) in enumerate(find_components(onward))}
    assert all(place[node] < place[following] for node in place for following in onward[node])


def test_a_long_chain_needs_no_deep_recursion() -> None:
    count = 20_000
    onward = [[node + 1] for node in range(count - 1)] + [[]]
    assert find_components(onward) == [[node] for node in range(count)]


def test_a_node_that_feeds_itself_is_cyclic() -> None:
    onward: list[list[int]] = [[0], []]
    assert [is_cyclic(component, onward) for component in find_components(onward)] == [False, True]


@pytest.mark.parametrize("delayed", ["a", "b", "c"])
def test_one_delay_on_the_way_round_is_enough(delayed: str) -> None:
    delays_ps = {path: int(path == delayed) for path in "abc"}
    assert find_zero_delay_cycle(*graph(delays_ps, "ab bc ca")) is None


def test_a_cycle_without_delay_is_named_in_order() -> None:
    delays_ps = {"in": 0, "a": 0, "b": 0, "c": 0, "d": 5}
    nodes, wires = graph({k[0]: v for k, v in delays_ps.items()}, "ia ab bc ca cd d.")
    cycle = find_zero_delay_cycle(nodes, wires)
    assert cycle is not None
    assert "".join(cycle) in {"abc", "bca", "cab"}


def test_the_cycle_without_delay_is_found_beside_one_with() -> None:
    nodes, wires = graph({"a": 7, "b": 0, "c": 0}, "ab ba bc cb")
    cycle = find_zero_delay_cycle(nodes, wires)
    assert cycle is not None
    assert sorted(cycle) == ["b", "c"]


def test_a_graph_without_cycle_has_none() -> None:
    assert find_zero_delay_cycle(*graph({"a": 0, "b": 0, "c": 0}, "ab ac bc c.")) is None

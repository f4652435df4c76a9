"""What passes a place is counted by connection, within the window, however it is cut."""

from fractions import Fraction

import numpy as np
import pytest
from connected import connected

from qospec.elements.delay import Delay
from qospec.engine.experiment import END, Experiment, MeasurementSpec, Node, Source, Tap, Wire
from qospec.engine.graph import emulation
from qospec.engine.items.batch import Batch, build_batch
from qospec.engine.items.contract import Contract
from qospec.engine.line.clock import Clock
from qospec.engine.measure.bytes import Volume
from qospec.engine.measure.passages import Passages
from qospec.engine.source.sizes import CELLS, Sizes
from qospec.protocol.encapsulation import Encapsulation

ETHERNET = Encapsulation(8, 18, 64, 12)
LINE = Clock(Fraction(10**8), slotted=False, encapsulation=ETHERNET)
TAPS = (Tap("x.tx", 0, 0), Tap("y.rx", 0, 0), Tap("x.fabric", 1, 1), Tap("x.fabric", 2, 1))


@pytest.fixture
def passages() -> Passages:
    """Return what is counted from 100 to 200 ps: of a line by two names, of a split element."""
    nodes = (Node("line", Delay(0), LINE), *(Node("x.fabric", Delay(0)) for _ in range(2)))
    return Passages(
        Experiment(
            *connected((Contract("packets", Fraction(1), 0),) * 2),
            (Source("f", None, 0, 2, "even", Sizes((46,)), 0, 0, transport_bytes=8),),
            nodes,
            (),
            MeasurementSpec(100, 200, (0, 1), taps=TAPS),
            ("s",),
        )
    )


def packets(at_ps: list[int], connection: list[int], size_bytes: list[int]) -> Batch:
    count = len(at_ps)
    return build_batch(
        np.array(at_ps, np.int64),
        np.zeros(count, np.int64),
        np.array(connection, np.int32),
        np.array(size_bytes, np.int32),
        np.zeros(count, np.uint32),
    )


PASSING = packets([99, 100, 150, 150, 199, 200], [0, 1, 0, 1, 1, 0], [46, 46, 1_000, 40, 100, 46])


@pytest.mark.parametrize("cut", range(7))
def test_the_window_begins_with_its_start_and_ends_before_its_end(
    passages: Passages, cut: int
) -> None:
    (passage,) = passages.list_passages(0, 1)
    assert passage is not None
    for piece in (PASSING.select_range(0, cut), PASSING.select_range(cut, 6)):
        passage.add(piece)
    first = passages.pool("x.tx", slice(0, 1), packets=True)
    second = passages.pool("x.tx", slice(1, 2), packets=True)
    assert (first.carried, first.volume) == (1, Volume(1_038, 1_018, 1_000, 972))
    assert (second.carried, second.volume) == (3, Volume(2 * 84 + 138, 2 * 64 + 118, 186, 102))
    both = passages.pool("y.rx", slice(0, 2), packets=True)
    assert (both.carried, both.volume and both.volume.ip, both.window_ps) == (4, 1_186, 100)


def test_the_outputs_of_one_place_are_counted_together(passages: Passages) -> None:
    nothing, one = passages.list_passages(1, 2)
    _, other = passages.list_passages(2, 2)
    assert nothing is None
    assert one is other is not None
    one.add(PASSING)
    found = passages.pool("x.fabric", slice(0, 2), packets=True)
    assert found.volume == Volume(1_186, 1_186, 1_186, 1_074)  # no frames, and 28 B of headers


def test_nothing_passes_where_nothing_can(passages: Passages) -> None:
    assert passages.list_passages(3, 2) == ()
    found = passages.pool("z.tx", slice(0, 2), packets=False)
    assert (found.carried, found.volume) == (0, None)


@pytest.mark.parametrize("by_events", [False, True])
@pytest.mark.parametrize("chunk", [1, 1_000])
def test_the_graph_counts_what_leaves_an_output(
    vcs, listed, chunk: int, *, by_events: bool
) -> None:
    cells = [(at_ps, at_ps % 2) for at_ps in range(0, 300, 10)]
    source = Source("f", listed(cells), 0, 2, "even", CELLS, 0, 0)
    nodes = (Node("a", Delay(5)), Node("b", Delay(10)))
    taps = (Tap("a", 0, 0), Tap("b", 1, 0))
    experiment = Experiment(
        *vcs(2),
        (source,),
        nodes,
        (Wire(0, 0, 1), Wire(1, 0, END)),
        MeasurementSpec(100, 300, (0, 0), taps=taps),
        ("s",),
    )
    seen = emulation.run(experiment, chunk=chunk, by_events=by_events).passages
    assert seen is not None
    # Behind `a` those of 95 … 294 pass, behind `b` those of 85 … 284.
    assert seen.pool("a", slice(0, 2), packets=False).carried == 20
    assert seen.pool("b", slice(0, 2), packets=False).carried == 20

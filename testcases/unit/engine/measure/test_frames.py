"""Frames are those whose cells all came, however time is cut and whichever driver runs them."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import groupby
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.catalogue.kinds import Buffer
from qospec.elements.fifo import Fifo
from qospec.elements.line import Line
from qospec.elements.reorder import Reorder
from qospec.engine.experiment import (
    END,
    Experiment,
    Intervals,
    MeasurementSpec,
    Monitor,
    Node,
    Source,
    Wire,
)
from qospec.engine.graph import emulation
from qospec.engine.items.batch import Batch, allocate_batch
from qospec.engine.items.contract import Contract
from qospec.engine.items.piece import MORE_FOLLOW, note_piece, number_in, read_whole
from qospec.engine.measure.frames import Frames
from qospec.engine.source.changing import Changing
from qospec.engine.source.framing import Framing
from qospec.engine.source.sizes import CELLS
from qospec.protocol.streams import Stream, Streams, number_streams
from qospec.traffic.burst import Burst

COUNT = 3
CELL_BITS = 424
WINDOW_PS = 6 * 10**7, 2 * 10**8
TICK_PS, OVERHEAD_PS = 50_000, 12_345
"""Of the monitor where they arrive."""


class Watching:
    """Keeps what became of each cell: when it was sent, and when it arrived, if it did."""

    taps = ()

    def __init__(self) -> None:
        self.sent: list[tuple[int, int, int]] = []
        self.came: list[tuple[int, int, int, int]] = []

    def note_start(self, batch: Batch) -> None:
        piece = batch.read_column("frame")
        self.sent += zip(
            *map(np.ndarray.tolist, (batch.connection, piece, batch.sent_ps)), strict=True
        )

    def note_passage(self, place: str, _batch: Batch) -> None:
        raise AssertionError(place)

    def note_end(self, batch: Batch, how: str) -> None:
        columns = batch.connection, batch.read_column("frame"), batch.sent_ps, batch.at_ps
        if not how:
            self.came += zip(*map(np.ndarray.tolist, columns), strict=True)

    def advance(self) -> None:
        pass


def experiment(
    cells: int, *, load: int, rates: tuple[int, int] = (10, 10), behind: Any = None, gap: int = 1
) -> Experiment:
    """Return frames at a load in percent, through a queue of 5 cells to a line of another rate."""
    coming, going = (Line(Fraction(rate * 10**9), slotted=False) for rate in rates)
    every_ps = Fraction(100 * COUNT * gap * cells * CELL_BITS * 1_000, load * rates[0])
    at = None if gap == 1 else Fraction(rates[0] * 10**9, gap * CELL_BITS)
    nodes = [Node("a -> x", coming, coming.build_clock(stamps=True), size_bytes=53)]
    queue = Fifo(limit=Buffer(5, "cell"))
    nodes.append(Node("x.q", queue, going.build_clock(stamps=False), size_bytes=53))
    if behind is not None:
        nodes.append(Node("x.fault", behind, size_bytes=53))
    wires = [Wire(n, 0, n + 1) for n in range(len(nodes) - 1)]
    own = number_streams(Stream(0, kind, COUNT) for kind in ("user", "frames"))
    source = Source(
        "f", Burst(cells, every_ps, at), 0, COUNT, "random", CELLS, 0, 0,
        monitor=Monitor("b", TICK_PS, OVERHEAD_PS), framing=Framing((cells,), COUNT),
    )  # fmt: skip
    return Experiment(
        (Contract("ubr", Fraction(10**6), 0),) * 2 * COUNT,
        Streams(("f",), tuple(own)),
        (source,),
        tuple(nodes),
        (*wires, Wire(len(nodes) - 1, 0, END)),
        MeasurementSpec(
            *WINDOW_PS,
            (0,) * 2 * COUNT,
            tuple((name, COUNT, 2 * COUNT) for name in ("frame_latencies", "readings")),
        ),
        ("seed",),
    )


def frames_of(cells: list[Any]) -> Iterator[tuple[tuple[int, int], list[Any]]]:
    """Yield the cells of each frame, in order of coming, by connection and number."""
    ordered = sorted(cells, key=lambda cell: (cell[0], read_whole(cell[1])))
    for key, mine in groupby(ordered, key=lambda cell: (cell[0], read_whole(cell[1]))):
        yield key, list(mine)


def whole_frames(seen: Watching, cells: int) -> tuple[list[Any], list[Any]]:
    """Return the frames of the window that were sent, and the cells of those that came whole."""
    sent = {
        key for key, mine in frames_of(seen.sent)
        if len(mine) == cells and all(WINDOW_PS[0] <= c[2] < WINDOW_PS[1] for c in mine)
    }  # fmt: skip
    came = []
    for c in range(COUNT):
        # A cell of another frame, or of the same one out of turn, begins a new run.
        runs: list[list[Any]] = [[]]
        for cell in (arrival for arrival in seen.came if arrival[0] == c):
            if not runs[-1] or (read_whole(cell[1]), number_in(cell[1])) != (
                read_whole(runs[-1][-1][1]), len(runs[-1]),
            ):  # fmt: skip
                runs.append([])
            runs[-1].append(cell)
        for run in runs:
            if run and number_in(run[0][1]) == 0 and len(run) == cells:
                key = c, read_whole(run[0][1])
                came += [(key, run)] * (key in sent)
    return sorted(sent), came


CASES = {
    "whole": {"cells": 7, "load": 60},
    "one cell": {"cells": 1, "load": 60},
    "lost": {"cells": 7, "load": 90, "rates": (20, 10)},
    "all lost": {"cells": 40, "load": 99, "rates": (40, 10)},
    "spaced": {"cells": 7, "load": 50, "gap": 2},
    "out of order": {"cells": 5, "load": 60, "behind": Reorder(first=3, every=7, time=2 * 10**6)},
}


@pytest.mark.parametrize("name", CASES)
def test_a_frame_is_received_if_all_its_cells_are(name) -> None:
    made, cells = experiment(**CASES[name]), CASES[name]["cells"]
    watching = Watching()
    seen = emulation.run(made, observer=watching)
    sent, came = whole_frames(watching, cells)
    for c in range(COUNT):
        tally = seen.pool(COUNT + c, COUNT + c + 1)
        mine = [cells for key, cells in came if key[0] == c]
        assert tally.sent == sum(key[0] == c for key in sent) > 3
        assert tally.received == tally.delays.count == len(mine)
        assert tally.count_lost_for("incomplete") == tally.lost_count == tally.sent - tally.received
        assert tally.delays.sum_ps == sum(cells[-1][3] - cells[0][2] for cells in mine)
        ticks = sum((e[-1][3] + OVERHEAD_PS) // TICK_PS - e[0][2] // TICK_PS for e in mine)
        assert tally.readings.sum_ps == ticks * TICK_PS
    counts = seen.pool(COUNT, 2 * COUNT)
    assert (counts.lost_count > 0) == (name in ("lost", "all lost", "out of order"))


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_neither_cuts_nor_the_driver_change_anything(name) -> None:
    made = experiment(**CASES[name])
    tallies = [
        [seen.pool(first, first + 1) for first in range(2 * COUNT)]
        for seen in (
            emulation.run(made),
            emulation.run(made, chunk=1),
            emulation.run(made, chunk=17),
            emulation.run(made, by_events=True),
        )
    ]
    assert tallies.count(tallies[0]) == len(tallies)


def latencies(cells: list[Any], rates: tuple[int, int]) -> dict[str, Fraction]:
    """Return the latencies of a frame by their definition, in exact time."""
    cell_in, cell_out = (Fraction(CELL_BITS * 1_000, rate) for rate in rates)
    first_in, last_in = cells[0][2], cells[-1][2] + cell_in
    first_out, last_out = cells[0][3] - cell_out, cells[-1][3]
    without_delay = Fraction(0)
    for cell in cells:
        without_delay = max(without_delay, cell[2]) + cell_out
    return {
        "fifo": first_out - first_in,
        "lilo": last_out - last_in,
        "lifo": first_out - last_in,
        "filo": Fraction(last_out - first_in),
        "mimo": min(last_out - last_in, last_out - without_delay),
    }


@given(
    st.sampled_from([(10, 10), (20, 10), (10, 40), (7, 3)]), st.integers(1, 2), st.integers(1, 9)
)
def test_latencies_are_those_of_the_definition(rates, gap, cells) -> None:
    load = 100 * min(rates) // (3 * rates[0])
    made = experiment(cells, load=load, rates=rates, gap=gap)
    watching = Watching()
    seen = emulation.run(made, observer=watching)
    _, came = whole_frames(watching, cells)
    expected = [latencies(mine, rates) for _, mine in came]
    found = seen.pool(COUNT, 2 * COUNT).frames
    for name in ("fifo", "lilo", "lifo", "filo", "mimo"):
        its, values = getattr(found, name), [frame[name] for frame in expected]
        assert its.count == len(values) > 0
        assert abs(Fraction(its.sum_ps, its.count) - sum(values) / len(values)) <= 2
        assert abs(its.min_ps - min(values)) <= 2
        assert abs(its.max_ps - max(values)) <= 2


@pytest.mark.parametrize(
    ("rates", "sent_every", "came_every", "lilo", "filo", "mimo"),
    [
        ((424, 424), 1, 1, 2, 12, 2),
        ((212, 424), 2, 1, 1, 21, 1),
        ((424, 212), 1, 2, 11, 21, 1),
    ],
)
def test_mimo_of_ten_cells_by_hand(rates, sent_every, came_every, lilo, filo, mimo) -> None:
    """ATM Forum/97-0178, 1; in ns, which a cell takes at 424 Gbit/s: NFOT is 10, 10 and 20 ns."""
    frames = Frames(experiment(10, load=50, rates=rates))
    cells = np.arange(10)
    batch = allocate_batch(10, width=1)._replace(
        sent_ps=cells * sent_every * 1_000,
        at_ps=(filo - (9 - cells) * came_every) * 1_000,
        connection=np.zeros(10, np.int32),
        more=np.array([[note_piece(1, n, int(n < 9))] for n in cells]),
    )
    frames.record_latencies(frames.find_arrived(batch, 1), 1)
    found = frames.pool(slice(COUNT, 2 * COUNT))
    assert found is not None
    seen = [getattr(found, name).sum_ps for name in ("lilo", "filo", "mimo")]
    assert seen == [lilo * 1_000, filo * 1_000, mimo * 1_000]


def test_a_change_of_the_source_leaves_a_frame_unfinished() -> None:
    """It is not sent, and the next begins with its first cell."""
    made = experiment(8, load=60, gap=2)
    burst = made.sources[0].arrivals
    changes = tuple((n * 19_765_432, burst) for n in range(10))
    source = made.sources[0]._replace(arrivals=Changing(changes))
    watching = Watching()
    emulation.run(made._replace(sources=(source,)), observer=watching)
    by_frame = [[number_in(piece) for _, piece, _ in mine] for _, mine in frames_of(watching.sent)]
    cut = [numbers for numbers in by_frame if len(numbers) < 8]
    assert all(numbers == list(range(len(numbers))) for numbers in by_frame)
    assert 0 < len(cut) <= len(changes) * COUNT, "at changes, and at the end"
    assert all(
        (number_in(piece) == 7) == (not piece & MORE_FOLLOW) for _, piece, _ in watching.sent
    )


@pytest.mark.parametrize("chunk", [None, 1, 5])
def test_frames_of_several_sizes_take_turns(chunk) -> None:
    """Whoever counts frames follows what the cells note, whatever their sizes."""
    sizes = (2, 1, 4)
    made = experiment(sum(sizes), load=60)
    source = made.sources[0]._replace(framing=Framing(sizes, COUNT))
    watching = Watching()
    seen = emulation.run(made._replace(sources=(source,)), observer=watching, chunk=chunk)
    lengths: dict[int, list[int]] = {}
    for (c, _), mine in frames_of(watching.sent):
        assert [number_in(piece) for _, piece, _ in mine] == list(range(len(mine)))
        lengths.setdefault(c, []).append(len(mine))
    for c in range(COUNT):
        assert lengths[c][:7] == [2, 1, 4, 2, 1, 4, 2]
        assert seen.pool(COUNT + c, COUNT + c + 1).lost_count == 0
        whole = seen.pool(COUNT + c, COUNT + c + 1).received
        assert 2 < whole <= len(lengths[c])


@pytest.mark.parametrize("name", ["lost", "spaced"])
def test_delays_are_known_by_place(name) -> None:
    """Of all cells of the window that came, whatever became of their frames."""
    made, cells = experiment(**CASES[name]), CASES[name]["cells"]
    source = made.sources[0]._replace(monitor=Monitor("b", 10_000, 3_000))
    followed = (("positions", 0, COUNT), ("readings", 0, COUNT))
    made = made._replace(
        sources=(source,), measurement=made.measurement._replace(followed=followed)
    )
    watching = Watching()
    seen = emulation.run(made, observer=watching)
    again = emulation.run(made, by_events=True)
    assert seen.pool(0, COUNT) == again.pool(0, COUNT)
    came = [cell for cell in watching.came if WINDOW_PS[0] <= cell[2] < WINDOW_PS[1]]
    for first, stop in ((0, COUNT), (1, 2)):
        tally = seen.pool(first, stop)
        assert len(tally.positions) == len(tally.position_readings) == cells
        for place in range(cells):
            mine = [c for c in came if first <= c[0] < stop and number_in(c[1]) == place]
            assert tally.positions[place].count == len(mine) > 10
            assert tally.positions[place].sum_ps == sum(c[3] - c[2] for c in mine)
            ticks = sum((c[3] + 3_000) // 10_000 - c[2] // 10_000 for c in mine)
            assert tally.position_readings[place].sum_ps == 10_000 * ticks
    assert seen.pool(COUNT, 2 * COUNT).positions is None


@pytest.mark.parametrize("by_events", [False, True])
def test_frames_are_known_by_interval(by_events) -> None:
    """Each in that in which its first cell was sent: sent, received or lost, and its delay."""
    made, cells = experiment(**CASES["lost"]), CASES["lost"]["cells"]
    every = Intervals(COUNT, 2 * COUNT, 3 * 10**7)
    made = made._replace(measurement=made.measurement._replace(series=(every,)))
    watching = Watching()
    seen = emulation.run(made, observer=watching, by_events=by_events)
    sent, came = whole_frames(watching, cells)
    began = {key: mine[0][2] for key, mine in frames_of(watching.sent)}
    tallies = list(seen.series.pool_intervals(every, 53))
    assert len(tallies) == 5
    for number, tally in enumerate(tallies):
        start_ps = WINDOW_PS[0] + number * every.every_ps
        inside = range(start_ps, start_ps + every.every_ps)
        mine = [run for key, run in came if began[key] in inside]
        assert tally.sent == sum(began[key] in inside for key in sent) > 0
        assert tally.received == len(mine)
        assert tally.lost_count == tally.sent - tally.received
        assert tally.delays.sum_ps == sum(run[-1][3] - run[0][2] for run in mine)


@pytest.mark.slow
@pytest.mark.parametrize("chunk", [None, 1, 17])
def test_frames_are_planned_that_a_line_is_too_slow_for(chunk) -> None:
    """At one and a half times its rate: those whose cells are ready within the window."""
    made = experiment(7, load=150)
    followed = (("planned", COUNT, 2 * COUNT),)
    source = made.sources[0]._replace(phases="even")
    made = made._replace(
        sources=(source,), measurement=made.measurement._replace(followed=followed)
    )
    seen = emulation.run(made, chunk=chunk)
    every_ps = Fraction(100 * COUNT * 7 * CELL_BITS * 1_000, 150 * 10)
    for c in range(COUNT):
        ready = (c * every_ps / COUNT + n * every_ps for n in range(10_000))
        expected = sum(WINDOW_PS[0] <= int(at_ps) < WINDOW_PS[1] for at_ps in ready)
        assert seen.pool(COUNT + c, COUNT + c + 1).planned == expected
    whole = seen.pool(COUNT, 2 * COUNT)
    assert 0 < whole.sent < whole.planned

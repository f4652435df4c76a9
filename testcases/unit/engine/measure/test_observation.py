"""The recorder against plain Python; the tally pools connections."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from connected import Connected

from qospec.engine.element import Loss
from qospec.engine.experiment import Experiment, MeasurementSpec, Source
from qospec.engine.items.batch import Batch
from qospec.engine.measure.observation import Observation, Recorder
from qospec.engine.measure.tally import Delays
from qospec.engine.source.sizes import CELLS, Sizes

Maker = Callable[..., Batch]
WINDOW = (1_000, 2_000)


@pytest.fixture
def recorder(vcs: Callable[..., Connected], listed: Any) -> Callable[..., Recorder]:
    """Return a maker of recorders for three VCs, the last of a second flow, and their OAM cells."""

    def make(**changed: Any) -> Recorder:
        sources = (
            Source("f", listed([(0, 0)]), 0, 2, "even", CELLS, 0, 0),
            Source("g", listed([(0, 0)]), 2, 1, "even", Sizes((64,)), 0, 0),
        )
        measurement = MeasurementSpec(*WINDOW, histogram_row=(0, 0, 1))._replace(**changed)
        return Recorder(
            Experiment(*vcs(3, inserted=("oam",)), sources, (), (), measurement, ("seed",))
        )

    return make


def drawn(seed: int, count: int = 300) -> tuple[list[int], list[int], list[int]]:
    """Return (at, sent, connection) of cells in order, some of them sent outside of the window."""
    stream = np.random.Generator(np.random.Philox(seed))
    at_ps = np.sort(stream.integers(500, 4_000, count))
    sent_ps = at_ps - stream.integers(0, 500, count)
    return at_ps.tolist(), sent_ps.tolist(), stream.integers(0, 3, count).tolist()


def seen(recorder: Recorder) -> Observation:
    return recorder.build_observation()


@pytest.mark.parametrize("seed", range(3))
def test_received_delays_equal_plain_python(
    recorder: Callable[..., Recorder], batch_of: Maker, seed: int
) -> None:
    at_ps, sent_ps, connection = drawn(seed)
    one = recorder()
    one.count_arrived(batch_of(at_ps, connection, sent_ps), 0)
    rows = zip(at_ps, sent_ps, connection, strict=True)
    inside = [(at - sent, c) for at, sent, c in rows if WINDOW[0] <= sent < WINDOW[1]]
    observation = seen(one)
    for first, stop in ((0, 3), (0, 2), (2, 3), (1, 2)):
        values = [delay for delay, c in inside if first <= c < stop]
        assert values, "this would check nothing"
        tally = observation.pool(first, stop)
        assert tally.received == tally.delays.count == len(values)
        assert tally.delays.sum_ps == sum(values)
        assert tally.delays.sum_of_squares_ps2 == sum(v**2 for v in values)
        assert (tally.delays.min_ps, tally.delays.max_ps) == (min(values), max(values))
        assert tally.up == len({c for _, c in inside if first <= c < stop})


def test_buckets_hold_the_delays_of_a_flow(
    recorder: Callable[..., Recorder], batch_of: Maker
) -> None:
    one = recorder()
    one.count_arrived(batch_of([1_600, 1_600, 2_300], [0, 1, 2], [1_100, 1_100, 1_100]), 0)
    observation = seen(one)
    assert observation.pool(0, 2).delays.buckets == ((500, 501, 2),)
    assert observation.pool(2, 3).delays.buckets == ((1_200, 1_202, 1),)
    assert observation.pool(0, 3).delays.buckets == ((500, 501, 2), (1_200, 1_202, 1))


def test_a_part_of_those_that_share_a_histogram_has_no_buckets(
    recorder: Callable[..., Recorder], batch_of: Maker
) -> None:
    one = recorder()
    one.count_arrived(batch_of([1_600] * 3, [0, 1, 1], [1_100] * 3), 0)
    delays = seen(one).pool(0, 1).delays
    assert delays.buckets == ()
    assert delays.compute_quantile_ps(Fraction(1, 2)) == 500, "one cell needs no histogram"
    assert seen(one).pool(1, 2).delays.compute_quantile_ps(Fraction(3, 4)) == 500
    assert replace(delays, count=3).compute_quantile_ps(Fraction(1, 2)) is None


def test_without_a_histogram_there_are_no_buckets(
    recorder: Callable[..., Recorder], batch_of: Maker
) -> None:
    one = recorder(histogram_row=(-1, -1, -1))
    one.count_arrived(batch_of([1_600], [0], [1_100]), 0)
    assert seen(one).pool(0, 1).delays.buckets == ()
    assert seen(one).histogram.size == 0


def test_planned_counts_by_the_time_of_being_ready(
    recorder: Callable[..., Recorder], batch_of: Maker
) -> None:
    one = recorder()
    one.count_planned(batch_of([999, 1_000, 1_999, 2_000], [0, 0, 1, 1]))
    assert seen(one).planned.tolist() == [1, 1, 0, 0, 0, 0]


def test_planned_needs_no_look_at_each_cell_of_a_single_connection(
    recorder: Callable[..., Recorder], batch_of: Maker
) -> None:
    one = recorder()
    one.count_planned(batch_of([998, 999, 1_000, 1_000, 1_999, 2_000], [1] * 6), alone=True)
    one.count_planned(batch_of([2_000, 2_001], [1] * 2), alone=True)
    assert seen(one).planned.tolist() == [0, 3, 0, 0, 0, 0]


def test_sent_counts_by_the_time_of_sending(
    recorder: Callable[..., Recorder], batch_of: Maker
) -> None:
    one = recorder()
    one.count_sent(batch_of([1_500, 2_100, 2_200], [0, 2, 2], [999, 1_999, 2_000]))
    one.count_sent(batch_of([1_500], [1], [1_200]))
    assert seen(one).sent.tolist() == [0, 1, 1, 0, 0, 0]


def test_a_batch_that_ends_exactly_where_the_window_does_is_cut_there(
    recorder: Callable[..., Recorder], batch_of: Maker
) -> None:
    """The window is from 1,000 ps, which is within, to 2,000 ps, which is not."""
    one, last = recorder(), WINDOW[1]
    edge = batch_of([last - 1, last], [0, 0])
    one.count_planned(edge)
    one.count_sent(edge)
    one.count_arrived(batch_of([last, last + 1], [1, 1], [last - 1, last]), 0)
    one.count_arrived(batch_of([last - 1, last], [2, 2], [1_500, 1_600]), 0)
    one.count_lost("sw.upc", Loss("policed", edge))
    observation = seen(one)
    assert observation.planned.tolist()[:3] == [1, 0, 0]
    assert observation.sent.tolist()[:3] == [1, 0, 0]
    assert observation.received.tolist()[:3] == [0, 1, 2]
    assert observation.carried.tolist()[:3] == [0, 0, 1]
    assert observation.pool(0, 1).lost == {("sw.upc", "policed"): 1}


def test_a_batch_that_begins_exactly_where_the_window_does_is_whole(
    recorder: Callable[..., Recorder], batch_of: Maker
) -> None:
    one, first = recorder(), WINDOW[0]
    edge = batch_of([first, first + 1], [0, 0])
    one.count_planned(edge)
    one.count_sent(edge)
    one.count_arrived(batch_of([first, first], [1, 1], [first - 1, first]), 0)
    one.count_lost("sw.upc", Loss("policed", edge))
    observation = seen(one)
    assert observation.planned.tolist()[:3] == [2, 0, 0]
    assert observation.sent.tolist()[:3] == [2, 0, 0]
    assert observation.received.tolist()[:3] == [0, 1, 0]
    assert observation.carried.tolist()[:3] == [0, 2, 0]
    assert observation.pool(0, 1).lost == {("sw.upc", "policed"): 2}


def test_oam_cells_are_sent_where_they_appear(
    recorder: Callable[..., Recorder], batch_of: Maker
) -> None:
    """VC 0's OAM is index 3. One is made outside of the window, and one user item is made."""
    one = recorder()
    one.count_made(batch_of([1_100, 1_100, 2_500], [3, 0, 4]))
    assert seen(one).sent.tolist() == [0, 0, 0, 1, 0, 0]


def test_what_is_consumed_counts_where_it_was_sent(
    recorder: Callable[..., Recorder], batch_of: Maker
) -> None:
    one = recorder()
    one.count_consumed(batch_of([1_500, 2_500, 2_600], [1, 1, 0], [1_100, 1_999, 2_000]))
    assert seen(one).consumed.tolist() == [0, 2, 0, 0, 0, 0]
    assert seen(one).pool(0, 2).consumed == 2


def test_losses_are_kept_by_element_and_cause(
    recorder: Callable[..., Recorder], batch_of: Maker
) -> None:
    one = recorder()
    cells = batch_of([1_500] * 4, [0, 1, 2, 2], [1_000, 999, 1_999, 2_000])
    one.count_lost("sw.upc", Loss("policed", cells))
    one.count_lost("sw.line", Loss("overflow", cells.select_range(0, 1), "sw.queue"))
    one.count_lost("sw.line", Loss("overflow", cells.select_range(1, 2)))
    observation = seen(one)
    assert observation.pool(0, 3).lost == {("sw.queue", "overflow"): 1, ("sw.upc", "policed"): 2}
    assert observation.pool(0, 2).lost == {("sw.queue", "overflow"): 1, ("sw.upc", "policed"): 1}
    assert observation.pool(1, 2).lost == {}


def test_clumping_is_followed_at_each_end_apart(
    recorder: Callable[..., Recorder], batch_of: Maker
) -> None:
    """T is 10 ps. At each of the two ends, VC 0's cells come at the peak rate."""
    one = recorder(followed=(("one_point_variation", 0, 3),))
    for point, at_ps in enumerate(([1_100, 1_110], [1_101, 1_111])):
        one.count_arrived(batch_of(at_ps, [0, 0]), point)
    one.count_arrived(batch_of([1_200, 1_204, 1_240], [1, 1, 1]), 0)
    observation = seen(one)
    tallies = [observation.pool(*part) for part in ((0, 1), (1, 2), (2, 3), (0, 3), (3, 6))]
    extremes = [(t.one_point_variation_max_ps, t.one_point_variation_min_ps) for t in tallies]
    assert extremes == [(0, 0), (6, -20), (None, None), (6, -20), (None, None)]


def test_nothing_seen_is_an_empty_tally(recorder: Callable[..., Recorder]) -> None:
    tally = seen(recorder()).pool(0, 3)
    assert (tally.connections, tally.up, tally.sent, tally.received) == (3, 0, 0, 0)
    assert tally.delays == Delays()
    assert tally.one_point_variation_max_ps is None
    assert tally.window_ps == 1_000


def test_the_size_is_that_of_the_source_s_cells(recorder: Callable[..., Recorder]) -> None:
    observation = seen(recorder())
    assert [observation.pool(i, i + 1).size_bytes for i in (0, 2, 3)] == [53, 64, 53]


@pytest.mark.parametrize("parts", [1, 2, 7])
def test_cuts_of_the_batches_change_nothing(
    recorder: Callable[..., Recorder], batch_of: Maker, parts: int
) -> None:
    at_ps, sent_ps, connection = drawn(5)
    one, other = (
        recorder(followed=(("one_point_variation", 0, 3),)),
        recorder(followed=(("one_point_variation", 0, 3),)),
    )
    batch = batch_of(at_ps, connection, sent_ps)
    one.count_arrived(batch, 0)
    for part in np.array_split(np.arange(batch.count), parts):
        other.count_arrived(batch.select_range(int(part[0]), int(part[-1]) + 1), 0)
    assert seen(one).pool(0, 3) == seen(other).pool(0, 3)
    assert seen(one).pool(0, 3).received > 0

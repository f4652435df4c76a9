"""What a tester reads is a whole number of ticks, and on average the delay with its overhead."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from qospec.engine.experiment import Monitor
from qospec.metrics.delay_reading import DelayReading

MONITORS = st.builds(Monitor, st.just("b"), st.integers(0, 10**6), st.integers(-(10**9), 10**6))
NEEDS = ("readings",)


@given(data=st.data(), monitor=MONITORS)
def test_each_is_from_the_last_tick_to_the_last_tick(road, data, monitor):
    trips, cuts = data.draw(road.journeys())
    tally = road.tally(
        trips, cuts=cuts, connections=3, sizes=(46, 200, 1_500), needs=NEEDS, monitor=monitor
    )
    tick_ps = monitor.resolution_ps or 1
    readings = [
        (max(t.at_ps + monitor.overhead_ps, t.sent_ps) // tick_ps - t.sent_ps // tick_ps) * tick_ps
        for t in trips
        if not t.lost
    ]
    assert DelayReading().measure(tally, "min") == min(readings, default=None)
    assert DelayReading().measure(tally, "max") == max(readings, default=None)
    mean = Fraction(sum(readings), len(readings)) if readings else None
    assert DelayReading().measure(tally, "mean") == mean


def test_the_loop_of_a_monitor_reads_as_published(road):
    """A cell over 10 m of fibre takes 2.8812 us; with 0.4488 us a monitor of 0.5 us reads 3.33 us.

    Readings are 3 us and 3.5 us: those of a clock without ticks would all be 3.33 us.
    Source: ATM Forum/97-0178, 1.1.
    """
    trips = [road.trip(number * 216_123_457, 2_881_200) for number in range(1_000)]
    frame_ps = trips[0].delay_ps - 2_881_200  # of the packet that stands for a cell
    whole_ticks_ps = 6_000_000
    monitor = Monitor("b", 500_000, 448_800 + whole_ticks_ps - frame_ps)
    tally = road.tally(trips, needs=NEEDS, monitor=monitor)
    found = [
        DelayReading().measure(tally, name) - whole_ticks_ps for name in ("min", "max", "mean")
    ]
    assert found[:2] == [3_000_000, 3_500_000]
    assert abs(found[2] - 3_330_000) < 10_000


def test_it_is_unknown_where_nothing_was_recorded(tally):
    assert DelayReading().measure(tally(), "mean") is None

"""Each latency of frames is the one of its name; their values are tested with the recorder."""

import pytest

from qospec.engine.measure.tally import Delays, FrameLatencies
from qospec.metrics.frame_latency import (
    FifoLatency,
    FiloLatency,
    LifoLatency,
    LiloLatency,
    MimoLatency,
)

METRICS = (FifoLatency, LiloLatency, LifoLatency, FiloLatency, MimoLatency)


def of_one(time_ps: int) -> Delays:
    return Delays(1, time_ps, time_ps**2, time_ps, time_ps)


@pytest.mark.parametrize("metric", METRICS)
def test_it_reads_its_own(metric, tally) -> None:
    times = {"fifo": 3, "lilo": 5, "lifo": -7, "filo": 11, "mimo": 2}
    seen = tally(frames=FrameLatencies(**{name: of_one(time) for name, time in times.items()}))
    expected = times[metric.__name__.removesuffix("Latency").lower()]
    assert {metric().measure(seen, name) for name in ("mean", "min", "max")} == {expected}
    assert metric().measure(seen, "std") == 0


@pytest.mark.parametrize("metric", METRICS)
def test_it_is_unknown_where_nothing_was_recorded(metric, tally) -> None:
    assert metric().measure(tally(), "mean") is None
    with pytest.raises(ValueError, match="no statistic `p99`"):
        metric().measure(tally(), "p99")

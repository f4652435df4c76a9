"""What metrics declare of their least and greatest values."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product

import pytest

from qospec.catalogue.kinds import Kind, discover
from qospec.engine.measure.calls import RatedCall
from qospec.engine.measure.samples import QUANTITIES
from qospec.engine.measure.tally import (
    Delays,
    FrameLatencies,
    Outages,
    Packet,
    Reordering,
    Sample,
    Smoothed,
    Tally,
    Variation,
    combine_signs,
)
from qospec.voice.calls import Call, Heard

METRICS = discover().select_role("metric")
EXAMPLES = {
    "p*": "p99",
    "packet_*": "packet_3",
    "mark_*": "dscp_46",
    "cell_*": "cells_1_2",
    "causes": "policed",
}
CALL = Call(Fraction(0), Fraction("4.3"), 20 * 10**9, 10**9)
STEPS = Delays(2, 6, 36, 0, 6, ((0, 1, 1), (6, 7, 1)))
VARIATION = Variation(
    *(STEPS, STEPS, combine_signs(Delays(), STEPS), STEPS),
    Reordering(1, 2, 2),
    Smoothed(Fraction(0), Fraction(3, 16), Fraction(1, 8)),
    Smoothed(Fraction(1, 16), Fraction(3, 16), Fraction(1, 8)),
    (Packet(1, 0, 7, 7), Packet(2, 9, 9, 0), Packet(3, 10, 110, 90)),
)


def seen(tally: Callable[..., Tally]) -> Iterator[Tally]:
    """Yield tallies at the edges of what can be seen: nothing sent, all lost, one cell, many."""
    yield tally()
    for sent, lost, delays in product((1, 7), (0, 1, 7), ((1,), (0, 0), (5, 9, 70))):
        if lost <= sent:
            made = tally(delays_ps=delays)
            yield tally(
                latencies=made.delays.reduce(min(delays)),
                readings=made.delays,
                positions=(made.delays, made.delays),
                position_readings=(made.delays, made.delays),
                frames=FrameLatencies(*[made.delays] * 5),
                variation=VARIATION,
                outages=Outages(delays[-1], lost, 3),
                calls=(RatedCall(CALL, Heard(sent, sent - lost, 0, min(lost, 1), delays[0])),),
                shares=delays,
                fates=((sent, lost), (sent, 0)),
                sent=sent,
                planned=sent,
                received=sent - lost,
                carried=sent - lost,
                up=min(1, sent - lost),
                errored=min(1, sent - lost),
                keys=min(1, sent),
                marked={46 << 3 | 3 << 23: min(1, sent - lost)},
                samples=dict.fromkeys(QUANTITIES, Sample(len(delays), sum(delays), 0, max(delays))),
                lost={("q", "policed"): lost},
                delays_ps=delays,
                one_point_variation_min_ps=-3,
                one_point_variation_max_ps=-1,
            )


def measured(kind: Kind, tally: Callable[..., Tally]) -> list[object]:
    metric = kind.build()
    statistics = [EXAMPLES.get(name, name) for name in metric.statistics] or [""]
    values = [metric.measure(counted, name) for counted in seen(tally) for name in statistics]
    return [value for value in values if value is not None]


@pytest.mark.parametrize("name", METRICS)
def test_no_value_is_beyond_what_its_metric_declares(name, tally) -> None:
    kind = METRICS[name]
    values = measured(kind, tally)
    assert len(values) > 1
    assert kind.build.least is None or min(values) >= kind.build.least
    assert kind.build.most is None or max(values) <= kind.build.most


def test_only_what_may_be_early_is_below_zero() -> None:
    unbounded = [name for name, kind in METRICS.items() if kind.build.least is None]
    assert unbounded == [
        "cell_delay_variation_1_point",
        "lifo_latency",
        "mimo_latency",
        "ip_packet_delay_variation",
    ]

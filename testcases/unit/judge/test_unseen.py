"""A mean may be lower by as much as losses that the repeats did not show may make it."""

from dataclasses import replace
from fractions import Fraction

import pytest

from qospec.engine.measure.tally import Delays
from qospec.judge.confidence import judge_repeats
from qospec.judge.verdict import Judgement
from qospec.model.expression import Constant, Expression, Measured, Operation
from qospec.model.suite import Statement
from qospec.source import Source, Span
from qospec.units import CELLS, COUNT, RATIO

SPAN = Span(Source("a.qos", "expect\n"), 0, 6)
RARE = 1 - 0.05 ** (1 / 5)
"""What share of repeats may be others, where five are not."""
NEARLY = (Fraction(436_001, 10**5), *[Fraction(436, 100)] * 4)


def measured(metric: str, dimension: object, least: int, statistic: str = "", flow: str = "f"):
    name = flow + metric
    return Measured(
        "", flow, None, "user", metric, statistic, dimension, name, least=Fraction(least)
    )


MOS = measured("mean_opinion_score", COUNT, 1, "mean")
RECEIVED = measured("received", CELLS, 0)
FAIRNESS = replace(measured("fairness_index", RATIO, 0), most=Fraction(1))


class Seen:
    """A repeat in which values were measured, by metric or by flow and metric, and no delays."""

    drawn = True

    def __init__(self, values: dict) -> None:
        self._values = values

    def read(self, leaf: Measured) -> Fraction | None:
        value = self._values.get(leaf.flow + "." + leaf.metric, self._values.get(leaf.metric))
        return None if value is None else Fraction(value)

    def read_delays(self, _leaf: Measured) -> Delays:
        return Delays()


def judged(asked: Expression, rows: list[dict]) -> Judgement:
    condition = Operation(">", (asked, Constant(Fraction(0), asked.dimension)))
    statement = Statement("expect", "", "", condition, SPAN, Fraction(95, 100))
    return judge_repeats(statement, [Seen(row) for row in rows], len(rows))


def lower_end(asked: Expression, rows: list[dict]) -> float:
    return float(judged(asked, rows).interval.lower.value)


def calls(packets: int, received: int | None = None, late: int = 0) -> list[dict]:
    arrived = packets if received is None else received
    counts = {"planned": packets, "received": arrived, "late": late}
    return [{"mean_opinion_score": value, **counts} for value in NEARLY]


def test_five_repeats_that_agree_do_not_show_what_few_packets_may_do() -> None:
    """They differ by a hundred-thousandth, and 60 packets exclude no 4 % of loss."""
    middle = float(sum(NEARLY) / 5)
    assert lower_end(MOS, calls(12)) == pytest.approx(middle - RARE * (middle - 1), abs=1e-6)


def test_many_packets_show_that_hardly_any_are_lost() -> None:
    """R falls by at most 95 / 4.3 per cent of loss, and MOS by 0.053 times that."""
    loss = 1 - 0.05 ** (1 / 500_000)
    fall = 0.053 * 95 / 4.3 * 100 * loss
    assert lower_end(MOS, calls(100_000)) == pytest.approx(float(sum(NEARLY) / 5) - fall, abs=2e-5)


def test_late_packets_count_as_lost() -> None:
    on_time, late = calls(100_000), calls(100_000, late=1_000)
    assert lower_end(MOS, late) < lower_end(MOS, on_time) - 0.02
    assert lower_end(MOS, late) == lower_end(MOS, calls(100_000, received=99_000))


def test_one_packet_may_spoil_the_worst_call() -> None:
    worst = measured("mean_opinion_score", COUNT, 1, "min")
    middle = float(sum(NEARLY) / 5)
    found = lower_end(worst, calls(100_000))
    assert found == pytest.approx(middle - RARE * (middle - 1), abs=1e-6)


@pytest.mark.parametrize(("last", "lost"), [(1_000, 2.9957), (999, 4.7439)])
def test_what_is_received_may_be_less_by_what_may_have_been_lost(last, lost) -> None:
    """Five repeats that do not differ, or do: the Poisson bounds of none and of one."""
    rows = [
        {"planned": 1_000, "received": received} for received in (1_000, 1_000, 1_000, 1_000, last)
    ]
    assert lower_end(RECEIVED, rows) <= 1_000 - lost / 5 + 1e-3
    assert last < 1_000 or lower_end(RECEIVED, rows) == pytest.approx(1_000 - lost / 5, abs=1e-3)


def test_equal_repeats_of_which_too_little_is_known_may_be_anything() -> None:
    rows = [{"received": 1_000}] * 5
    assert lower_end(RECEIVED, rows) == pytest.approx(1_000 * (1 - RARE))


def test_fairness_falls_by_no_more_than_what_is_lost() -> None:
    rows = [{"planned": 1_000, "received": 1_000, "fairness_index": 1}] * 5
    assert lower_end(FAIRNESS, rows) == pytest.approx(0.05 ** (1 / 5_000), abs=1e-9)


def test_what_many_losses_did_to_fairness_others_will_do() -> None:
    """It is 0.999 though a tenth is lost, by 500 independent losses; 0.73 % more may be."""
    rows = [{"planned": 1_000, "received": 900, "fairness_index": Fraction(999, 1_000)}] * 5
    fall = (0.01 + 0.99 / 501) * 0.0073
    assert lower_end(FAIRNESS, rows) == pytest.approx(0.999 - fall, abs=1e-6)


def test_either_side_of_a_difference_may_lose_more() -> None:
    """And what is sent is known."""
    other, sent = measured("received", CELLS, 0, flow="g"), measured("sent", CELLS, 0)
    rows = [{"planned": 1_000, "received": received, "sent": 900} for received in (1_000, 999) * 3]
    shown = judged(Operation("-", (RECEIVED, other), CELLS), rows).interval
    reach = 7.7537 / 6 - 0.5  # three were lost of 6,000, and may be as many by the Poisson bound
    assert float(shown.lower.value) == pytest.approx(-reach, rel=1e-3)
    assert float(shown.upper.value) == pytest.approx(reach, rel=1e-3)
    beside = Operation("-", (RECEIVED, replace(sent, of_source=True)), CELLS)
    assert lower_end(beside, rows) == pytest.approx(lower_end(RECEIVED, rows) - 900)

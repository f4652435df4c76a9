"""The interval that is shown: a count goes no lower than 0, unless that end decides."""

from fractions import Fraction

import pytest

from qospec.catalogue.kinds import discover
from qospec.engine.measure.tally import Delays
from qospec.judge.confidence import compute_mean_over_repeats, judge_repeats
from qospec.judge.verdict import Side
from qospec.model.expression import Constant, Measured, Operation
from qospec.model.suite import Statement
from qospec.record.statements import describe_interval
from qospec.source import Source, Span
from qospec.units import COUNT, RATIO, TIME

METRICS = discover()
SPAN = Span(Source("a.qos", "expect f.lost < 1\n"), 0, 6)
# mean 1.6, deviation 3.58, as skewed as is assumed at most: 95 % reach 8.224 to either side
RARE = (0, 0, 0, 0, 8)
LOW, HIGH = 1.6 - 8.2239, 1.6 + 8.2239


def measured(metric: str, statistic: str = "", dimension: object = COUNT) -> Measured:
    kind = METRICS.find("metric", metric).build
    least, most = kind.least, kind.most
    return Measured(
        "",
        "f",
        None,
        part="user",
        metric=metric,
        statistic=statistic,
        dimension=dimension,
        text="",
        least=None if least is None else Fraction(least),
        most=None if most is None else Fraction(most),
    )


UP = measured("connections_up")


class Seen:
    """A repeat that measured the metrics of a row, and no delays."""

    drawn = True

    def __init__(self, row: dict) -> None:
        self._row = row

    def read(self, leaf: Measured) -> Fraction | None:
        value = self._row.get(leaf.metric)
        return None if value is None else Fraction(value)

    def read_delays(self, _leaf: Measured) -> Delays:
        return Delays()


def ends(expression, rows, kind: str = "expect") -> tuple[float, float]:
    statement = Statement(kind, "", "", expression, SPAN, Fraction("0.95"))
    shown_one = judge_repeats(statement, [Seen(row) for row in rows], len(rows))
    found = describe_interval(statement, shown_one)
    return tuple(float(Fraction(found[end]["value"])) for end in ("lower", "upper"))


def of(metric: str, values) -> list[dict]:
    return [{metric: value, "sent": 100} for value in values]


@pytest.mark.parametrize(
    ("operator", "bound", "lower"),
    [
        ("<", 20, 0),
        (">", 20, 0),
        ("<=", 0, 0),
        (">", 0, 0),
        (">=", 0, LOW),
        ("<", 0, LOW),
        (">=", -1, LOW),
    ],
)
def test_a_count_is_shown_below_zero_only_where_that_decides(operator, bound, lower) -> None:
    constant = Constant(Fraction(bound), COUNT)
    found = ends(Operation(operator, (UP, constant)), of("connections_up", RARE))
    assert found == pytest.approx((lower, HIGH), abs=0.001)
    mirrored = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}[operator]
    found = ends(Operation(mirrored, (constant, UP)), of("connections_up", RARE))
    assert found == pytest.approx((lower, HIGH), abs=0.001)


@pytest.mark.parametrize(
    ("operator", "width", "target", "lower"),
    [
        ("within", 3, 4, 0),
        ("within", 4, 4, LOW),
        ("within", 5, 4, LOW),
        ("within share", "0.5", 4, 0),
        ("within share", 2, 4, LOW),
    ],
)
def test_of_a_tolerance_either_edge_may_decide(operator, width, target, lower) -> None:
    operands = (UP, Constant(Fraction(width), COUNT), Constant(Fraction(target), COUNT))
    found = ends(Operation(operator, operands), of("connections_up", RARE))
    assert found == pytest.approx((lower, HIGH), abs=0.001)


def test_a_ratio_is_at_most_one() -> None:
    fairness = measured("fairness_index", dimension=RATIO)
    values = [1, 1, 1, 1, Fraction(1, 2)]
    bound = Constant(Fraction(1, 3), RATIO)
    assert ends(Operation(">", (fairness, bound)), of("fairness_index", values))[1] == 1


def test_what_may_be_negative_stays() -> None:
    signed = measured("ip_packet_delay_variation", "min", TIME)
    bound = Constant(Fraction(20), TIME)
    rows = of("ip_packet_delay_variation", RARE)
    assert ends(Operation("<", (signed, bound)), rows)[0] == pytest.approx(LOW, abs=0.001)


def test_a_difference_stays() -> None:
    rows = [{"connections_up": value, "sent": 0} for value in RARE]
    sent = measured("sent")
    found = ends(Operation("<", (UP, sent)), rows)
    assert found[0] == pytest.approx(LOW, abs=0.001)


@pytest.mark.parametrize(
    ("expression", "lower"),
    [(UP, 0), (Operation("-", (UP, measured("sent")), COUNT), 1.6 - 4.4424)],
)
def test_of_a_report_what_is_known_of_the_value_counts(expression, lower) -> None:
    statement = Statement("report", "", "", expression, SPAN, None)
    shown_one = compute_mean_over_repeats(
        [Side(Fraction(value), COUNT) for value in RARE], Fraction("0.95")
    )
    found = describe_interval(statement, shown_one)
    assert float(Fraction(found["lower"]["value"])) == pytest.approx(lower, abs=0.001)


def test_without_repeats_there_is_none() -> None:
    assert describe_interval(Statement("report", "", "", UP, SPAN, None), None) is None

"""The share of delays above a bound: counted, and judged with a confidence."""

from fractions import Fraction

import pytest

from qospec.catalogue.kinds import discover
from qospec.engine.measure.tally import Delays
from qospec.record.outcome import describe_case
from qospec.run import trial

BENCH = """
import std.devices.generic
topology bench {
  a, b, c = host
  sw = generic.atm_switch(ports = 3)
  link a -- sw.p[0] via media.stm1
  link b -- sw.p[1] via media.stm1
  link c -- sw.p[2] via media.stm1
}
traffic load = ubr { pcr = 150_000 cell/s, source = poisson { rate = pcr } }
test t on bench {
  flow user = load from a to c
  flow other = load from b to c
"""
RUN = "  run { measure = 20 ms, repeat = 10 }\n"


def judged(planned, *statements: str, run: str = RUN) -> list[dict]:
    text = BENCH.replace("\nimport", "import", 1) + run + "\n".join(statements) + "\n}\n"
    (case,) = planned(text)
    return describe_case(case, trial.run(case, discover(), lambda _: None))["statements"]


@pytest.mark.parametrize(
    ("bound", "expected"),
    [
        (-1, (10, 10)),
        (99, (10, 10)),
        (100, (8, 10)),
        (104, (8, 8)),
        (105, (8, 8)),
        (1_000, (0, 5)),
        (1_049, (0, 5)),
        (1_050, (0, 0)),
    ],
)
def test_delays_above_a_bound_are_counted(bound: int, expected: tuple[int, int]) -> None:
    buckets = ((100, 105, 2), (200, 201, 3), (1_000, 1_100, 5))
    delays = Delays(10, 0, 0, 100, 1_050, buckets)
    assert delays.count_above(bound) == expected
    assert Delays().count_above(bound) == (0, 0)


def test_a_share_is_that_of_the_quantile(planned) -> None:
    one = "  run { measure = 20 ms }\n"
    (p90,) = judged(planned, "report user.delay.p90", run=one)
    ns = float(Fraction(p90["measured"]["value"]) * 10**9)
    reports = [f"report user.delay.above({ns * share:.0f} ns)" for share in (0.99, 1.01)]
    below, above = judged(planned, *reports, run=one)
    assert below["measured"]["unit"] == "1"
    assert Fraction(above["measured"]["value"]) <= Fraction(1, 10)
    assert Fraction(below["measured"]["value"]) >= Fraction(1, 10)


def test_a_share_is_judged_by_its_count_as_losses_are(planned) -> None:
    found = judged(
        planned,
        "expect few: user.delay.above(100 us) < 10% with 95% confidence",
        "expect many: user.delay.above(18 us) > 20% with 95% confidence",
        "expect wrong: user.delay.above(18 us) < 1% with 95% confidence",
        "expect near: user.delay.above(18 us) within 30% of 60% with 95% confidence",
        "expect none: user.delay.above(5 ms) == 0",
        "expect pdv: user.delay.above(5 ms) < 1% with 95% confidence",
    )
    assert [statement["verdict"] for statement in found] == [
        "pass",
        "pass",
        "fail",
        "pass",
        "pass",
        "pass",
    ]
    many, none = found[1], found[4]
    assert many["interval"]["repeats"] == 10
    assert " above: with 95 % confidence the ratio is below " in none["note"]


def test_too_few_delays_are_cautioned(planned, problems) -> None:
    (found,) = judged(planned, "expect rare: user.delay.above(5 ms) < 0.0001%")
    assert [problem.code for problem in problems.all] == ["W0611"]
    assert "delays cannot show `user.delay.above(5 ms) < 0.0001%`" in found["caution"]
    assert found["caution"].endswith("none of them above")


def test_a_share_is_approximate_unless_none_is_above(planned) -> None:
    run = "  run { measure = 1 ms, repeat = 7 }\n"
    asked = [
        "expect l0: user.delay.above(3 us) < 99%",
        "expect l1: user.delay.above(3 us) < 99% with 95% confidence",
        "expect l2: user.delay.above(1 s) < 99%",
        "expect l3: user.delay.above(1 s) < 99% with 95% confidence",
        "report user.delay.above(3 us)",
    ]
    errors = [statement["measured"].get("error") for statement in judged(planned, *asked, run=run)]
    assert errors == ["1/1024", "1/1024", None, None, "1/1024"]

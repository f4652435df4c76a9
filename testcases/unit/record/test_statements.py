"""What a document says of repeats, of counts of zero, and of cases that are left out."""

from fractions import Fraction
from types import SimpleNamespace

import pytest

from qospec.catalogue.kinds import discover
from qospec.judge.conclusions import conclude
from qospec.judge.result import Judged
from qospec.judge.verdict import Judgement
from qospec.model.expression import Constant, Measured, Operation
from qospec.model.suite import Statement
from qospec.record.outcome import describe_case
from qospec.record.statements import describe_statement
from qospec.run import trial
from qospec.source import Source, Span
from qospec.units import CELLS

SPAN = Span(Source("a.qos", "expect f.some < 9\n"), 0, 6)

BENCH = """
topology bench {
  a, b = host
  link a -- b via media.stm1
}

traffic random = ubr { pcr = 300_000 cell/s, source = poisson { rate = pcr } }

test t on bench {
  flow f = random from a to b
"""


def document(planned, *statements: str, **options):
    (case,) = planned(BENCH + "\n".join(statements) + "\n}\n")
    result = trial.run(case, discover(), lambda _: None, **options)
    return describe_case(case, result)


RUN = "run { measure = 1 ms, repeat = 6 }"


def test_a_confidence_has_its_interval(planned) -> None:
    (found,) = document(planned, RUN, "expect f.throughput < 330_000 cell/s with 95% confidence")[
        "statements"
    ]
    assert (found["verdict"], found["confidence"]) == ("pass", "95 %")
    assert found["interval"]["repeats"] == 6
    low, middle, high = (
        int(text.split()[0].replace("_", ""))
        for text in (
            found["interval"]["lower"]["text"],
            found["measured"]["text"],
            found["interval"]["upper"]["text"],
        )
    )
    assert low < middle < high


def test_a_report_is_of_the_repeats_that_have_data(planned) -> None:
    found = document(planned, "run { measure = 6 us, repeat = 12 }", "report f.delay.mean")
    means = [repeat["f"].get("transfer_delay.mean") for repeat in found["repeats"]]
    known = [Fraction(mean["value"]) for mean in means if mean is not None]
    (shown,) = found["statements"]
    assert 1 < len(known) < 12
    assert Fraction(shown["measured"]["value"]) == pytest.approx(sum(known) / len(known), rel=1e-9)
    assert shown["interval"]["repeats"] == len(known)
    assert shown["note"] == f"mean of {len(known)} repeats; no data in {12 - len(known)} of 12"


def test_without_a_confidence_it_holds_in_every_repeat(planned) -> None:
    mean = document(planned, RUN, "report f.throughput")["repeats"]
    rates = sorted(int(metrics["f"]["throughput"]["value"]) for metrics in mean)
    bound = f"{(rates[-1] + rates[-2]) // 2} cell/s"
    (found,) = document(planned, RUN, f"expect f.throughput < {bound}")["statements"]
    assert (found["verdict"], found["interval"]) == ("fail", None)


def test_none_lost_says_what_it_proves(planned) -> None:
    exact = ("expect f.lost == 0", "expect f.clr < 1%", "expect f.clr <= 0 and f.sent > 0")
    found = document(planned, RUN, *exact)
    sent = sum(int(repeat["f"]["sent"]["value"]) for repeat in found["repeats"])
    ratio = 1 - 0.05 ** (1 / sent)
    for statement in found["statements"]:
        note, _, rarely = statement["note"].partition("; ")
        assert rarely == "bursts in fewer than 40 % of repeats may not have been seen"
        count, _, words = note.partition(" lost: ")
        assert count == f"0 of {sent}"
        digits, power = words.removeprefix("with 95 % confidence the ratio is below ").split(
            " × 10"
        )
        assert power == "⁻³"
        assert float(digits) - 0.1 < ratio * 1_000 <= float(digits)


def test_what_zero_proves_is_stated_once(planned) -> None:
    (found,) = document(planned, RUN, "expect f.lost == 0 and f.lost == 0")["statements"]
    assert found["note"].count("with 95 % confidence") == 1


def test_a_confidence_in_losses_is_judged_by_the_cells_that_were_counted(planned) -> None:
    lines = (RUN, "expect f.clr < 0.000000001 with 99.999% confidence")
    (found,) = document(planned, *lines)["statements"]
    assert (found["verdict"], found["confidence"]) == ("inconclusive", "99.999 %")
    assert " lost: with 99.999 % confidence the ratio is below " in found["note"]
    assert found["interval"]["upper"]["text"] != "0 %"


@pytest.mark.parametrize(
    "condition", ["f.lost != 1 cell", "f.lost == 0 or f.lost == 1 cell", "f.sent == f.sent"]
)
def test_other_conditions_prove_nothing_of_zero(planned, condition) -> None:
    (found,) = document(planned, RUN, f"expect {condition}")["statements"]
    assert (found["verdict"], found["note"]) == ("pass", "")


def test_a_failed_require_ends_its_case_unless_it_is_to_go_on(planned) -> None:
    lines = (RUN, "require f.sent == 0", "expect f.lost == 0")
    ended = document(planned, *lines)
    assert len(ended["repeats"]) == 1
    (_, lost) = ended["statements"]
    assert (lost["verdict"], lost["note"]) == ("inconclusive", "1 of 6 repeats were run")
    assert len(document(planned, *lines, keep_going=True)["repeats"]) == 6


def test_a_require_with_confidence_ends_nothing(planned) -> None:
    found = document(planned, RUN, "require f.sent < 1 cell with 95% confidence")
    assert len(found["repeats"]) == 6
    assert found["verdict"] == "inconclusive"
    assert found["statements"][0]["note"] == "it does not hold"


def test_too_few_repeats_ran_for_a_confidence(planned) -> None:
    lines = (RUN, "require f.sent == 0", "expect f.clr < 1% with 95% confidence")
    (_, found) = document(planned, *lines)["statements"]
    assert (found["verdict"], found["note"]) == ("inconclusive", "1 of 6 repeats were run")


def test_a_case_that_is_left_out_is_skipped(planned) -> None:
    lines = (RUN, 'skip unless 1 > 2 "no time"', "expect f.lost == 0")
    (case,) = planned(BENCH + "\n".join(lines) + "\n}\n")
    assert (case.trials, case.networks) == (0, {})
    found = document(planned, *lines)
    assert (found["verdict"], found["ran"], found["why"]) == ("skip", True, ["no time"])
    assert (found["statements"], found["errors"]) == ([], [])


def test_the_first_reason_that_holds_is_given(planned) -> None:
    lines = (RUN, 'skip unless true "one"', 'skip unless false "two"', 'skip unless false "three"')
    assert document(planned, *lines, "expect f.lost == 0")["why"] == ["two"]


@pytest.mark.parametrize(
    ("least", "mirrored", "low"),
    [(Fraction(0), False, 0), (Fraction(0), True, 0), (None, False, -1), (None, True, -1)],
)
def test_an_interval_goes_below_nothing_where_the_metric_may(least, mirrored, low) -> None:
    left = Measured("", "f", None, False, "some", "", CELLS, "f.some", least=least)  # noqa: FBT003
    sides = (left, Constant(Fraction(9), CELLS))
    condition = Operation(">", sides[::-1]) if mirrored else Operation("<", sides)
    said = Statement("expect", "", "", condition, SPAN, Fraction(95, 100))
    read = [
        SimpleNamespace(read=lambda _, value=value: Fraction(value), drawn=True)
        for value in (0, 0, 0, 5)
    ]
    judged = [Judged(simple_namespace, Judgement(None, None)) for simple_namespace in read]
    found = describe_statement(said, conclude(said, judged, 4))["interval"]
    lower = Fraction(found["lower"]["value"])
    assert lower == 0 if low == 0 else lower < low
    assert Fraction(found["upper"]["value"]) > 4


def test_a_metric_brings_its_bounds(planned) -> None:
    (case,) = planned(
        f"{BENCH}{RUN}\nreport f.lost\nreport f.cdv_1pt.max\nreport f.throughput\n}}\n"
    )
    lost, variation, rate = (statement.expression for statement in case.case.statements)
    assert (lost.least, lost.most) == (0, None)
    assert (variation.least, variation.most) == (None, None)
    assert (rate.least, rate.most) == (0, None)


def test_without_a_confidence_the_repeat_nearest_to_failing_is_shown(planned) -> None:
    found = document(
        planned,
        RUN,
        "expect f.throughput < 330_000 cell/s",
        "expect f.throughput > 270_000 cell/s",
        "expect f.throughput > 270_000 cell/s and f.sent < 330 cell",
        "report f.throughput",
    )
    of_repeats = [Fraction(repeat["f"]["throughput"]["value"]) for repeat in found["repeats"]]
    high, low, both, _ = found["statements"]
    assert Fraction(high["measured"]["value"]) == max(of_repeats)
    assert Fraction(low["measured"]["value"]) == min(of_repeats)
    slow, many = both["terms"]
    assert Fraction(slow["measured"]["value"]) == min(of_repeats)
    sent = [int(repeat["f"]["sent"]["value"]) for repeat in found["repeats"]]
    assert int(many["measured"]["value"]) == max(sent)

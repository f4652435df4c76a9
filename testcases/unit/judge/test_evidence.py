"""Criteria that so few items cannot show: a warning of the plan, a caution of the outcome."""

from dataclasses import replace
from fractions import Fraction

import pytest

from qospec.catalogue.kinds import discover
from qospec.check import check
from qospec.diagnostics import Problems
from qospec.judge import evidence
from qospec.judge.confidence import NOTHING_DRAWN
from qospec.judge.evidence import Need, Shortfall
from qospec.model.expression import Constant, Measured, Operation
from qospec.model.suite import Statement
from qospec.plan.survey import verify
from qospec.record import outcome
from qospec.run import trial
from qospec.source import Source, Span
from qospec.units import RATIO, TIME

TEST = """
topology bench {
  a, b = host
  link a -- b via media.stm1
}
test t on bench {
  flow f = SOURCE from a to b
  run { measure = 20 ms, repeat = REPEATS }
  expect e: CRITERION
}
"""
SURELY = " with 95% confidence"
STEADY = "cbr { pcr = 1_000 cell/s, cdvt = 10 us }"
RANDOM = "ubr { pcr = 1_000 cell/s, source = poisson { rate = pcr } }"


def text(criterion: str, source: str = STEADY, repeats: int = 1) -> str:
    asked = TEST.replace("CRITERION", criterion).replace("SOURCE", source)
    return asked.replace("REPEATS", str(repeats))


@pytest.mark.parametrize(
    ("criterion", "repeats", "message"),
    [
        ("f.delay.p99_9999 < 1 ms", 1, "of 20 delays, `f.delay.p99_9999` is the longest"),
        # repeats that are judged one by one do not add up to one that has more
        ("f.delay.p96 < 1 ms", 10, "of 20 delays, `f.delay.p96` is the longest"),
        ("f.delay.p95 < 1 ms", 1, None),
        (f"f.delay.p99 < 1 ms{SURELY}", 14, "280 delays cannot show `f.delay.p99 < 1 ms`"),
        (f"f.delay.p99 < 1 ms{SURELY}", 15, None),  # 0.99 ** 299 < 5 % < 0.99 ** 298
        (f"f.delay.p99 > 1 us{SURELY}", 14, None),
        (f"1 ms > f.delay.p99{SURELY}", 14, "280 delays cannot show `1 ms > f.delay.p99`"),
        (f"f.delay.p99 - 1 us > 1 us{SURELY}", 14, None),
        (f"f.delay.p99 * 2 < 1 ms{SURELY}", 14, "280 delays cannot show `f.delay.p99 * 2 < 1 ms`"),
        (f"1 ms > 2 * f.delay.p99{SURELY}", 14, "280 delays cannot show `1 ms > 2 * f.delay.p99`"),
        (f"f.delay.p99 within 1 ms of 1 us{SURELY}", 14,
            "280 delays cannot show `f.delay.p99 within 1 ms of 1 us`"),
        ("f.delay.p0_1 > 1 us", 1, "of 20 delays, `f.delay.p0_1` is the shortest"),
        ("f.delay.p5 > 1 us", 1, None),
        (f"f.delay.p1 > 1 us{SURELY}", 14, "280 delays cannot show `f.delay.p1 > 1 us`"),
        (f"f.delay.p1 < 1 ms{SURELY}", 14, None),
        # both ends of the difference are needed: 368 at 97.5 %
        (f"abs(f.delay.p99 - 1 us) < 1 ms{SURELY}", 18,
            "360 delays cannot show `abs(f.delay.p99 - 1 us) < 1 ms`"),
        (f"abs(f.delay.p99 - 1 us) < 1 ms{SURELY}", 19, None),
        ("f.lost == 0 or f.delay.p99 < 1 ms", 1, "of 20 delays, `f.delay.p99` is the longest"),
        ("not f.delay.p99 > 1 ms", 1, "of 20 delays, `f.delay.p99` is the longest"),
        ("not f.clr >= 1%", 14, "280 cells cannot show `not f.clr >= 1%`"),
        ("not (f.clr > 1% or f.sent == 0)", 14,
            "280 cells cannot show `not (f.clr > 1% or f.sent == 0)`"),
        ("not f.clr <= 1%", 14, None),
        ("f.clr < 1% or f.sent == 0", 14, None),  # it may hold by the other
        ("not (f.clr >= 1% and f.sent > 0)", 14, None),
        ("f.clr < 1%", 14, "280 cells cannot show `f.clr < 1%`"),
        ("f.clr < 1%", 15, None),
        ("f.clr <= 0", 1, None),
        ("f.clr > 1%", 1, None),
        ("f.lost < 1 cell", 1, None),
    ],
)  # fmt: skip
def test_a_plan_warns_of_what_its_items_cannot_show(
    planned, problems, criterion, repeats, message
) -> None:
    assert planned(text(criterion, repeats=repeats))
    assert [problem.message for problem in problems.all] == ([message] if message else [])
    assert all(("repeat" in problem.help) is ("cannot show" in message) for problem in problems.all)
    assert all(len(problem.notes) == 1 for problem in problems.all)  # no cases are counted


def test_what_is_only_reported_needs_no_number_of_items(planned, problems) -> None:
    assert planned(
        text("f.delay.p99 < 1 ms").replace("expect e: f.delay.p99 < 1 ms", "report f.delay.p99")
    )
    assert not problems.all


def test_the_items_of_all_members_of_a_flow_count_together(planned, problems) -> None:
    """Twice 20 cells are 40, of which p97.5 is the longest but one."""
    two = text("f.delay.p97_5 < 1 ms").replace("a, b = host", "a, b = host(count = 2)")
    two = two.replace(
        "link a -- b via media.stm1",
        "for i in 0 .. 1 {\n    link a[i] -- b[i] via media.stm1\n  }",
    )
    assert planned(two)
    assert not problems.all
    assert planned(two.replace("f.delay", "f[0].delay"))
    assert [problem.message for problem in problems.all] == [
        "of 20 delays, `f[0].delay.p97_5` is the longest"
    ]


@pytest.mark.parametrize(("share", "warned"), [("p99", True), ("p98_2", True), ("p98", False)])
def test_of_a_source_that_draws_it_warns_only_if_hardly_any_draw_had_enough(
    planned, problems, share, warned
) -> None:
    # 20 on average, and six times a deviation of 5 at most: 50; p98.2 is beyond one of 56
    assert planned(text(f"f.delay.{share} < 1 ms", RANDOM))
    assert bool(problems.all) is warned


def test_what_passes_on_too_few_says_so(planned) -> None:
    (case,) = planned(text("f.clr < 0.0001% and f.delay.p50 < 1 ms", repeats=5))
    document = outcome.describe_case(case, trial.run(case, discover(), lambda _: None))
    (statement,) = document["statements"]
    assert statement["verdict"] == "pass"
    cannot = "100 cells cannot show `f.clr < 0.0001% and f.delay.p50 < 1 ms`"
    assert statement["caution"] == f"{cannot}: 2_995_731 are needed, none of them lost"


def test_a_single_item_is_one_cell(planned, problems) -> None:
    planned(text("f.clr < 1%", STEADY.replace("1_000", "50")))
    (problem,) = problems.all
    assert problem.message == "1 cell cannot show `f.clr < 1%`"


@pytest.mark.parametrize("criterion", ["f.clr < 3%", "f.delay.p95 < 1 ms"])
def test_what_passes_on_enough_has_no_caution(planned, criterion) -> None:
    (case,) = planned(text(criterion, repeats=5))
    document = outcome.describe_case(case, trial.run(case, discover(), lambda _: None))
    assert [(s["verdict"], s["caution"]) for s in document["statements"]] == [("pass", "")]


def test_what_is_not_decided_has_no_caution(planned) -> None:
    test = text("f.clr < 1%", repeats=5).replace("expect", "require f.sent > 20 cell\n  expect")
    (case,) = planned(test)
    document = outcome.describe_case(case, trial.run(case, discover(), lambda _: None))
    _, statement = document["statements"]
    assert (statement["verdict"], statement["caution"]) == ("inconclusive", "")


def test_one_warning_for_many_cases_counts_them_and_names_the_worst(planned, problems) -> None:
    swept = TEST.replace(
        "  flow f", "  sweep rate in [3_000 cell/s, 1_000 cell/s, 6_000 cell/s]\n  flow f"
    )
    source = "cbr { pcr = rate, cdvt = 10 us }"
    asked = swept.replace("SOURCE", source).replace("REPEATS", "1")
    assert len(planned(asked.replace("CRITERION", "f.delay.p99 < 1 ms"))) == 3
    (warning,) = problems.all
    assert (warning.code, warning.message) == (
        "W0611",
        "of 20 delays, `f.delay.p99` is the longest",
    )
    assert warning.notes == (
        "of 100, one is expected beyond it",
        "so it is in 2 of 3 cases; the shortfall is largest in `t:rate=1_000cell_per_s`",
    )


def test_one_warning_for_two_cases_counts_them(planned, problems) -> None:
    swept = TEST.replace("  flow f", "  sweep rate in [1_000 cell/s, 6_000 cell/s]\n  flow f")
    asked = swept.replace("SOURCE", "cbr { pcr = rate, cdvt = 10 us }").replace("REPEATS", "1")
    assert len(planned(asked.replace("CRITERION", "f.delay.p99 < 1 ms"))) == 2
    (warning,) = problems.all
    assert warning.notes[1].startswith("so it is in 1 of 2 cases")


def test_the_repeat_with_the_fewest_items_decides_whether_a_pass_has_a_caution(planned) -> None:
    """About 20 arrive in each of ten, and p95 needs 20."""
    (case,) = planned(text("f.delay.p95 < 1 ms", RANDOM, repeats=10))
    ran = trial.run(case, discover(), lambda _: None)
    (statement,) = outcome.describe_case(case, ran)["statements"]
    assert statement["verdict"] == "pass"
    assert "`f.delay.p95` is the longest: of 20, one is expected beyond it" in statement["caution"]


def test_where_nothing_is_drawn_a_pass_on_too_few_says_so(planned) -> None:
    even = STEADY.replace("cdvt", "phases = even, cdvt")
    (case,) = planned(text(f"f.clr < 1%{SURELY}", even, repeats=5))
    document = outcome.describe_case(case, trial.run(case, discover(), lambda _: None))
    (statement,) = document["statements"]
    assert (statement["verdict"], statement["note"]) == ("pass", NOTHING_DRAWN)
    # five times the same 20 cells are 20 cells
    assert (
        statement["caution"]
        == "20 cells cannot show `f.clr < 1%`: 299 are needed, none of them lost"
    )


def test_a_quantile_is_of_delays_or_of_values() -> None:
    asked = [
        Measured("", "f", None, part="user", metric=name, statistic="p99", dimension=TIME, text="q")
        for name in ("transfer_delay", "jitter")
    ]
    apart = [Need(leaf, 100, together=False, text="x").describe_shortfall(20)[0] for leaf in asked]
    assert apart == ["of 20 delays, `q` is the longest", "of 20 values, `q` is the greatest"]
    together = [
        Need(leaf, 299, together=True, text="x").describe_shortfall(20)[0] for leaf in asked
    ]
    assert together == ["20 delays cannot show `x`", "20 values cannot show `x`"]


def test_all_digits_of_the_numbers_are_given_and_the_median_is_among_the_longest() -> None:
    median, ratio = (
        Measured("", "f", None, part="user", metric=name, statistic=which, dimension=of, text="q")
        for name, which, of in (("transfer_delay", "p50", TIME), ("cell_loss_ratio", "", RATIO))
    )
    assert Need(median, 2, together=False, text="x").describe_shortfall(1) == (
        "of 1 delays, `q` is the longest",
        "of 2, one is expected beyond it",
    )
    assert Need(ratio, 29_957_322_737, together=True, text="x").describe_shortfall(
        1_234_567_891
    ) == (
        "1_234_567_891 cells cannot show `x`",
        "29_957_322_737 are needed, none of them lost",
    )


def test_the_unit_of_what_was_lost_is_what_the_metric_is_declared_for() -> None:
    of = [
        Measured("", "f", None, part="user", metric=name, statistic="", dimension=RATIO, text="")
        for name in ("loss_ratio", "cell_loss_ratio")
    ]
    said = [Need(leaf, 299, together=True, text="x").describe_shortfall(20)[0] for leaf in of]
    assert said == ["20 packets cannot show `x`", "20 cells cannot show `x`"]


POINTS = """
topology bench {
  a, b = host
  link a -- b via media.stm1
}
test t on bench {
  search rate in 1_000 cell/s .. 20_000 cell/s {
    goal ndr { loss = 0 }
  }
  point there { rate = ndr.rate, measure = LENGTH, repeat = 5 }
  flow f = ubr { pcr = rate } from a to b
  require f.clr < 1%
  expect e: there.f.delay.p99 < 1 ms
}
"""


def test_a_plan_warns_of_a_point_that_is_too_short_even_at_the_highest_load(
    planned, problems
) -> None:
    assert planned(POINTS.replace("LENGTH", "5 ms"))
    assert not problems.errors  # 99 or 100 cells, as they fall
    assert planned(POINTS.replace("LENGTH", "4 ms"))
    (warning,) = problems.all
    assert warning.message == "of 80 delays, `there.f.delay.p99` is the longest"


@pytest.mark.parametrize(("often", "warned"), [(2, True), (3, False)])
def test_the_repeats_of_a_point_are_repeated_with_the_case(
    planned, problems, often, warned
) -> None:
    """Of 20 cells each there are so many in each of 5, and 299 show a p99 with 95 % confidence."""
    asked = POINTS.replace("LENGTH", "1 ms").replace("< 1 ms", f"< 1 ms{SURELY}")
    asked = asked.replace("repeat = 5", f"repeat = {often}")
    assert planned(asked.replace("  require", "  run { repeat = 5 }\n  require"))
    assert bool(problems.all) is warned


def test_the_items_of_a_point_are_counted_at_its_own_load(planned, problems) -> None:
    """Of 20,000 cells/s in 10 ms there are 200; of 1,000 cells/s, ten."""
    slow = "point slow { rate = 1_000 cell/s, measure = 10 ms }\n  point fast {"
    fast = POINTS.replace("point there { rate = ndr.rate", f"{slow} rate = 20_000 cell/s")
    fast = fast.replace("require f.clr < 1%", "expect s: slow.f.delay.p50 < 1 ms")
    fast = fast.replace("LENGTH", "10 ms").replace("there.f", "fast.f")
    assert planned(fast)
    assert not problems.all
    assert planned(fast.replace("fast.f.delay.p99", "slow.f.delay.p99"))
    (warning,) = problems.all
    assert warning.message == "of 10 delays, `slow.f.delay.p99` is the longest"


PHASED = """
topology bench {
  a, b = host
  link a -- b via media.stm1
}
test t on bench {
  search rate in 1_000 cell/s .. 2_000 cell/s { goal ndr { loss = 0 } }
  point knee { rate = ndr.rate, measure = 20 ms }
  flow f = ubr { pcr = rate } from a to b
  expect knee.f.delay.p99 < 1 ms
}
"""


@pytest.mark.parametrize("test", [text("f.delay.p99_9999 < 1 ms"), PHASED])
def test_a_check_warns_of_the_same_as_a_plan(planned, problems, tmp_path, test) -> None:
    planned(test)
    suite = check([tmp_path / "a.qos"], discover(), Problems())
    (found,) = evidence.warn_of_evidence(verify(suite, Problems()))
    (warned,) = problems.all
    assert (found.code, found.message, found.notes) == ("W0611", warned.message, warned.notes)


BRIEF = """
test brief(pace: CellRate, most: Ratio) {
  point low { load = pace, measure = 20 ms }
  point high { load = 2 * pace, measure = 20 ms }
  for each in [low, high] {
    for f in each.test_flows {
      expect f.cell_loss_ratio < most
    }
  }
}
"""
BUILT = """
topology bench {
  a, b = host
  link a -- b via media.stm1
}
test t = brief(pace = PACE, most = 1%) on bench {
  flow f = ubr { pcr = load } from a to b
}
"""


@pytest.mark.parametrize(("pace", "alike"), [("1_000 cell/s", True), ("10_000 cell/s", False)])
def test_a_template_in_another_file_is_warned_of_at_its_argument(
    planned, problems, tmp_path, pace, alike
) -> None:
    """There are 20 and 40 cells, or 200 and 400; 1 % takes 299."""
    (tmp_path / "lib.qos").write_text("qos 1\n" + BRIEF, encoding="utf-8")
    assert planned("import lib\n" + BUILT.replace("PACE", pace).replace("= brief", "= lib.brief"))
    (warning,) = problems.all
    assert warning.span.text == "most = 1%"
    assert [(label.span.text, label.text) for label in warning.secondary] == [
        ("f.cell_loss_ratio < most", "this criterion"),
        ("point low { load = pace, measure = 20 ms }", "measured here"),
    ]
    notes = ["2 criteria are alike; the shortfall of this one is largest"] * alike
    assert list(warning.notes) == ["299 are needed, none of them lost", *notes]


def test_a_template_in_the_same_file_is_warned_of_where_it_is_written(planned, problems) -> None:
    assert planned(BRIEF + BUILT.replace("PACE", "10_000 cell/s"))
    (warning,) = problems.all
    assert warning.span.text == "f.cell_loss_ratio < most"


def test_criteria_that_a_plan_warns_of_are_known_by_their_places_and_labels(planned) -> None:
    """Of 20 delays p95 can be shown; p96 and 1 % of losses cannot."""
    asked = text("f.delay.p96 < 1 ms and f.clr < 1%")
    asked = asked.replace("expect e:", "expect shown: f.delay.p95 < 1 ms\n  expect e:")
    (case,) = planned(asked)
    _, unshown = case.case.statements
    assert evidence.list_foreseen([case]) == {(unshown.span.recorded_place, "e")}
    skipped = replace(case, case=replace(case.case, skip="it is wet"))
    assert evidence.list_foreseen([skipped]) == frozenset()


# ---- statements on their own

SPAN = Span(Source("a.qos", "expect c\n"), 0, 6)
CLR, LATE = (
    Measured("", "f", None, part="user", metric=name, statistic=which, dimension=of, text="q")
    for name, which, of in (("cell_loss_ratio", "", RATIO), ("transfer_delay", "p99", TIME))
)


def less(leaf: Measured, bound: object, kind: str = "expect", idle: str = "") -> Statement:
    condition = Operation("<", (leaf, Constant(Fraction(bound), leaf.dimension)))
    return Statement(kind, "", "x", condition, SPAN, idle=idle)


@pytest.mark.parametrize(
    ("statement", "items"),
    [
        (less(LATE, 1), [100]),
        (less(LATE, 1, "require"), [100]),
        (less(LATE, 1, "report"), []),
        (less(LATE, 1, idle="it is wet"), []),
        (less(LATE, 1, "report", "it is wet"), []),
        (less(CLR, "0.01"), [299]),
        # a single one that arrives shows the first, and nothing has to be shown of the others
        (less(CLR, 1), []),
        (less(CLR, "1.5"), []),
        (less(CLR, 0), []),
    ],
)
def test_what_is_judged_and_may_fail_needs_items(statement, items) -> None:
    assert [need.items for need in evidence.needs(statement)] == items


class Nothing:
    """A repeat in which nothing was measured."""

    def read(self, _leaf: Measured) -> None:
        return None

    def read_delays(self, _leaf: Measured) -> None:
        return None


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        (less(CLR, "0.01"), "0 cells cannot show `x`: 299 are needed, none of them lost"),
        (less(LATE, 1), "of 0 delays, `q` is the longest: of 100, one is expected beyond it"),
    ],
)
def test_what_was_not_measured_has_no_items(statement, words) -> None:
    assert evidence.explain_caution(statement, [Nothing()]) == words


@pytest.mark.parametrize(("items", "ratio"), [(0, 299), (1, 299), (2, Fraction(299, 2))])
def test_a_shortfall_is_as_many_times_as_are_needed(items, ratio) -> None:
    need = Need(CLR, 299, together=True, text="x")
    assert Shortfall(need, items, "t", SPAN, None).ratio == ratio

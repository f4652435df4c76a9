"""Criteria on what a search has found: an interval, compared in three-valued logic."""

from fractions import Fraction

import pytest

from qospec.judge.found import bound_value, decide_value, describe_bounds, read_found, write_notes
from qospec.judge.verdict import judge
from qospec.model.bounds import Bounds
from qospec.model.expression import Constant, Found, Measured, Operation
from qospec.model.suite import GoalResult, Statement
from qospec.source import Source, Span
from qospec.units import CALLS, CELL_RATE, RATIO

SPAN = Span(Source("a.qos", "expect\n"), 0, 6)
NDR, PDR = (Found(name, "load", CELL_RATE, f"{name}.rate") for name in ("ndr", "pdr"))
LOWER, UPPER = (Found("ndr", part, CELL_RATE, f"ndr.{part}") for part in ("lower", "upper"))
OFFERED = Found("ndr", "offered", CELL_RATE, "ndr.offered")
REGULAR = Found("ndr", "regular", None, "ndr.regular", load_dimension=CELL_RATE)
DELAY = Measured("p", "f", None, "user", "delay", "mean", RATIO, "p.f.delay.mean")


def number(value):
    return Constant(Fraction(value), CELL_RATE)


def reader(ndr=(100, 110), pdr=(120, 130), delay=None, **more):
    offered = tuple(end and 2 * Fraction(end) for end in ndr)
    results = {"ndr": GoalResult(*map(fraction, ndr), offered=offered, **more)}
    results["pdr"] = GoalResult(*map(fraction, pdr))

    def read(leaf):
        return read_found(leaf, results) if isinstance(leaf, Found) else delay

    return read


def fraction(end):
    return None if end is None else Fraction(end)


@pytest.mark.parametrize(
    ("operator", "bound", "expected"),
    [
        (">=", 100, True),
        (">=", 101, None),
        (">=", 110, False),  # it was bad
        (">=", 111, False),
        (">", 100, None),
        (">", 99, True),
        (">", 110, False),
        ("<=", 110, True),
        ("<=", 109, None),
        ("<=", 99, False),
        ("<", 110, True),
        ("<", 111, True),
        ("<", 100, False),
        ("==", 105, None),
        ("==", 111, False),
        ("!=", 111, True),
        ("!=", 105, None),
    ],
)
def test_ndr_is_compared_by_both_of_its_bounds(operator, bound, expected) -> None:
    assert decide_value(Operation(operator, (NDR, number(bound))), reader()) is expected
    turned = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(operator, operator)
    assert decide_value(Operation(turned, (number(bound), NDR)), reader()) is expected
    assert decide_value(
        Operation("not", (Operation(operator, (NDR, number(bound))),)), reader()
    ) is (None if expected is None else not expected)


@pytest.mark.parametrize(
    ("ndr", "bound", "expected"),
    [
        ((100, None), 100, True),  # the highest load of the range is good
        ((100, None), 101, None),  # what is above was not tried
        ((None, 10), 11, False),  # the lowest load is bad: there is none
        ((None, 10), 10, False),  # it was bad
        ((None, None), 1, None),
    ],
)
def test_an_irregular_ndr_is_judged_by_the_bound_that_exists(ndr, bound, expected) -> None:
    assert decide_value(Operation(">=", (NDR, number(bound))), reader(ndr)) is expected


def test_an_ndr_whose_search_did_not_end_may_be_anything_above_its_lower_bound() -> None:
    read = reader((100, None), ended=False)
    assert decide_value(Operation(">=", (NDR, number(101))), read) is None
    assert decide_value(Operation(">=", (NDR, number(100))), read) is True
    assert bound_value(NDR, read) == Bounds(Fraction(100), None)


@pytest.mark.parametrize(
    ("factor", "expected"),
    [("1.3", True), ("1.25", None), ("1.15", None), ("1.05", False)],
)
def test_arithmetic_with_ndr_is_that_of_intervals(factor, expected) -> None:
    greater = Operation("*", (Constant(Fraction(factor), RATIO), NDR), CELL_RATE)
    assert decide_value(Operation("<=", (PDR, greater)), reader()) is expected


@pytest.mark.parametrize(
    ("width", "expected"), [(15, True), (10, None), (5, None), (Fraction(1, 2), None)]
)
def test_ndr_within_a_width_of_a_number(width, expected) -> None:
    comparison = Operation("within", (NDR, number(width), number(105)))
    assert decide_value(comparison, reader()) is (True if width in (15, 10, 5) else expected)
    far = Operation("within", (NDR, number(width), number(200)))
    assert decide_value(far, reader()) is False


def test_ndr_within_a_share_of_another_result() -> None:
    share = Constant(Fraction(1, 5), RATIO)
    assert decide_value(Operation("within share", (NDR, share, PDR)), reader()) is None
    half = Constant(Fraction(1, 2), RATIO)
    assert decide_value(Operation("within share", (NDR, half, PDR)), reader()) is True


def test_bounds_of_ndr_are_numbers_and_regular_is_a_truth() -> None:
    read = reader()
    assert decide_value(Operation("==", (LOWER, number(100))), read) is True
    assert decide_value(Operation("<", (UPPER, number(110))), read) is False
    assert decide_value(REGULAR, read) is True
    assert decide_value(REGULAR, reader((100, None))) is False
    assert decide_value(Operation("<", (UPPER, number(110))), reader((100, None))) is None
    assert list(write_notes(LOWER, read)) == []


def test_an_undecided_ndr_in_a_condition_of_several() -> None:
    unknown, true = Operation(">=", (NDR, number(105))), Operation(">=", (NDR, number(1)))
    false = Operation(">=", (NDR, number(999)))
    for operator, parts, expected in [
        ("and", (unknown, true), None),
        ("and", (unknown, false), False),
        ("and", (true, true), True),
        ("or", (unknown, true), True),
        ("or", (unknown, false), None),
        ("or", (false, false), False),
    ]:
        assert decide_value(Operation(operator, parts), reader()) is expected


def test_ndr_in_a_list_of_numbers() -> None:
    def among(*values):
        return Operation("in", (NDR, Operation("list", tuple(map(number, values)))))

    assert decide_value(among(1, 2), reader()) is False
    assert decide_value(among(1, 105), reader()) is None
    assert decide_value(among(1, 100), reader((100, 100))) is True


def test_ndr_beside_something_without_data_is_undecided() -> None:
    part = Operation("*", (DELAY, NDR), CELL_RATE)
    assert bound_value(part, reader()) is None
    assert decide_value(Operation(">=", (part, number(1))), reader()) is None
    assert decide_value(Operation(">=", (part, number(1))), reader(delay=Fraction(2))) is True


def test_no_data_is_not_an_interval_of_all_numbers() -> None:
    """What holds for any number holds for a load, wherever it is, and not without a measurement."""

    def never_negative(leaf):
        return Operation(">=", (Operation("abs", (leaf,), CELL_RATE), number(0)))

    assert decide_value(never_negative(NDR), reader(ndr=(None, None))) is True
    assert decide_value(never_negative(DELAY), reader()) is None
    least = Operation("min", (DELAY, number(5)), CELL_RATE)
    assert decide_value(Operation("<=", (least, number(5))), reader()) is None


def statement(expression, kind="expect"):
    return Statement(kind, "", "", expression, SPAN)


@pytest.mark.parametrize(
    ("bound", "verdict"), [(100, "pass"), (105, "inconclusive"), (120, "fail")]
)
def test_a_verdict_on_ndr_names_its_interval(bound, verdict) -> None:
    found = judge(statement(Operation(">=", (NDR, number(bound)))), reader())
    assert found.verdict == verdict
    assert (found.measured.value, found.comparison, found.bound.value) == (100, ">=", bound)
    assert found.note == "`ndr.rate` is from 100 cell/s to 110 cell/s"
    mirrored = judge(statement(Operation("<=", (number(bound), NDR))), reader())
    assert (mirrored.verdict, mirrored.measured, mirrored.comparison) == (
        verdict,
        found.measured,
        ">=",
    )


@pytest.mark.parametrize(
    ("ndr", "expression", "ends", "exclusive"),
    [
        ((100, 110), NDR, (100, 110), False),
        ((100, None), NDR, (100, None), False),
        ((None, 10), NDR, (None, 10), True),
        ((100, None), Operation("*", (number(3), NDR), CELL_RATE), (300, None), False),
        ((None, 10), Operation("*", (number(3), NDR), CELL_RATE), (None, 30), True),
        ((100, None), Operation("-", (number(150), NDR), CELL_RATE), (None, 50), False),
        ((None, 10), Operation("-", (number(150), NDR), CELL_RATE), (140, 150), False),
        ((100, None), Operation("-", (NDR, PDR), CELL_RATE), (-30, None), True),
        ((None, 10), Operation("min", (NDR, number(7)), CELL_RATE), (None, 7), False),
        ((100, 110), Operation("-", (NDR, LOWER), CELL_RATE), (0, 10), False),
        ((100, 110), OFFERED, (200, 220), False),
    ],
)
def test_a_value_of_loads_has_limits(ndr, expression, ends, exclusive) -> None:
    shown = judge(statement(expression, "report"), reader(ndr)).measured
    assert shown.limits == (*map(fraction, ends), exclusive)


def test_a_value_that_is_known_or_not_at_all_has_no_limits() -> None:
    calls = Found("ndr", "load", CALLS, "ndr.n", whole=True)
    for expression in (LOWER, UPPER, calls, number(3)):
        assert judge(statement(expression, "report"), reader((100, 101))).measured.limits is None
    assert judge(statement(NDR, "report"), reader((None, None))).measured.limits is None


def test_items_of_a_list_are_shown_with_their_limits() -> None:
    both = Operation("list", (NDR, PDR, UPPER))
    shown = judge(statement(both, "report"), reader((100, None))).measured
    assert shown.value == "[at least 100 cell/s, from 120 cell/s to 130 cell/s, no data]"


def test_a_report_of_ndr_shows_the_load_found() -> None:
    found = judge(statement(NDR, "report"), reader())
    assert (found.verdict, found.measured.value) == (None, 100)


@pytest.mark.parametrize(
    ("ndr", "more", "words"),
    [
        (
            (100, None),
            {},
            "no load was bad, up to the highest of the range: `ndr.rate` is at least 100 cell/s",
        ),
        (
            (None, 10),
            {},
            "no load was good, down to the lowest of the range: `ndr.rate` is below 10 cell/s",
        ),
        (
            (None, 10),
            {"ended": False},
            "the search ended before its bounds were close enough: `ndr.rate` is below 10 cell/s",
        ),
        (
            (9, None),
            {"ended": False},
            "the search ended before its bounds were close enough: `ndr.rate` is at least 9 cell/s",
        ),
        (
            (None, 10),
            {"inversion": (Fraction(10), Fraction(20))},
            "the lowest load of the range was bad: `ndr.rate` is below 10 cell/s",
        ),
        ((None, None), {}, "`ndr.rate` is unknown"),
    ],
)
def test_words_for_an_irregular_ndr(ndr, more, words) -> None:
    assert list(write_notes(Operation("<", (NDR, number(3))), reader(ndr, **more))) == [words]


@pytest.mark.parametrize(("operator", "bound"), [("<", 200), ("<=", 100), ("==", 100), (">", 100)])
def test_nothing_is_known_above_a_range_in_which_no_load_was_bad(operator, bound) -> None:
    assert decide_value(Operation(operator, (NDR, number(bound))), reader((100, None))) is None


@pytest.mark.parametrize(("operator", "bound"), [(">=", 1), (">", 9), ("==", 5), ("<", 9)])
def test_nothing_is_known_below_a_range_in_which_no_load_was_good(operator, bound) -> None:
    assert decide_value(Operation(operator, (NDR, number(bound))), reader((None, 10))) is None


@pytest.mark.parametrize(
    ("operator", "bound", "expected"),
    [
        ("==", 470, True),
        ("==", 471, False),
        ("!=", 471, True),
        (">=", 471, False),
        (">", 469, True),
    ],
)
def test_bounds_one_apart_give_a_whole_number_exactly(operator, bound, expected) -> None:
    calls = Found("ndr", "load", CALLS, "ndr.n", whole=True)
    comparison = Operation(operator, (calls, number(bound)))
    assert decide_value(comparison, reader((470, 471))) is expected
    assert list(write_notes(comparison, reader((470, 471)))) == [
        "`ndr.n` is 470 call: 471 call was bad"
    ]
    apart = Operation("==", (calls, number(470)))
    assert decide_value(apart, reader((470, 472))) is None


def test_a_rate_between_two_steps_was_not_tried() -> None:
    at_least = Operation(">=", (NDR, number(Fraction("26.6"))))
    assert decide_value(at_least, reader((Fraction("26.5"), 27))) is None


@pytest.mark.parametrize(
    ("ndr", "more", "why"),
    [
        ((100, None), {}, "no load was bad, up to the highest of the range"),
        ((None, 10), {}, "no load was good, down to the lowest of the range"),
        ((1, 10), {"ended": False}, "the search ended before its bounds were close enough"),
        (
            (1, 10),
            {"inversion": (Fraction(10), Fraction(20))},
            "loss inversion: 10 cell/s was bad, but 20 cell/s was good",
        ),
        (
            (None, 10),
            {"inversion": (Fraction(10), Fraction(20))},
            "loss inversion: 10 cell/s was bad, but 20 cell/s was good",
        ),
        (
            (None, 10),
            {"ended": False, "inversion": (Fraction(10), Fraction(20))},
            "loss inversion: 10 cell/s was bad, but 20 cell/s was good",
        ),
        ((None, 10), {"ended": False}, "the search ended before its bounds were close enough"),
        ((100, None), {"ended": False}, "the search ended before its bounds were close enough"),
        ((None, None), {}, "no bound was found"),
    ],
)
def test_an_irregular_result_says_why(ndr, more, why) -> None:
    found = judge(statement(REGULAR), reader(ndr, **more))
    assert (found.verdict, found.note) == ("fail", f"`ndr` is irregular: {why}")
    assert judge(statement(REGULAR), reader()).note == ""


def test_a_goal_that_was_not_searched_has_no_value() -> None:
    assert read_found(NDR, {}) is None
    assert read_found(REGULAR, {}) is None


def test_an_ndr_that_is_not_as_close_as_asked_is_not_regular() -> None:
    assert decide_value(REGULAR, reader(ended=False)) is False
    assert decide_value(Operation(">=", (NDR, number(100))), reader(ended=False)) is True


@pytest.mark.parametrize(
    ("lower", "upper", "words"),
    [
        (100, 110, "from 100 cell/s to 110 cell/s"),
        (100, None, "at least 100 cell/s"),
        (None, 110, "below 110 cell/s"),
        (None, None, ""),
        ("148809.5238", "148809.6123", "about 148_810 cell/s"),
    ],
)
def test_an_interval_in_words(lower, upper, words):
    ends = (None if end is None else Fraction(str(end)) for end in (lower, upper))
    assert describe_bounds(*ends, CELL_RATE) == words

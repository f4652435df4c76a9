"""What cannot be otherwise: of values that are not known, and of names that limits leave none."""

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from qospec.catalogue.kinds import discover
from qospec.check import check
from qospec.diagnostics import Problems
from qospec.model.bounds import ANYTHING, Bounds
from qospec.model.expression import Counted, find_declared_bounds
from qospec.units import CELL_RATE, CELLS


@pytest.fixture(scope="module")
def reported(tmp_path_factory):
    """Return what gives all that is reported of a file."""
    path = tmp_path_factory.mktemp("vacuity") / "a.qos"

    def of(text):
        path.write_text(f"qos 1\n{text}\n")
        problems = Problems()
        check([path], discover(), problems)
        return problems.all

    return of


@pytest.fixture
def codes(reported):
    """Return what gives the codes of all that is reported of a file."""
    return lambda text: [problem.code for problem in reported(text)]


@pytest.mark.parametrize(
    ("where", "expected", "remedy"),
    [
        ("n == n", "n < 5", "compare what is drawn, or leave the `where` out"),
        ("n > 1", "n < n", "expect something of a value that `forall` draws"),
    ],
)
def test_what_does_not_depend_on_what_is_drawn_has_a_remedy_of_its_kind(
    reported, where, expected, remedy
) -> None:
    text = f"property p {{\n  forall n in 1 .. 9 where {where}\n  expect {expected}\n}}"
    assert [problem.help for problem in reported(text)] == [remedy]


@pytest.mark.parametrize(
    ("where", "met"),
    [
        ("n > 9", False),
        ("n >= 9", True),
        ("9 < n", False),
        ("n == 10", False),
        ("n > 3 and n < 2", False),
        ("n > 3 and 2 >= n", False),
        ("n > 3 and (n < 9 and n < 2)", False),
        ("n > 3 or n < 2", True),
        ("n == 2 and n == 3", False),
        ("n != 2 and n != 3", True),
        ("n * n < 0", False),
        ("not n <= 9", False),
        ("n in [4, 10]", True),
        ("n > 3 and m < 2", True),
        ("m > 100", True),
    ],
)
def test_a_where_that_limits_leave_nothing_of_is_reported(codes, where, met) -> None:
    text = "property p {\n  forall k: Int in 1 .. 9\n  forall m: Int in 1 .. k\n"
    text += f"  forall n: Int in 1 .. 9 where {where}\n  expect n < m\n}}"
    assert codes(text) == ([] if met else ["E0516"])


WHOLE, LISTED = range(1, 8), (2, 5, 11)
ANY = [Fraction(part, 8) for part in range(-8, 25)]
"""Some of the numbers of a range of which any may be drawn."""


def joined(parts):
    """Return texts of two parts of conditions or terms, with an operator between them."""
    return st.tuples(st.just("("), parts, st.sampled_from("+-*"), parts, st.just(")")).map(" ".join)


def conditions_of(names):
    """Return conditions of names that read alike in Python."""
    values = st.sampled_from(names) | st.integers(0, 30).map(str)
    term = st.recursive(values, joined, max_leaves=3)
    signs = st.sampled_from(["==", "==", "!=", "<", "<=", ">", ">="])
    compared = st.tuples(st.sampled_from(names), st.sampled_from("+-*"), term, signs, term)
    listed = st.lists(st.integers(-9, 30).map(str), min_size=1, max_size=3).map(", ".join)
    among = st.tuples(term, listed).map(lambda parts: f"{parts[0]} in [{parts[1]}]")
    return st.recursive(
        compared.map(" ".join) | among,
        lambda search_strategy: (
            st.tuples(search_strategy, st.sampled_from(["and", "or"]), search_strategy)
            .map(lambda parts: f"({' '.join(parts)})")
            .flatmap(lambda text: st.sampled_from([text, f"not {text}"]))
        ),
        max_leaves=3,
    )


def is_never_met(reported, where):
    """Return whether a `where` is refused since no values meet it."""
    text = "property p {\n  forall n: Int in 1 .. 7\n  forall l in [2, 5, 11]\n"
    text += f"  forall x in -1 .. 3 where {where}\n  expect n < l and x < l\n}}"
    messages = {problem.message for problem in reported(text) if problem.code != "W0631"}
    assume(not any("does not depend" in message for message in messages))
    assert messages <= {"no values that are drawn meet this, so nothing is examined"}
    return bool(messages)


@given(where=conditions_of("nl"))
def test_a_where_of_what_can_be_counted_is_refused_if_no_values_meet_it(reported, where) -> None:
    values = [{"n": n, "l": item} for n, item in product(WHOLE, LISTED)]
    met = any(eval(where, {}, value) for value in values)  # noqa: S307 -- of our own making
    assert is_never_met(reported, where) is not met


@pytest.mark.slow
@given(where=conditions_of("nlx"))
def test_no_where_that_some_numbers_meet_is_refused(reported, where) -> None:
    values = [{"n": n, "l": item, "x": x} for n, item, x in product(WHOLE, LISTED, ANY)]
    met = any(eval(where, {}, value) for value in values)  # noqa: S307 -- of our own making
    assert not (met and is_never_met(reported, where))


@pytest.mark.parametrize(
    ("where", "met"),
    [
        ("n * n == 2", False),
        ("n * n == 4", True),
        ("m * m == 2", False),
        ("m * m == 999_999_000_000", False),
        ("m * m == 1_000_000_000_000", True),
        ("x * x > 16", False),
        ("x * x > 15", True),
        ("x * (1 - x) > 30%", False),
        ("x * (1 - x) >= 25%", True),
        ("x * x == 2", True),
        ("x * x == 17", False),
        ("max(n, 3) > 9", False),
        ("n within 1% of 4.5", False),
        ("n within 20% of 4.5", True),
        ("1 / (n - 3) > 5", True),
    ],
)
def test_a_where_is_decided_in_parts_of_what_is_drawn(codes, where, met) -> None:
    text = "property p {\n  forall n: Int in 1 .. 9\n  forall m: Int in 1 .. 1_000_000\n"
    text += f"  forall x: Ratio in 0 .. 4 where {where}\n  expect n < m and x < n\n}}"
    assert codes(text) == ([] if met else ["E0516"])


@pytest.mark.parametrize(
    ("expected", "found"),
    [
        ("count(few) >= 0 and count(few) <= count(many)", []),
        ("count(few) >= 0 and n >= 1", ["W0601"]),
        ("count(few) == count(many) or n < 5", []),
        ("count(few) == count(few) or n < 5", ["W0601"]),
        ("n in [n, 5]", ["W0601"]),
        ("n in [m, 5]", []),
        ("n within 1 of n", ["W0601"]),
        ("not n < 1", ["W0601"]),
        ("-n <= -1", ["W0601"]),
    ],
)
def test_only_what_is_written_alike_is_the_same(codes, expected, found) -> None:
    text = "property p {\n  forall few in cells(at_most = 9)\n  forall many in cells(at_most = 9)\n"
    text += "  forall n: Int in 1 .. 9\n  forall m: Int in 1 .. 9\n"
    assert codes(f"{text}  expect {expected}\n}}") == found


def test_a_counter_may_be_set_below_zero_and_a_count_may_not() -> None:
    free = Counted("", "x.call", None, CELL_RATE, "x.call.free", "machine.counter.free")
    active = Counted("", "x.call", None, CELLS, "x.call.active.count", "machine.state.active.count")
    assert find_declared_bounds(free) == ANYTHING
    assert find_declared_bounds(active) == Bounds(Fraction(0), None)


def test_a_sweep_may_depend_on_what_is_drawn_and_that_on_other_draws(codes) -> None:
    text = """
    import std.media
    topology wire {
      a, b = host
      link a -- b via media.stm1
    }
    test t on wire {
      forall k in [1, 2]
      let x = k * 2
      forall rate: CellRate in 1_000 cell/s * x .. 9_000 cell/s where rate > 2_000 cell/s * k
      sweep share in [1, 2] where rate * share > 3_000 cell/s
      flow user = ubr { pcr = rate * share } from a to b
      run { measure = 1 ms }
      expect user.lost == 0 cell
    }
    """
    assert codes(text) == []
    swept = text.replace("forall k", "sweep k")
    assert codes(swept) == ["E0516"] * 2


@pytest.mark.parametrize(
    "criterion",
    [
        "expect user.lost <= user.lost",
        "expect 1 < 2",
        "expect user.lost == 0 or 1 < 2",
        "require user.sent >= 0",
        "expect user.lost != -1 cell",
        "expect user.planned > 0 cell",
    ],
)
def test_what_cannot_fail_is_told_alike_whether_a_test_draws_or_not(reported, criterion) -> None:
    text = """
    import std.media
    topology wire {{
      a, b = host
      link a -- b via media.stm1
    }}
    test t on wire {{
      {rate}
      flow user = ubr {{ pcr = rate }} from a to b
      run {{ measure = 1 ms }}
      expect user.lost == 0 cell
      {criterion}
    }}
    """
    drawn, known = (
        [
            (problem.code, problem.severity, problem.message, problem.help)
            for problem in reported(whole)
        ]
        for rate in ("forall rate in 1_000 cell/s .. 9_000 cell/s", "let rate = 9_000 cell/s")
        for whole in [text.format(rate=rate, criterion=criterion)]
    )
    assert drawn == known
    assert [problem[0] for problem in drawn] == ["W0601"]


RUN = "run { measure = 1 s }\n      expect other.lost == 0"
POINT = "point busy { load = 9 cell/s, measure = 1 s }\n      expect busy.other.lost == 0"
SEARCH = (
    "search load in 10 cell/s .. 20 cell/s { goal best { loss = 0 }, trial = 1 s }\n"
    "      expect best.load > 15 cell/s"
)


@pytest.mark.parametrize(
    ("criterion", "phase", "shown"),
    [
        ("expect n <= 5", RUN, "calls.lost == 0"),
        ("require n <= 5", RUN, "calls.sent within 1% of calls.planned"),
        ("expect other.lost >= 0", RUN, "other.lost == 0"),
        ("expect n <= 5", POINT, "busy.calls.lost == 0"),
        ("expect n <= 5", SEARCH, "best.load >= 20 cell/s"),
    ],
)
def test_a_criterion_that_can_fail_names_a_flow_of_the_test(reported, criterion, phase, shown):
    text = f"""
    import std.media
    topology wire {{
      a, b = host
      link a -- b via media.stm1
    }}
    test t on wire {{
      let n = 5
      flow calls = ubr {{ pcr = {"9 cell/s" if phase is RUN else "load"} }} from a to b
      flow other = ubr {{ pcr = 9 cell/s }} from b to a
      {phase}
      {criterion}
    }}
    """
    (warning,) = (problem for problem in reported(text) if problem.code == "W0601")
    kind = criterion.partition(" ")[0]
    assert warning.help == f"{kind} something that can fail, such as `{shown}`"


GOAL = """
topology bench {
  a, b = host
  link a -- b via line { rate = 149.76 Mbit/s @cell }
}
test knee on bench {
  search rate in 10 cell/s .. 1_000 cell/s {
    goal good { meets = CONDITION }
  }
  flow user = ubr { pcr = rate } from a to b
  expect good.rate > 5 cell/s
}
"""


def test_for_an_unknown_flow_of_a_condition_no_goal_is_offered(checked):
    [problem] = checked(GOAL.replace("CONDITION", "nobody.lost == 0"))[1]
    assert problem.code == "E0101"
    assert "good" not in f"{problem.notes}{problem.help}"


@pytest.mark.parametrize(
    ("condition", "reported"),
    [
        ("1 > 2", ["W0601"]),
        ("user.planned > 3 cell", ["W0601"]),
        ("user.planned > 3 cell and lost == 0", []),
        ("delay.max < 1 ms", []),
    ],
)
def test_a_goal_meets_something_that_depends_on_the_device(checked, condition, reported):
    problems = checked(GOAL.replace("CONDITION", condition))[1]
    assert [problem.code for problem in problems] == reported

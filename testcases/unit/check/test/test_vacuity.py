"""What cannot be otherwise: of values that are not known, and of names that limits leave none."""

from fractions import Fraction

import pytest

from qospec.catalogue.kinds import discover
from qospec.check import check
from qospec.diagnostics import Problems
from qospec.model.bounds import ANYTHING, Bounds, declared
from qospec.model.expression import Counted
from qospec.units import CELL_RATE, CELLS


@pytest.fixture
def codes(tmp_path):
    """Return what gives the codes of all that is reported of a file."""

    def of(text):
        path = tmp_path / "a.qos"
        path.write_text(f"qos 1\n{text}\n")
        problems = Problems()
        check([path], discover(), problems)
        return [each.code for each in problems.all]

    return of


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
    assert declared(free) == ANYTHING
    assert declared(active) == Bounds(Fraction(0), None)


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

"""`worst`, `min`, `max` and `abs` of measured values."""

import pytest

from qospec.model.expression import Operation, list_measurements

BENCH = """
topology bench {
  a, b = host(count = 3)
  c, d = host
  for i in 0 .. 2 {
    link a[i] -- b[i] via line { rate = 149.76 Mbit/s @cell }
  }
  link c -- d via line { rate = 149.76 Mbit/s @cell }
}
traffic load = ubr { pcr = 10 cell/s }
test t on bench {
  control bare = bench
  flow user = load from a to b
  flow one = load from c to d
  run { measure = 1 s }
"""


def condition_of(checked, statement):
    suite, problems = checked(f"{BENCH}  {statement}\n}}\n")
    assert problems == ()
    return suite.tests[0].cases[0].statements[0].expression


@pytest.mark.parametrize(
    ("metric", "operator"),
    [
        ("delay.p99", "max"),
        ("lost", "max"),
        ("received", "min"),
        ("throughput", "min"),
        ("connections_up", "min"),
    ],
)
def test_the_worst_member_is_the_one_with_most_or_least(checked, metric, operator):
    worst = condition_of(checked, f"expect worst(user.{metric}) > 0").operands[0]
    assert worst.operator == operator
    assert [leaf.member for leaf in worst.operands] == [0, 1, 2]


def test_each_member_is_named_as_an_author_would(checked):
    condition = condition_of(checked, "expect worst(bare.user.oam.delay.max) < 1 s")
    leaves = list_measurements(condition)
    assert [leaf.text for leaf in leaves] == [f"bare.user[{n}].oam.delay.max" for n in range(3)]
    assert {(leaf.network, leaf.part) for leaf in leaves} == {("bare", "oam")}


def test_measured_and_known_values_meet(checked):
    condition = condition_of(checked, "expect max(0, one.lost, 5 cell) == abs(one.sent - 3 cell)")
    greatest, size = condition.operands
    assert (greatest.operator, len(greatest.operands), size.operator) == ("max", 3, "abs")
    assert greatest.dimension == size.dimension
    assert isinstance(size.operands[0], Operation)


def test_counts_stay_counts_and_delays_do_not(codes):
    assert codes(f"{BENCH}  expect min(one.lost, one.sent) == 0 cell\n}}\n") == []
    reported = codes(f"{BENCH}  expect min(one.delay.max, one.delay.mean) == 1 s\n}}\n")
    assert "E0213" in reported


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("expect worst() == 0", "E0105"),
        ("expect worst(user.lost, one.lost) == 0", "E0105"),
        ("expect worst(5 cell) == 0", "E0204"),
        ("expect worst(user) == 0", "E0502"),
        ("expect worst(one.lost) == 0", "E0215"),
        ("expect min(one.lost, 5 s) == 0", "E0203"),
        ("expect max(one, one.lost) == 0", "E0502"),
    ],
)
def test_what_has_no_worst_is_refused(codes, statement, code):
    assert codes(f"{BENCH}  {statement}\n}}\n") == [code]


@pytest.mark.parametrize(
    ("condition", "reported"),
    [
        ("one.sent >= 0", ["W0601"]),
        ("one.sent > 0", []),
        ("one.sent > -1 cell", ["W0601"]),
        ("one.sent >= 1 cell", []),
        ("one.delay.mean >= 0", ["W0601"]),
        ("one.cdv_1pt.min >= 0", []),
        ("0 cell == 0 cell", ["W0601"]),
        ("0 cell == 1 cell", ["E0516"]),
        ("one.clr <= 99%", []),
        ("one.clr * one.sent + 1 cell > 0", ["W0601"]),
        ("one.sent - one.lost >= 0", []),
        ("one.sent < one.sent", ["E0516"]),
        ("not (one.sent < one.sent)", ["W0601"]),
        ("one.sent == one.received", []),
        ("min(one.sent, -1 cell) < 0 cell", ["W0601"]),
        ("min(one.sent, 1 cell) < 1 cell", []),
        ("one.lost > 0 or one.sent >= 0", ["W0601"]),
        ("one.lost > 0 and one.sent >= 0", []),
        ("not (one.lost < 0 and one.sent > 0)", ["W0601"]),
        ("one.sent in [one.lost, 5 cell]", []),
        ("one.sent in [one.lost, one.sent]", ["W0601"]),
    ],
)
def test_a_require_that_cannot_fail_or_be_met_is_reported(codes, condition, reported):
    assert codes(f"{BENCH}  require {condition}\n  expect one.lost == 0\n}}\n") == reported

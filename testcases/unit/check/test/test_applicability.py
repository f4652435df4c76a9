"""Criteria that a sweep decides: how they had better be written, and where nobody can be sure."""

import pytest

from qospec.repair import apply_fixes

BENCH = """
topology bench {
  a, b = host
  link a -- b via line { rate = 149.76 Mbit/s @cell }
}
traffic load = ubr { pcr = 1_000 cell/s }
"""

TEST = """
test t on bench {{
  sweep n in 1 .. 4
  flow user = load from a to b
  run {{ measure = 1 s }}
  let odd = n == 1 or n == 3
  expect asked: {condition}
  report odd
  expect user.lost == 0 cell
}}
"""


@pytest.fixture
def reported(checked):
    """Return a function that gives the warnings of a criterion, and its text with the fixes."""

    def reported(condition: str):
        text = BENCH + TEST.format(condition=condition)
        _, problems = checked(text)
        fixed, _ = apply_fixes(
            f"qos 1\n{text}", [problem.fix for problem in problems if problem.fix]
        )
        (line,) = (row for row in fixed.splitlines() if "asked:" in row)
        return [problem.code for problem in problems], line.partition("asked: ")[2]

    return reported


@pytest.mark.parametrize(
    ("written", "better"),
    [
        ("n != 2 or user.lost == 0", "user.lost == 0 when n == 2"),
        ("n == 2 or user.lost == 0", "user.lost == 0 when n != 2"),
        ("n < 2 or user.lost == 0", "user.lost == 0 when n >= 2"),
        ("n <= 2 or user.lost == 0", "user.lost == 0 when n > 2"),
        ("n > 2 or user.lost == 0", "user.lost == 0 when n <= 2"),
        ("n >= 2 or user.lost == 0", "user.lost == 0 when n < 2"),
        ("odd or user.lost == 0", "user.lost == 0 when not odd"),
        ("not odd or user.lost == 0", "user.lost == 0 when odd"),
        ("n in [1, 2] or user.lost == 0", "user.lost == 0 when not (n in [1, 2])"),
        ("n == 2 or n == 3 or user.lost == 0", "user.lost == 0 when n != 2 and n != 3"),
        ("n <= 2 and odd or user.lost == 0", "user.lost == 0 when n > 2 or not odd"),
        (
            "n <= 2 and odd or n == 4 or user.lost == 0",
            "user.lost == 0 when (n > 2 or not odd) and n != 4",
        ),
        ("not (n > 2 and odd) or user.lost == 0", "user.lost == 0 when (n > 2 and odd)"),
        ("(n + 1) * 2 != 4 or user.lost == 0", "user.lost == 0 when (n + 1) * 2 == 4"),
        ("(n != 2) or (user.lost == 0)", "(user.lost == 0) when n == 2"),
        ("(n != 2 or user.lost == 0)", "(user.lost == 0) when n == 2"),
        ("user.lost == 0 or n != 2", "user.lost == 0 when n == 2"),
        (
            "n != 2 or user.lost == 0 or user.clr < 1%",
            "user.lost == 0 or user.clr < 1% when n == 2",
        ),
        (
            "n != 2 or user.lost == 0 and user.clr < 1% as shape",
            "user.lost == 0 and user.clr < 1% as shape when n == 2",
        ),
    ],
)
def test_a_criterion_says_where_it_applies(reported, written: str, better: str) -> None:
    assert reported(written) == (["W0608"], better)


@pytest.mark.parametrize(
    "written",
    [
        "not (n == 2 and user.lost > 0 cell)",
        "(n == 2 or user.lost == 0) or (n == 3 or user.clr == 0)",
        "user.lost == 0 or n != 2 or user.clr < 1%",
        "n != 2 or user.lost == 0 when n < 4",
        "(n == 2 or n == 1) or user.lost == 0",
        "n != 2",
        "n == 1 or n > 2",
        "n == 2",
        "n == 2 or n == 3",
        "n < 4 as shape",
    ],
)
def test_what_is_not_sure_is_reported_and_left_as_it_is(reported, written: str) -> None:
    assert reported(written) == (["W0608"], written)


@pytest.mark.parametrize(
    "written", ["user.lost == 0", "user.lost == 0 or user.clr < 1%", "n > 9 or user.lost == 0"]
)
def test_what_every_case_asks_is_not_reported(reported, written: str) -> None:
    assert reported(written) == ([], written)


def test_a_comment_in_what_goes_is_not_lost(checked) -> None:
    condition = "n != 2  # of all sizes\n    or user.lost == 0"
    _, problems = checked(BENCH + TEST.format(condition=condition))
    assert [(problem.code, problem.fix) for problem in problems] == [("W0608", ())]

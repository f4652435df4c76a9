"""Sweeps and the names of cases."""

import pytest

from qospec.check import Limits
from qospec.check.test.sweeps import escape_for_shell

REST = ("flow f = load from a to b", "run { measure = 1 s }")


def names(suite):
    return [case.name for case in suite.tests[0].cases]


@pytest.mark.parametrize(
    ("sweeps", "expected"),
    [
        ((), ["small"]),
        (("sweep x in [5 us, 6 us]",), ["small:x=5us", "small:x=6us"]),
        (("sweep x in 10% .. 30% step 10%",), ["small:x=10%", "small:x=20%", "small:x=30%"]),
        (
            ("sweep x in [1, 2]", "sweep y in [4_000 cell/s]"),
            ["small:x=1,y=4_000cell_per_s", "small:x=2,y=4_000cell_per_s"],
        ),
        (
            ("sweep x in 1 .. 3", "sweep y in 1 .. x where x + y == 4"),
            ["small:x=2,y=2", "small:x=3,y=1"],
        ),
        (("sweep (x, y) in [(1, 2 us), (2, 2 us)]",), ["small:x=1", "small:x=2"]),
        (("sweep (x, y) in [(1, 2 us), (1, 3 us)]",), ["small:x=1,y=2us", "small:x=1,y=3us"]),
        (("sweep x in [joint, separate]",), ["small:x=joint", "small:x=separate"]),
        (("let base = 2", "sweep x in [base, base + 1]"), ["small:x=base", "small:x=base+1"]),
    ],
)
def test_a_case_per_combination(small, sweeps, expected):
    assert names(small(*sweeps, *REST)) == expected


@pytest.mark.parametrize(
    "sweep",
    [
        (f'sweep k in ["{16 * "0a"}", "0x{16 * "0b"}"]',),
        (f'let both = ["{16 * "0a"}", "{16 * "0b"}"]', "sweep k in both"),
        (f'sweep (k, n) in [("{16 * "0a"}", 1), ("{16 * "0b"}", 2)]',),
    ],
)
def test_keys_are_named_by_their_place(small, sweep):
    assert names(small(*sweep, *REST)) == ["small:k=key1", "small:k=key2"]


def test_names_are_safe_in_a_shell():
    assert escape_for_shell('64 kbit/s @ip $(rm *) "x" µ') == "64kbit_per_s-iprmxu"


@pytest.mark.parametrize(
    ("sweep", "code"),
    [
        ("sweep x in []", "E0506"),
        ("sweep x in 5", "E0506"),
        ("sweep x in [1] where x > 1", "E0506"),
        ("sweep (x, y) in [(1, 2, 3)]", "E0506"),
        ("sweep x in [1, 1]", "E0508"),
        ("sweep x in 1 s .. 2 s", "E0217"),
        ("sweep x in [1]\n  sweep x in [2]", "E0102"),
    ],
)
def test_a_sweep_that_makes_no_sense(checked, sweep, code):
    body = f"{sweep}\n  run {{ measure = 1 s }}"
    text = f"topology bench {{ a = host }}\ntest t on bench {{\n  {body}\n}}\n"
    assert [problem.code for problem in checked(text)[1]] == [code]


def test_a_word_of_a_sweep_is_no_number(checked):
    text = """topology bench { a = host }
test t on bench {
  sweep x in [joint]
  let y = 2 * x
  run { measure = 1 s }
}
"""
    _, (problem,) = checked(text)
    assert (problem.code, problem.span.text) == ("E0101", "joint")


def test_limits(codes):
    test = (
        "topology bench {{ a = host }}\ntest t on bench {{\n  {}\n  run {{ measure = 1 s }}\n}}\n"
    )
    few = Limits(cases=4, elements=10, items=20)
    assert codes(test.format("sweep x in 1 .. 5"), limits=few) == ["E0601"]
    assert codes("topology t { a = host(count = 11) }\n", limits=few) == ["E0602"]
    assert codes("let a = 1 .. 21\n", limits=few) == ["E0603"]
    assert codes("topology t { a = host(count = 21) }\n", limits=few) == ["E0603"]
    assert codes("let a = 2\nlet b = a * a * a * a\n", limits=Limits(bits=3)) == ["E0604"]


def test_loops_come_to_an_end(codes):
    few = Limits(iterations=50)
    loops = "for i in 0 .. 9 {\n    for j in 0 .. 9 { }\n  }"
    assert codes(f"topology t {{\n  {loops}\n}}\n", limits=few) == ["E0608"]


@pytest.mark.parametrize(
    ("limits", "expected"),
    [(Limits(loops=109), ["E0608"]), (Limits(loops=110), []), (Limits(iterations=110), [])],
)
@pytest.mark.parametrize("last", ["9", "n"])
def test_the_loops_of_a_body_come_to_an_end(codes, limits, expected, last):
    loops = f"for i in 0 .. 9 {{\n    for j in 0 .. {last} {{ }}\n  }}"
    assert codes(f"let n = 9\ntopology t {{\n  {loops}\n}}\n", limits=limits) == expected


def test_loops_written_out_are_refused_before_their_first_turn(checked):
    loops = "for i in 1 .. 5 { for j in 1 .. 5 { for k in [1, 2] { link a -- b via strange } } }"
    _, problems = checked(f"topology t {{\n  {loops}\n}}\n", limits=Limits(loops=70))
    assert [problem.code for problem in problems] == ["E0608"]


def test_sweeps_written_out_are_refused_before_their_first_case(checked):
    text = "topology t { a = host }\ntest u on t {\n  sweep x in 1 .. 9\n  sweep y in 1 .. 9\n}\n"
    _, problems = checked(text, limits=Limits(cases=80))
    assert [problem.code for problem in problems] == ["E0601"]


def test_a_let_has_the_type_that_it_says(codes):
    assert codes("let a: Time = 5 us\nlet b: Int = 3\n") == []
    assert codes("let a: Time = 5 cell\n") == ["E0204"]
    assert codes("let a: Tiem = 5 cell\n") == ["E0115"]


def test_a_mistake_of_a_swept_value_names_its_case(checked):
    text = """
topology bench {
  a, b = host
  link a -- b via line { rate = 149.76 Mbit/s @cell }
}
traffic at(r: CellRate) = ubr { pcr = r }
test outside on bench {
  sweep rate in [5 cell/s, 0 cell/s]
  flow f = at(r = rate) from a to b
  run { measure = 1 s }
  expect f.lost == 0 cell
}
test inside on bench {
  sweep (length, n) in [(1 s, 1), (0 s, 2)]
  flow f = at(r = 1 cell/s) from a to b
  run { measure = length }
  expect f.lost < 3 s
}
"""
    assert "in the case" not in str(checked(text)[1][1].secondary)
    reported = checked(text.replace("expect f.lost < 3 s", "expect f.lost == 0 cell"))[1]
    assert [
        (problem.code, [(o.span.text, o.text) for o in problem.secondary]) for problem in reported
    ] == [
        ("E0205", [("r", "used here"), ("rate", "in the case `outside:rate=0cell_per_s`")]),
        ("E0205", [("length", "in the case `inside:length=0s`")]),
    ]


def test_cases_hold_statements_that_do_not_depend_on_the_sweep_once(small):
    suite = small(
        "sweep n in [1, 2, 3]",
        "flow f = load(rate = n * 100_000 cell/s) from a to b",
        "run { measure = 10 ms }",
        "expect nothing_lost: f.lost == 0 cell",
        "expect most_arrives: f.received >= n * 900 cell",
    )
    one, two, three = suite.tests[0].cases
    assert one.statements[0] is two.statements[0] is three.statements[0]
    assert one.run is two.run is three.run
    bounds = [case.statements[1].expression.operands[1].value for case in (one, two, three)]
    assert bounds == [900, 1_800, 2_700]

"""What is written as elsewhere: the help says how it is written here, and some of it is sure."""

import pytest

from qospec.diagnostics import Diagnostic, Problems
from qospec.repair import apply_fixes
from qospec.source import Source
from qospec.syntax.parser import parse


def told(text: str) -> tuple[Source, tuple[Diagnostic, ...]]:
    problems = Problems()
    source = Source("a.qos", f"qos 1\n{text}\n")
    parse(source, problems)
    return source, problems.all


def in_a_test(statement: str) -> str:
    return f"test t on two {{\n  {statement}\n}}"


@pytest.mark.parametrize(
    ("text", "way_out"),
    [
        ("from std import media", "write `import std.media`"),
        ("from a.b import c", "write `import a.b.c`"),
        ("import ./x", "write `import x`"),
        ('import "below/x.qos"', "write `import below.x`"),
        ("include x", "write `import`"),
        ("let a = 2 ^ 3", "write the product out, as in `x * x`"),
        ("test t on two = base(n = 3)", "write `test t = base(n = 3) on two`"),
        ("test t on two = a.base {\n}", "write `test t = a.base on two`"),
        (
            "test t(n: Int) on two(n = (n)) = base(n = [(n)]) # below",
            "write `test t(n: Int) = base(n = [(n)]) on two(n = (n))`",
        ),
        ("test t on two = base(\n  n = 3\n)", "write `on two` behind all of `base(…)`"),
        (in_a_test('skip "why"'), 'write `skip unless condition "why"`'),
        (in_a_test("expect a.b < 1% and > 0%"), "write `and a.b > …`"),
        (in_a_test("expect a[0].b < 1 or == 3"), "write `or a[0].b == …`"),
        (
            in_a_test('expect "few are lost": a < b'),
            "write `expect label: …`, and the text as a comment",
        ),
        (in_a_test("require a-b-c: a < b"), "write `_` for each `-`"),
        (in_a_test("low: a.lost < 3 as exact"), "write `expect low: …`"),
        (
            in_a_test("expect a < b if c"),
            "write `when` to ask this in some cases only, or add `else` and a value",
        ),
        (
            in_a_test("expect a < b if c as exact"),
            "write `when` to ask this in some cases only, or add `else` and a value",
        ),
        (in_a_test("expect a < b <= c"), "write `and b <= …` here"),
        (in_a_test("expect p.delay.p99.9 < 1 s"), "write `p99_9`"),
        (in_a_test("expect a < b at 95%"), "write `with 95% confidence`"),
        (in_a_test("expect a < b with confidence 99 %"), "write `with 99 % confidence`"),
        (in_a_test("expect a < b where n == 1"), "write `when`"),
        (in_a_test("expect a < b unless n == 1"), "write `when not …`"),
        (in_a_test("expect a < b when n == 1 as exact"), "write this before `when`"),
        (in_a_test("expect a < b when n == 1 with 95% confidence"), "write this before `when`"),
        (
            in_a_test("expect a < b as range with 95% confidence"),
            "write `with 95% confidence as range`",
        ),
        (
            in_a_test("expect a < b as shape with 99.9 % confidence"),
            "write `with 99.9 % confidence as shape`",
        ),
        (in_a_test("expect a < b as shape as range"), "write `as shape` or `as range`"),
        (in_a_test('expect a < b as exact "O1"  # why'), 'write `as exact of "O1"`'),
        (in_a_test('expect a < b as exact of "O1" of "O2"'), 'write `as exact of ["O1", "O2"]`'),
        (
            in_a_test('expect a < b as exact of ["A", "B"] of "C"'),
            'write `as exact of ["A", "B", "C"]`',
        ),
        (in_a_test("report a as exact"), "leave it out, or judge the value with `expect`"),
        (in_a_test("expect a within 10% 1 ms"), "write `within 10% of …`"),
        (in_a_test("run measure = 1 s"), "write `run { measure = 1 s }`"),
        (in_a_test("flow from a to b"), "write `flow name …`"),
        (in_a_test("for in 0 .. 3 { a -> b }"), "write `for name …`"),
        (in_a_test("forall n, m in 1 .. 9"), "write `forall n …`, then `forall m …`"),
        (in_a_test("forall n , m: Int in 1 .. 9"), "write `forall n …`, then `forall m …`"),
        (in_a_test("flow a b from c to d"), "write `=` before `b`"),
        (in_a_test("expect a is 0"), "write `==`"),
        (in_a_test("run: { measure = 1 s }"), "leave it out"),
        (in_a_test("expect a < b with 95%"), "write `confidence`"),
    ],
)
def test_the_help_says_how_it_is_written(text: str, way_out: str) -> None:
    assert [problem.help for problem in told(text)[1]] == [way_out]


@pytest.mark.parametrize(
    ("statement", "fixed"),
    [
        ("flow p: voice from a to b", "flow p = voice from a to b"),
        ("flow p : voice from a to b", "flow p = voice from a to b"),
        ("flw p = voice from a to b", "flow p = voice from a to b"),
        ("assert a == b", "expect a == b"),
        ("run: { measure = 1 s }", "run { measure = 1 s }"),
        ("run measure = 1 s", "run { measure = 1 s }"),
        ("expect p.delay.p99.9 < 1 s", "expect p.delay.p99_9 < 1 s"),
        ("expect a is not 0", "expect a != 0"),
        ("forall n in 1 .. 9, m in 1 .. 5", "forall n in 1 .. 9, forall m in 1 .. 5"),
        (
            "forall n in [1, 2],\n  m: Int in 1 .. 5",
            "forall n in [1, 2],\n  forall m: Int in 1 .. 5",
        ),
        ("sweep n in [1, 2], m in [3]", "sweep n in [1, 2], sweep m in [3]"),
        ("expect a < b with confidence 95%", "expect a < b with 95% confidence"),
    ],
)
def test_what_is_sure_is_fixed(statement: str, fixed: str) -> None:
    source, mistakes = told(in_a_test(statement))
    text, count = apply_fixes(source.text, [mistake.fix for mistake in mistakes])
    assert (text, count) == (f"qos 1\n{in_a_test(fixed)}\n", 1)


def test_a_name_behind_a_comma_is_drawn_only_if_the_one_before_is() -> None:
    for statement in ("let n = 3, m in 1 .. 5", "forall n in 1 .. 9, expect n, m in 1 .. 5"):
        helped = " ".join(problem.help for problem in told(in_a_test(statement))[1])
        assert "forall" not in helped


def test_a_base_behind_the_topology_is_moved_before_it() -> None:
    source, mistakes = told("test t on two = base(n = (3)) {\n}")
    text, count = apply_fixes(source.text, [mistake.fix for mistake in mistakes])
    assert (text, count) == ("qos 1\ntest t = base(n = (3)) on two {\n}\n", 1)


@pytest.mark.parametrize(
    "text", [in_a_test("flow flow = voice from a to b"), in_a_test("run = 3"), "let from = 3"]
)
def test_a_reserved_word_in_place_of_a_name_is_reported_as_such(text: str) -> None:
    assert [problem.code for problem in told(text)[1]] == ["E0005"]


@pytest.mark.slow
def test_a_line_that_nobody_wrote_is_not_looked_at() -> None:
    text = in_a_test("expect " + "a < " * 100_000 + "b")
    assert [problem.code for problem in told(text)[1]] == ["E0001"]

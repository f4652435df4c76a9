"""Each measured term of a criterion has words and numbers of its own."""

from fractions import Fraction

import pytest

from qospec.judge.conclusions import format_expression, list_terms
from qospec.model.expression import Constant, Measured, Operation
from qospec.model.suite import Statement
from qospec.source import Source, Span
from qospec.units import COUNT

NOWHERE = Span(Source("t.qos", ""), 0, 0)


def lost(flow):
    return Measured("", flow, None, False, "lost", "", COUNT, f"{flow}.lost")  # noqa: FBT003


def number(value):
    return Constant(Fraction(value), COUNT, str(value))


def none_lost(flow):
    return Operation("==", (lost(flow), number(0)))


def found(expression, kind="expect", **losses):
    statement = Statement(kind, "label", "text", expression, NOWHERE)
    return [
        (term.text, term.judgement.verdict, term.judgement.measured.value)
        for term in list_terms(statement, lambda leaf: losses[leaf.flow])
    ]


def test_each_term_of_an_and_has_its_own_number_and_verdict():
    both = Operation("and", (none_lost("line"), none_lost("tv")))
    assert found(both, line=Fraction(0), tv=Fraction(7)) == [
        ("line.lost == 0", "pass", 0),
        ("tv.lost == 0", "fail", 7),
    ]
    assert found(both, "require", line=Fraction(0), tv=Fraction(7))[1][1] == "inconclusive"


def test_a_term_of_an_or_that_does_not_hold_fails_nothing():
    either = Operation("or", (none_lost("line"), none_lost("tv")))
    assert found(either, line=Fraction(3), tv=Fraction(0)) == [
        ("line.lost == 0", None, 3),
        ("tv.lost == 0", "pass", 0),
    ]


def test_what_measures_nothing_is_no_term():
    known = Operation("==", (number(1), number(2)))
    assert found(Operation("or", (known, none_lost("tv"))), tv=Fraction(0)) == [
        ("tv.lost == 0", "pass", 0)
    ]


def test_a_criterion_of_one_term_has_none_beside_itself():
    assert found(none_lost("line"), line=Fraction(0)) == []


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (Operation("/", (Operation("+", (lost("a"), number(3))), number(2))), "(a.lost + 3) / 2"),
        (Operation("<", (Operation("+", (lost("a"), number(1))), number(9))), "a.lost + 1 < 9"),
        (Operation("within", (lost("a"), number(1), number(9))), "a.lost within 1 of 9"),
        (Operation("in", (lost("a"), Operation("list", (number(1),)))), "a.lost in [1]"),
        (Operation("not", (none_lost("a"),)), "not a.lost == 0"),
        (Operation("max", (lost("a"), Operation("negate", (number(1),)))), "max(a.lost, -1)"),
    ],
)  # fmt: skip
def test_a_term_is_written_as_an_author_would(expression, text):
    assert format_expression(expression) == text

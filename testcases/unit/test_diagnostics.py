"""Diagnostics: collected once each, in order of place; and names that may have been meant."""

import pytest

from qospec.diagnostics import Diagnostic, Problems, SpecificationError, suggest_name
from qospec.source import Source, Span

FIRST = Source("a.qos", "qos 1\nlet a = 1 s\n")
SECOND = Source("b.qos", "qos 1\n")


def error(
    start: int, message: str = "this is wrong", code: str = "E0001", source: Source = FIRST
) -> Diagnostic:
    return Diagnostic(code, message, Span(source, start, start + 1))


def test_diagnostics_come_in_order_of_file_and_place() -> None:
    problems = Problems()
    for problem in (error(0, source=SECOND), error(8), error(2)):
        problems.add(problem)
    assert problems.all == (error(2), error(8), error(0, source=SECOND))


def test_the_same_mistake_is_kept_once() -> None:
    problems = Problems()
    problems.add(error(2))
    problems.add(error(2))
    problems.add(error(2, message="so is this"))
    assert len(problems.all) == 2


def test_a_warning_stops_nothing() -> None:
    problems = Problems()
    problems.add(error(2, code="W0601"))
    problems.raise_errors()
    assert problems.errors == ()
    assert problems.all[0].severity == "warning"


def test_errors_are_raised_together_with_the_warnings() -> None:
    problems = Problems()
    problems.add(error(8))
    problems.add(error(2, code="W0601", message="beware"))
    with pytest.raises(SpecificationError, match="beware; this is wrong") as raised:
        problems.raise_errors()
    assert raised.value.diagnostics == problems.all


@pytest.mark.parametrize(
    ("name", "meant"),
    [("topologi", "topology"), ("expct", "expect"), ("tset", "test"), ("x", ""), ("colour", "")],
)
def test_a_near_name_is_offered_and_a_far_one_is_not(name: str, meant: str) -> None:
    assert suggest_name(name, ["topology", "expect", "test", "sweep"]) == meant


@pytest.mark.parametrize(("name", "meant"), [("ddr", "drr"), ("wtr", "wrr"), ("xyr", "")])
def test_of_three_letters_one_may_be_wrong(name: str, meant: str) -> None:
    assert suggest_name(name, ["drr", "wrr", "scfq"]) == meant


CIPHERS = ["aes_128_cbc", "aes_192_cbc", "aes_256_cbc", "aes_128_gcm", "null"]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("aes_512_cbc", ""),
        ("aes_265_cbc", "aes_256_cbc"),
        ("aes_255_cbc", "aes_256_cbc"),
        ("aes_128_cbd", "aes_128_cbc"),
        ("aes_512_gcm", "aes_128_gcm"),
        ("nul", "null"),
    ],
)
def test_another_number_is_not_a_misspelt_one(name: str, meant: str) -> None:
    assert suggest_name(name, CIPHERS) == meant


def test_of_equally_near_words_one_is_offered_and_a_name_may_be_known_twice() -> None:
    assert suggest_name("losst", ["loss", "lost"]) in {"loss", "lost"}
    assert suggest_name("p1", ["p12", "p12"]) == "p12"

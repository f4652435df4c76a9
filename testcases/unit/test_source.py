"""Texts and places in them."""

import pytest

from qospec.source import Source, Span

TEXT = "qos 1\r\n\nlet a = 1 s\n"


@pytest.mark.parametrize(
    ("offset", "position"),
    [(0, (1, 1)), (4, (1, 5)), (7, (2, 1)), (8, (3, 1)), (12, (3, 5)), (len(TEXT), (4, 1))],
)
def test_an_offset_has_a_line_and_a_column(offset: int, position: tuple[int, int]) -> None:
    assert Source("a.qos", TEXT).find_position(offset) == position


@pytest.mark.parametrize(("number", "line"), [(1, "qos 1"), (2, ""), (3, "let a = 1 s"), (4, "")])
def test_a_line_has_no_end(number: int, line: str) -> None:
    assert Source("a.qos", TEXT).read_line(number) == line


def test_an_empty_text_has_one_line() -> None:
    source = Source("a.qos", "")
    assert source.find_position(0) == (1, 1)
    assert source.read_line(1) == ""


def test_a_span_knows_its_text_and_its_place() -> None:
    source = Source("a.qos", TEXT)
    span = Span(source, 12, 13)
    assert span.text == "a"
    assert span.place == "a.qos:3:5"


def test_a_span_has_in_it_what_begins_there() -> None:
    source = Source("a.qos", TEXT)
    whole = Span(source, 8, 11)
    assert Span(source, 8, 19) in whole
    assert Span(source, 10, 11) in whole
    assert Span(source, 11, 11) not in whole
    assert Span(source, 7, 9) not in whole
    assert Span(Source("b.qos", TEXT), 8, 11) not in whole


def test_spans_are_joined_from_the_first_to_the_end_of_the_second() -> None:
    source = Source("a.qos", TEXT)
    assert Span(source, 8, 11).extend_to(Span(source, 16, 19)).text == "let a = 1 s"

"""`-k`: which names are wanted."""

import pytest

from qospec.cli.matching import MatchError, parse_filter

NAMES = [
    "load:load=100%,oam=joint",
    "load:load=130%,oam=apart",
    "load:load=1,oam=joint",
    "spare",
]


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("", [0, 1, 2, 3]),
        ("spar", [3]),
        ("load=1", [2]),
        ("load=100%", [0]),
        ("load=1,oam=joint", [2]),
        ("oam=joint", [0, 2]),
        ("oad=1", []),
        ("load:load=1", [0, 1, 2]),
        ("not spare", [0, 1, 2]),
        ("load=1 or load=130%", [1, 2]),
        ("oam=joint and not load=1", [0]),
        ("spare or oam=joint and load=1", [2, 3]),
        ("(spare or oam=joint) and load=1", [2]),
        ("not (spare or oam=joint)", [1]),
        ("not not spare", [3]),
    ],
)
def test_a_condition_on_names(text: str, places: list[int]) -> None:
    wants = parse_filter(text)
    assert [place for place, name in enumerate(NAMES) if wants(name)] == places


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("load and", "expected a word at the end"),
        ("and load", "expected a word before `and`"),
        ("load spare", "unexpected `spare`"),
        ("(load", "expected `)`"),
        ("load)", "unexpected `)`"),
        ("not", "expected a word at the end"),
        ("(" * 100 + "load", "it is nested too deeply"),
    ],
)
def test_what_is_no_condition_is_said(text: str, why: str) -> None:
    with pytest.raises(MatchError) as raised:
        parse_filter(text)
    assert str(raised.value) == why

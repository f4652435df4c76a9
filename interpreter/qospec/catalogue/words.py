"""Words of other tools and of standards: what they are called here, and what is not modelled."""

from __future__ import annotations

import functools
import tomllib
from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple
from qospec.resources import SPEC

if TYPE_CHECKING:
    from collections.abc import Container


class Called(NamedTuple):
    """A word of others: whose it is, and what is written here, by the place where it stands."""

    of: str
    here: tuple[str, ...]


class Otherwise(NamedTuple):
    """What others say by a word, and is said here in another way: whose it is, and how."""

    of: str
    how: str


class Words(NamedTuple):
    """The tables of `spec/words.toml`, by word in small letters."""

    called: dict[str, Called]
    otherwise: dict[str, Otherwise]
    of_links: dict[str, str]
    not_modelled: dict[str, str]


@functools.cache
def load_words() -> Words:
    """Return the tables; only a mistake or a question needs them."""
    with (SPEC / "words.toml").open("rb") as file:
        tables = tomllib.load(file)
    called = {word: Called(row["of"], tuple(row["here"])) for word, row in tables["called"].items()}
    otherwise = {word: Otherwise(**row) for word, row in tables["otherwise"].items()}
    return Words(called, otherwise, tables["of_links"], tables["not_modelled"])


@functools.cache
def _list_joined() -> dict[str, str]:
    """Return the words of the tables by their letters alone: ns-3 writes `PacketSize`."""
    words = load_words()
    known = (*words.called, *words.otherwise, *words.not_modelled)
    return {word.replace("_", ""): word for word in known}


def _find_word(word: str) -> str:
    """Return a word of others as it is in the tables, or as it is if it is in none."""
    return _list_joined().get(word.lower().replace("_", ""), word)


def list_translations(word: str) -> tuple[str, ...]:
    """Return what is written here for a word of others, by the place where it stands."""
    row = load_words().called.get(_find_word(word))
    return row.here if row else ()


def translate(word: str, known: Container[str]) -> str:
    """Return what a word of others is called where the names `known` can stand; "" if nothing."""
    return next((name for name in list_translations(word) if name in known), "")


def find_impairment(word: str) -> str:
    """Return which parameter of `std.links.impaired` a word at a link is; "" if none."""
    return load_words().of_links.get(word.lower(), "")


def describe_not_modelled(word: str) -> str:
    """Return what a word means that is not modelled, in a sentence; "" if it is none of these."""
    meaning = load_words().not_modelled.get(_find_word(word), "")
    return f"{meaning}: not modelled" if meaning else ""


def explain_word(word: str) -> str:
    """Return what is said here for a word of others, wherever it stands; "" of another word."""
    words, found = load_words(), _find_word(word)
    if found in words.otherwise:
        return f"a word of {words.otherwise[found].of}: {words.otherwise[found].how}"
    if found in words.called:
        of, here = words.called[found]
        return f"a word of {of}: here it is {', '.join(f'`{name}`' for name in here)}"
    return describe_not_modelled(word)

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


class Words(NamedTuple):
    """The tables of `spec/words.toml`, by word in small letters."""

    called: dict[str, Called]
    of_links: dict[str, str]
    not_modelled: dict[str, str]


@functools.cache
def load_words() -> Words:
    """Return the tables; only a mistake or a question needs them."""
    with (SPEC / "words.toml").open("rb") as file:
        tables = tomllib.load(file)
    called = {word: Called(row["of"], tuple(row["here"])) for word, row in tables["called"].items()}
    return Words(called, tables["of_links"], tables["not_modelled"])


def list_translations(word: str) -> tuple[str, ...]:
    """Return what is written here for a word of others, by the place where it stands."""
    row = load_words().called.get(word.lower())
    return row.here if row else ()


def translate(word: str, known: Container[str]) -> str:
    """Return what a word of others is called where the names `known` can stand; "" if nothing."""
    return next((name for name in list_translations(word) if name in known), "")


def find_impairment(word: str) -> str:
    """Return which parameter of `std.links.impaired` a word at a link is; "" if none."""
    return load_words().of_links.get(word.lower(), "")


def describe_not_modelled(word: str) -> str:
    """Return what a word means that is not modelled, in a sentence; "" if it is none of these."""
    meaning = load_words().not_modelled.get(word.lower(), "")
    return f"{meaning}: not modelled" if meaning else ""

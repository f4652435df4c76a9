"""The reserved words by their part in a file, from `spec/keywords.toml`."""

import functools
import tomllib

from qospec.resources import SPEC


@functools.cache
def keywords() -> dict[str, dict[str, str]]:
    """Return the tables of words with their meanings: file, declaration, statement, word, field."""
    with (SPEC / "keywords.toml").open("rb") as file:
        return tomllib.load(file)

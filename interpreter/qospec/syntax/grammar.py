"""The parse table of `spec/qos.lark`, and the reserved words of `spec/keywords.toml`.

Lark makes the table, which takes a third of a second. It is cached in the user's cache folder as
plain data, under the hash of the grammar and of Lark's version, so that Lark itself need not be
imported. Nothing depends on the cache: where none can be written, the table is made each time.
"""

from __future__ import annotations

import functools
import json
import os
import tomllib
import zlib
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qospec.cache import find_private_folder
from qospec.dataclass import NamedTuple
from qospec.resources import SPEC

if TYPE_CHECKING:
    from lark import Lark

    _Row = dict[str, tuple[int | None, Any]]  # by symbol: a rule to apply, or a state to go to


@functools.cache
def load_keywords() -> dict[str, dict[str, str]]:
    """Return the tables of words with their meanings: file, declaration, statement, word, field."""
    with (SPEC / "keywords.toml").open("rb") as file:
        return tomllib.load(file)


FORMAT = 1
"""To be raised when the form of what is cached changes."""

START = "file"
END = "$END"
GOES_ON = "$GOES_ON"
"""In place of the end of a text that goes on, which fits nowhere."""


class Rule(NamedTuple):
    """A production, as the parser wants it.

    Attributes:
        origin: The nonterminal that it makes.
        size: How many symbols it takes from the stack.
        node: Which node to build; "" for none.
        keeps: The children by their place on the stack: plain for one value, complemented for a
            list
            of values that become children themselves; None for a part that was left out.
        only: The place of the only child, whose value is the rule's own; -1 for none.
    """

    origin: str
    size: int
    node: str
    keeps: list[int | None]
    only: int


class Grammar(NamedTuple):
    """What it takes to parse.

    Attributes:
        pattern: A regular expression with a group for each terminal that is no keyword.
        keywords: Terminals by keyword.
        spellings: Terminals that are always spelt alike, as they are spelt.
        states: For each state: by terminal, the state to go to, or the complement of the rule to
            apply; by nonterminal, the state to go to.
        rules: The productions.
        start: The state to begin in.
        accept: The state in which a whole file has been read.
    """

    pattern: str
    keywords: dict[str, str]
    spellings: dict[str, str]
    states: list[dict[str, int]]
    rules: list[Rule]
    start: int
    accept: int


@functools.cache
def load_grammar() -> Grammar:
    """Return the grammar of `.qos` files, from the cache if it is there."""
    text = (SPEC / "qos.lark").read_bytes()
    folder = find_private_folder("grammar")
    if folder is None:
        return compile_with_lark(text.decode())
    path = folder / f"{_compute_digest(text)}.json"
    with suppress(OSError, ValueError, TypeError, KeyError):
        cached = json.loads(path.read_bytes())
        return Grammar(**{**cached, "rules": [Rule(*rule) for rule in cached["rules"]]})
    made = compile_with_lark(text.decode())
    with suppress(OSError):
        _write(path, json.dumps(made._asdict()).encode())
    return made


def _compute_digest(text: bytes) -> str:
    """Return a digest of the grammar and of the file in which Lark states its version.

    Nobody has an interest in two that look alike, and a cryptographic hash costs 5 ms to import.
    """
    lark = find_spec("lark")
    with suppress(OSError):
        text += Path(lark.origin).read_bytes() if lark and lark.origin else b""
    return f"{FORMAT}-{len(text)}-{zlib.crc32(text):08x}"


def _write(path: Path, data: bytes) -> None:
    """Write a file that others see whole or not at all."""
    import tempfile

    handle, name = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(name).replace(path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise


def compile_with_lark(text: str) -> Grammar:
    """Return the table of a grammar; the same grammar gives the same table, to the letter."""
    from lark import Lark
    from lark.grammar import Rule as LarkRule
    from lark.lexer import TerminalDef

    from qospec.internals import find_internal

    serialize = find_internal(Lark, "memo_serialize")
    lark = Lark(text, parser="lalr", lexer="basic", start=START)
    data, memo = serialize(lark, [TerminalDef, LarkRule])
    table = data["parser"]["parser"]
    made = {key: _build_rule(entry) for key, entry in memo.items() if entry["__type__"] == "Rule"}
    # Rules that do the same with the stack are one to the parser.
    spelt = sorted({str(rule) for rule in made.values()})
    rules = {str(rule): rule for rule in made.values()}
    places = {key: ~spelt.index(str(rule)) for key, rule in made.items()}
    rows: dict[Any, _Row] = {
        state: {
            table["tokens"][token]: (places[to["@"]], None) if reduce else (None, to)
            for token, (reduce, to) in row.items()
        }
        for state, row in table["states"].items()
    }
    numbers = _number_states(rows, table["start_states"][START])
    return Grammar(
        pattern=_build_pattern(lark),
        keywords={word: name for name, word in _list_strings(lark).items() if word.isalpha()},
        spellings=_list_strings(lark),
        states=[
            {
                token: numbers[to] if rule is None else rule
                for token, (rule, to) in sorted(rows[state].items())
            }
            for state in numbers
        ],
        rules=[rules[word] for word in spelt],
        start=numbers[table["start_states"][START]],
        accept=numbers[table["end_states"][START]],
    )


def _number_states(rows: dict[Any, _Row], start: Any) -> dict[Any, int]:
    """Return numbers for states, in the order in which they are reached from the first."""
    numbers = {start: 0}
    waiting = [start]
    for state in waiting:
        for _, (_, to) in sorted(rows[state].items()):
            if to is not None and to not in numbers:
                numbers[to] = len(numbers)
                waiting.append(to)
    return numbers


def _list_strings(lark: Lark) -> dict[str, str]:
    return {t.name: t.pattern.value for t in lark.terminals if t.pattern.type == "str"}


def _build_pattern(lark: Lark) -> str:
    """Return the terminals as groups, in Lark's own order: the first that matches is meant."""
    terminals = [
        terminal
        for terminal in lark.terminals
        if terminal.name not in lark.ignore_tokens and not terminal.pattern.value.isalpha()
    ]
    terminals.sort(key=lambda t: (-t.priority, -t.pattern.max_width, -len(t.pattern.value), t.name))
    return "|".join(f"(?P<{t.name}>{t.pattern.to_regexp()})" for t in terminals)


def _build_rule(production: dict[str, Any]) -> Rule:
    origin, expansion = production["origin"]["name"], production["expansion"]
    options = production["options"]
    absent = [len(run) for run in _mark_absences(options["empty_indices"], len(expansion))]
    keeps: list[int | None] = []
    for place, symbol in enumerate(expansion):
        keeps += [None] * absent[place]
        if symbol["__type__"] == "NonTerminal" and symbol["name"].startswith("_"):
            keeps.append(~place)
        elif not symbol.get("filter_out"):
            keeps.append(place)
    keeps += [None] * absent[-1]
    only = -1
    if options["expand1"] and len(keeps) == 1 and keeps[0] is not None and keeps[0] >= 0:
        only = keeps[0]
    listed = origin.startswith("_")
    node = "" if listed or only >= 0 else production["alias"] or origin
    return Rule(origin, len(expansion), node, keeps, only)


def _mark_absences(empty: list[bool], size: int) -> list[str]:
    """Return, for each place between symbols, a mark for each optional part left out there."""
    return (
        "".join("x" if blank else " " for blank in empty).split(" ") if empty else [""] * (size + 1)
    )

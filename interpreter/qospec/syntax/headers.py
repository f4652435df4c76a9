"""A declaration's header that cannot be read, made one that can: what its block holds stays.

What the header says is given up, but for a name without parameters and the topology of a test.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from qospec.syntax.brackets import DECLARATIONS

if TYPE_CHECKING:
    from qospec.syntax.machine import Machine
    from qospec.syntax.tokens import Tokens

_WITH_BLOCK = DECLARATIONS - {"TRAFFIC"}
_WITH_NAME = {"TEST": (("ON", "on"), ("NAME", "")), "REFERENCE": (("STRING", '""'),)}
"""What stands between a name and the block, if it cannot be read."""


class Header(NamedTuple):
    """What is read instead.

    Attributes:
        first: The token that the declaration begins with.
        block: The `{` of its block.
        plain: The tokens between the two: a terminal and its word, or a token as it stands.
    """

    first: int
    block: int
    plain: tuple[tuple[str, str] | int, ...]


def readable(machine: Machine, tokens: Tokens, start: int, at: int) -> Header | None:
    """Return what to read instead of the header that begins at `start` and does not fit at `at`.

    The machine stands where the declaration begins. None if there is no block, or it was read.
    """
    kinds = tokens.kinds
    if kinds[start] not in _WITH_BLOCK or "LBRACE" in kinds[start:at]:
        return None
    block = _block(tokens, at)
    if block < 0:
        return None
    made = ("NAME", f"_{tokens.starts[start]}")  # nobody declares that
    names = kinds[start + 1 : block].count("NAME")
    plain = kinds[start + 1] == "NAME" and (
        names == 1 or kinds[start] not in {"DEVICE", "TOPOLOGY"}
    )
    name = start + 1 if plain else made
    rests: list[tuple[tuple[str, str] | int, ...]] = []
    if "ON" in kinds[start:block]:
        rests.append(tuple(range(kinds.index("ON", start), block)))
    rests.append(tuple((kind, word or made[1]) for kind, word in _WITH_NAME.get(kinds[start], ())))
    for rest in rests:
        found = (name, *rest)
        fitting = [kinds[each] if isinstance(each, int) else each[0] for each in found]
        if machine.accepts(kinds[start], *fitting, "LBRACE"):
            return Header(start, block, found)
    return None


def _block(tokens: Tokens, at: int) -> int:
    """Return the `{` that ends the line, or the next, or else the first of the line; or -1."""
    first = -1
    for there in range(at, len(tokens.kinds) - 1):
        opens = there > at and tokens.opens_line(there)
        if tokens.kinds[there] == "LBRACE" and (opens or tokens.opens_line(there + 1)):
            return there
        if opens:
            break
        if tokens.kinds[there] == "LBRACE" and first < 0:
            first = there
    return first


def replace(tokens: Tokens, header: Header) -> None:
    """Put in the tokens what is to be read."""
    held = [
        (tokens.kinds[each], tokens.starts[each], tokens.ends[each], tokens.words.get(each, ""))
        if isinstance(each, int)
        else (each[0], tokens.ends[header.first], tokens.ends[header.first], each[1])
        for each in header.plain
    ]
    first, block = header.first + 1, header.block
    shift = len(held) - (block - first)
    words = {at: word for at, word in tokens.words.items() if at < first}
    words |= {at + shift: word for at, word in tokens.words.items() if at >= block}
    words |= {first + place: each[3] for place, each in enumerate(held) if each[3]}
    tokens.words = words
    tokens.kinds[first:block] = [each[0] for each in held]
    tokens.starts[first:block] = [each[1] for each in held]
    tokens.ends[first:block] = [each[2] for each in held]

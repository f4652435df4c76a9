"""Goes on behind a mistake, so that one slip gives one error and the rest is still read.

Where a token does not fit, `diagnose` has words for it and often a way to mend it: another token in
its place, or one more before it. Where it cannot be mended the statement is given up: the stack is
cut back to the list of statements that it was to join, and reading goes on at the next place where
a statement of that list, or a declaration, surely begins. A declaration's header that cannot be
read is made one that can, so that what its block holds stays; what it says is given up, but for a
name without parameters and the topology of a test.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from qospec.diagnostics import MOST
from qospec.syntax.grammar import END, grammar, keywords
from qospec.syntax.recovery.brackets import DECLARATIONS, Brackets, begins_declaration
from qospec.syntax.recovery.diagnose import mistake_at
from qospec.syntax.recovery.site import Place

if TYPE_CHECKING:
    from qospec.diagnostics import Problems
    from qospec.syntax.automaton import Machine
    from qospec.syntax.recovery.site import Mend, Mistake
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


_BEHIND_NAME = frozenset({"EQUAL", "ARROW", "DOT", "LSQB", "COMMA"})
"""What follows a name that begins a statement."""
_BEFORE = frozenset({"COMMA", "LBRACE"})
"""What a statement may begin behind on the same line."""
_NAME = re.compile(r"[^\W\d]\w*")
_MOST_MENDS = 200
_MOST_WORK = 2_000_000
"""Tokens looked at, each as often as it is, before the rest of a file is given up."""


class Recovery:
    """Mends one parse.

    Attributes:
        unread: The names in what was given up: they may have been declared there.
        broken: Whether blocks do not fit together, so that the tree cannot be trusted.
    """

    def __init__(self, machine: Machine, tokens: Tokens, problems: Problems) -> None:
        self.unread: set[str] = set()
        self.broken = False
        self._machine = machine
        self._tokens = tokens
        self._problems = problems
        self._told: set[int] = set()
        self._mended: set[int] = set()
        self._mends_left = _MOST_MENDS
        self._work = 0
        rows = grammar().states
        self._in_block = {state for state, row in enumerate(rows) if row.get("RUN", -1) >= 0}
        self._in_file = {state for state, row in enumerate(rows) if row.get("TOPOLOGY", -1) >= 0}

    @cached_property
    def _brackets(self) -> Brackets:
        self._work += len(self._tokens.kinds)
        return Brackets(self._tokens)

    @cached_property
    def _beginnings(self) -> frozenset[str]:
        words = keywords()
        return frozenset(grammar().keywords[word] for word in ["let", *words["statement"]])

    def go_on(self, at: int) -> int:
        """Return the token to go on with when the token `at` does not fit, or -1 to stop."""
        if self._tokens.starts[at] in self._tokens.mistaken:  # what replaces it does not fit either
            self._problems.take_fix_back(self._tokens.span(at))
        self._machine.finish(at)
        if self._tokens.opens_line(at) and self._machine.accepts("LET"):
            self._machine.settle("LET", at)  # what stands above is complete
        heights = self._heights()
        height, block = max((height, block) for block, height in heights.items())
        start = self._machine.firsts[height] if height < len(self._machine.firsts) else at
        if self._is_name(at, start):
            self._tokens.kinds[at] = "NAME"
            return at
        place = Place(self._tokens, self._machine, self._brackets, at, start, block)
        mistake = mistake_at(place)
        if not self._is_told(place) and not self._is_line_told(mistake):
            if len(self._told) >= MOST:
                return self._stop()
            self._problems.add(mistake.diagnostic)
            self.broken |= mistake.breaks
        if self._work > _MOST_WORK:
            return self._stop()
        self._told.add(self._tokens.starts[start])
        mend = mistake.mend
        if mend is not None and self._mends_left > 0 and self._mends(mend, at, start, height):
            self._mends_left -= 1
            return {"first": start, "out": at + 1}.get(mend.how, at)
        if block < 0 and self._mends_left > 0 and self._reads_block(start, at, heights[-1]):
            self._mends_left -= 1
            return start
        if mistake.spoils:
            self._forget_last(height)
        end = self._next(at, start, heights)
        self._give_up(start, end)
        return end

    def _give_up(self, start: int, end: int) -> None:
        kinds = self._tokens.kinds
        names = {"NAME", "STRING", "RUN"}  # and what was taken for a misspelt keyword
        given_up = (i for i in range(start, end) if kinds[i] in names or i in self._mended)
        texts = (self._tokens.span(i).text for i in given_up)
        self.unread.update(word for text in texts for word in _NAME.findall(text))
        self._work += end - start

    def _reads_block(self, start: int, at: int, height: int) -> bool:
        """Make the header of a declaration one that can be read, if that is where it is wrong."""
        self._machine.cut(height)
        header = readable(self._machine, self._tokens, start, at)
        if header is None:
            return False
        kept = {each for each in header.plain if isinstance(each, int)}
        for place in range(start, header.block):
            if place not in kept:
                self._give_up(place, place + 1)
        replace(self._tokens, header)
        self.unread.update(each[1] for each in header.plain if not isinstance(each, int))
        self.__dict__.pop("_brackets", None)
        return True

    def _stop(self) -> int:
        """Give up the rest of the file."""
        self.broken = True
        return -1

    def _heights(self) -> dict[int, int]:
        """Return how high the stack is below the next statement of each block; -1 is the file."""
        machine, kinds = self._machine, self._tokens.kinds
        heights = {}
        for height, state in enumerate(machine.states):
            if state in self._in_file:
                heights[-1] = height
            elif state in self._in_block:
                below = machine.firsts[height - 1]
                heights[below if kinds[below] == "LBRACE" else machine.firsts[height - 2]] = height
        return heights

    def _is_name(self, at: int, start: int) -> bool:
        """Return whether a keyword stands where it can only name what somebody else has named."""
        tokens, kinds = self._tokens, self._tokens.kinds
        if kinds[at] not in grammar().keywords.values() or not self._machine.accepts("NAME"):
            return False
        before, behind = kinds[at - 1], kinds[at + 1]
        return (
            (before == "DOT" and tokens.touches(at))
            or (behind == "DOT" and tokens.touches(at + 1))
            or (kinds[start] == "IMPORT" and before in {"IMPORT", "COMMA"} and behind != "NAME")
        )

    def _is_told(self, place: Place) -> bool:
        """Return whether this follows from what was told before.

        So it does on the same line and in the same statement. What stands outside of all blocks and
        is indented follows from whatever was told since the last declaration began.
        """
        tokens, brackets, first = self._tokens, self._brackets, place.start
        astray = place.block < 0 and (place.kind == "RBRACE" or tokens.indent(place.at) > 0)
        while first > 0:
            if astray:
                begins = begins_declaration(tokens, first)
            else:
                begins = tokens.opens_line(first) or (
                    tokens.kinds[first - 1] in _BEFORE and brackets.inside[first] == place.block
                )
            if begins:
                break
            first -= 1
        self._work += place.start - first + len(self._told)
        start, end = tokens.ends[first - 1] if first else 0, tokens.ends[place.at]
        told = [*self._told, *tokens.mistaken, *(self._errors() if astray else [])]
        return any(start <= each <= end for each in told)

    def _is_line_told(self, mistake: Mistake) -> bool:
        """Return whether something was told already of the line that the mistake is shown in."""
        source = self._tokens.source
        lines = {source.position(start)[0] for start in self._errors()}
        return source.position(mistake.diagnostic.span.start)[0] in lines

    def _errors(self) -> list[int]:
        """Return where errors were told of this file."""
        source = self._tokens.source
        return [told.span.start for told in self._problems.errors if told.span.source is source]

    def _mends(self, mend: Mend, at: int, start: int, height: int) -> bool:
        """Mend the mistake, if the parser then accepts what stands there."""
        tokens, machine = self._tokens, self._machine
        if mend.how == "out":
            return machine.accepts(tokens.kinds[at + 1])
        if mend.how == "before":
            kinds = mend.kind.split()
            if not machine.accepts(*kinds, tokens.kinds[at]):
                return False
            for kind, word in reversed([*zip(kinds, mend.word.split(), strict=True)]):
                tokens.insert(at, kind, word)
            self.__dict__.pop("_brackets", None)
            return True
        place = start if mend.how == "first" else at
        if place in self._mended or (mend.how == "instead" and not machine.accepts(mend.kind)):
            return False
        self._mended.add(place)
        if mend.how == "first":
            machine.cut(height)
        tokens.kinds[place] = mend.kind
        tokens.words[place] = mend.word
        return True

    def _forget_last(self, height: int) -> None:
        """Take the statement back that was read last."""
        read = self._machine.values[height - 1]
        if isinstance(read, list) and read:
            text = read.pop().span.text
            self.unread.update(_NAME.findall(text))

    def _next(self, at: int, start: int, heights: dict[int, int]) -> int:
        """Cut the stack back and return where to go on."""
        tokens, brackets = self._tokens, self._brackets
        block = max(heights, key=heights.__getitem__)
        edge = tokens.indent(start)
        for there in range(min(start + 1, at), len(tokens.kinds)):
            kind = tokens.kinds[there]
            if kind == END or (begins_declaration(tokens, there) and (there > start or block >= 0)):
                self.broken |= block >= 0
                self._machine.cut(heights[-1])
                return there
            closed = brackets.opener.get(there, -1) if kind == "RBRACE" else -1
            if closed >= 0 and closed in heights:
                self._machine.cut(heights[closed])
                return there
            if (
                there > start
                and brackets.block[there] == block
                and self._begins(there, at, block, edge)
            ):
                self._machine.cut(heights[block])
                return there
        raise AssertionError("the last token is the end")

    def _begins(self, there: int, at: int, block: int, edge: int) -> bool:
        """Return whether a statement of the block surely begins at a token.

        What is indented deeper than the statement that is given up, at `edge`, may go on with it.
        """
        tokens, kinds = self._tokens, self._tokens.kinds
        opens = tokens.opens_line(there)
        if block < 0:
            return opens and kinds[there] in {"LET", "IMPORT"}
        if kinds[there] in self._beginnings:
            return opens
        if kinds[there] != "NAME" or self._brackets.inside[there] != block:
            return False
        bound = kinds[there + 1] == "EQUAL"
        if opens:
            follows = kinds[there + 1] in _BEHIND_NAME and tokens.indent(there) <= edge
            return bound or (there > at and follows)
        if not bound or there <= at or kinds[there - 1] != "COMMA":
            return False
        return "\n" not in tokens.source.text[tokens.ends[block] : tokens.starts[there]]

"""Error recovery: one mistake gives one error, and the rest of the file is still parsed.

Where a token does not fit, `diagnose` explains it and often offers a repair: another token in its
place, or one more before it. Without a repair the statement is skipped: the stack is unwound to the
list of statements that it would have joined, and parsing resumes where a statement of that list, or
a declaration, certainly begins. A declaration's header that cannot be parsed is replaced by one
that can, so that its block is kept; of the header only a name without parameters and the topology
of a test are kept.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple
from qospec.diagnostics import MOST
from qospec.syntax.grammar import END, GOES_ON, load_grammar, load_keywords
from qospec.syntax.recovery.brackets import DECLARATIONS, Brackets, is_declaration_start
from qospec.syntax.recovery.diagnose import diagnose
from qospec.syntax.recovery.site import ErrorSite

if TYPE_CHECKING:
    from qospec.diagnostics import Problems
    from qospec.syntax.automaton import Automaton
    from qospec.syntax.recovery.site import Diagnosis, Repair
    from qospec.syntax.tokens import Tokens

_WITH_BLOCK = DECLARATIONS - {"TRAFFIC"}
_WITH_NAME = {"TEST": (("ON", "on"), ("NAME", "")), "REFERENCE": (("STRING", '""'),)}
"""What is put between a name and the block."""


class Header(NamedTuple):
    """A header that replaces one that cannot be parsed.

    Attributes:
        first: The token that the declaration begins with.
        block: The `{` of its block.
        plain: The tokens between the two: a terminal and its word, or a token by its index.
    """

    first: int
    block: int
    plain: tuple[tuple[str, str] | int, ...]


def replace_header_line(automaton: Automaton, tokens: Tokens, start: int, at: int) -> Header | None:
    """Return a replacement for the header that begins at `start` and does not fit at `at`.

    The automaton is where the declaration begins. None if there is no block, or it was parsed.
    """
    kinds = tokens.kinds
    if kinds[start] not in _WITH_BLOCK or "LBRACE" in kinds[start:at]:
        return None
    block = _find_block(tokens, at)
    if block < 0:
        return None
    made = ("NAME", f"_{tokens.starts[start]}")  # no author declares that
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
        fitting = [kinds[token] if isinstance(token, int) else token[0] for token in found]
        if automaton.accepts(kinds[start], *fitting, "LBRACE"):
            return Header(start, block, found)
    return None


def _find_block(tokens: Tokens, at: int) -> int:
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


def replace_header(tokens: Tokens, header: Header) -> None:
    """Replace the tokens of a header."""
    held = [
        (tokens.kinds[entry], tokens.starts[entry], tokens.ends[entry], tokens.words.get(entry, ""))
        if isinstance(entry, int)
        else (entry[0], tokens.ends[header.first], tokens.ends[header.first], entry[1])
        for entry in header.plain
    ]
    first, block = header.first + 1, header.block
    shift = len(held) - (block - first)
    words = {at: word for at, word in tokens.words.items() if at < first}
    words |= {at + shift: word for at, word in tokens.words.items() if at >= block}
    words |= {first + place: entry[3] for place, entry in enumerate(held) if entry[3]}
    tokens.words = words
    tokens.kinds[first:block] = [entry[0] for entry in held]
    tokens.starts[first:block] = [entry[1] for entry in held]
    tokens.ends[first:block] = [entry[2] for entry in held]


_BEHIND_NAME = frozenset({"EQUAL", "ARROW", "DOT", "LSQB", "COMMA"})
"""What follows a name that begins a statement."""
_BEFORE = frozenset({"COMMA", "LBRACE"})
"""What a statement may follow on the same line."""
_NAME = re.compile(r"[^\W\d]\w*")
_MAX_REPAIRS = 200
_MAX_WORK = 2_000_000
"""Tokens examined, repeats included, before the rest of a file is given up."""


class Recovery:
    """Recovers one parse.

    Attributes:
        unparsed: The names in skipped text: they may have been declared there.
        broken: Whether braces do not match, so that the tree cannot be trusted.
        replaced_headers: Where declarations begin whose header was replaced.
    """

    def __init__(self, automaton: Automaton, tokens: Tokens, problems: Problems) -> None:
        self.unparsed: set[str] = set()
        self.broken = False
        self.replaced_headers: set[int] = set()
        self._automaton = automaton
        self._tokens = tokens
        self._problems = problems
        self._reported: set[int] = set()
        self._repaired: set[int] = set()
        self._repairs_left = _MAX_REPAIRS
        self._work = 0
        rows = load_grammar().states
        self._in_block = {state for state, row in enumerate(rows) if row.get("RUN", -1) >= 0}
        self._in_file = {state for state, row in enumerate(rows) if row.get("TOPOLOGY", -1) >= 0}

    @cached_property
    def _brackets(self) -> Brackets:
        self._work += len(self._tokens.kinds)
        return Brackets(self._tokens)

    @cached_property
    def _beginnings(self) -> frozenset[str]:
        words = load_keywords()
        return frozenset(load_grammar().keywords[word] for word in ["let", *words["statement"]])

    def resume(self, at: int) -> int:
        """Return the token to resume at when the token `at` does not fit, or -1 to stop."""
        if self._tokens.starts[at] in self._tokens.errors:  # its replacement does not fit either
            self._problems.withdraw_fix(self._tokens.find_span(at))
        self._automaton.reduce_completed(at)
        if self._tokens.opens_line(at) and self._automaton.accepts("LET"):
            self._automaton.reduce_for("LET", at)  # what is above is complete
        heights = self._find_heights()
        height, block = max((height, block) for block, height in heights.items())
        start = self._automaton.firsts[height] if height < len(self._automaton.firsts) else at
        if self._is_name(at, start):
            self._tokens.kinds[at] = "NAME"
            return at
        site = ErrorSite(self._tokens, self._automaton, self._brackets, at, start, block)
        diagnosis = diagnose(site)
        if not self._is_consequence(site) and not self._is_line_reported(diagnosis):
            if len(self._reported) >= MOST:
                return self._stop()
            self._problems.add(diagnosis.diagnostic)
            self.broken |= diagnosis.breaks
        if self._work > _MAX_WORK:
            return self._stop()
        self._reported.add(self._tokens.starts[start])
        repair = diagnosis.repair
        if repair is not None and self._repairs_left > 0 and self._apply(repair, at, start, height):
            self._repairs_left -= 1
            return {"first": start, "out": at + 1}.get(repair.how, at)
        if block < 0 and self._repairs_left > 0 and self._repair_header(start, at, heights[-1]):
            self._repairs_left -= 1
            return start
        if diagnosis.spoils:
            self._forget_last(height)
        end = self._resume_point(at, start, heights)
        self._give_up(start, end)
        return end

    def _give_up(self, start: int, end: int) -> None:
        kinds = self._tokens.kinds
        names = {"NAME", "STRING", "RUN"}  # and what was taken for a misspelt keyword
        given_up = (i for i in range(start, end) if kinds[i] in names or i in self._repaired)
        texts = (self._tokens.find_span(i).text for i in given_up)
        self.unparsed.update(word for text in texts for word in _NAME.findall(text))
        self._work += end - start

    def _repair_header(self, start: int, at: int, height: int) -> bool:
        """Replace the header of a declaration, if that is where it is wrong."""
        self._automaton.unwind(height)
        header = replace_header_line(self._automaton, self._tokens, start, at)
        if header is None:
            return False
        kept = {token for token in header.plain if isinstance(token, int)}
        for place in range(start, header.block):
            if place not in kept:
                self._give_up(place, place + 1)
        replace_header(self._tokens, header)
        self.replaced_headers.add(self._tokens.starts[start])
        self.unparsed.update(token[1] for token in header.plain if not isinstance(token, int))
        self.__dict__.pop("_brackets", None)
        return True

    def _stop(self) -> int:
        """Give up the rest of the file."""
        self.broken = True
        return -1

    def _find_heights(self) -> dict[int, int]:
        """Return the height of the stack below the next statement of each block; -1 is the file."""
        automaton, kinds = self._automaton, self._tokens.kinds
        heights = {}
        for height, state in enumerate(automaton.states):
            if state in self._in_file:
                heights[-1] = height
            elif state in self._in_block:
                below = automaton.firsts[height - 1]
                heights[below if kinds[below] == "LBRACE" else automaton.firsts[height - 2]] = (
                    height
                )
        return heights

    def _is_name(self, at: int, start: int) -> bool:
        """Return whether a keyword can only be a name here, given in another file."""
        tokens, kinds = self._tokens, self._tokens.kinds
        if kinds[at] not in load_grammar().keywords.values() or not self._automaton.accepts("NAME"):
            return False
        before, behind = kinds[at - 1], kinds[at + 1]
        return (
            (before == "DOT" and tokens.touches(at))
            or (behind == "DOT" and tokens.touches(at + 1))
            or (kinds[start] == "IMPORT" and before in {"IMPORT", "COMMA"} and behind != "NAME")
        )

    def _is_consequence(self, site: ErrorSite) -> bool:
        """Return whether this follows from an error that was reported before.

        It does on the same line and in the same statement. Indented text outside of any block
        follows from any error since the last declaration began.
        """
        tokens, brackets, first = self._tokens, self._brackets, site.start
        astray = site.block < 0 and (site.kind == "RBRACE" or tokens.indent(site.at) > 0)
        while first > 0:
            if astray:
                begins = is_declaration_start(tokens, first)
            else:
                begins = tokens.opens_line(first) or (
                    tokens.kinds[first - 1] in _BEFORE and brackets.inside[first] == site.block
                )
            if begins:
                break
            first -= 1
        self._work += site.start - first + len(self._reported)
        start, end = tokens.ends[first - 1] if first else 0, tokens.ends[site.at]
        reported = [*self._reported, *tokens.errors, *(self._list_errors() if astray else [])]
        return any(start <= offset <= end for offset in reported)

    def _is_line_reported(self, diagnosis: Diagnosis) -> bool:
        """Return whether an error was already reported for this line."""
        source = self._tokens.source
        lines = {source.find_position(start)[0] for start in self._list_errors()}
        return source.find_position(diagnosis.diagnostic.span.start)[0] in lines

    def _list_errors(self) -> list[int]:
        """Return where errors were reported for this file."""
        source = self._tokens.source
        return [error.span.start for error in self._problems.errors if error.span.source is source]

    def _apply(self, repair: Repair, at: int, start: int, height: int) -> bool:
        """Apply a repair, if the parser then accepts the token."""
        tokens, automaton = self._tokens, self._automaton
        if repair.how == "out":
            return automaton.accepts(tokens.kinds[at + 1])
        if repair.how == "before":
            kinds = repair.kind.split()
            if not automaton.accepts(*kinds, tokens.kinds[at]):
                return False
            for kind, word in reversed([*zip(kinds, repair.word.split(), strict=True)]):
                tokens.insert(at, kind, word)
            self.__dict__.pop("_brackets", None)
            return True
        place = start if repair.how == "first" else at
        if place in self._repaired or (
            repair.how == "instead" and not automaton.accepts(repair.kind)
        ):
            return False
        self._repaired.add(place)
        if repair.how == "first":
            automaton.unwind(height)
        tokens.kinds[place] = repair.kind
        tokens.words[place] = repair.word
        return True

    def _forget_last(self, height: int) -> None:
        """Drop the statement that was parsed last."""
        read = self._automaton.values[height - 1]
        if isinstance(read, list) and read:
            text = read.pop().span.text
            self.unparsed.update(_NAME.findall(text))

    def _resume_point(self, at: int, start: int, heights: dict[int, int]) -> int:
        """Unwind the stack and return where to resume."""
        tokens, brackets = self._tokens, self._brackets
        block = max(heights, key=heights.__getitem__)
        edge = tokens.indent(start)
        for there in range(min(start + 1, at), len(tokens.kinds)):
            kind = tokens.kinds[there]
            if kind in {END, GOES_ON} or (
                is_declaration_start(tokens, there) and (there > start or block >= 0)
            ):
                self.broken |= block >= 0
                self._automaton.unwind(heights[-1])
                return there
            closed = brackets.opener.get(there, -1) if kind == "RBRACE" else -1
            if closed >= 0 and closed in heights:
                self._automaton.unwind(heights[closed])
                return there
            if (
                there > start
                and brackets.block[there] == block
                and self._begins_statement(there, at, block, edge)
            ):
                self._automaton.unwind(heights[block])
                return there
        raise AssertionError("the last token is the end")

    def _begins_statement(self, there: int, at: int, block: int, edge: int) -> bool:
        """Return whether a statement of the block certainly begins at a token.

        What is indented deeper than the skipped statement, at `edge`, may continue it.
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

"""From text to tokens, with the doc comments apart."""

from __future__ import annotations

import functools
import re
from dataclasses import field
from itertools import islice
from typing import TYPE_CHECKING

from qospec.dataclass import dataclass
from qospec.diagnostics import MOST, Diagnostic, Edit
from qospec.source import Span
from qospec.syntax import lexical_errors
from qospec.syntax.grammar import END, load_grammar
from qospec.syntax.grammar import load_keywords as words_of_the_language
from qospec.units import find_unit
from qospec.visible import find_hidden, is_hidden

if TYPE_CHECKING:
    from qospec.diagnostics import Problems
    from qospec.source import Source

_TRIVIA = r"""
    (?P<NEWLINE>\r?\n[ \t\r\n]*)
    |(?P<COMMENT>\#[^\n]*)
    |(?P<LAST>\Z)
"""
_LAST = re.compile(r"[ \t]*(?:[}#\n]|\Z)")
_WORD = re.compile(r"[ \t]*([A-Za-z%µμ]+(?:/[A-Za-zµμ]+)?)")
_FIRST_LINE = 2
"""The tokens of `qos 1`."""
_AT_PLACES = frozenset({"AT", "POINT", "STEP"})
"""Keywords that are names but for one place: `point a {` on one line; `step` except after `=`; `at`
before a number or a name, at the beginning of a statement."""
_TIMES = frozenset({"NAME", "QUANTITY", "INT", "FLOAT"})
"""What the time of a change begins with."""
_SETTLING = _TIMES | {"EQUAL", "LBRACE"}
"""Before these, a name may be a keyword after all, or a keyword a name."""
_NO_TERMINALS = lexical_errors.KINDS | {"NEWLINE", "COMMENT", "LAST"}


@dataclass
class Tokens:
    """The tokens of a file, as lists of equal length; the last is the end of the text.

    Attributes:
        source: What they are of.
        kinds: The terminal of each.
        starts: Where each begins.
        ends: Where each ends.
        words: By a token's index, its text if not as it was written.
        above: Doc comments by the offset of the token below them.
        trailing: Doc comments at the end of a line, by the end of the token before them.
        heading: The separate doc comment below the first line.
        errors: The offsets at which errors were reported.
        foreign: Names with letters that are not allowed in names.
    """

    source: Source
    kinds: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    words: dict[int, str] = field(default_factory=dict)
    above: dict[int, str] = field(default_factory=dict)
    trailing: dict[int, str] = field(default_factory=dict)
    heading: str = ""
    errors: list[int] = field(default_factory=list)
    foreign: set[str] = field(default_factory=set)

    def read_text(self, index: int) -> str:
        """Return the text of a token."""
        return self.words.get(index) or self.source.text[self.starts[index] : self.ends[index]]

    def find_span(self, index: int) -> Span:
        """Return the span of a token."""
        return Span(self.source, self.starts[index], self.ends[index])

    def opens_line(self, index: int) -> bool:
        """Return whether a token is the first of its line."""
        return index == 0 or "\n" in self.source.text[self.ends[index - 1] : self.starts[index]]

    def touches(self, index: int) -> bool:
        """Return whether nothing is between a token and the one before it."""
        return index > 0 and self.ends[index - 1] == self.starts[index]

    def indent(self, index: int) -> int:
        """Return how far the line of a token is indented."""
        text, start = self.source.text, self.starts[index]
        line = text[text.rfind("\n", 0, start) + 1 : start + 1]
        return len(line) - len(line.lstrip())

    def look_alikes(self) -> frozenset[str]:
        """Return the names that those with letters that are not allowed may stand for."""
        shapes = [re.sub(r"[^\x00-\x7f]", ".", name) for name in self.foreign]
        if not shapes:
            return frozenset()
        names = {self.read_text(at) for at, kind in enumerate(self.kinds) if kind == "NAME"}
        return frozenset(name for name in names for shape in shapes if re.fullmatch(shape, name))

    def insert(self, at: int, kind: str, word: str) -> None:
        """Insert a missing token before the token `at`."""
        place = self.ends[at - 1] if at else 0
        self.kinds.insert(at, kind)
        self.starts.insert(at, place)
        self.ends.insert(at, place)
        self.words = {place + (place >= at): text for place, text in self.words.items()}
        self.words[at] = word


@functools.cache
def _compile_scanner() -> re.Pattern[str]:
    terminals = load_grammar().pattern.replace(" ", r"\ ").replace("#", r"\#")
    unit = lexical_errors.UNIT.replace("<keyword>", "|".join(load_grammar().keywords))
    before = lexical_errors.BEFORE.replace("<unit>", unit)
    parts = "|".join((before, terminals, _TRIVIA, lexical_errors.BEHIND))
    return re.compile(rf"[ \t]*(?:{parts})", re.VERBOSE)


def tokenize(source: Source, problems: Problems) -> Tokens:
    """Return the tokens of a text; report what is not a token, up to the number that is shown."""
    reader = _Lexer(source, problems)
    reader.read()
    return reader.tokens


class _Lexer:
    def __init__(self, source: Source, problems: Problems) -> None:
        self.tokens = Tokens(source)
        self._problems = problems
        self._doc: list[str] = []
        self._fresh = True
        self._stray = -1
        self._fields = {load_grammar().keywords[word] for word in words_of_the_language()["field"]}

    def read(self) -> None:
        self._report_hidden()
        text, tokens = self.tokens.source.text, self.tokens
        keywords = load_grammar().keywords
        kinds, starts, ends = tokens.kinds, tokens.starts, tokens.ends
        for match in _compile_scanner().finditer(text, 1 if text.startswith("\ufeff") else 0):
            kind = match.lastgroup or ""
            start, end = match.span(kind)
            if kind == "NAME":
                kind = keywords.get(text[start:end], kind)
                if kind in _AT_PLACES and (kind != "STEP" or kinds[-1:] == ["EQUAL"]):
                    kind = "NAME"
            elif kind in _NO_TERMINALS:
                if kind == "FOREIGN":
                    start = self._name_start(start)
                kind, end = self._replace_trivia(kind, start, end)
                if len(tokens.errors) > MOST:
                    break
            if not kind:
                continue
            if self._doc:
                self._attach(kind, start)
            self._fresh = False
            if kind in _SETTLING:
                self._settle(kind, start)
            kinds.append(kind)
            starts.append(start)
            ends.append(end)
        kinds.append(END)
        starts.append(len(text))
        ends.append(len(text))

    def _settle(self, sign: str, start: int) -> None:
        """Decide between names and keywords before `=`, `{`, a number or a name."""
        tokens, words = self.tokens, load_grammar().keywords
        kinds = tokens.kinds
        if sign == "EQUAL" and kinds and kinds[-1] in self._fields:
            kinds[-1] = "NAME"
        elif sign == "LBRACE" and kinds[-2:] == ["NAME", "NAME"]:
            begin, end = tokens.starts[-2], tokens.ends[-2]
            text = tokens.source.text
            if words.get(text[begin:end]) == "POINT" and "\n" not in text[end:start]:
                kinds[-2] = "POINT"
        elif sign in _TIMES and kinds[-1:] == ["NAME"] and self._begins_change(start):
            kinds[-1] = "AT"

    def _begins_change(self, start: int) -> bool:
        """Return whether the last token is `at`, begins a statement, and is on the next's line."""
        tokens, last = self.tokens, len(self.tokens.kinds) - 1
        text, end = tokens.source.text, tokens.ends[-1]
        if (
            load_grammar().keywords.get(text[tokens.starts[-1] : end]) != "AT"
            or "\n" in text[end:start]
        ):
            return False
        return tokens.opens_line(last) or tokens.kinds[last - 1] in {"LBRACE", "RBRACE", "COMMA"}

    def _replace_trivia(self, kind: str, start: int, end: int) -> tuple[str, int]:
        """Return the terminal that replaces what is not a token, if one does, and its end."""
        text = self.tokens.source.text[start:end]
        if kind == "NEWLINE":
            self._take_newline(text)
        elif kind == "COMMENT":
            self._take_comment(text)
        elif kind != "LAST":
            return self._report_error(kind, start, start + (len(text.rstrip()) or len(text)))
        return "", end

    def _take_newline(self, text: str) -> None:
        self._fresh = True
        if self._doc and text.count("\n") > 1:
            first_line = self.tokens.kinds[:1] == ["QOS"] and len(self.tokens.kinds) <= _FIRST_LINE
            if first_line and not self.tokens.heading:
                self.tokens.heading = "\n".join(self._doc)
            self._doc = []

    def _take_comment(self, text: str) -> None:
        if not text.startswith("##"):
            return
        words = text[2:].removeprefix(" ").rstrip()
        if self._fresh:
            self._doc.append(words)
        else:
            behind_comma = self.tokens.kinds[-1] == "COMMA" and len(self.tokens.kinds) > 1
            self.tokens.trailing[self.tokens.ends[-2 if behind_comma else -1]] = words

    def _attach(self, kind: str, start: int) -> None:
        doc, self._doc = "\n".join(self._doc), []
        if kind == "IMPORT":
            self.tokens.heading = self.tokens.heading or doc
        else:
            self.tokens.above[start] = doc

    # ---- what is not a token

    def _report_error(self, kind: str, start: int, end: int) -> tuple[str, int]:
        tokens = self.tokens
        written = tokens.source.text[start:end]
        repeated = kind == "STRAY" and self._stray == start
        self._stray = end if kind == "STRAY" else -1
        if repeated or is_hidden(written[0]):
            return "", end
        error = lexical_errors.explain_mismatch(kind, written)
        if kind == "FOREIGN":
            tokens.foreign.add(tokens.source.text[start:end])
        span = Span(tokens.source, start, end)
        sure = error.replacement is not None and self._stands_alone(kind, end)
        fix = (Edit(span, error.replacement or ""),) if sure else ()
        self._report(error.code, error.message, start, end, error.help, fix)
        if error.word:
            tokens.words[len(tokens.kinds)] = error.word
        return error.kind, end

    def _name_start(self, start: int) -> int:
        """Return where a name begins, and remove the part that was read as a name or a keyword."""
        tokens = self.tokens
        if not tokens.kinds or tokens.ends[-1] != start:
            return start
        if tokens.kinds[-1] != "NAME" and tokens.kinds[-1] not in load_grammar().keywords.values():
            return start
        del tokens.kinds[-1], tokens.ends[-1]
        return tokens.starts.pop()

    def _stands_alone(self, kind: str, end: int) -> bool:
        """Return whether the text around an error leaves the replacement its meaning."""
        if kind == "SLASHES":
            return self._fresh  # after a value it may have been meant as a division
        if self.tokens.source.text[end - 1] == ";":  # else what follows needs a line of its own
            return _LAST.match(self.tokens.source.text, end) is not None
        if kind not in {"EXPONENT", "BASED", "POINTED"}:
            return True
        behind = _WORD.match(self.tokens.source.text, end)
        return (
            behind is None
            or behind[1] in load_grammar().keywords
            or find_unit(behind[1]) is not None
        )

    def _report_hidden(self) -> None:
        """Report the first of each line."""
        source, line = self.tokens.source, 0
        for start in islice(find_hidden(source.text), MOST):
            error, before = lexical_errors.explain_hidden(source.text[start]), line
            line = source.find_position(start)[0]
            if line > before:
                place, end = Span(source, start, start + 1), start + 1
                replacement = error.replacement
                fix = () if replacement is None else (Edit(place, replacement),)
                self._report(error.code, error.message, start, end, error.help, fix)

    def _report(
        self,
        code: str,
        message: str,
        start: int,
        end: int,
        help_text: str,
        fix: tuple[Edit, ...] = (),
    ) -> None:
        self.tokens.errors.append(start)
        span = Span(self.tokens.source, start, end)
        self._problems.add(Diagnostic(code, message, span, help=help_text, fix=fix))

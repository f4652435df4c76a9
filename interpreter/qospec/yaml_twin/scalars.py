"""The text of one scalar, the offset of each of its characters, and whether it is a single value.

A scalar becomes part of a transcribed text and must not affect what is around it: it closes what
it opens, and contains nothing that does not belong in its place.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple
from qospec.diagnostics import Diagnostic, Problems
from qospec.source import Source, Span
from qospec.syntax.grammar import END, load_grammar, load_keywords
from qospec.syntax.lexical_errors import shorten
from qospec.syntax.tokens import tokenize
from qospec.yaml_twin.nodes import TranscriptionError
from qospec.yaml_twin.shapes import Role

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qospec.source import Source
    from qospec.yaml_twin.expectations import Expectations
    from qospec.yaml_twin.nodes import Scalar
    from qospec.yaml_twin.transcript import Transcript

LITERAL = "|"
"""The style of a scalar whose lines are lines of the text."""

_PARTS = re.compile(r'"[^"\n]*"|"|#[^\n]*|[()\[\]{}]')
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_SUSPICIOUS = re.compile(r"[=,:]|->|--|[a-z]{2,}")
_SIGNS = frozenset({"EQUAL", "COLON", "COMMA", "ARROW", "CABLE"})
_WITHIN_A_VALUE = frozenset(
    {"in", "step", "within", "of", "if", "else", "or", "and", "not"}
    | {"true", "false", "otherwise", "mix"}
)
_ALLOWED = {
    Role.NAMES: {"COMMA"},
    Role.PORTS: {"COMMA"},
    Role.PATHS: {"COMMA"},
    Role.VARIABLE: {"COLON"},
    Role.CONDITION: {"WITH", "CONFIDENCE", "AS", "WHEN"},
    Role.SHOWN: {"EVERY", "WHEN"},
    Role.WIRE: {"ARROW"},
    Role.LINK: {"CABLE", "VIA"},
    Role.ENDS: {"CABLE"},
    Role.IMPORT: {"COMMA", "AS"},
    Role.PARAMETER: {"EQUAL"},
}
"""The tokens that may separate the parts of a text, by its role; a value has no parts."""
_NAME = re.compile(r"[^\W\d]\w*")


class Problem(NamedTuple):
    """What is wrong with a range of tokens of a text."""

    start: int
    end: int
    code: str
    message: str
    help: str


class ScalarText(NamedTuple):
    """The text of a scalar, and the offset in the file of each of its characters, if known."""

    text: str
    offsets: Sequence[int] | None


def write_scalar(scalar: Scalar, source: Source) -> ScalarText:
    """Return the text of a scalar, on one line unless it is a literal block."""
    quotes = 1 if scalar.style in {"'", '"'} else 0
    start, end = scalar.start + quotes, scalar.end - quotes
    value = scalar.value if scalar.style == LITERAL else re.sub(r"[\r\n]", " ", scalar.value)
    kept = value.rstrip() if scalar.style == LITERAL else value.strip()
    cut = value.index(kept)
    if source.text[start:end] == value:
        return ScalarText(kept, range(start + cut, start + cut + len(kept)))
    if scalar.style in {"|", ">"}:
        start = source.text.find("\n", start, end) + 1 or end
    return ScalarText(kept, _map_offsets(kept, source.text, start, end, scalar.style))


def _map_offsets(value: str, text: str, start: int, end: int, style: str) -> list[int] | None:
    """Return the offset of each character of a value, or None if escapes hide them."""
    found, at = [], start
    for character in value:
        if character.isspace():
            found.append(at)
            continue
        while at < end and (text[at].isspace() or (style == '"' and _is_folded(text, at))):
            at += 1
        pair = text[at : at + 2]
        escaped = (style == '"' and pair[:1] == "\\") or (style == "'" and pair == "''")
        at += escaped
        if at >= end or text[at] != character or (escaped and character not in "\"'\\"):
            return None
        found.append(at)
        at += 1
    return found


def _is_folded(text: str, at: int) -> bool:
    """Return whether a backslash is at the end of its line."""
    return text[at] == "\\" and text[at + 1 : at + 2] in {"\n", "\r"}


def find_unbalanced(text: str, *, lines: bool) -> Problem | None:
    """Return the first bracket, quote or comment in a text that is not closed within it.

    Args:
        text: Of a scalar.
        lines: Whether its lines are lines of the text, so that a comment ends with its line.
    """
    open_: list[tuple[str, int]] = []
    for part in _PARTS.finditer(text):
        sign, start = part.group(), part.start()
        if sign == '"':
            help_text = 'close it with `"` on the same line'
            return Problem(start, len(text), "E0008", "this text is never closed", help_text)
        if sign[0] == "#" and not lines:
            message = "a comment cannot be inside a value"
            help_text = "put it after the value, outside of its quotes"
            return Problem(start, part.end(), "E0017", message, help_text)
        if sign in _CLOSING:
            open_.append((sign, start))
        elif sign in ")]}":
            if not open_ or _CLOSING[open_[-1][0]] != sign:
                message = f"this `{sign}` closes nothing"
                return Problem(start, part.end(), "E0003", message, "leave it out")
            open_.pop()
    if open_:
        sign, start = open_[-1]
        message = f"this `{sign}` is never closed"
        return Problem(
            start, start + 1, "E0003", message, f"write `{_CLOSING[sign]}` where it ends"
        )
    return None


def find_unexpected_token(text: str, role: Role) -> Problem | None:
    """Return the first token in a text that its role does not allow.

    The parser rejects most of that with a better message, so its errors take precedence.
    """
    if role is Role.NAME and not _NAME.fullmatch(text):
        message = f"`{shorten(text)}` is not a name"
        help_text = "write one name, and the rest under a key of its own"
        return Problem(0, len(text), "E0017", message, help_text)
    if not _SUSPICIOUS.search(text):
        return None
    tokens = tokenize(Source("", text), Problems())
    kinds, depth, foreign = tokens.kinds, 0, _list_foreign() - _ALLOWED.get(role, set())
    for at, kind in enumerate(kinds):
        depth += (kind in {"LPAR", "LSQB", "LBRACE"}) - (kind in {"RPAR", "RSQB", "RBRACE"})
        if depth or kind not in foreign or _is_named(kinds, at, tokens.read_text(at), role):
            continue
        word = shorten(tokens.read_text(at))
        message = f"expected {role.value}, found `{word}`"
        help_text = "write what follows under a key of its own"
        return Problem(tokens.starts[at], tokens.ends[at], "E0017", message, help_text)
    return None


@functools.cache
def _list_foreign() -> frozenset[str]:
    """Return the terminals that end a value."""
    words = {word for table in load_keywords().values() for word in table} - _WITHIN_A_VALUE
    return _SIGNS | {load_grammar().keywords[word] for word in words}


def _is_named(kinds: Sequence[str], at: int, word: str, role: Role) -> bool:
    """Return whether a keyword is used as a name."""
    if kinds[at] in _SIGNS:
        return False
    alone = kinds[1:] == [END]
    return (
        (at > 0 and kinds[at - 1] == "DOT")
        or kinds[at + 1] == "DOT"
        or (role is Role.IMPORT and (at == 0 or kinds[at - 1] == "COMMA"))
        or (alone and word in load_keywords()["field"])
    )


class DeferredError(NamedTuple):
    """A diagnostic for a range of the text if the parser reports nothing there."""

    start: int
    end: int
    diagnostic: Diagnostic


class ScalarWriter:
    """Writes scalars to a transcript.

    Attributes:
        deferred: Errors to report unless the parser reports the same text.
    """

    def __init__(self, source: Source, text: Transcript, expect: Expectations) -> None:
        self.deferred: list[DeferredError] = []
        self._source = source
        self._text = text
        self._expect = expect

    def write(self, scalar: Scalar, role: Role | None) -> None:
        """Write a scalar if it is well-formed; without a role it may contain statements."""
        text, offsets = write_scalar(scalar, self._source)
        if not text:
            what = role.value if role else "a statement"
            raise self._expect.build_error("E0011", f"expected {what}", scalar)
        lines = scalar.style == LITERAL
        problem = find_unbalanced(text, lines=lines)
        if problem is not None:
            raise TranscriptionError(self._build_diagnostic(problem, scalar, offsets))
        start = self._text.write_scalar(text, scalar.start, scalar.end, offsets)
        problem = find_unexpected_token(text, role) if role else None
        if problem is not None:
            diagnostic = self._build_diagnostic(problem, scalar, offsets)
            self.deferred.append(DeferredError(start, self._text.length, diagnostic))
        if lines and "#" in text.rpartition("\n")[2]:
            self._text.begin_line()

    def write_quoted(self, scalar: Scalar) -> None:
        """Write a scalar that is a text in both forms, with the quotes of the text form."""
        kept = scalar.value.strip("\r\n")
        found = re.search(r'["\r\n]', kept)
        if found:
            rule = 'cannot contain `"`' if found.group() == '"' else "must be on one line"
            raise self._expect.build_error("E0008", f"a text {rule}", scalar)
        text, offsets = write_scalar(scalar, self._source)
        self._text.write_word('"', scalar.start)
        self._text.leave_out_space()
        # Spaces at its ends are part of it.
        self._text.write_scalar(kept, scalar.start, scalar.end, offsets if kept == text else None)
        self._text.write_joined('"', scalar.end)

    def drop_deferred(self) -> None:
        """Drop the deferred errors of what was rewound."""
        self.deferred = [error for error in self.deferred if error.end <= self._text.length]

    def _build_diagnostic(
        self, problem: Problem, scalar: Scalar, offsets: Sequence[int] | None
    ) -> Diagnostic:
        """Return the diagnostic for a problem within a scalar."""
        there = list(offsets or ())[problem.start : problem.end]
        span = (
            Span(self._source, there[0], there[-1] + 1) if there else self._expect.find_span(scalar)
        )
        return Diagnostic(problem.code, problem.message, span, help=problem.help)

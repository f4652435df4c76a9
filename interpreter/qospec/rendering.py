"""Diagnostics as text: what is wrong, the source line with a mark under it, and the help."""

from __future__ import annotations

import unicodedata
from itertools import groupby
from textwrap import wrap
from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple
from qospec.diagnostics import MOST, Label
from qospec.visible import INSTEAD, is_hidden, make_visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from qospec.diagnostics import Diagnostic
    from qospec.source import Source

_TAB = 4
WIDEST = 160
_LEAST = 20
"""How many columns a line may have with its number, and how many are shown of it at least."""
_BEFORE = 3
"""Of a longer line, which part is shown before what is marked: a third."""
_LONGEST = 1_000
"""Of a message, a note or a help."""

_COLOURS = {
    "error": "\x1b[1;31m",
    "warning": "\x1b[1;33m",
    "other": "\x1b[1;34m",
    "plain": "\x1b[1m",
}
_RESET = "\x1b[0m"


class _Mark(NamedTuple):
    """An underlined range of a line, in columns from 0; the main one is the diagnostic's own."""

    start: int
    stop: int
    text: str
    main: bool


class _Line(NamedTuple):
    """A line as it is shown, and the column of each of its characters."""

    shown: str
    columns: list[int]


def render(diagnostic: Diagnostic, *, colour: bool = False, width: int = WIDEST) -> str:
    """Return a diagnostic as text, without a line end at its end.

    Of a line that is wider than `width` a part is shown, so that its mark stays below it. Words are
    broken there if it is the width of a terminal, which is less than the widest.
    """
    own = Label(diagnostic.span, diagnostic.label)
    labels = [own, *diagnostic.secondary]
    digits = max(len("10"), *(len(str(_find_line_number(label))) for label in labels))
    paint = _Paint(diagnostic.severity, colour=colour)
    form = _Form(digits, max(_LEAST, width - digits - len(" | ")), paint, wraps=width < WIDEST)
    head = _render_head(diagnostic)
    message = _break_lines(diagnostic.message, len(f"{head}: "), width)
    lines = [
        f"{paint.style_main(head)}{paint.style_plain(f': {message[0]}')}",
        *map(paint.style_plain, message[1:]),
    ]
    sources = list(dict.fromkeys(label.span.source for label in labels))
    for source in sources:
        here = [label for label in labels if label.span.source == source]
        lines += _render_excerpt(source, here, own, form)
    margin = " " * (digits + 1) + paint.style_other("=")
    asides = [("note", note) for note in diagnostic.notes]
    asides += [("help", diagnostic.help)] if diagnostic.help else []
    for name, text in asides:
        first, *more = _break_lines(text, digits + len(f" = {name}: "), width)
        lines += [f"{margin} {name}: {first}", *more]
    return "\n".join(lines)


def render_all(
    diagnostics: Iterable[Diagnostic], *, colour: bool = False, width: int = WIDEST
) -> str:
    """Return diagnostics as text, at most 20 errors and 20 warnings of them, and their count."""
    found = list(diagnostics)
    shown, counts = [], []
    for severity in ("error", "warning"):
        alike = [problem for problem in found if problem.severity == severity]
        shown += alike[:MOST]
        if alike:
            count = f"{len(alike)} {severity}{'s' if len(alike) > 1 else ''}"
            counts.append(f"{count}, of which {MOST} are shown" if len(alike) > MOST else count)
    parts = [render(problem, colour=colour, width=width) for problem in found if problem in shown]
    return "\n\n".join([*parts, "; ".join(counts)]) if parts else ""


class _Form(NamedTuple):
    """The width of line numbers and of what is shown of a line, the colours, whether words wrap."""

    digits: int
    room: int
    paint: _Paint
    wraps: bool


class _Paint:
    """Colours text, or leaves it plain."""

    def __init__(self, severity: str, *, colour: bool) -> None:
        self._severity = severity
        self._colour = colour

    def style_main(self, text: str) -> str:
        return self._style(text, self._severity)

    def style_other(self, text: str) -> str:
        return self._style(text, "other")

    def style_plain(self, text: str) -> str:
        return self._style(text, "plain")

    def _style(self, text: str, name: str) -> str:
        return f"{_COLOURS[name]}{text}{_RESET}" if self._colour and text.strip() else text


def _render_head(diagnostic: Diagnostic) -> str:
    return f"{diagnostic.severity}[{diagnostic.code}]"


def _find_line_number(label: Label) -> int:
    return label.span.source.find_position(label.span.start)[0]


def _render_excerpt(
    source: Source, labels: Sequence[Label], own: Label, form: _Form
) -> Iterator[str]:
    """Yield the lines of one file that labels point into, each with its marks."""
    width, paint = form.digits, form.paint
    main = own in labels
    arrow = paint.style_other("-->" if main else ":::")
    if not source.text:
        yield f"{' ' * width}{arrow} {_flatten(source.name)}"
        return
    yield f"{' ' * width}{arrow} {_flatten((own if main else labels[0]).span.place)}"
    gutter = " " * (width + 1) + paint.style_other("|")
    yield gutter
    for number, here in groupby(sorted(labels, key=_find_line_number), key=_find_line_number):
        text, marks = _render_marked_line(source, number, list(here), own, form.room)
        yield f"{paint.style_other(f'{number:>{width}} |')} {text}".rstrip()
        yield from (f"{gutter} {row}" for row in _mark_rows(marks, form))


def _render_marked_line(
    source: Source, number: int, labels: Sequence[Label], own: Label, room: int
) -> tuple[str, list[_Mark]]:
    text, start = source.read_line(number), source.line_starts[number - 1]
    spans = [(label.span.start - start, min(label.span.end - start, len(text))) for label in labels]
    first = 0
    if len(text) > room:
        room -= len("……")
        main, _ = spans[labels.index(own)] if own in labels else spans[0]
        near = (begin for begin, _ in spans if main - begin < room // 2)
        first = max(0, min(min(near, default=main) - room // _BEFORE, len(text) - room))
    line = _render_line(text, first, first + room)
    last = len(line.columns) - 1
    marks = []
    for label, (begin, end) in zip(labels, spans, strict=True):
        left = line.columns[min(max(begin - first, 0), last)]
        right = line.columns[min(max(end - first, 0), last)]
        marks.append(_Mark(left, max(right, left + 1), _flatten(label.text), label is own))
    return line.shown, marks


def _render_line(text: str, first: int, stop: int) -> _Line:
    """Return part of a line as a terminal shows it, with invisible characters replaced."""
    shown = "…" if first else ""
    columns, column = [], len(shown)
    for character in text[first:stop]:
        columns.append(column)
        if character == "\t":
            character = " " * (_TAB - column % _TAB)  # noqa: PLW2901
            column += len(character)
        elif is_hidden(character):
            character = INSTEAD  # noqa: PLW2901
            column += 1
        elif not unicodedata.combining(character):
            column += 2 if unicodedata.east_asian_width(character) in "WF" else 1
        shown += character
    return _Line(shown + ("…" if stop < len(text) else ""), [*columns, column])


def _mark_rows(marks: Sequence[_Mark], form: _Form) -> Iterator[str]:
    """Yield the underlines with the words of the rightmost, if they fit; then all other words."""
    paint = form.paint
    from_right = sorted(marks, key=lambda mark: (mark.start, mark.main), reverse=True)
    row, column = "", 0
    for mark in reversed(from_right):
        if mark.stop <= column:
            continue  # within one that is marked already
        start = max(mark.start, column)
        sign = (
            paint.style_main("^" * (mark.stop - start))
            if mark.main
            else paint.style_other("-" * (mark.stop - start))
        )
        row += " " * (start - column) + sign
        column = mark.stop
    rightmost, *others = from_right
    if form.wraps and column + len(f" {rightmost.text}") > form.room:
        others = from_right
        yield row
    else:
        yield f"{row} {_style_mark(rightmost, rightmost.text, paint)}".rstrip()
    for mark in others:
        yield from _render_words(mark, form)


def _render_words(mark: _Mark, form: _Form) -> Iterator[str]:
    """Yield the words of a mark in lines of their own, below it or as near as they have room."""
    start = mark.start
    if form.wraps and start + len(mark.text) > form.room:
        start = min(start, form.room - _LEAST)
    for line in _break_lines(mark.text, start, form.room if form.wraps else WIDEST):
        if words := line.strip():
            yield " " * start + _style_mark(mark, words, form.paint)


def _style_mark(mark: _Mark, text: str, paint: _Paint) -> str:
    return paint.style_main(text) if mark.main else paint.style_other(text)


def _break_lines(text: str, indent: int, width: int) -> list[str]:
    """Return the lines of a text that is indented, the first one without its indent."""
    if width >= WIDEST:
        return [_flatten(text)]
    room = max(_LEAST, width - indent)
    lines = wrap(_flatten(text), room, break_long_words=False, break_on_hyphens=False)
    first, *more = lines or [""]
    return [first, *(" " * indent + line for line in more)]


def _flatten(text: str) -> str:
    """Return a text on one line of limited length."""
    return make_visible(text, _LONGEST)

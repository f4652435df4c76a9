"""Texts of a record in the form of a report: Markdown, JSON, CSV, lines of a source."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from qospec.document import write_json
from qospec.judge.verdict import VERDICTS
from qospec.report.views import find_worst, shorten_place
from qospec.units import format_number

Record = Mapping[str, Any]

_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>|#~&!])")
_GROUP = re.compile(r"(?<=\d)_(?=\d{3})")
_MICRO = re.compile(r"(?<=\d )us\b")
_MINUS = re.compile(r"(?<![\w.\]-])-(?=\d)")
_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "_": r"\_", "%": r"\%", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\symbol{34}",
    "`": r"\textasciigrave{}", "'": r"\textquotesingle{}", "-": "{-}", "[": "{[}", "]": "{]}",
    "\u202f": r"\,", "\u2212": "$-$", "\u2248": r"$\approx$", "\u2264": r"$\leq$",
    "\u2265": r"$\geq$", "\u2260": r"$\neq$", "\u00d7": r"$\times$", "\u00b5": r"$\mu$",
    "\u2026": r"\ldots{}", "\u2013": "--",
}  # fmt: skip
"""How LaTeX writes what has a meaning to it, what it would join (`--`), and signs of reports."""
_TICKS = re.compile("`+")
_FORMULAS = (*"=+-@\t\r\n", *"\uff1d\uff0b\uff0d\uff20")
"""What formulas of spreadsheets begin with, also in full width."""
_SIGNED = re.compile(r"[+-]\d[\w.]*( [a-zA-Z%][a-zA-Z/%]*( @[a-z]+)?)?", re.ASCII)
"""A number, perhaps with a unit."""
_PIECES = re.compile(
    r"""(?P<comment>\#.*)
      | (?P<text>"(?:[^"\\]|\\.)*")
      | (?P<number>(?<![\w.])\d[\d_]*(?:\.\d[\d_]*)?(?:\ ?(?:%|[A-Za-zµ]+(?:/[A-Za-z]+)?))?)
      | (?P<plain>[^#"\d]+|.)""",
    re.VERBOSE,
)


def as_json(value: object) -> str:
    """Return a value as JSON like that of the record's files, with a newline."""
    return write_json(value)


def escape_markdown(text: object) -> str:
    """Return a text escaped for one line of Markdown, without markup and mentions."""
    escaped = _MARKDOWN.sub(r"\\\1", " ".join(str(text).split()))
    return escaped.replace("@", "@&#8203;")  # a space of no width, which a terminal would not show


def escape_code(text: object) -> str:
    """Return a text as code in one line of Markdown, safe in a table's cell."""
    line = " ".join(str(text).split()).replace("|", "\\|")
    ticks = "`" * (1 + max((len(run) for run in _TICKS.findall(line)), default=0))
    space = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{space}{line}{space}{ticks}" if line else ""


def escape_csv(value: object) -> str:
    """Return a value as one field of CSV (RFC 4180), quoted if needed.

    A spreadsheet would take a text that begins like a formula for one, and run it: an apostrophe
    ahead of it makes it a text. A number with a sign stays one.
    Source: OWASP, CSV Injection.
    """
    field = str(value)
    if field.startswith(_FORMULAS) and not _SIGNED.fullmatch(field):
        field = f"'{field}"
    return '"' + field.replace('"', '""') + '"' if re.search('[,"\r\n]', field) else field


def escape_latex(text: str) -> str:
    """Return a text as LaTeX prints it, by any of its engines; numbers are grouped by thin spaces.

    What is neither of ASCII nor of Latin 1, nor a sign that reports use, is left to the engine.
    """
    escaped = "".join(_LATEX.get(letter, letter) for letter in _GROUP.sub("\u202f", text))
    return " ".join(_MICRO.sub(r"$\\mu$s", escaped).split())


def split_paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a text, which are separated by blank lines."""
    return [" ".join(part.split()) for part in re.split(r"\n\s*\n", text) if part.strip()]


def select_fitting(texts: Iterable[str], most: int) -> list[str]:
    """Return the first texts, as many as have at most `most` characters together."""
    fit: list[str] = []
    for text in texts:
        most -= len(text)
        if most < 0:
            break
        fit.append(text)
    return fit


def split_enumeration(text: str) -> tuple[str, list[str]]:
    """Return the part of a sentence up to its colon, and the items of the list after it."""
    head, colon, tail = text.partition(": ")
    return head + colon.strip(), [part.strip() for part in _split_parts(tail, ",") if part.strip()]


def split_pairs(text: str) -> list[tuple[str, str]]:
    """Return the keys and values of a map as text, `{ 1: 20.2 us }`; none of other texts."""
    inner = text.strip()
    if not (inner.startswith("{") and inner.endswith("}")):
        return []
    parted = [_split_parts(part, ":") for part in _split_parts(inner[1:-1], ",") if part.strip()]
    if not all(len(pair) > 1 for pair in parted):
        return []
    return [(key.strip(), ":".join(value).strip()) for key, *value in parted]


def _split_parts(text: str, separator: str) -> list[str]:
    """Return the parts of a text between separators outside of brackets and quotes."""
    parts, depth, quoted = [""], 0, False
    for character in text:
        quoted ^= character == '"'
        if not quoted:
            depth += (character in "([{") - (character in ")]}")
        if character == separator and depth == 0 and not quoted:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def list_source_lines(source: Record, document: Record) -> list[dict[str, Any]]:
    """Return a source's lines, each with `pieces` and the `verdict` of its statements.

    A piece is a pair of kind and text; the kind is "comment", "text", "number" or "".
    """
    verdicts = _map_verdicts(source["name"], document)
    return [
        {"pieces": _split_pieces(line), "verdict": verdicts.get(number, "")}
        for number, line in enumerate(source.get("text", "").splitlines(), 1)
    ]


def _map_verdicts(name: str, document: Record) -> dict[int, str]:
    verdicts: dict[int, str] = {}
    for case in document["cases"]:
        for statement in case["statements"]:
            if (
                statement["verdict"] in VERDICTS
                and (at := shorten_place(statement["place"]))["path"] == name
            ):
                line = at["line"]
                verdicts[line] = find_worst(
                    v for v in (verdicts.get(line), statement["verdict"]) if v
                )
    return verdicts


def _split_pieces(line: str) -> list[tuple[str, str]]:
    found = ((match.lastgroup or "", match[0]) for match in _PIECES.finditer(line))
    return [("" if kind == "plain" else kind, piece) for kind, piece in found]


def split_list(text: str) -> list[str]:
    """Return the items of a list as text, `[20.2 us, 21.1 us]`; any other text is one item."""
    inner = text.strip()
    if not (inner.startswith("[") and inner.endswith("]")):
        return [text]
    return [item.strip() for item in _split_parts(inner[1:-1], ",") if item.strip()]


def strip_quotes(text: str) -> str:
    """Return a text without its quotes, if it has any."""
    whole = re.fullmatch(r'"(.*)"', text.strip(), re.DOTALL)
    return re.sub(r"\\(.)", r"\1", whole[1]) if whole else text


def format_for_print(text: str) -> str:
    """Return a text with quantities as in print, `352 720 cell/s`, and a real minus sign."""
    return _MINUS.sub("\u2212", _MICRO.sub("µs", _GROUP.sub("\u202f", text)))


def write_metric_name(name: str) -> str:
    """Return `transfer_delay.p99_9` as words: `transfer delay p99.9`."""
    name = re.sub(r"(?<=\d)_(?=\d)", ".", name.replace(".", " "))
    return name.replace("_", " ")


def format_seconds(value: float) -> str:
    """Return a duration for people: `0.41 s`, `12 s`, `3 min 20 s`."""
    minutes, rest = divmod(round(value), 60)
    return f"{minutes} min {rest} s" if minutes else f"{value:.3g} s"


def format_moment(value: str) -> str:
    """Return `2026-11-21 10:11 UTC` of `2026-11-21T10:11:12Z`."""
    return f"{value[:10]} {value[11:16]} UTC"


FUNCTIONS: dict[str, Callable[..., Any]] = {"source_lines": list_source_lines}

FILTERS: dict[str, Callable[..., Any]] = {
    "code": escape_code,
    "csv": escape_csv,
    "enumeration": split_enumeration,
    "fitting": select_fitting,
    "grouped": format_number,
    "json": as_json,
    "latex": escape_latex,
    "listed": split_list,
    "markdown": escape_markdown,
    "metric_name": write_metric_name,
    "moment": format_moment,
    "pairs": split_pairs,
    "paragraphs": split_paragraphs,
    "seconds": format_seconds,
    "typeset": format_for_print,
    "unquoted": strip_quotes,
}

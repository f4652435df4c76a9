"""Syntax of other languages, and how it is written here: one row for each.

A row applies where its pattern matches the line and the token at fault is in the match.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple
from qospec.diagnostics import Edit
from qospec.source import Span
from qospec.syntax.recovery.site import Diagnosis

if TYPE_CHECKING:
    from qospec.syntax.recovery.site import ErrorSite


class ForeignSyntax(NamedTuple):
    """One row.

    Attributes:
        code: Of the error.
        pattern: Of the line; its group `at` is what the message points at.
        message: Of the error; `{name}` stands for a group of the pattern.
        help_text: The help, likewise.
        replacement: What surely is meant by the group `at`; "" if nothing is sure.
    """

    code: str
    pattern: re.Pattern[str]
    message: str
    help_text: str
    replacement: str = ""


def _make_row(
    code: str, pattern: str, message: str, help_text: str, replacement: str = ""
) -> ForeignSyntax:
    return ForeignSyntax(code, re.compile(pattern), message, help_text, replacement)


_LONGEST = 300
"""Characters of a line; a longer one was not written by hand."""
_CLAIM = r"""\w+(?:\s+of\s+(?:"[^"]*"|\[[^\]]*\]))?"""
"""A claim, and what it is of."""
_CONFIDENCE = "a confidence is written `with 95% confidence`"
_BASE_FIRST = "what a test is built on must come before its topology"
_GIVEN = r"\((?:[^()]|\([^()]*\))*\)"
_USE = rf"[\w.]+(?:{_GIVEN})?"
"""Patterns of arguments, without more than one level of parentheses in them, and of their use."""
_VALUE = (
    rf"(?:[^\s#{{}}\[\](),:]|(?<=\w)\[[^\[\]]*\]|{_GIVEN}|[ \t](?!\s*(?:when\b|every\b|[#}}]|$)))+"
)
"""Of a value that a `,` ends, or a clause."""

_ROWS = (
    _make_row(
        "E0004",
        r"^\s*(?P<at>from\s+(?P<folder>[\w.]+)\s+import\s+(?P<file>\w+))",
        "an import begins with `import`",
        "write `import {folder}.{file}`",
    ),
    _make_row(
        "E0001",
        r"\b(?P<at>imix|IMIX)\s*\{\s*[0-9]",
        "a mix of sizes is written `mix {{ size: weight }}`",
        "write `mix`",
        "mix",
    ),
    _make_row(
        "E0001",
        r"^\s*import\s+[\w.]+\.(?P<at>\*)",
        "a folder cannot be imported as a whole",
        "write the names of the files, with `,` between them",
    ),
    _make_row(
        "E0001",
        r"""^\s*import\s+(?P<at>["'](\./)?(?P<path>\w[\w/.]*?)(\.qos)?["']|\./(?P<path_>\w[\w/]*)(\.qos)?)""",
        "a file is imported by its dotted name",
        "write `import {path}`",
    ),
    _make_row(
        "E0001",
        rf"^\s*(?P<test>test\s+\w+(?:{_GIVEN})?)\s+(?P<at>on\s+(?P<topology>{_USE})\s*=\s*(?P<base>{_USE}))\s*(?:[{{#]|$)",
        _BASE_FIRST,
        "write `{test} = {base} on {topology}`",
        "= {base} on {topology}",
    ),
    _make_row(  # with arguments on several lines
        "E0001",
        rf"^\s*test\s+\w+(?:{_GIVEN})?\s+on\s+(?P<topology>{_USE})\s*(?P<at>=)\s*(?P<base>[\w.]+)\(",
        _BASE_FIRST,
        "write `on {topology}` behind all of `{base}(…)`",
    ),
    _make_row(
        "E0001",
        r"^\s*(?P<at>if)\b",
        "`if` cannot begin a statement; it chooses between two values",
        'write `… if … else …`, or `skip unless … "why"`',
    ),
    _make_row(
        "E0011",
        r'^\s*skip\s+(?P<at>(?P<why>"[^"]*"))',
        "`skip` needs a condition before its reason",
        "write `skip unless condition {why}`",
    ),
    _make_row(
        "E0011",
        r"^\s*(?P<word>flow|for|forall|search|sweep)(?P<at>)\s+(from|in)\b(?!\s*[=:])",
        "expected a name after `{word}`",
        "write `{word} name …`",
    ),
    _make_row(
        "E0001",
        r"^\s*port\s+(?P<at>(?P<name>\w+)\s*:\s*(?P<kind>\w+)\s*\[(?P<many>[^\[\]]*)\])",
        "the number of ports is written behind their name",
        "write `{name}[{many}]: {kind}`",
        "{name}[{many}]: {kind}",
    ),
    _make_row(
        "E0001",
        r"\bforall\s+(?P<at>(?P<name>\w+)\s*,\s*(?P<other>\w+))\s*(?::|\bin\b)",
        "a `forall` draws one value",
        "write `forall {name} …`, then `forall {other} …`",
    ),
    _make_row(
        "E0011",
        r"^\s*run\s+(?P<at>(?P<fields>\w+\s*=[^#{}]*[^#{}\s]))",
        "the fields of `run` are written between `{{` and `}}`",
        "write `run {{ {fields} }}`",
        "{{ {fields} }}",
    ),
    _make_row(
        "E0011",
        rf"^\s*report\s+(?P<at>(?:\w+\s*:\s*)?(?P<values>{_VALUE}(?:,{_VALUE})+))\s*(?:when|every)?",
        "the values of a report are written between `[` and `]`",
        "write `[{values}]`",
    ),
    _make_row(
        "E0011",
        r"^\s*expect\b.*\bas\s+(?P<claim>\w+)\s+of\s+(?P<first>\"[^\"]*\")\s*,\s*(?P<at>\"[^\"]*\")",
        "several statements that a criterion claims something of are a list",
        "write `as {claim} of [{first}, {at}]`",
    ),
    _make_row(
        "E0011",
        r"^\s*expect\b.*\bas\s+(?P<claim>\w+)\s+of\s+\[?(?P<first>[^\[\]#]*\")\]?"
        r"\s+(?P<at>of\s+(?P<other>\"[^\"]*\"))",
        "several statements that a criterion claims something of are a list",
        "write `as {claim} of [{first}, {other}]`",
    ),
    _make_row(
        "E0011",
        rf"^\s*(?P<word>expect|require|invariant)\s+(?:\w+\s*:)?{_VALUE},\s*(?P<at>(?P<other>{_VALUE}))",
        "each criterion needs its own `{word}`",
        "write `{word} {other}`",
    ),
    _make_row(
        "E0001",
        r"^\s*(?P<word>expect|require|invariant|report)\s*(?P<at>:)",
        "expected a label before this `:`",
        "leave the `:` out, or write `{word} label: …`",
    ),
    _make_row(
        "E0001",
        r"^\s*(?P<word>expect|require|invariant|report)\s+(?P<at>\"[^\"]*\")\s*:",
        "a label is a name, not a text",
        "write `{word} label: …`, and the text as a comment",
    ),
    _make_row(
        "E0011",
        r"^\s*(?P<label>\w+)\s*(?P<at>:)\s*[^#]*?([<>=!]=|[<>]|\bwithin\b)",
        "expected `expect` before this label",
        "write `expect {label}: …`",
    ),
    _make_row(
        "E0001",
        r"^\s*(?:expect|require|invariant|report)\s+(?P<at>\w+(?:-\w+)+)\s*:",
        "`-` is not allowed in a name",
        "write `_` for each `-`",
    ),
    _make_row(
        "E0001",
        r"^\s*report\b.*?(?P<at>\bwith\b.*\bconfidence)",
        "a report cannot have a confidence",
        "leave it out, or judge the value with `expect`",
    ),
    _make_row(
        "E0001",
        r"^\s*report\b.*?(?P<at>\bas\s+\w+)",
        "a report cannot make a claim",
        "leave it out, or judge the value with `expect`",
    ),
    _make_row(
        "E0001",
        r"^\s*(?:expect|require|invariant)\b.*?(?P<at>\bevery\b)",
        "a criterion judges the whole run, not its intervals",
        "leave `every …` out, or show the intervals with `report`",
    ),
    _make_row(
        "E0001",
        r"^\s*report\b.*\bwhen\b.*?(?P<at>\bevery\b)",
        "`when` must come last in a report",
        "write `every …` before `when`",
    ),
    _make_row(
        "E0001",
        r"^\s*(expect|require)\b.*\bwhen\b.*?(?P<at>\bas\s+\w+|\bwith\b.*\bconfidence\b)",
        "`when` must come last in a criterion",
        "write this before `when`",
    ),
    _make_row(
        "E0001",
        rf"^\s*expect\b.*\bas\s+(?P<claim>{_CLAIM})\s+(?P<at>with\b(?P<share>.*)\bconfidence\b)",
        "the confidence of a criterion must come before its claim",
        "write `with{share}confidence as {claim}`",
    ),
    _make_row(
        "E0001",
        rf"^\s*expect\b.*\bas\s+(?P<claim>{_CLAIM})\s+(?P<at>as\s+(?P<other>\w+))",
        "a criterion can make only one claim",
        "write `as {claim}` or `as {other}`",
    ),
    _make_row(
        "E0011",
        r"^\s*expect\b.*\bas\s+(?P<claim>\w+)\s+(?:covers\s+)?(?P<at>\"[^\"]*\"|\[[^\]]*\])",
        "what a criterion claims something of stands behind `of`",
        "write `as {claim} of {at}`",
    ),
    _make_row(
        "E0010",
        r"^\s*(expect|require|report)\b.*?(?P<at>\bwhere\b)",
        "`where` only filters sweeps",
        "write `when`",
        "when",
    ),
    _make_row(
        "E0010",
        r"^\s*(expect|require|report)\b.*?(?P<at>\bunless\b)",
        "`unless` is only used in `skip`",
        "write `when not …`",
    ),
    _make_row(
        "E0004",
        r"(?P<at>\bwith\s+confidence\s+(of\s+)?(?P<share>[0-9.]+\s*%))",
        _CONFIDENCE,
        "write `with {share} confidence`",
        "with {share} confidence",
    ),
    _make_row(
        "E0004", r"(?P<at>\bat\s+(?P<share>[0-9.]+\s*%))", _CONFIDENCE,
        "write `with {share} confidence`",
    ),
    _make_row(
        "E0010",
        r"(?P<at>\bis\s+not\b)",
        "there is no operator `is not`",
        "write `!=`",
        "!=",
    ),
    _make_row("E0010", r"(?P<at>\bis\b)\s*\S+", "there is no operator `is`", "write `==`", "=="),
    _make_row(
        "E0001",
        r"(?P<left>[\w.\[\]]+)\s*([<>]=?|[!=]=)[^<>=!#]*?\b(?P<word>and|or)\s+(?P<at>(?P<sign>[<>]=?|[!=]=))",
        "a comparison needs a value on each side",
        "write `{word} {left} {sign} …`",
    ),
    _make_row(
        "E0001",
        r"([<>]=?|[!=]=)\s*(?P<middle>[^<>=!#]*[^<>=!#\s])\s*(?P<at>(?P<sign>[<>]=?|[!=]=))",
        "comparisons cannot be chained",
        "write `and {middle} {sign} …` here",
    ),
    _make_row(
        "E0001",
        r"^\s*goal\s+\w+\s*\{\s*([^{}]*,\s*)?(?P<at>(?P<measured>\w+(\.\w+)+)\s*(?P<sign>[<>]=?|[!=]=))",
        "the condition that a good trial meets is written as `meets`",
        "write `meets = {measured} {sign} …`",
        "meets = {measured} {sign}",
    ),
    _make_row(
        "E0001",
        r"^\s*(?P<at>pass\s+(if|when))\b",
        "a criterion begins with `expect`",
        "write `expect`",
        "expect",
    ),
    _make_row(
        "E0001",
        r"^\s*(?P<at>fail\s+(if|when))\b",
        "a criterion begins with `expect`, and says what must hold",
        "write `expect not (…)`",
    ),
    _make_row(
        "E0011",
        r"\bwithin\s+(?P<width>[0-9._]+\s*(%|[a-z]+))(?P<at>)\s+(?!of\b)[0-9a-z]",
        "expected `of` after `{width}`",
        "write `within {width} of …`",
    ),
    _make_row(
        "E0007",
        r"\.(?P<at>p(?P<whole>[0-9]+)\.(?P<rest>[0-9]+))\b",
        "the decimals of a quantile are written after `_`",
        "write `p{whole}_{rest}`",
        "p{whole}_{rest}",
    ),
    _make_row(
        "E0001",
        r"(^|[^\w\])])\[[^\[\]]*\](?P<at>\[[^\[\]]*\])",
        "only a named list can be indexed",
        "name the list with `let` first",
    ),
    _make_row(
        "E0001",
        r"^\s*for\s+(?P<name>\w+)\s+(?P<at>from\s+(?P<first>\w+)\s+to\s+(?P<last>\w+))",
        "`for` iterates over a list or a range",
        "write `for {name} in {first} .. {last}`",
    ),
    _make_row(
        "E0001",
        r"^\s*(?P<name>\w+)(?P<at>\[(?P<count>[^\[\]]+)\])\s*=\s*(?P<kind>[\w.]+)\s*$",
        "a name that is being bound cannot have an index",
        "write `{name} = {kind}(count = {count})` for an array",
    ),
    _make_row(
        "E0010",
        r"\bmix\s*(?P<at>\[(?P<sizes>[^\[\]]*:[^\[\]]*)\])",
        "sizes with weights are written between `{{` and `}}`",
        "write `mix {{ {sizes} }}`",
        "{{ {sizes} }}",
    ),
    _make_row(
        "E0010",
        r"\bmix\s*(?P<at>\{\s*(?P<sizes>[^{}:]+?)\s*\})",
        "each size between `{{` and `}}` needs a weight",
        "write `mix {{ 40 B: 7, 576 B: 4 }}`, or `mix [{sizes}]` to keep this order",
    ),
    _make_row(
        "E0010",
        r"\bin\s*(?P<at>\((?P<items>[^()\[\]]*,[^()\[\]]*)\))",
        "a list is written between `[` and `]`",
        "write `[{items}]`",
        "[{items}]",
    ),
    _make_row(
        "E0001",
        r"^\s*flow\b.*\bto\s+[\w.\[\]]+\s*(?P<at>(?P<body>\{[^{}]*\}))",
        "the fields that a flow changes must follow its traffic",
        "write `flow name = traffic {body} from a to b`",
    ),
    _make_row(
        "E0009",
        r"[0-9][ \t]+(?P<at>%)[ \t]+[\w(]",
        "`%` makes the number before it a percentage; there is no remainder operator",
        "write a `,` or an operator after it if a percentage is meant",
    ),
)  # fmt: skip


def explain_foreign_syntax(site: ErrorSite) -> Diagnosis | None:
    """The line is written as in another language; where it ends too early, the line before."""
    text, at = site.tokens.source.text, site.tokens.starts[site.at]
    if site.opens_line and site.start < site.at:
        at = site.tokens.ends[site.at - 1]
    start, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
    line = text[start : end if end >= 0 else len(text)]
    if len(line) > _LONGEST:
        return None
    for row in _ROWS:
        for match in row.pattern.finditer(line):
            if match.start() <= at - start <= match.end():
                return _make_diagnosis(site, row, match, start)
    return None


def _make_diagnosis(
    site: ErrorSite, row: ForeignSyntax, match: re.Match[str], start: int
) -> Diagnosis:
    groups = {name.rstrip("_"): text for name, text in match.groupdict().items() if text}
    if "path" in groups:
        groups["path"] = groups["path"].replace("/", ".")
    span = Span(site.tokens.source, start + match.start("at"), start + match.end("at"))
    fix = (Edit(span, row.replacement.format(**groups)),) if row.replacement else ()
    diagnostic = site.build_diagnostic(
        row.code, row.message.format(**groups), row.help_text.format(**groups), span=span, fix=fix
    )
    return Diagnosis(diagnostic, spoils=site.is_split)

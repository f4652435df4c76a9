"""Builds the syntax tree: a table gives the node and its fields for each rule of the grammar."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from qospec.diagnostics import MOST, Diagnostic
from qospec.secret import redact_comment
from qospec.source import Span
from qospec.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qospec.diagnostics import Problems
    from qospec.syntax.tokens import Tokens

    Build = Callable[[Span, list[Any]], Any]

_FIELDS: dict[str, tuple[type[ast.Node], str]] = {
    "import_": (ast.Import, "*path alias"),
    "let": (ast.Let, "name annotation value"),
    "traffic": (ast.Traffic, "name *parameters value"),
    "device": (ast.Device, "name *parameters body"),
    "topology": (ast.Topology, "name *parameters body"),
    "test": (ast.Test, "name *parameters base topology body"),
    "property": (ast.Property, "name body"),
    "reference": (ast.Reference, "name title body"),
    "parameter": (ast.Parameter, "name annotation default"),
    "body": (ast.Body, "*statements"),
    "bind": (ast.Bind, "*names value"),
    "port": (ast.Port, "*names carries"),
    "port_name": (ast.PortName, "name count"),
    "wire": (ast.Wire, "*ends"),
    "link": (ast.Link, "left right medium body"),
    "loop": (ast.Loop, "name values body"),
    "flow": (ast.Flow, "name traffic body origin target via"),
    "way": (ast.Way, "*ports"),
    "sweep": (ast.Sweep, "*names values where"),
    "control": (ast.Control, "name topology"),
    "search": (ast.Search, "name values body"),
    "goal": (ast.Goal, "name body"),
    "point": (ast.Point, "name body"),
    "at": (ast.At, "time body"),
    "run": (ast.Run, "body"),
    "criterion": (ast.Criterion, "kind label condition confidence claim covers when"),
    "report": (ast.Report, "label value every when"),
    "for_all": (ast.ForAll, "name annotation values where"),
    "skip": (ast.Skip, "condition reason"),
    "machine": (ast.Machine, "name body"),
    "state": (ast.State, "name body"),
    "transition": (ast.Transition, "name where target body"),
    "record": (ast.Record, "base body"),
    "range": (ast.Range, "first last step"),
    "choose": (ast.Conditional, "value condition otherwise"),
    "binary": (ast.Binary, "left operator right"),
    "unary": (ast.Unary, "operator operand"),
    "compare": (ast.Compare, "left operator right"),
    "member": (ast.Member, "item collection"),
    "within": (ast.Within, "value tolerance target"),
    "layered": (ast.Layered, "value layer"),
    "otherwise": (ast.Otherwise, ""),
    "list_of": (ast.ListLiteral, "*items"),
    "tuple_of": (ast.TupleLiteral, "*items"),
    "map_of": (ast.MapLiteral, "*pairs"),
    "pair": (ast.Pair, "key value"),
    "mix_of": (ast.MixLiteral, "sizes"),
    "call": (ast.Call, "path *arguments"),
    "argument": (ast.Argument, "name value"),
    "path": (ast.Path, "name *trail"),
    "index": (ast.Index, "value"),
}
"""For each rule its node and that node's fields, in the order of the rule's parts."""

_UNIT = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ%/µμ"
_MOST_DIGITS = 300
_FIRST_WORD = re.compile(r"\w+|.")


class TreeBuilder:
    """Builds the nodes of one file. `builders` makes a node of a rule's span and its parts."""

    def __init__(self, tokens: Tokens, problems: Problems) -> None:
        self._tokens = tokens
        self._problems = problems
        self._reported = 0
        self.builders: dict[str, Build] = {
            rule: self._choose_builder(node, fields.split())
            for rule, (node, fields) in _FIELDS.items()
        }
        for rule in ("traffic", "device", "topology", "test"):
            self.builders[rule] = self._with_parameters(self.builders[rule])
        self.builders |= {
            "file": self._build_file,
            "edition": lambda span, parts: ast.Number(text=parts[0], span=span),
            "body": self._build_body(self.builders["body"]),
            "quantity": self._build_quantity,
            "number": lambda span, parts: ast.Number(
                text=self._check_number(span, parts[0]), span=span
            ),
            "list_type": lambda span, parts: ast.Name(text=f"[{parts[0].text}]", span=span),
            "layered_type": lambda span, parts: ast.Name(
                text=f"{parts[0].text} @{parts[1].text}", span=span
            ),
            "text": lambda span, parts: ast.Text(text=parts[0][1:-1], span=span),
            "truth": lambda span, parts: ast.Boolean(value=parts[0] == "true", span=span),
        }

    def _choose_builder(self, node: type[ast.Node], fields: list[str]) -> Build:
        """Return the function that makes a node of its parts; the field with `*` takes several."""
        names = [field.removeprefix("*") for field in fields]
        star = next((place for place, field in enumerate(fields) if field[0] == "*"), -1)
        behind = len(fields) - star - 1
        doc = self._take_doc if issubclass(node, ast.Documented) else None

        def build(span: Span, parts: list[Any]) -> ast.Node:
            if star >= 0:
                stop = len(parts) - behind
                parts[star:stop] = [tuple(parts[star:stop])]
            values = dict(zip(names, parts, strict=True))
            if doc is not None:
                values["doc"] = doc(span)
            return node(**values, span=span)

        return build

    def _take_doc(self, span: Span) -> str:
        """Return the `##` comment above, then the one at the end of the line."""
        above = self._tokens.above.get(span.start, "")
        behind = self._tokens.trailing.get(span.end, "")
        return redact_comment(f"{above}\n{behind}" if above and behind else above or behind)

    def _build_file(self, span: Span, parts: list[Any]) -> ast.File:
        edition, *rest = parts
        imports = tuple(node for node in rest if isinstance(node, ast.Import))
        declarations = tuple(rest[len(imports) :])
        if not edition.span.text:
            parts = rest  # it is missing, which has been reported
        first = len(parts) - len(declarations)
        self._check_separated(parts[:first], "an import must begin on a new line", ",\n")
        self._check_separated(
            parts[max(0, first - 1) :], "a declaration must begin on a new line", "\n"
        )
        doc = redact_comment(self._tokens.above.get(edition.span.start, "") or self._tokens.heading)
        return ast.File(edition=1, imports=imports, declarations=declarations, span=span, doc=doc)

    def _with_parameters(self, build: Build) -> Build:
        def build_checked(span: Span, parts: list[Any]) -> Any:
            parameters = [part for part in parts if isinstance(part, ast.Parameter)]
            self._check_separated(
                parameters, "a parameter must begin on a new line or after a `,`", ",\n"
            )
            return build(span, parts)

        return build_checked

    def _build_body(self, build: Build) -> Build:
        def build_checked(span: Span, parts: list[Any]) -> Any:
            self._check_separated(
                parts, "a statement must begin on a new line or after a `,`", ",\n"
            )
            return build(span, parts)

        return build_checked

    def _check_separated(self, nodes: Sequence[ast.Node], rule: str, separators: str) -> None:
        """Report nodes without one of the separators before them, once for each line."""
        source, line = self._tokens.source, 0
        for before, node in pairwise(nodes):
            gap = source.text[before.span.end : node.span.start]
            if any(separator in gap for separator in separators):
                continue
            if isinstance(node, ast.Parameter) and not node.annotation.span.text:
                continue  # it has no type, which has been reported
            start, last_line = node.span.start, line
            line, _ = source.find_position(start)
            word = _FIRST_WORD.match(source.text, start)
            if line != last_line:
                span = Span(source, start, word.end() if word else start)
                self._report("E0006", rule, span, "begin a new line here")

    def _report(self, code: str, message: str, span: Span, help_text: str) -> None:
        self._reported += 1
        if self._reported <= MOST:
            self._problems.add(Diagnostic(code, message, span, help=help_text))

    def _build_quantity(self, span: Span, parts: list[Any]) -> ast.Quantity:
        text = parts[0]
        number = text.rstrip(_UNIT)
        return ast.Quantity(
            number=self._check_number(span, number.rstrip()), unit=text[len(number) :], span=span
        )

    def _check_number(self, span: Span, number: str) -> str:
        if len(number) <= _MOST_DIGITS:
            return number
        message = f"this number has {len(number)} digits, more than {_MOST_DIGITS}"
        self._report("E0007", message, span, "round it, or use a larger unit")
        return "1"

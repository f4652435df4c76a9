"""Values that the command line gives to names of files: `--set haul=5km`.

The text of a file is changed where the name is declared, so that everything else reads, runs and
records the specification as it was run. A value is read and typed as if it stood in the file.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from qospec.check.declarations import DeviceValue
from qospec.check.evaluate.context import CheckError, make_error
from qospec.check.evaluate.dimensions import ANY_LAYER, TYPES
from qospec.check.evaluate.values import POISON, Amount, Boolean, List, Symbol, Text, Value
from qospec.check.modules import files
from qospec.check.records.parameters import let_binding
from qospec.check.records.record import Record
from qospec.diagnostics import suggest_name
from qospec.source import Source
from qospec.syntax import ast
from qospec.syntax.parser import parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.check.evaluate.scope import Scope
    from qospec.check.modules.loader import Unit
    from qospec.source import Span

OPTION = "--set"
"""What places in a value are named after."""
_START = "qos 1\nlet "
_NAMES = {dimension: name for name, dimension in TYPES.items()}


def replace_values(
    settings: Sequence[str],
    units: Sequence[Unit],
    scopes: Mapping[Path, Scope],
    evaluator: Evaluator,
) -> dict[Path, str]:
    """Return the texts of the files in which values of `let` are replaced, by their paths.

    A name may be declared in several files; the library's are left alone. Mistakes are reported.

    Args:
        settings: Each `name=value`.
        units: The files.
        scopes: The names of each, by its path.
        evaluator: What evaluates expressions in them.
    """
    found: dict[str, list[tuple[Unit, ast.Let]]] = {}
    for unit in units:
        for node in unit.tree.declarations if unit.tree else ():
            if isinstance(node, ast.Let) and not files.is_of_library(unit.path):
                found.setdefault(node.name.text, []).append((unit, node))
    changes: dict[Path, list[tuple[int, int, str]]] = {}
    for given in _read_settings(settings, found, evaluator):
        for unit, node in found[given.name.text]:
            _verify(given, node, scopes[unit.path], evaluator)
            start, end = _find_value(node)
            written = given.span.source.text.partition("=")[2].strip()
            changes.setdefault(unit.path, []).append((start, end, written))
    texts = {unit.path: unit.source.text for unit in units}
    return {path: _change(texts[path], its) for path, its in changes.items()}


def _find_value(node: ast.Let) -> tuple[int, int]:
    """Return where the value of a `let` is written, with parentheses around it; YAML has no `=`."""
    start, text = node.value.span.start, node.span.source.text
    before = text[node.name.span.end : start]
    if "=" not in before:
        return start, node.value.span.end
    beyond = before.rpartition("=")[2]
    return start - len(beyond.lstrip()), max(node.value.span.end, node.span.end)


def _change(text: str, changes: Sequence[tuple[int, int, str]]) -> str:
    for start, end, written in sorted(changes, reverse=True):
        text = text[:start] + written + text[end:]
    return text


def _read_settings(
    settings: Sequence[str], known: Mapping[str, object], evaluator: Evaluator
) -> Iterator[ast.Let]:
    """Yield what is given as declarations of names that are known."""
    seen: dict[str, ast.Let] = {}
    for setting in settings:
        name, _, value = setting.partition("=")
        source = Source(OPTION, f"{_START}{name} = {value.strip()}\n")
        tree = parse(source, evaluator.context.problems)
        if tree is None or len(tree.declarations) != 1:
            continue
        (node,) = tree.declarations
        if not isinstance(node, ast.Let) or tree.unparsed:
            continue
        try:
            _verify_name(node.name, seen, known)
        except CheckError as mistake:
            evaluator.context.report(mistake)
            continue
        seen[node.name.text] = node
        yield node


def _verify_name(name: ast.Name, seen: Mapping[str, ast.Let], known: Mapping[str, object]) -> None:
    """Raise CheckError if a setting is of no `let`, or is given twice."""
    if name.text not in known:
        raise make_error(
            "E0101",
            f"no `let` of these files is called `{name.text}`",
            name.span,
            note=f"there are {' '.join(known)}" if known else "they have none",
            near=suggest_name(name.text, known),
        )
    if name.text in seen:
        raise make_error("E0102", f"`{name.text}` is set twice", name.span)


def _verify(given: ast.Let, node: ast.Let, scope: Scope, evaluator: Evaluator) -> None:
    """Report it if what is given is not of the type of what it replaces, or if that is a key."""
    if any(_is_withheld(span) for span in (node.value.span, given.value.span)):
        evaluator.context.report(
            make_error(
                "E0214",
                f"`{node.name.text}` is a key: set here, others could read it",
                given.name.span,
                help='name a file that holds it in the specification: "file:NAME"',
            )
        )
        return
    declared = let_binding(node, scope, evaluator).evaluate(evaluator.context)
    kind = "" if node.annotation else _name_type(declared)
    annotation = ast.Name(text=kind, span=node.value.span) if kind else node.annotation
    made = let_binding(replace(given, annotation=annotation), scope, evaluator)
    value = made.evaluate(evaluator.context)
    if kind or node.annotation or POISON in (declared, value) or value.what == declared.what:
        return
    evaluator.context.report(
        make_error(
            "E0204",
            f"`{node.name.text}` is {declared.what}, not {value.what}",
            given.value.span,
            secondary=(node.span, "declared here"),
        )
    )


def _is_withheld(span: Span) -> bool:
    return span.text != span.source.text[span.start : span.end]


def _name_type(value: Value) -> str:
    """Return the type of a value as parameters have it; "" if it has none."""
    if isinstance(value, Amount):
        name = _NAMES.get(value.dimension, "")
        layered = name and value.layer not in ("", ANY_LAYER)
        return f"{name} @{value.layer}" if layered else name
    if isinstance(value, List):
        kinds = {_name_type(item) for item in value.items}
        return f"[{kinds.pop()}]" if len(kinds) == 1 and kinds != {""} else ""
    if isinstance(value, Record):
        return "Traffic" if value.kind.role == "traffic" else "Line" * (value.kind.duty == "line")
    names = {Boolean: "Bool", Text: "Text", Symbol: "Name", DeviceValue: "Device"}
    return next((name for kind, name in names.items() if isinstance(value, kind)), "")

"""Parameters of declarations: from the arguments of a use to the names of the body.

Where a declaration is checked on its own, placeholders stand for unknown parameters.
"""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from qospec.catalogue.kinds import REQUIRED, Buffer, Duration, Lifetime, Load, SizeMix
from qospec.check.evaluate.context import CheckError, explain_lacking_arguments, make_error
from qospec.check.evaluate.dimensions import (
    ANY_LAYER,
    NUMBER,
    TYPES,
    convert_layer,
    describe_dimension,
)
from qospec.check.evaluate.scope import Binding, Scope, bind_known, find_written
from qospec.check.evaluate.values import (
    POISON,
    Amount,
    Boolean,
    Deferred,
    List,
    Poison,
    Symbol,
    Text,
    Value,
)
from qospec.check.records.fields import MAPS
from qospec.check.records.record import Record
from qospec.diagnostics import Label, correct_spelling, suggest_name
from qospec.protocol.encapsulation import LAYERS
from qospec.syntax import ast
from qospec.units import format_number, format_value

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from qospec.catalogue.kinds import Parameter
    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.source import Span

WORDS = ("Bool", "Text", "Name", "Device", "Traffic", "Line")
"""Types that are not quantities."""

NOUNS = {
    "Bool": "true or false",
    "Text": "a text",
    "Name": "a word",
    "Device": "a device",
    "Traffic": "traffic",
    "Line": "a line",
}
_UNITS = {"Count": "cell", "Packets": "pkt", "Frames": "frame", "Calls": "call"}
"""Of what is counted."""
_USUAL = {"Time": "s", "Data": "B", "Rate": "Mbit/s", "Length": "km"}
"""Of what is measured, a usual unit."""


class Signature:
    """The parameters of one declaration, checked once."""

    def __init__(
        self, name: str, parameters: Sequence[ast.Parameter], home: Scope, evaluator: Evaluator
    ) -> None:
        self.name = name
        self.parameters = {parameter.name.text: parameter for parameter in parameters}
        self._home = home
        self._evaluator = evaluator
        seen: dict[str, ast.Parameter] = {}
        for parameter in parameters:
            _require_known_type(parameter, evaluator)
            if parameter.name.text in seen:
                evaluator.context.report(
                    make_error(
                        "E0102",
                        f"`{parameter.name.text}` is already declared",
                        parameter.name.span,
                        secondary=(seen[parameter.name.text].name.span, "first declared here"),
                        help="choose another name",
                    )
                )
            seen[parameter.name.text] = parameter

    def bind(
        self,
        arguments: Sequence[ast.Argument],
        caller: Scope,
        use: ast.Node,
        flows: Sequence[ast.Flow] = (),
    ) -> tuple[Scope, tuple[Value, ...]] | None:
        """Return the body's outermost names and their values, or None if the use is wrong."""
        given = self._match(arguments)
        scope = Scope(self._home)
        before = self._evaluator.context.mistakes
        for name, parameter in self.parameters.items():
            if name in given:
                value = self._bind_argument(parameter, given[name].value, caller, flows)
                self._declare(scope, parameter, value)
                if name in scope.names:
                    scope.names[name].argument = given[name].value, caller
            elif parameter.default is not None:
                self._declare_default(scope, parameter, parameter.default)
            else:
                self._declare(scope, parameter, POISON)
        lacking = [
            parameter
            for name, parameter in self.parameters.items()
            if name not in given and not parameter.default
        ]
        if lacking:
            self._evaluator.context.report(self._explain_missing(lacking, use.span))
        values = tuple(
            scope.names[name].evaluate(self._evaluator.context)
            for name in self.parameters
            if name in scope.names
        )
        if self._evaluator.context.mistakes > before:
            return None
        return scope, values

    def make_placeholders(self, *, defaults: bool) -> Scope:
        """Return the names of a body checked on its own: with unknown values, or with defaults."""
        scope = Scope(self._home)
        for parameter in self.parameters.values():
            if parameter.default is not None:
                self._declare_default(scope, parameter, parameter.default)
                if not defaults and parameter.name.text in scope.names:
                    scope.names[parameter.name.text].evaluate(self._evaluator.context)
                    scope.names.pop(parameter.name.text)
            if parameter.name.text not in scope.names:
                self._declare(scope, parameter, make_unknown(parameter.annotation.text))
            if parameter.name.text not in scope.names:  # it is taken, which was reported
                scope.names[parameter.name.text] = bind_known(parameter.name, "a parameter", POISON)
        return scope

    def has_defaults(self) -> bool:
        """Return whether every parameter has a default."""
        return all(parameter.default is not None for parameter in self.parameters.values())

    def _declare(self, scope: Scope, parameter: ast.Parameter, value: Value) -> None:
        scope.declare(bind_known(parameter.name, "a parameter", value), self._evaluator.context)

    def _declare_default(
        self, scope: Scope, parameter: ast.Parameter, default: ast.Expression
    ) -> None:
        binding = Binding(
            parameter.name.text,
            parameter.name.span,
            "a parameter",
            lambda: self._bind_argument(parameter, default, scope),
        )
        scope.declare(binding, self._evaluator.context)

    def _bind_argument(
        self,
        parameter: ast.Parameter,
        node: ast.Expression,
        scope: Scope,
        flows: Sequence[ast.Flow] = (),
    ) -> Value:
        if parameter.annotation.text == "Name":
            value = self._evaluator.evaluate_word(node, scope)
        else:
            value = self._evaluator.require_plain(node, scope)
        try:
            its = find_written(node, scope)[0]
            is_list = isinstance(value, List) and isinstance(its, ast.ListLiteral)
            return fit(value, parameter, its if is_list else node, flows)
        except CheckError as mistake:
            self._evaluator.context.report(mistake)
            return POISON

    def _match(self, arguments: Sequence[ast.Argument]) -> dict[str, ast.Argument]:
        given: dict[str, ast.Argument] = {}
        order = list(self.parameters)
        for place, argument in enumerate(arguments):
            if argument.name is None and place >= len(order):
                most = {0: "no values", 1: "one value at most"}.get(
                    len(order), f"{len(order)} values at most"
                )
                raise make_error("E0114", f"`{self.name}` takes {most}", argument.span)
            name = argument.name.text if argument.name else order[place]
            if name not in self.parameters:
                raise self._explain_unknown(name, argument, given)
            if name in given:
                raise make_error(
                    "E0114",
                    f"`{name}` is given twice",
                    argument.span,
                    secondary=(given[name].span, "first here"),
                )
            if argument.name is not None:
                self._evaluator.context.add_meaning(argument.name, self.parameters[name].name.span)
            given[name] = argument
        return given

    def _explain_missing(self, lacking: Sequence[ast.Parameter], use: Span) -> CheckError:
        """Return the mistake of giving no value for these parameters, all of them at once."""
        mistake = explain_lacking_arguments(
            self.name, [parameter.name.text for parameter in lacking], use
        )
        declared = tuple(Label(parameter.span, "declared here") for parameter in lacking)
        return CheckError(replace(mistake.diagnostic, secondary=declared))

    def _explain_unknown(
        self, name: str, argument: ast.Argument, given: Container[str]
    ) -> CheckError:
        near = suggest_name(name, self.parameters)
        fix = correct_spelling((argument.name or argument).span, name, self.parameters)
        known = " ".join(self.parameters)
        return make_error(
            "E0104",
            f"`{self.name}` has no parameter `{name}`",
            (argument.name or argument).span,
            note=f"parameters of {self.name}: {known}"
            if known
            else f"{self.name} has no parameters",
            near=near,
            fix=fix if fix and fix[0].text not in given else (),
        )


def _require_known_type(parameter: ast.Parameter, evaluator: Evaluator) -> None:
    annotation = parameter.annotation.text
    name, layer = split_layer(find_item_type(annotation) or annotation)
    of_list = annotation.startswith("[")
    known = [*TYPES] if of_list else [*TYPES, *WORDS]
    left_out = not parameter.annotation.span.text  # which has been reported
    if name not in known and not left_out:
        near = suggest_name(name, known)
        what = "a type of a list's items" if of_list else "a type"
        evaluator.context.report(
            make_error(
                "E0115",
                f"`{name}` is not {what}",
                parameter.annotation.span,
                label=f"did you mean `{near}`?" if near else "",
                note="types: " + " ".join(known),
                help="write `[Data]` for a list of sizes" if name == "List" else "",
                fix=() if of_list else correct_spelling(parameter.annotation.span, name, known),
            )
        )
    elif layer:
        try:
            _verify_type_layer(parameter, name, layer)
        except CheckError as mistake:
            evaluator.context.report(mistake)


def _verify_type_layer(parameter: ast.Parameter, name: str, layer: str) -> None:
    """Require a layer, of a type that counts bits; raises CheckError."""
    if name not in TYPES or not TYPES[name].has_data:
        message, note, help_text = f"`{name}` counts no bits", "", f"write `{name}`"
    elif layer not in LAYERS:
        message, note = f"`{layer}` is not a layer", "layers: " + " ".join(LAYERS)
        help_text = f"write `{name} @line`, or another layer"
    else:
        return
    raise make_error("E0115", message, parameter.annotation.span, note=note, help=help_text)


def split_layer(annotation: str) -> tuple[str, str]:
    """Return a type such as `Rate @line` without its layer, and the layer, "" if there is none."""
    name, _, layer = annotation.partition(" @")
    return name, layer


def find_item_type(annotation: str) -> str:
    """Return the type of the items of a list type such as `[Data]`; "" for any other type."""
    return annotation[1:-1] if annotation.startswith("[") else ""


def let_binding(
    node: ast.Let, scope: Scope, evaluator: Evaluator, *, criteria: bool = True
) -> Binding:
    """Return what the name of a `let` stands for; if `criteria`, it may be measured or published.

    It must have its declared type.
    """
    made = Binding(
        node.name.text,
        node.name.span,
        "a value",
        lambda: _let_value(node, scope, evaluator, criteria=criteria),
    )
    made.written = node.value, scope
    return made


def _let_value(node: ast.Let, scope: Scope, evaluator: Evaluator, *, criteria: bool) -> Value:
    if node.annotation is not None and node.annotation.text == "Name":
        value = evaluator.evaluate_word(node.value, scope)
    else:
        value = evaluator.require_value(node.value, scope)
    if not criteria:
        value = evaluator.require_known(value, node.value)
    if node.annotation is None:
        return value
    as_parameter = ast.Parameter(
        name=node.name, annotation=node.annotation, default=None, span=node.annotation.span
    )
    _require_known_type(as_parameter, evaluator)
    return value if isinstance(value, Deferred) else fit(value, as_parameter, node.value)


def make_unknown(annotation: str) -> Value:
    """Return the value of a parameter of which only the type is known."""
    if find_item_type(annotation):
        return List((make_unknown(find_item_type(annotation)),), known=False)
    name, layer = split_layer(annotation)
    if name in TYPES:
        dimension = TYPES[name]
        return Amount(None, dimension, layer or (ANY_LAYER if dimension.has_data else ""))
    return Boolean(None) if annotation == "Bool" else POISON


def fit(
    value: Value, parameter: ast.Parameter, node: ast.Expression, flows: Sequence[ast.Flow] = ()
) -> Value:
    """Return the value if it is of the parameter's type; raises CheckError.

    The `flows` of the test that it is for tell how its bits count in another layer.
    """
    annotation, layer = split_layer(parameter.annotation.text)
    if split_layer(find_item_type(parameter.annotation.text))[0] in TYPES and not isinstance(
        value, Poison
    ):
        return _fit_list(value, parameter, node)
    if isinstance(value, Poison) or (annotation not in TYPES and annotation not in WORDS):
        return value
    expected = NOUNS.get(annotation) or (
        "a whole number" if annotation == "Int" else describe_dimension(TYPES[annotation])
    )
    if annotation in TYPES:
        if isinstance(value, Amount) and _has_dimension(value, annotation):
            if layer:
                _verify_layer(value, layer, parameter, node, flows)
            return Amount(value.value, TYPES[annotation], value.layer, value.text, value.published)
        what = describe_dimension(value.dimension) if isinstance(value, Amount) else value.what
        if isinstance(value, Amount) and annotation == "Int" and value.dimension == NUMBER:
            shown = "" if value.value is None else format_number(value.value, exact=True)
            what = value.text or shown
    else:
        if _is_a(value, annotation):
            return value
        what = value.what
    raise make_error(
        "E0204",
        f"`{parameter.name.text}` is {expected}, not {what}",
        node.span,
        label=f"this is {what}",
        secondary=(parameter.span, f"declared as {parameter.annotation.span.text} here"),
        help=_suggest_other_type(value, annotation, layer, node),
    )


def _verify_layer(
    value: Amount,
    layer: str,
    parameter: ast.Parameter,
    node: ast.Expression,
    flows: Sequence[ast.Flow],
) -> None:
    """Require the layer that a parameter's type names; raises CheckError."""
    if value.layer in (layer, ANY_LAYER) or value.value == 0:
        return
    what = "does not say which bits it counts" if not value.layer else f"counts bits @{value.layer}"
    written = node.value if isinstance(node, ast.Layered) else node
    raise make_error(
        "E0212" if value.layer else "E0210",
        f"`{parameter.name.text}` is counted @{layer}, and this {what}",
        node.span,
        secondary=(parameter.span, f"declared as {parameter.annotation.text} here"),
        help=convert_layer(node.span.text, value.value, layer)
        or convert_layer(node.span.text, value.value, layer, *_find_lengths(flows))
        or _explain_counting(value, layer)
        if value.layer
        else f"write `{written.span.text} @{layer}`"
        if isinstance(written, ast.Quantity)
        else f"count it `@{layer}`",
    )


_ON_ETHERNET = {"ip": 0, "frame": 18, "line": 38}
"""How many bytes are around a packet in a layer, without tags. Source: IEEE 802.3, 3.1 and 4.4."""
_SIZE = re.compile(r"([0-9_]+) ?B ?@(ip|frame|line)")
"""A size of packets as it is written."""
_EXAMPLE_BYTES = 512
_LEAST_PAYLOAD_BYTES = 46
"""To which Ethernet fills up what a frame carries. Source: IEEE 802.3, 3.2.7 and 4.4."""


def _list_fields(flow: ast.Flow) -> list[ast.Bind]:
    body = flow.body.statements if flow.body is not None else ()
    return [field for field in body if isinstance(field, ast.Bind)]


def _find_lengths(flows: Sequence[ast.Flow]) -> tuple[dict[str, Fraction], str]:
    """Return the bytes by layer of a packet of flows on Ethernet, and what has them in words.

    Nothing unless all of them are written with the same size.
    """
    written = {
        next((way.value.span.text for way in _list_fields(flow) if way.names[0].text == "size"), "")
        for flow in flows
    }
    size = _SIZE.fullmatch(written.pop()) if len(written) == 1 else None
    if size is None:
        return {}, ""
    bytes_ = Fraction(size[1].replace("_", "")) - _ON_ETHERNET[size[2]]
    filled = max(bytes_, Fraction(_LEAST_PAYLOAD_BYTES))
    lengths = {layer: filled + more for layer, more in _ON_ETHERNET.items()}
    return {**lengths, "ip": bytes_}, "each packet on Ethernet"


def _explain_counting(given: Amount, wanted: str) -> str:
    """Return what a value is in another layer, of a packet on Ethernet: another quantity."""
    before, after = _ON_ETHERNET.get(given.layer or ""), _ON_ETHERNET.get(wanted)
    if before is None or after is None or given.value is None or given.dimension is None:
        return f"count it `@{wanted}`, which is another quantity"
    more = after - before
    there = f"a packet on Ethernet has {abs(more)} B {'more' if more > 0 else 'less'} there"
    alike = f", if all have {_EXAMPLE_BYTES} B @{given.layer}"
    converted = given.value * Fraction(_EXAMPLE_BYTES + more, _EXAMPLE_BYTES)
    if given.dimension == TYPES["Data"]:
        filled = max(given.value, Fraction(8 * (_LEAST_PAYLOAD_BYTES + before)))
        converted, alike = filled + 8 * more, ""
    written = format_value(converted, given.dimension, exact=True)
    return f"write `{written} @{wanted}`{alike}: {there}"


def _fit_list(value: Value, parameter: ast.Parameter, node: ast.Expression) -> Value:
    """Return a list if its items are of the parameter's type; raises CheckError."""
    of = find_item_type(parameter.annotation.text)
    if not isinstance(value, List):
        what = describe_dimension(value.dimension) if isinstance(value, Amount) else value.what
        raise make_error(
            "E0204",
            f"`{parameter.name.text}` is a list, not {what}",
            node.span,
            label=f"this is {what}",
            secondary=(parameter.span, f"declared as {parameter.annotation.text} here"),
            help=f"write `[{node.span.text}]`",
        )
    one = replace(parameter, annotation=replace(parameter.annotation, text=of))
    places = node.items if isinstance(node, ast.ListLiteral) else (node,) * len(value.items)
    items = [
        fit(
            item,
            replace(one, name=replace(parameter.name, text=f"{parameter.name.text}[{index}]")),
            place,
        )
        for index, (item, place) in enumerate(zip(value.items, places, strict=True))
    ]
    return List(tuple(items), value.known)


def _suggest_other_type(value: Value, annotation: str, layer: str, node: ast.Expression) -> str:
    """Return what to write if another kind of count was meant."""
    unit = _USUAL.get(annotation) or _UNITS.get(annotation)
    if not isinstance(value, Amount) or unit is None:
        return ""
    if value.dimension == NUMBER and annotation in _USUAL:
        return f"write a unit, such as `{node.span.text} {unit}{f' @{layer}' if layer else ''}`"
    if value.dimension == NUMBER and value.value is not None:
        return f"write `{format_number(value.value, exact=True)} {unit}`"
    meant = [name for name in _UNITS if TYPES[name] == value.dimension]
    return f"if these are meant, declare it as `{meant[0]}`" if meant else ""


def _has_dimension(value: Amount, annotation: str) -> bool:
    if value.dimension != TYPES[annotation] and value.value != 0:
        return False
    return annotation != "Int" or value.value is None or value.value.denominator == 1


def _is_a(value: Value, annotation: str) -> bool:
    if annotation == "Bool":
        return isinstance(value, Boolean)
    if annotation == "Text":
        return isinstance(value, Text)
    if annotation == "Name":
        return isinstance(value, Symbol)
    if annotation == "Device":
        return value.what == "a device"
    if not isinstance(value, Record):
        return annotation == "Traffic" and value.what == "traffic"
    return value.kind.role == "traffic" if annotation == "Traffic" else value.kind.duty == "line"


PLACEHOLDERS: dict[str, Any] = {
    "names": ("first",),
    "truth": False,
    "times": (1,),
    "buffer": Buffer(1, "cell"),
    "burst": Buffer(1, "packet"),
    "lifetime": Lifetime(1, "packet"),
    "load": Load(Fraction(1), ""),
    "duration": Duration(1),
    "size mix": SizeMix(((64, 1),), "ip"),
    "curve": 1,
    **dict.fromkeys(MAPS, (("first", 1),)),
    "loads": (("first", Load(Fraction(1), "")),),
    "bursts": (("first", Buffer(1, "packet")),),
    "windows": (("first", (1,)),),
}
"""By domain, values that are not numbers."""
WHOLE = ("time", "data", "cells", "calls", "integer")


def make_placeholder(parameter: Parameter) -> Any:
    """Return a value that the parameter may have; None if it is left out."""
    domain = parameter.domain
    if parameter.default is not REQUIRED:
        return None
    if domain.choices:
        return domain.choices[0]
    if domain.name in PLACEHOLDERS:
        return PLACEHOLDERS[domain.name]
    low = max(domain.low if domain.low is not None else 1, 1)
    value = low if domain.high is None else min(low, domain.high)
    return int(value) if domain.name in WHOLE else Fraction(value)

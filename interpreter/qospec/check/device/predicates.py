"""What a classifier tests of a cell or a packet: small conditions over its attributes."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.catalogue.words import explain_word, translate
from qospec.check.device.ports import PortValue
from qospec.check.evaluate.context import make_all, make_error
from qospec.check.evaluate.dimensions import NUMBER, describe_dimension
from qospec.check.evaluate.scope import Scope
from qospec.check.evaluate.values import Amount, Boolean, List, Poison, Symbol, Value
from qospec.check.records import addresses
from qospec.check.records.kinds import explain_not_built
from qospec.diagnostics import suggest_name
from qospec.model.expression import Attribute, Constant, Expression, Operation
from qospec.protocol.atm import HIGHEST_VIRTUAL_PATH, SERVICE_CATEGORIES
from qospec.protocol.encapsulation import HIGHEST_VLAN, RESERVED_VLANS
from qospec.protocol.ip import (
    FAMILY_EXTRA_BYTES,
    HIGHEST_PORT,
    LARGEST_PACKET_BYTES,
    TRANSPORT_HEADER_BYTES,
)
from qospec.protocol.marks import CODEPOINTS, COLOURS, MARKS, PARTS
from qospec.syntax import ast
from qospec.units import DATA

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from qospec.check.evaluate.evaluator import Evaluator

ATTRIBUTES = {
    ("vc", "category"): "category",
    ("vc", "path"): "virtual_path",
    ("cell", "clp"): "clp",
    ("cell", "oam"): "oam",
    ("cell", "message"): "message",
    ("pkt", "size"): "size",
    ("pkt", "dscp"): "dscp",
    ("pkt", "precedence"): "precedence",
    ("pkt", "priority"): "priority",
    ("pkt", "vlan"): "vlan",
    ("pkt", "inner_vlan"): "inner_vlan",
    ("pkt", "traffic_class"): "traffic_class",
    ("pkt", "exp"): "traffic_class",
    ("pkt", "colour"): "colour",
    ("pkt", "ecn"): "ecn",
    ("pkt", "family"): "family",
    ("pkt", "protocol"): "protocol",
    ("pkt", "source_port"): "source_port",
    ("pkt", "destination_port"): "destination_port",
    ("pkt", "source_address"): "source_address",
    ("pkt", "destination_address"): "destination_address",
    ("pkt", "input"): "input",
    ("pkt", "message"): "packet_message",
}
"""What a class can test: of cells, and of packets."""
VLANS = ("vlan", "inner_vlan")
"""Identifiers: 0 of packets without one."""
RESERVED = ("frame",)
"""Prefixes of attributes that are not built yet."""
WORDS = {
    "category": ("a service category", "categories", SERVICE_CATEGORIES),
    "protocol": ("a protocol", "protocols", tuple(TRANSPORT_HEADER_BYTES)),
    "family": ("a family of addresses", "families", tuple(FAMILY_EXTRA_BYTES)),
    "colour": ("a colour", "colours", COLOURS),
    "ecn": ("a codepoint of ECN", "codepoints", CODEPOINTS),
}
"""Attributes with words as values: what each is called, and the words."""
MAX_VALUES = {
    "virtual_path": HIGHEST_VIRTUAL_PATH,
    **{name: mark.highest for name, mark in MARKS.items() if not mark.words},
    "precedence": PARTS["precedence"].highest,
    **dict.fromkeys(VLANS, HIGHEST_VLAN),
    "size": LARGEST_PACKET_BYTES,
    "source_port": HIGHEST_PORT,
    "destination_port": HIGHEST_PORT,
}
"""Attributes that are numbers from 0 to this."""
BITS_OF_A_BYTE = 8
TRUTHS = ("oam", "message", "packet_message")
"""Attributes that are true or false."""
ADDRESSES = ("source_address", "destination_address")
"""Attributes that are addresses; conditions hold the numbers of `check.records.addresses`."""
UNORDERED = (*WORDS, *ADDRESSES, "input")
"""Attributes that can be equal but have no order."""


def build_predicate(node: ast.Expression, scope: Scope, evaluator: Evaluator) -> Expression:
    """Return the condition of a class; raises CheckError."""
    if isinstance(node, ast.Otherwise):
        return Constant(value=True, dimension=None, text="otherwise")
    if isinstance(node, ast.Unary) and node.operator == "not":
        return Operation("not", (build_predicate(node.operand, scope, evaluator),))
    if isinstance(node, ast.Binary) and node.operator in ("and", "or"):
        sides = make_all(
            lambda side: build_predicate(side, scope, evaluator), (node.left, node.right)
        )
        return Operation(node.operator, tuple(sides))
    if isinstance(node, ast.Compare):
        return _build_comparison(node, scope, evaluator)
    if isinstance(node, ast.Member):
        return _build_membership(_read_attribute(node.item), node.collection, scope, evaluator)
    if isinstance(node, ast.Range):
        raise make_error(
            "E0416",
            f"`{node.span.text}` is not true or false",
            node.span,
            help="put the range into parentheses: `pkt.dscp in (8 .. 15)`",
        )
    attribute = _read_attribute(node)
    if attribute.name not in TRUTHS:
        raise make_error(
            "E0416",
            f"`{node.span.text}` is not true or false",
            node.span,
            help=f"compare it: `{node.span.text} == …`",
        )
    return attribute


def _read_attribute(node: ast.Expression) -> Attribute:
    if isinstance(node, ast.Path) and len(node.trail) == 1 and isinstance(node.trail[0], ast.Name):
        known = ATTRIBUTES.get((node.name.text, node.trail[0].text))
        if known is not None:
            return Attribute(known)
    if isinstance(node, ast.Path) and node.name.text in RESERVED:
        raise explain_not_built(node.span.text, node.span)
    head, _, last = node.span.text.rpartition(".")
    names = [attribute for _, attribute in ATTRIBUTES]
    meant = translate(last, names)
    absent = "" if meant else explain_word(last)
    meant = meant or ("" if absent else suggest_name(last, names))
    pairs = sorted((pair for pair in ATTRIBUTES if pair[1] == meant), key=lambda p: p[0] != head)
    near = ".".join(pairs[0]) if pairs else ""
    raise make_error(
        "E0416",
        f"a class cannot test `{node.span.text}`",
        node.span,
        label=f"did you mean `{near}`?" if near else "",
        note=absent or "attributes: " + " ".join(map(".".join, ATTRIBUTES)),
    )


def _build_comparison(node: ast.Compare, scope: Scope, evaluator: Evaluator) -> Expression:
    attribute = _read_attribute(node.left)
    if attribute.name in UNORDERED and node.operator not in ("==", "!="):
        raise make_error(
            "E0203",
            f"`{node.left.span.text}` has no order",
            node.span,
            help="compare it with `==`, `!=` or `in`",
        )
    alike = _build_address_membership(attribute, node.right, scope, evaluator)
    if alike is not None:
        return alike if node.operator == "==" else Operation("not", (alike,))
    return Operation(
        node.operator, (attribute, _read_constant(attribute, node.right, scope, evaluator))
    )


def _build_membership(
    attribute: Attribute, node: ast.Expression, scope: Scope, evaluator: Evaluator
) -> Expression:
    """Return the condition that an attribute is in a list or a range."""
    if isinstance(node, ast.Range) and node.step is None and attribute.name in MAX_VALUES:
        first = _read_constant(attribute, node.first, scope, evaluator)
        last = _read_constant(attribute, node.last, scope, evaluator)
        return _build_range(attribute, first, last)
    items = node.items if isinstance(node, ast.ListLiteral) else (node,)
    alike = [_build_address_membership(attribute, item, scope, evaluator) for item in items]
    if alike and None not in alike:
        return Operation("or", tuple(expression for expression in alike if expression is not None))
    return Operation("in", (attribute, _list(attribute, node, scope, evaluator)))


def _build_range(attribute: Attribute, first: Constant, last: Constant) -> Expression:
    ends = Operation(">=", (attribute, first)), Operation("<=", (attribute, last))
    return Operation("and", ends)


def _build_address_membership(
    attribute: Attribute, node: ast.Expression, scope: Scope, evaluator: Evaluator
) -> Expression | None:
    """Return the condition that an attribute is an address, in a network, or a port; else None."""
    if attribute.name == "input":
        return _build_port_condition(attribute, evaluator.evaluate(node, scope), node, evaluator)
    if attribute.name not in ADDRESSES:
        return None
    value = evaluator.require_plain(node, scope)
    if isinstance(value, Poison):
        return Constant(value=True, dimension=None)
    items = value.items if isinstance(value, List) else (value,)
    found = []
    for item in items:
        ends = addresses.ends(item, spell_attribute(attribute.name), node.span)
        first, last = (Constant(Fraction(end), NUMBER, node.span.text) for end in ends)
        found.append(_build_range(attribute, first, last))
    return Operation("or", tuple(found))


def _build_port_condition(
    attribute: Attribute, value: Value, node: ast.Expression, evaluator: Evaluator
) -> Expression:
    """Return the condition that an item entered the device by a port, or by one of an array."""
    if isinstance(value, Poison):
        return Constant(value=True, dimension=None)
    if not isinstance(value, PortValue) or value.inner >= 0:
        raise make_error(
            "E0204",
            f"`{spell_attribute(attribute.name)}` is a port of this device, not {value.what}",
            node.span,
            help="name a port: `pkt.input == west`",
        )
    ports, name = value.ports, value.ports.name
    numbers = range(ports.count or 0) if value.index is None else (value.index,)
    names = [name] if ports.count is None else [f"{name}[{number}]" for number in numbers]
    for _ in names:
        evaluator.context.count_step(node.span)
    listed = tuple(Constant(name, None, node.span.text) for name in names)
    return Operation("in", (attribute, Operation("list", listed)))


def _list(
    attribute: Attribute, node: ast.Expression, scope: Scope, evaluator: Evaluator
) -> Expression:
    if isinstance(node, ast.ListLiteral):
        items = tuple(_read_constant(attribute, item, scope, evaluator) for item in node.items)
        return Operation("list", items)
    value = evaluator.require_plain(node, scope)
    if isinstance(value, List):
        return Operation(
            "list", tuple(_convert_constant(attribute, item, node) for item in value.items)
        )
    if isinstance(value, Poison):
        return Operation("list", ())
    raise make_error("E0204", f"expected a list after `in`, found {value.what}", node.span)


def _read_constant(
    attribute: Attribute, node: ast.Expression, scope: Scope, evaluator: Evaluator
) -> Constant:
    if attribute.name in WORDS:
        words = WORDS[attribute.name][2]
        own = isinstance(node, ast.Path) and node.name.text in words
        return _convert_constant(
            attribute, evaluator.evaluate_word(node, Scope() if own else scope), node
        )
    if isinstance(node, ast.Text) and attribute.name in MAX_VALUES:
        names = scope.find_outermost().names
        meant = evaluator.context.built_ins.suggest_name(node.text, names)
        raise make_error(
            "E0204",
            "expected a whole number, found a text",
            node.span,
            help=meant or "write the number, without quotation marks",
        )
    return _convert_constant(attribute, evaluator.require_plain(node, scope), node)


def _convert_constant(attribute: Attribute, value: Value, node: ast.Expression) -> Constant:
    text = node.span.text
    if isinstance(value, Poison):
        return Constant(value=Fraction(0), dimension=NUMBER)
    if attribute.name in WORDS:
        return _read_word(attribute, value, node)
    if attribute.name in TRUTHS:
        if isinstance(value, Boolean) and value.value is not None:
            return Constant(value.value, None, text)
        spelt = spell_attribute(attribute.name)
        raise make_error("E0204", f"`{spelt}` is true or false, not {value.what}", node.span)
    if attribute.name == "size":
        value = _count_bytes(value, node)
    if not isinstance(value, Amount) or value.dimension != NUMBER:
        what = describe_dimension(value.dimension) if isinstance(value, Amount) else value.what
        raise make_error("E0204", f"expected a whole number, found {what}", node.span)
    if value.value is not None and value.value.denominator != 1:
        raise make_error("E0204", f"expected a whole number, found {text}", node.span)
    number = value.value if value.value is not None else Fraction(0)
    most = MAX_VALUES.get(attribute.name)
    if most is not None and not (0 <= number <= most and number.denominator == 1):
        unit = " B @ip" if attribute.name == "size" else ""
        between = "0 or 1" if most == 1 else f"a whole number from 0 to {most:_}{unit}"
        high = number > most
        raise make_error(
            "E0205",
            f"`{spell_attribute(attribute.name)}` is {between}",
            node.span,
            label="too large" if high else "too small",
            note=RESERVED_VLANS if attribute.name in VLANS else "",
            help=f"write at most {most:_}{unit}" if high else "write at least 0",
        )
    return Constant(number, NUMBER, "" if value.value is None else text)


def _count_bytes(value: Value, node: ast.Expression) -> Amount:
    """Return a size of IP packets as a number of bytes."""
    if not isinstance(value, Amount) or value.dimension != DATA or value.layer not in ("", "ip"):
        found = value.what
        if isinstance(value, Amount):
            found = describe_dimension(value.dimension)
            found = f"bytes of another layer, `@{value.layer}`" if value.layer else found
        raise make_error(
            "E0204",
            f"`pkt.size` is the size of an IP packet, not {found}",
            node.span,
            help="compare it with bytes of IP: `pkt.size <= 200 B @ip`",
        )
    number = None if value.value is None else value.value / BITS_OF_A_BYTE
    return Amount(number, NUMBER)


def _read_word(attribute: Attribute, value: Value, node: ast.Expression) -> Constant:
    what, several, words = WORDS[attribute.name]
    if isinstance(value, Symbol) and value.name in words:
        return Constant(value.name, None, node.span.text)
    name = value.name if isinstance(value, Symbol) else node.span.text
    near = suggest_name(name, words)
    raise make_error(
        "E0214",
        f"`{name}` is not {what}",
        node.span,
        label=f"did you mean `{near}`?" if near else "",
        note=f"{several}: " + " ".join(words),
    )


def list_size_bounds(predicates: Iterable[Expression]) -> tuple[int, ...]:
    """Return the sizes, ascending, at which what conditions say of sizes may change.

    Conditions compare sizes with constants, so all packets from one bound up to the next are alike.
    """
    bounds = {
        int(number) + after
        for predicate in predicates
        for number in list_compared(predicate, "size")
        for after in (0, 1)
    }
    return tuple(sorted(bound for bound in bounds if bound > 0))


def list_compared(predicate: Expression, name: str) -> Iterator[Fraction]:
    """Yield the numbers that an attribute is compared with."""
    if not isinstance(predicate, Operation):
        return
    if Attribute(name) in predicate.operands:
        numbers = (constant.value for constant in list_constants(predicate.operands))
        yield from (value for value in numbers if isinstance(value, Fraction))
    else:
        for operand in predicate.operands:
            yield from list_compared(operand, name)


def list_constants(expressions: Iterable[Expression]) -> Iterator[Constant]:
    """Yield the constants in conditions."""
    for expression in expressions:
        if isinstance(expression, Constant):
            yield expression
        elif isinstance(expression, Operation):
            yield from list_constants(expression.operands)


def spell_attribute(attribute: str) -> str:
    """Return an attribute as an author writes it."""
    return next(".".join(pair) for pair, name in ATTRIBUTES.items() if name == attribute)


def find_carrier(attribute: str) -> str:
    """Return whether it is an attribute of cells or of packets."""
    return "packet" if spell_attribute(attribute).startswith("pkt.") else "cell"


def list_attributes(expression: Expression) -> Iterator[str]:
    """Yield the attributes that a condition tests."""
    if isinstance(expression, Attribute):
        yield expression.name
    elif isinstance(expression, Operation):
        for operand in expression.operands:
            yield from list_attributes(operand)

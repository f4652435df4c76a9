"""What a classifier asks of a cell or a packet: small conditions over what can be told of it."""

from __future__ import annotations

from fractions import Fraction
from itertools import islice, product
from typing import TYPE_CHECKING, Any

from qospec.check.context import wrong
from qospec.check.dimensions import NUMBER, named
from qospec.check.kinds import not_built
from qospec.check.scope import Scope
from qospec.check.values import Amount, Poison, Series, Symbol, Truth, Value
from qospec.conditions import Attribute, Constant, Expression, Operation, evaluate
from qospec.diagnostics import did_you_mean
from qospec.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from qospec.check.expressions import Evaluator

ATTRIBUTES = {
    ("vc", "category"): "category",
    ("vc", "path"): "virtual_path",
    ("cell", "clp"): "clp",
    ("cell", "oam"): "oam",
    ("pkt", "dscp"): "dscp",
    ("pkt", "priority"): "priority",
    ("pkt", "exp"): "traffic_class",
    ("pkt", "protocol"): "protocol",
    ("pkt", "source_port"): "source_port",
    ("pkt", "destination_port"): "destination_port",
}
"""What a class may ask for: of cells, and of packets."""
LATER = ("frame",)
"""What classes may ask of frames, once there are any."""
CATEGORIES = ("cbr", "vbr_rt", "vbr_nrt", "ubr")
WORDS = {
    "category": ("a service category", "categories", CATEGORIES),
    "protocol": ("a protocol", "protocols", ("udp", "tcp", "none")),
}
"""Attributes that are words: what each is called, and the words."""
HIGHEST = {
    "clp": 1,
    "dscp": 63,
    "priority": 7,
    "traffic_class": 7,
    "source_port": 65_535,
    "destination_port": 65_535,
}
"""Attributes that are numbers from 0 to this."""
MOST_ITEMS = 100_000
"""So many items are tried in the search for one that no class takes."""


def predicate(node: ast.Expression, scope: Scope, evaluator: Evaluator) -> Expression:
    """Return the condition of a class; raises Refused."""
    if isinstance(node, ast.Otherwise):
        return Constant(value=True, dimension=None, text="otherwise")
    if isinstance(node, ast.Unary) and node.operator == "not":
        return Operation("not", (predicate(node.operand, scope, evaluator),))
    if isinstance(node, ast.Binary) and node.operator in ("and", "or"):
        sides = (predicate(node.left, scope, evaluator), predicate(node.right, scope, evaluator))
        return Operation(node.operator, sides)
    if isinstance(node, ast.Compare):
        attribute = _attribute(node.left)
        return Operation(
            node.operator, (attribute, _constant(attribute, node.right, scope, evaluator))
        )
    if isinstance(node, ast.Member):
        attribute = _attribute(node.item)
        return Operation("in", (attribute, _list(attribute, node.collection, scope, evaluator)))
    attribute = _attribute(node)
    if attribute.name != "oam":
        raise wrong(
            "E0416",
            f"`{node.span.text}` is not true or false",
            node.span,
            remedy=f"compare it: `{node.span.text} == …`",
        )
    return attribute


def _attribute(node: ast.Expression) -> Attribute:
    if isinstance(node, ast.Path) and len(node.trail) == 1 and isinstance(node.trail[0], ast.Name):
        known = ATTRIBUTES.get((node.name.text, node.trail[0].text))
        if known is not None:
            return Attribute(known)
    if isinstance(node, ast.Path) and node.name.text in LATER:
        raise not_built(node.span.text, node.span)
    names = [".".join(pair) for pair in ATTRIBUTES]
    near = did_you_mean(node.span.text, names)
    raise wrong(
        "E0416",
        f"a class cannot ask for `{node.span.text}`",
        node.span,
        label=f"did you mean `{near}`?" if near else "",
        note="it may ask for " + " ".join(names),
    )


def _list(
    attribute: Attribute, node: ast.Expression, scope: Scope, evaluator: Evaluator
) -> Expression:
    if isinstance(node, ast.ListOf):
        items = tuple(_constant(attribute, item, scope, evaluator) for item in node.items)
        return Operation("list", items)
    value = evaluator.plain(node, scope)
    if isinstance(value, Series):
        return Operation("list", tuple(_of(attribute, item, node) for item in value.items))
    if isinstance(value, Poison):
        return Operation("list", ())
    raise wrong("E0204", f"`in` needs a list, this is {value.what}", node.span)


def _constant(
    attribute: Attribute, node: ast.Expression, scope: Scope, evaluator: Evaluator
) -> Constant:
    if attribute.name in WORDS:
        words = WORDS[attribute.name][2]
        own = isinstance(node, ast.Path) and node.name.text in words
        return _of(attribute, evaluator.word(node, Scope() if own else scope), node)
    return _of(attribute, evaluator.plain(node, scope), node)


def _of(attribute: Attribute, value: Value, node: ast.Expression) -> Constant:
    text = node.span.text
    if isinstance(value, Poison):
        return Constant(value=Fraction(0), dimension=NUMBER, text=text)
    if attribute.name in WORDS:
        return _word(attribute, value, node)
    if attribute.name == "oam":
        if isinstance(value, Truth) and value.value is not None:
            return Constant(value.value, None, text)
        raise wrong("E0204", f"`cell.oam` is true or false, not {value.what}", node.span)
    if not isinstance(value, Amount) or value.dimension != NUMBER:
        what = named(value.dimension) if isinstance(value, Amount) else value.what
        raise wrong("E0204", f"a whole number is wanted, this is {what}", node.span)
    if value.value is not None and value.value.denominator != 1:
        raise wrong("E0204", f"a whole number is wanted, this is {text}", node.span)
    number = value.value if value.value is not None else Fraction(0)
    most = HIGHEST.get(attribute.name)
    if most is not None and not (0 <= number <= most and number.denominator == 1):
        between = "0 or 1" if most == 1 else f"a whole number from 0 to {most:_}"
        raise wrong("E0205", f"`{spelt(attribute.name)}` is {between}", node.span)
    return Constant(number, NUMBER, text)


def _word(attribute: Attribute, value: Value, node: ast.Expression) -> Constant:
    what, several, words = WORDS[attribute.name]
    if isinstance(value, Symbol) and value.name in words:
        return Constant(value.name, None, node.span.text)
    name = value.name if isinstance(value, Symbol) else node.span.text
    near = did_you_mean(name, words)
    raise wrong(
        "E0214",
        f"`{name}` is not {what}",
        node.span,
        label=f"did you mean `{near}`?" if near else "",
        note=f"{several}: " + " ".join(words),
    )


def spelt(attribute: str) -> str:
    """Return an attribute as an author writes it."""
    return next(".".join(pair) for pair, name in ATTRIBUTES.items() if name == attribute)


def carrier(attribute: str) -> str:
    """Return of what it is asked: of cells or of packets."""
    return "packet" if spelt(attribute).startswith("pkt.") else "cell"


def attributes(expression: Expression) -> Iterator[str]:
    """Yield what a condition asks for."""
    if isinstance(expression, Attribute):
        yield expression.name
    elif isinstance(expression, Operation):
        for operand in expression.operands:
            yield from attributes(operand)


def unclassified(predicates: Sequence[Expression]) -> str:
    """Return an item that no class takes, in words; nothing if there is none."""
    asked = {name for each in predicates for name in attributes(each)}
    packets = any(carrier(name) == "packet" for name in asked)
    items = _packets(predicates, asked) if packets else _cells(predicates)
    for item in islice(items, MOST_ITEMS):
        if not any(_fits(each, item) for each in predicates):
            if packets:
                named = (f"`{spelt(name)}` {value}" for name, value in sorted(item.items()))
                return f"packets with {' and '.join(named)}"
            user = "OAM" if item["oam"] else "user"
            kind = f"{user} cells of {item['category']}"
            return f"{kind} with CLP {item['clp']} and VPI {item['virtual_path']}"
    return ""


def _packets(predicates: Sequence[Expression], asked: set[str]) -> Iterator[Mapping[str, Any]]:
    numbers = {0, *_numbers(predicates)}
    near = {each + step for each in numbers for step in (-1, 0, 1)}
    names = sorted(name for name in asked if carrier(name) == "packet")
    values = [
        WORDS[name][2]
        if name in WORDS
        else [Fraction(each) for each in sorted(near) if 0 <= each <= HIGHEST[name]]
        for name in names
    ]
    for each in product(*values):
        yield dict(zip(names, each, strict=True))


def _cells(predicates: Sequence[Expression]) -> Iterator[Mapping[str, Any]]:
    paths = {0} | {number + 1 for number in _numbers(predicates)} | set(_numbers(predicates))
    for category, clp, oam, path in product(CATEGORIES, (0, 1), (False, True), sorted(paths)):
        yield {
            "category": category,
            "clp": Fraction(clp),
            "oam": oam,
            "virtual_path": Fraction(path),
        }


def _numbers(expressions: Sequence[Expression]) -> Iterator[int]:
    for expression in expressions:
        if isinstance(expression, Operation):
            yield from _numbers(expression.operands)
        elif isinstance(expression, Constant) and isinstance(expression.value, Fraction):
            yield int(expression.value)


def _fits(each: Expression, cell: Mapping[str, Any]) -> bool:
    return (
        evaluate(each, lambda leaf: cell.get(leaf.name) if isinstance(leaf, Attribute) else None)
        is True
    )

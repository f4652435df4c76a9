"""The classes of a classifier together: items that match none, and classes that never match.

Conditions compare attributes with constants, so items with equal results are equivalent. One
of each equivalence class is tried.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import islice, product
from math import prod
from typing import TYPE_CHECKING, Any

from qospec.check.device.predicates import (
    ADDRESSES,
    MAX_VALUES,
    TRUTHS,
    WORDS,
    build_predicate,
    find_carrier,
    list_attributes,
    list_compared,
    list_constants,
    list_size_bounds,
    spell_attribute,
)
from qospec.check.evaluate.context import CheckError, make_error
from qospec.check.records.spelling import find_parameter
from qospec.model.expression import Attribute, Constant, count_leaves, evaluate
from qospec.protocol.atm import SERVICE_CATEGORIES
from qospec.protocol.marks import SIZE_RANGE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.check.records.record import Record
    from qospec.model.expression import Expression
    from qospec.source import Span

    Item = Mapping[str, Any]
    """What a condition may ask of it, by attribute."""

MAX_COMPARISONS = 500_000
"""Limit of comparisons over all items that are tried."""


def list_outputs(
    record: Record, ports: Sequence[str] | None, evaluator: Evaluator
) -> tuple[tuple[str, ...], tuple[Expression, ...], bool]:
    """Return the names and conditions of a classifier's outputs, and whether they are right.

    `ports` are those of its device, by name; None while it is not known how many there are.
    """
    own = [
        (name, field)
        for name, field in record.given.items()
        if find_parameter(record.kind, name) is None
    ]
    conditions = []
    for _, field in own:
        try:
            conditions.append(build_predicate(field.value, field.scope, evaluator))
        except CheckError as mistake:
            evaluator.context.report(mistake)
    if len(conditions) < len(own) or not own:
        if not own:
            raise make_error(
                "E0415",
                f"`{record.kind.name}` has no classes",
                record.span,
                help="add one: `all = otherwise`",
            )
        return tuple(name for name, _ in own), (), False
    asked = {name for condition in conditions for name in list_attributes(condition)}
    if ports is None and "input" in asked:
        return tuple(name for name, _ in own), tuple(conditions), True
    _verify_sizes(conditions, record)
    missed = describe_unclassified(conditions, ports or ())
    if missed:
        evaluator.context.report(
            make_error(
                "E0415",
                f"some {_find_carried(asked)}s match no class",
                record.span,
                note=f"such as {missed}",
                help="add a class for the rest: `rest = otherwise`",
            )
        )
    for number in () if missed else find_empty(conditions, ports or ()):
        name, field = own[number]
        alone = bool(find_empty([conditions[number]], ports or ()))
        evaluator.context.report(_explain_empty(name, field.name.span, alone=alone))
    return tuple(name for name, _ in own), tuple(conditions), True


def _explain_empty(name: str, span: Span, *, alone: bool) -> CheckError:
    """Return the warning of a class that nothing is of, also if there were no other."""
    return make_error(
        "W0604",
        f"no item can be of class `{name}`",
        span,
        note="nothing has such a value" if alone else "earlier classes take everything it matches",
        help="leave it out" if alone else "move it up, or leave it out",
    )


def _verify_sizes(conditions: Sequence[Expression], record: Record) -> None:
    """Raise CheckError if conditions tell more ranges of sizes apart than a mark does."""
    if len(list_size_bounds(conditions)) > SIZE_RANGE.highest:
        raise make_error(
            "E0416",
            f"`{record.kind.name}` compares sizes with more than {SIZE_RANGE.highest // 2} numbers",
            record.span,
            help="leave some to a classifier behind it",
        )


def describe_unclassified(predicates: Sequence[Expression], ports: Sequence[str]) -> str:
    """Return an item that no class takes, in words; "" if there is none."""
    if any(map(_takes_all, predicates)):
        return ""
    for item in _enumerate_items(predicates, ports):
        if _classify(item, predicates) is None:
            return _describe_item(item)
    return ""


def find_empty(predicates: Sequence[Expression], ports: Sequence[str]) -> list[int]:
    """Return the classes, by number, that never match: earlier ones take all that they would.

    The first `otherwise` is there for the unforeseen, and leaves nothing to later classes.
    """
    behind = next(
        (n for n, predicate in enumerate(predicates, 1) if _takes_all(predicate)), len(predicates)
    )
    return [*_find_unmatched(predicates[:behind], ports), *range(behind, len(predicates))]


def _takes_all(predicate: Expression) -> bool:
    return isinstance(predicate, Constant) and predicate.value is True


def _find_unmatched(predicates: Sequence[Expression], ports: Sequence[str]) -> list[int]:
    """Return the conditions, by number, whose items all match an earlier condition too.

    None where a constant is not known yet, or where there are too many items to try.
    """
    if not all(constant.text for constant in list_constants(predicates)):
        return []
    choices = _list_choices(predicates, ports)
    if prod(len(values) for values in choices.values()) > _count_most_items(predicates):
        return []
    waiting = {
        number for number, predicate in enumerate(predicates) if not isinstance(predicate, Constant)
    }
    for item in _enumerate_items(predicates, ports):
        if not waiting:  # as nearly always after a few of thousands
            break
        waiting.discard(_classify(item, predicates))
    return sorted(waiting)


def _enumerate_items(predicates: Sequence[Expression], ports: Sequence[str]) -> Iterator[Item]:
    choices = _list_choices(predicates, ports)
    for values in islice(product(*choices.values()), _count_most_items(predicates)):
        yield dict(zip(choices, values, strict=True))


def _count_most_items(predicates: Sequence[Expression]) -> int:
    """Return how many items are tried: the longer the conditions, the fewer."""
    return max(MAX_COMPARISONS // max(sum(map(count_leaves, predicates)), 1), 1)


def _find_carried(asked: Iterable[str]) -> str:
    """Return what the conditions classify: cells or packets."""
    return "packet" if any(find_carrier(name) == "packet" for name in asked) else "cell"


def _list_choices(
    predicates: Sequence[Expression], ports: Sequence[str]
) -> dict[str, Sequence[Any]]:
    """Return the values to try, by attribute."""
    asked = {name for predicate in predicates for name in list_attributes(predicate)}
    if _find_carried(asked) == "cell":
        paths = {int(number) for number in _list_numbers(predicates, "virtual_path")}
        near = sorted(
            {0} | paths | {path + 1 for path in paths if path < MAX_VALUES["virtual_path"]}
        )
        return {
            "category": SERVICE_CATEGORIES,
            "clp": (Fraction(0), Fraction(1)),
            "oam": (False, True),
            **({"message": (False, True)} if "message" in asked else {}),
            "virtual_path": [Fraction(number) for number in near],
        }
    found: dict[str, Sequence[Any]] = {}
    for name in sorted(name for name in asked if find_carrier(name) == "packet"):
        if name in WORDS:
            found[name] = WORDS[name][2]
        elif name in TRUTHS:
            found[name] = (False, True)
        elif name == "input":
            found[name] = ports
        else:
            numbers = {0, *(int(number) for number in _list_numbers(predicates, name))}
            near = sorted({number + step for number in numbers for step in (-1, 0, 1)})
            highest = MAX_VALUES.get(name)
            lowest = -1 if name in ADDRESSES else 0
            found[name] = [
                Fraction(number)
                for number in near
                if number >= lowest and (highest is None or number <= highest)
            ]
    return found


def _classify(item: Item, predicates: Sequence[Expression]) -> int | None:
    def read(leaf: Any) -> Any:
        return item.get(leaf.name) if isinstance(leaf, Attribute) else None

    fitting = (n for n, predicate in enumerate(predicates) if evaluate(predicate, read) is True)
    return next(fitting, None)


def _describe_item(item: Item) -> str:
    if "category" in item:
        what = "OAM" if item["oam"] else "message" if item.get("message") else "user"
        kind = f"{what} cells of {item['category']}"
        return f"{kind} with CLP {item['clp']} and VPI {item['virtual_path']}"
    marks = [
        f"`{spell_attribute(name)}` {value}"
        for name, value in item.items()
        if name not in ADDRESSES
    ]
    marks += [f"another `{spell_attribute(name)}`" for name in item if name in ADDRESSES]
    return f"packets with {' and '.join(marks)}"


def _list_numbers(predicates: Sequence[Expression], name: str) -> list[Fraction]:
    """Return the numbers that conditions compare an attribute with."""
    return [number for predicate in predicates for number in list_compared(predicate, name)]

"""Numbers, quantities, layers and ranges: from text to exact values.

For what is not a unit: which one may have been meant. Source: `misread` of spec/units.toml.
"""

from __future__ import annotations

import functools
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from qospec.check.evaluate.context import CheckError, make_error
from qospec.check.evaluate.dimensions import ANY_LAYER, NUMBER, describe_dimension, write_like
from qospec.check.evaluate.functions import Exponential
from qospec.check.evaluate.mixes import Mix
from qospec.check.evaluate.values import Amount, List, Poison, Symbol, Text, Value
from qospec.dataclass import NamedTuple
from qospec.diagnostics import Edit, correct_spelling, suggest_name
from qospec.protocol.encapsulation import LAYERS
from qospec.units import find_unit, format_number, list_units, load_table, load_tables

if TYPE_CHECKING:
    from qospec.check.evaluate.context import Limits
    from qospec.source import Span
    from qospec.syntax import ast

DIGITS = 300
ROUNDED = "round it, or take a larger unit"


def read_number(node: ast.Number, limits: Limits) -> Value:
    """Return a number without a unit."""
    return Amount(_read_exact(node.text, node.span, limits), NUMBER, text=node.span.text)


def read_quantity(node: ast.Quantity, limits: Limits) -> Value:
    """Return a number with its unit, in base units. Source: spec/2-quantities.md."""
    known = find_unit(node.unit)
    if known is None:
        raise _explain_no_unit(node)
    value = _read_exact(node.number, node.span, limits) * known.factor
    return Amount(value, known.dimension, text=node.span.text)


def _explain_no_unit(node: ast.Quantity) -> CheckError:
    meant = suggest_unit(node.unit)
    return make_error(
        "E0201",
        f"`{meant.part}` is not a unit",
        node.span,
        label=meant.question,
        note="" if meant.readings or meant.question else f"units: {' '.join(list_units())}",
        help=meant.write_help(node.number) or f"write `{node.number}` if it has no unit",
        fix=_correct_unit(node, meant),
    )


def _correct_unit(node: ast.Quantity, meant: UnitSuggestion) -> tuple[Edit, ...]:
    """Return the edit that writes the unit if only one can have been meant."""
    plain = "".join(node.span.text.split()) == node.number + node.unit
    way = meant.write_converted(node.number, meant.readings[0]) if meant.sure and plain else ""
    return (Edit(node.span, way),) if way else ()


def _read_exact(text: str, span: Span, limits: Limits) -> Fraction:
    if len(text) > DIGITS:
        raise make_error("E0604", f"this number has more than {DIGITS} digits", span, help=ROUNDED)
    value = _read_fraction(text)
    if value.numerator.bit_length() > limits.bits:
        message = f"this number needs more than {limits.bits:_} bits"
        raise make_error("E0604", message, span, help=ROUNDED)
    return value


@functools.lru_cache(maxsize=10_000)
def _read_fraction(text: str) -> Fraction:
    return Fraction(text.replace("_", ""))


def add_layer(node: ast.Layered, value: Value) -> Value:
    """Return `value @layer`."""
    layer = node.layer.text
    if layer not in LAYERS:
        near = suggest_name(layer, LAYERS)
        raise make_error(
            "E0211",
            f"`@{layer}` is not a layer",
            node.layer.span,
            label=f"did you mean `@{near}`?" if near else "",
            note="layers: " + " ".join(f"@{layer}" for layer in LAYERS),
            fix=correct_spelling(node.layer.span, layer, LAYERS),
        )
    if isinstance(value, Poison):
        return value
    if isinstance(value, Mix) and value.layer in ("", ANY_LAYER, layer):
        return value.count_at(layer)
    if isinstance(value, Exponential):
        help_text = f"write `exponential(500 B, min = 40 B, max = 1_500 B) @{layer}`"
        raise make_error(
            "E0204", f"expected a size, found {value.what}", node.value.span, help=help_text
        )
    if not isinstance(value, Amount) or not value.dimension.has_data:
        what = describe_dimension(value.dimension) if isinstance(value, Amount) else value.what
        help_text = f"write `{node.value.span.text}` without `@{layer}`"
        if isinstance(value, List):
            help_text = f"several sizes are a mix: `mix {{ 40 B: 7, 576 B: 4 }} @{layer}`"
            help_text += f", or `mix [40 B, 576 B] @{layer}` to keep an order"
        raise make_error(
            "E0211",
            f"{what} has no layer",
            node.span,
            label="only sizes of data and rates of data count bits",
            help=help_text,
        )
    if value.layer not in ("", ANY_LAYER, layer):
        raise make_error("E0212", f"these bits are already counted @{value.layer}", node.span)
    text = f"{value.text} @{layer}" if value.text else ""
    return Amount(value.value, value.dimension, layer, text, value.published)


def read_key(value: Value, span: Span) -> Fraction | str:
    """Return a map's key."""
    if isinstance(value, Amount) and value.value is not None:
        return value.value
    if isinstance(value, Symbol):
        return value.name
    if isinstance(value, Text):
        return value.text
    raise make_error(
        "E0204", f"expected a number, a text or a word as key, found {value.what}", span
    )


def _verify_range(node: ast.Range, first: Amount, last: Amount, width: Amount) -> None:
    """Refuse a range whose bounds and step differ in dimension."""
    for side, value in ((node.last, last), (node.step, width)):
        if (
            side is not None
            and value.dimension != first.dimension
            and 0 not in (value.value, first.value)
        ):
            how = "to" if side is node.last else "in steps of"
            raise make_error(
                "E0203",
                f"a range from {describe_dimension(first.dimension)} {how} "
                f"{describe_dimension(value.dimension)}",
                side.span,
                label=f"this is {describe_dimension(value.dimension)}",
                secondary=(node.first.span, f"this is {describe_dimension(first.dimension)}"),
            )


def suggest_ascending(
    node: ast.Range, first: Amount, last: Amount, width: Fraction | None = None
) -> str:
    """Return how to write a descending range upwards; perhaps its first bound lacks a `%`.

    `width` is its step, if it has one.
    """
    start, end = (first.value or Fraction(0), node.first.span.text), node.last.span.text
    if end.endswith("%") and start[1].replace("_", "").replace(".", "", 1).isdigit():
        start = start[0] / 100, f"{start[1]}%"
    (low, lowest), (high, highest) = sorted([start, (last.value or Fraction(0), end)])
    step = f" step {node.step.span.text}" if node.step else ""
    if width is not None and node.step is None and highest.endswith("%"):
        step = " step …"
    elif width is not None and (high - low) % width:
        highest = write_like(high - (high - low) % width, first.text)
    return f"write `{lowest} .. {highest}{step}`"


def enumerate_range(
    node: ast.Range, first: Value, last: Value, step: Value | None, limits: Limits
) -> Value:
    """Return the values from `first` to `last`, both included."""
    for side, value in ((node.first, first), (node.last, last), (node.step, step)):
        if isinstance(value, Poison):
            return value
        if side is not None and not isinstance(value, Amount):
            raise make_error("E0204", "a range runs over numbers known before the run", side.span)
    assert isinstance(first, Amount)  # noqa: S101 -- seen above
    assert isinstance(last, Amount)  # noqa: S101
    width = _require_step(node, first, step)
    _verify_range(node, first, last, width)
    if first.value is None or last.value is None or width.value is None:
        return List((Amount(None, first.dimension, first.layer),), known=False)
    if width.value <= 0:
        raise make_error(
            "E0217", "the step of a range must be more than 0", (node.step or node.first).span
        )
    count = (last.value - first.value) // width.value + 1
    if count < 0:
        raise make_error(
            "E0217",
            "this range runs downwards",
            node.span,
            label="from high to low",
            help=suggest_ascending(node, first, last, width.value),
        )
    if count > 0 and (last.value - first.value) % width.value:
        ends = write_like(first.value + (count - 1) * width.value, last.text or width.text)
        step_by = f" step {node.step.span.text}" if node.step else ""
        raise make_error(
            "E0217",
            f"no step of this range ends at `{node.last.span.text}`",
            node.last.span,
            label=f"the last step ends at {ends}",
            help=f"write `{node.first.span.text} .. {ends}{step_by}`",
        )
    if count > limits.items:
        message = f"a range of more than {limits.items:_} values"
        raise make_error("E0603", message, node.span, help="make it shorter, or its `step` wider")
    return List(tuple(_compute_at(first, width, index) for index in range(int(count))))


def _require_step(node: ast.Range, first: Amount, step: Value | None) -> Amount:
    if isinstance(step, Amount):
        return step
    if (
        first.dimension != NUMBER
        or (first.value or Fraction(0)).denominator != 1
        or "%" in first.text
    ):
        raise make_error(
            "E0217",
            f"a range of {describe_dimension(first.dimension).removeprefix('a ')} values needs "
            "`step`",
            node.span,
            help=f"write `{node.span.text} step …`",
        )
    return Amount(Fraction(1), NUMBER)


def _compute_at(first: Amount, width: Amount, index: int) -> Amount:
    value = (first.value or Fraction(0)) + (width.value or Fraction(0)) * index
    dimension = first.dimension if first.value else width.dimension
    text = first.text if index == 0 and first.value else write_like(value, width.text or first.text)
    return Amount(value, dimension, first.layer, text, first.published)


class UnitSuggestion(NamedTuple):
    """The part that is not a unit, a question to the reader, and the units that may be meant."""

    part: str
    question: str
    readings: tuple[str, ...]
    sure: bool = False
    """Whether `spec/units.toml` knows one reading, and nothing to ask."""
    scale: Fraction = Fraction(1)
    """How many of the reading one of what was written is."""

    def write_help(self, number: str) -> str:
        """Return the help: "`200 Mbit/s` or `200 MB/s` (= 1600 Mbit/s)"."""
        ways = [self.write_converted(number, reading) for reading in self.readings]
        shown = [f"`{way}`" for way in ways if way]
        last = find_unit(self.readings[-1]) if len(shown) > 1 else None
        if last is not None and last.canonical.startswith(("B", "kB", "MB", "GB", "TB")):
            bits = last.factor * Fraction(number.replace("_", ""))
            first = find_unit(self.readings[0])
            if first is not None and first.dimension == last.dimension:
                shown[-1] += f" (= {format_number(bits / first.factor)} {first.canonical})"
        return " or ".join(shown)

    def write_converted(self, number: str, reading: str) -> str:
        """Return a number converted to the unit of a reading; "" if it has no finite decimals."""
        if self.scale != 1:
            number = format_number(Fraction(number.replace("_", "")) * self.scale, exact=True)
        if "/" in number:
            return ""
        return f"{number}{reading}" if reading == "%" else f"{number} {reading}"


def suggest_unit(text: str) -> UnitSuggestion:
    """Return which units may have been meant by what is not a unit; perhaps none."""
    simple, _ = load_table()
    parts = text.split("/")
    wrong = next((part for part in parts if part not in simple), text)
    listed = load_tables()["misread"].get(wrong)
    row = listed or _list_other_capitals(wrong)
    units = row["units"]
    if not units:
        # A near spelling with another first letter would be another prefix: a thousand times off.
        from difflib import get_close_matches

        units = get_close_matches(wrong, [known for known in simple if known[0] == wrong[:1]], n=1)
    if not units and parts[1:] == [wrong]:  # what is divided by a unit is mostly a rate
        rate = find_unit(f"{parts[0]}/s")
        units = ["s"] if rate is not None and rate.dimension != NUMBER else []
    candidates = ["/".join(unit if part == wrong else part for part in parts) for unit in units]
    readings = tuple(candidate for candidate in candidates if find_unit(candidate) is not None)
    factor = Fraction(row.get("is", "1").replace("_", ""))
    question = row.get("ask", "") if len(readings) > 1 else ""
    if factor != 1:
        question = f"each is {format_number(factor, exact=True)} {units[0]}"
    scale = factor if wrong == parts[0] else 1 / factor
    sure = listed is not None and len(readings) == 1 and "ask" not in row
    return UnitSuggestion(wrong, question, readings, sure, scale)


def _list_other_capitals(wrong: str) -> dict[str, Any]:
    """Return the units that differ only in capitals."""
    rows = load_tables()["misread"].items()
    alike = [row for spelling, row in rows if spelling.lower() == wrong.lower() and "is" not in row]
    spelt = [
        known.canonical
        for spelling, known in load_table()[0].items()
        if spelling.lower() == wrong.lower()
    ]
    spelt += [unit for row in alike for unit in row["units"]]
    units = list(dict.fromkeys(spelt))
    asked = {row["ask"] for row in alike if row["units"] == units and "ask" in row}
    return {"units": units, "ask": next(iter(asked), "")}

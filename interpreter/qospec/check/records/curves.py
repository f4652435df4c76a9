"""Curves: measured times by the size of a packet, `{ 64 B: 250 us, 1_500 B: 1 ms }`."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.catalogue.kinds import Curve
from qospec.check.evaluate.context import make_all, make_error
from qospec.check.evaluate.dimensions import ANY_LAYER, describe_dimension
from qospec.check.evaluate.values import Amount, Map, Value
from qospec.protocol.ip import LARGEST_PACKET_BYTES
from qospec.units import DATA, format_number

if TYPE_CHECKING:
    from collections.abc import Callable

    from qospec.source import Span

BITS_OF_A_BYTE = 8
LAYER = "ip"
"""The layer in which the sizes of packets are those of the engine."""
FEWEST_POINTS = 2
EXAMPLE = "{ 64 B: 250 us, 1_500 B: 1 ms }"


def read_curve(
    value: Value, name: str, span: Span, time: Callable[[Value, Span], int | None]
) -> int | Curve | None:
    """Return a time for all sizes, or a curve; None if it is not known yet.

    Args:
        value: What was given.
        name: Of the field.
        span: Where it was given.
        time: Converts a value into a time, in ps.

    Raises:
        CheckError: It is neither, or its points are not those of a curve.
    """
    if isinstance(value, Amount):
        return time(value, span)
    if not isinstance(value, Map):
        raise make_error(
            "E0204",
            f"`{name}` is a time or a map from sizes to times, not {value.what}",
            span,
            label=f"this is {value.what}",
            help=f"write a time, or measured ones by size: `{EXAMPLE}`",
        )

    def point(key: Fraction | str) -> tuple[int, int | None]:
        pair = value.write_pair(str(key), span)
        at = pair.key.span if pair else span
        size = _read_size(value.amounts.get(key), key, name, at)
        return size, time(value.entries[key], pair.value.span if pair else span)

    points = make_all(point, value.entries)
    if len(points) < FEWEST_POINTS:
        raise make_error(
            "E0205",
            f"`{name}` has a single point, and a curve at least two",
            span,
            help=f"write one time for all sizes, or at least two points: `{EXAMPLE}`",
        )
    for (before, _), (size, _), key in zip(points, points[1:], [*value.entries][1:], strict=False):
        if size < before:
            pair = value.write_pair(str(key), span)
            raise make_error(
                "E0205",
                f"`{name}` has the size {size} B after {before} B",
                pair.key.span if pair else span,
                help="list the sizes in ascending order",
            )
    known = [(size, time_ps) for size, time_ps in points if time_ps is not None]
    return Curve(tuple(known)) if len(known) == len(points) else None


def _read_size(amount: Amount | None, key: Fraction | str, name: str, span: Span) -> int:
    """Return the size of a point in bytes."""
    if amount is None or amount.dimension != DATA:
        what = f"`{key}`" if amount is None else describe_dimension(amount.dimension)
        written = f"{span.text} B" if span.text.isdecimal() else "64 B"
        raise make_error(
            "E0204",
            f"the keys of `{name}` are sizes of packets, not {what}",
            span,
            help=f"write a size, such as `{written}`",
        )
    if amount.layer not in {"", ANY_LAYER, LAYER}:
        raise make_error(
            "E0212",
            f"`{name}` counts the bytes of IP packets, @{LAYER}, not @{amount.layer}",
            span,
            note="an IPv4 packet has 28 B more than the payload of its UDP",
            help=f"give the size `@{LAYER}`",
        )
    size = Fraction(amount.value or 0) / BITS_OF_A_BYTE
    if size.denominator != 1:
        shown = format_number(size, exact=True)
        raise make_error(
            "E0206", f"a size of `{name}` must be a whole number of bytes, found {shown}", span
        )
    if not 0 < size <= LARGEST_PACKET_BYTES:
        raise make_error(
            "E0205",
            f"a packet has 1 B to {LARGEST_PACKET_BYTES} B, and `{name}` a point at {size} B",
            span,
            help="leave it out: beyond the last point its time holds",
        )
    return int(size)

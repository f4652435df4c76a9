"""Proved bounds in a document, beside the most that was measured."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.record.quantity import describe_quantity
from qospec.units import RATIO

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qospec.document import Document
    from qospec.judge.readings import Bounded, Readings


def bound_documents(repeats: Sequence[Readings]) -> list[Document]:
    """Return what is proved in a case, with the most that was measured in any repeat."""
    measured: dict[str, Fraction] = {}
    found: dict[str, Bounded] = {}
    for readings in repeats:
        for bound in readings.list_bounds():
            found[bound.what] = bound
            if bound.measured is not None:
                measured[bound.what] = max(bound.measured, measured.get(bound.what, bound.measured))
    return [_build_document(bound, measured.get(what)) for what, bound in found.items()]


def _build_document(of: Bounded, measured: Fraction | None) -> Document:
    share = None if measured is None or not of.most else measured / of.most
    return {
        "what": of.what,
        "most": describe_quantity(of.most, of.dimension),
        "measured": describe_quantity(measured, of.dimension),
        "share": describe_quantity(share, RATIO, digits=3),
        "why": of.why,
    }

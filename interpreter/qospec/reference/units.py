"""The units of the language, each with its dimension and a value in its base unit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qospec.units import base_unit, number_text, table, unit

if TYPE_CHECKING:
    from qospec.units import Unit

EXAMPLE_NUMBER = "2"


def unit_documents() -> list[dict[str, Any]]:
    """Return all simple units, in the order of `spec/units.toml`."""
    simple, alone = table()
    return [_document(name, known, compound=name not in alone) for name, known in simple.items()]


def unit_document(text: str) -> dict[str, Any] | None:
    """Return a unit, simple or compound as `kbit/s`; None if it is none."""
    known = unit(text)
    simple, alone = table()
    compound = text in simple and text not in alone
    return None if known is None else _document(text, known, compound=compound)


def _document(name: str, known: Unit, *, compound: bool) -> dict[str, Any]:
    blank = "" if name == "%" else " "
    amount = number_text(known.factor, exact=True)
    base = base_unit(known.dimension)
    return {
        "name": name,
        "dimension": known.dimension.name,
        "is": amount if known.dimension.is_ratio else f"{amount} {base}",
        "written": known.canonical,
        "compound": compound,
        "example": f"{EXAMPLE_NUMBER}{blank}{known.canonical}",
    }

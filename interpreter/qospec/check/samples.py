"""Values that stand for unknown parameters while a declaration is checked on its own."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from qospec.catalogue import REQUIRED, Buffer
from qospec.check.fields import MAPS

if TYPE_CHECKING:
    from qospec.catalogue import Parameter

WHOLE = ("time", "data", "cells", "integer")


def sample(parameter: Parameter) -> Any:  # noqa: PLR0911
    """Return a value that the parameter may have; None if it is left out."""
    domain = parameter.domain
    if parameter.default is not REQUIRED:
        return None
    if domain.choices:
        return domain.choices[0]
    if domain.name == "names":
        return ("first",)
    if domain.name in MAPS:
        return (("first", 1),)
    if domain.name == "truth":
        return False
    if domain.name == "buffer":
        return Buffer(int(domain.low or 1), "cell")
    low = max(domain.low if domain.low is not None else 1, 1)
    value = low if domain.high is None else min(low, domain.high)
    return int(value) if domain.name in WHOLE else Fraction(value)

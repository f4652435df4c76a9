"""Values that stand for unknown parameters while a declaration is checked on its own."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from qospec.catalogue.kinds import REQUIRED, Buffer, Duration, Load, SizeMix
from qospec.check.fields import MAPS

if TYPE_CHECKING:
    from qospec.catalogue.kinds import Parameter

SAMPLES: dict[str, Any] = {
    "names": ("first",),
    "truth": False,
    "times": (1,),
    "buffer": Buffer(1, "cell"),
    "load": Load(Fraction(1), ""),
    "duration": Duration(1),
    "size mix": SizeMix(((64, 1),), "ip"),
    **dict.fromkeys(MAPS, (("first", 1),)),
}
"""By domain, what is no number."""
WHOLE = ("time", "data", "cells", "integer")


def sample(parameter: Parameter) -> Any:
    """Return a value that the parameter may have; None if it is left out."""
    domain = parameter.domain
    if parameter.default is not REQUIRED:
        return None
    if domain.choices:
        return domain.choices[0]
    if domain.name in SAMPLES:
        return SAMPLES[domain.name]
    low = max(domain.low if domain.low is not None else 1, 1)
    value = low if domain.high is None else min(low, domain.high)
    return int(value) if domain.name in WHOLE else Fraction(value)

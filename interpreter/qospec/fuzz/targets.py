"""What a suite has that can be examined."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.fuzz.properties import PropertyTarget
from qospec.fuzz.tests import TestTarget

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qospec.fuzz.target import Target
    from qospec.model.suite import Suite


def targets_of(suite: Suite) -> Iterator[Target]:
    """Yield all targets of the files that were named, in order."""
    yield from map(PropertyTarget, suite.properties)
    yield from map(TestTarget, suite.drawn)

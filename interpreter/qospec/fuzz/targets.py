"""What files have that can be examined."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.fuzz.device import list_devices
from qospec.fuzz.devices import DeviceTarget
from qospec.fuzz.properties import PropertyTarget
from qospec.fuzz.tests import TestTarget

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qospec.check import Checked
    from qospec.fuzz.target import Target


def list_targets(checked: Checked) -> Iterator[Target]:
    """Yield all targets of the files that were named, in order."""
    found = checked.found
    yield from (PropertyTarget(e, found.examiners[e.name]) for e in found.suite.properties)
    yield from (
        TestTarget(drawn_test, found.drawn[drawn_test.name]) for drawn_test in found.suite.drawn
    )
    for device in list_devices(checked):
        if not device.undrawn:
            yield DeviceTarget(device, checked)

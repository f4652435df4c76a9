"""A device of a topology as its author wrote it: what a flat network no longer shows."""

from __future__ import annotations

from qospec.dataclass import NamedTuple


class DeviceSetting(NamedTuple):
    """A parameter of a device: its value as written, and whether that is its default."""

    name: str
    text: str
    usual: bool


class DeviceUse(NamedTuple):
    """A device with its parameters."""

    name: str
    settings: tuple[DeviceSetting, ...] = ()

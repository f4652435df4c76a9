"""A device of a topology as its author wrote it: what a flat network no longer shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple

if TYPE_CHECKING:
    from qospec.source import Span


class DeviceSetting(NamedTuple):
    """A parameter of a device: its value as written, and whether that is its default."""

    name: str
    text: str
    usual: bool


class DeviceUse(NamedTuple):
    """A device with its parameters, and where it is used."""

    name: str
    settings: tuple[DeviceSetting, ...] = ()
    span: Span | None = None

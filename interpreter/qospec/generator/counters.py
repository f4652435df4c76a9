"""What a traffic generator has counted of a flow, read from what its server answers.

Whole numbers of 64 bits are texts of digits in the JSON of some servers, as Protocol Buffers have
them, and numbers in that of others.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from qospec.backend import BackendError
from qospec.dataclass import NamedTuple

if TYPE_CHECKING:
    from qospec.document import Document

PS_PER_NS = 1_000
TOLERANCE = Fraction(1, 10**6)
"""By how much a mean may be outside of the least and the greatest, as a share of these: servers
round each by itself."""
LONGEST_NS = 10**11
MOST_FRAMES, MOST_BYTES = 2**47, 2**62
"""An hour of the smallest frames at 800 Gbit/s are less than 2**42. The bytes of so many frames fit
in 64 bits, and their delays together in the two words of a row, whose unit is 2**31."""


class Latency(NamedTuple):
    """The latencies of the frames of a flow that arrived, in ps."""

    least_ps: int
    mean_ps: Fraction
    most_ps: int


class Counters(NamedTuple):
    """What was counted of a flow of the model.

    Attributes:
        sent: Frames.
        received: Frames that arrived at the port to which they were sent.
        sends: Whether it still sends.
        sent_bytes: Those of frames; None if the generator does not tell.
        received_bytes: Likewise.
        latency: None if the generator does not tell, or nothing arrived.
    """

    sent: int
    received: int
    sends: bool
    sent_bytes: int | None
    received_bytes: int | None
    latency: Latency | None


def read_counters(name: str, entry: Document) -> Counters:
    """Return what an entry of the server says of a flow.

    Raises:
        BackendError: It lacks a counter of frames, or a value cannot be.
    """
    sent, received = (
        _read_count(name, entry, field, MOST_FRAMES) for field in ("frames_tx", "frames_rx")
    )
    for field, count in (("frames_tx", sent), ("frames_rx", received)):
        if count is None:
            raise BackendError(f"the generator does not tell `{field}` of the flow `{name}`")
    assert sent is not None and received is not None  # noqa: S101, PT018 -- see above
    return Counters(
        sent,
        received,
        entry.get("transmit") == "started",
        _read_count(name, entry, "bytes_tx", MOST_BYTES),
        _read_count(name, entry, "bytes_rx", MOST_BYTES),
        _read_latency(name, entry.get("latency")) if received else None,
    )


def _read_count(name: str, entry: Document, field: str, stop: int) -> int | None:
    value: Any = entry.get(field)
    if isinstance(value, str) and re.fullmatch("[0-9]{1,19}", value):
        value = int(value)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < stop:
        raise _complain(name, field, entry[field])
    return value


def _read_latency(name: str, entry: Any) -> Latency | None:
    """Return the latencies of an entry; None unless it has all three."""
    if entry is None:
        return None
    if not isinstance(entry, dict):
        raise _complain(name, "latency", entry)
    found: list[Fraction] = []
    for field in ("minimum_ns", "average_ns", "maximum_ns"):
        value = entry.get(field)
        if value is None:
            return None
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not is_number or not math.isfinite(value) or abs(value) > LONGEST_NS:
            raise _complain(name, field, value)
        found.append(Fraction(value) * PS_PER_NS)
    least, mean, most = found
    near = TOLERANCE * max(abs(least), abs(most))
    if least > most or not least - near <= mean <= most + near:
        raise BackendError(
            f"the generator tells of the flow `{name}` that the mean of its latencies is"
            f" {entry['average_ns']} ns, between {entry['minimum_ns']} ns and"
            f" {entry['maximum_ns']} ns, which cannot be"
        )
    return Latency(round(least), min(max(mean, least), most), round(most))


def _complain(name: str, field: str, value: Any) -> BackendError:
    shown = repr(value)[:60]
    return BackendError(f"the generator tells `{field}` = {shown} of the flow `{name}`: no value")

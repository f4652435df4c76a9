"""Congestion control: how the window of a sender of TCP answers acknowledgements and losses.

A control is up to five kernels, called by `engine.endpoint.tcp_sender`:

    on_acknowledgement(table, row, mss, acknowledged_bytes, now_ps)
    on_loss(table, row, mss, under_way_bytes, now_ps)
    on_timeout(table, row, mss, under_way_bytes, now_ps)
    on_mark(table, row, mss, under_way_bytes, now_ps)
    on_feedback(table, row, mss, acknowledged_bytes, marked_bytes)

`table[row]` is the connection: `CONGESTION_WINDOW` and `THRESHOLD` are its to set, in bytes; in the
columns of `list_own_fields` it remembers what it likes, each 0 when the connection opens; the other
columns of `engine.endpoint.tcp_connection` it may read. On a loss it sets the threshold, on an
acknowledgement of new data outside of a recovery the window, unless a buffer is what limits. A mark
of congestion is to it as a loss, once in a window of data, unless it says otherwise. What is sent
again, and how the window is inflated and deflated meanwhile, is the sender's part.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple
from qospec.engine.endpoint.tcp_connection import CONGESTION_WINDOW, OWN, OWN_FIELDS, THRESHOLD
from qospec.engine.kernel import kernel

if TYPE_CHECKING:
    from collections.abc import Callable

    from qospec.engine.arrays import Whole

    Hook = Callable[[Whole, int, int, int, int], None]


@kernel
def on_acknowledgement(
    table: Whole,
    row: int,
    mss: int,
    acknowledged_bytes: int,
    now_ps: int,  # noqa: ARG001
) -> None:
    """Open the window: slow start, congestion avoidance. Source: RFC 5681, 3.1, (2) and (3)."""
    window = table[row, CONGESTION_WINDOW]
    if window < table[row, THRESHOLD]:
        table[row, CONGESTION_WINDOW] = window + min(acknowledged_bytes, mss)
    else:
        table[row, CONGESTION_WINDOW] = window + max(1, mss * mss // window)


@kernel
def on_loss(table: Whole, row: int, mss: int, under_way_bytes: int, now_ps: int) -> None:  # noqa: ARG001
    """Set the threshold to half of what is under way. Source: RFC 5681, 3.1, (4)."""
    table[row, THRESHOLD] = max(under_way_bytes >> 1, 2 * mss)


on_timeout = on_mark = on_loss


@kernel
def on_feedback(
    table: Whole,
    row: int,
    mss: int,
    acknowledged_bytes: int,
    marked_bytes: int,
) -> None:
    """Have no use for how much was marked."""


class Hooks(NamedTuple):
    """The kernels of a congestion control.

    Attributes:
        label: An identifier, another for other kernels.
        on_acknowledgement: Called for each acknowledgement of new data, outside of a recovery.
        on_loss: Called as a fast retransmit begins.
        on_timeout: Called for the first timeout in a row.
        on_mark: Called for the first mark in a window of data; None: as for a loss.
        on_feedback: Called before that for each acknowledgement of new data if the traffic has
            `ecn`: of how many bytes it is, and how many it reports as marked.
    """

    label: str = ""
    on_acknowledgement: Hook = on_acknowledgement
    on_loss: Hook = on_loss
    on_timeout: Hook = on_timeout
    on_mark: Hook | None = None
    on_feedback: Hook = on_feedback


class CongestionControl:
    """How a sender of TCP controls its window. A frozen dataclass of its parameters."""

    repairs_all: bool = True
    """Whether it recovers until all is acknowledged that was under way at the loss, so that an
    acknowledgement of a part tells of another loss (RFC 6582); or until anything new is."""
    counts_marks: bool = False
    """Whether it goes by how much is marked, so that the traffic needs `ecn`, and acknowledgements
    tell of the marks of their own segments alone (RFC 8257, 3.2)."""

    @property
    def hooks(self) -> Hooks:
        """Return its kernels; by default those of RFC 5681."""
        return Hooks()


def list_own_fields(count: int) -> range:
    """Return the numbers of columns in which a control keeps what it remembers of a connection.

    Raises:
        ValueError: There are not so many.
    """
    if count > OWN_FIELDS:
        raise ValueError(f"a congestion control has {OWN_FIELDS} fields of its own")
    return range(OWN, OWN + count)

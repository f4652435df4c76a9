"""The entries of the ledger, in which each item that ended stands once, with its cause."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.engine.arrays import np
from qospec.engine.element import Loss
from qospec.engine.queue.admission import CAUSES, OVERFLOW

if TYPE_CHECKING:
    from qospec.engine.arrays import Indices, Marks, Times


def losses_of(
    connection: Indices, sent_ps: Times, cause_codes: Marks | None = None, element: str = ""
) -> tuple[Loss, ...]:
    """Return the entries for items that were lost at a queue, cause by cause.

    Args:
        connection: (n,) Of each.
        sent_ps: (n,) When each was sent.
        cause_codes: (n,) The cause of each, see `queue.admission`; None: all by overflow.
        element: The queue, if another element reports its losses.
    """
    if not len(connection):
        return ()
    causes = [OVERFLOW] if cause_codes is None else np.bincount(cause_codes).nonzero()[0].tolist()
    if len(causes) == 1:
        return (Loss(CAUSES[causes[0]], connection, sent_ps, element),)
    entries = []
    for cause in causes:
        mine = cause_codes == cause
        entries.append(Loss(CAUSES[cause], connection[mine], sent_ps[mine], element))
    return tuple(entries)

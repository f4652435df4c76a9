"""The entries of the ledger, in which each item that ended stands once, with its cause."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.engine.arrays import np
from qospec.engine.element import Loss
from qospec.engine.queue.admission import CAUSES, OVERFLOW

if TYPE_CHECKING:
    from qospec.engine.arrays import Marks
    from qospec.engine.items.batch import Batch


def list_losses(
    lost: Batch, cause_codes: Marks | None = None, element: str = ""
) -> tuple[Loss, ...]:
    """Return the entries for items that were lost at a queue, cause by cause.

    Args:
        lost: The n items.
        cause_codes: (n,) The cause of each, see `queue.admission`; None: all by overflow.
        element: The queue, if another element reports its losses.
    """
    if not lost.count:
        return ()
    if cause_codes is None:
        return (Loss(CAUSES[OVERFLOW], lost, element),)
    causes = np.bincount(cause_codes).nonzero()[0].tolist()
    if len(causes) == 1:
        return (Loss(CAUSES[causes[0]], lost, element),)
    return tuple(
        Loss(CAUSES[cause], lost.select(cause_codes == cause), element) for cause in causes
    )

"""A promise about losses: where an item is lost only for want of room, fewer items lose no more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.engine.arrays import np
from qospec.engine.event.process import build_process
from qospec.engine.items.batch import FOREVER_PS, join_batches
from qospec.promises.promise import Promise

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qospec.engine.experiment import Node
    from qospec.engine.graph.promises import Conduct
    from qospec.promises.promise import Trial


def _find_more_of_less(trial: Trial) -> Iterator[str]:
    """Yield queues that lose more if each second item does not come."""
    for node, conduct in trial.nodes:
        if _is_monotone(node, conduct):
            lost = sum(loss.batch.count for loss in conduct.losses)
            fewer = _count_lost_of_half(node, conduct)
            if fewer > lost:
                yield f"{node.path} loses {lost} of what comes, and {fewer} of each second of these"


def _is_monotone(node: Node, conduct: Conduct) -> bool:
    """Return whether a queue drops only what finds no room, and all items take the same of it."""
    sizes = {size for batch in conduct.arrivals for size in set(batch.size_bytes.tolist())}
    tail_only = node.element.discards_for == ("overflow",)
    is_queue = node.clock is not None and len(node.element.inputs) == 1
    return conduct.setting is not None and is_queue and tail_only and len(sizes) == 1


def _count_lost_of_half(node: Node, conduct: Conduct) -> int:
    """Return how many items a queue loses if each second one comes."""
    assert conduct.setting is not None  # noqa: S101 -- see above
    came = join_batches(*conduct.arrivals)
    order = np.argsort(came.at_ps, kind="stable")[::2]
    setting = conduct.setting._replace(owns_times=False, watched=False)
    step = build_process(node.element, setting)((came.select(order),), FOREVER_PS)
    return sum(loss.batch.count for loss in step.losses)


PROMISES = (
    Promise(
        "monotone_loss",
        "a queue without a drop policy loses no more items of a lower load",
        "a sample path of G/D/1/n: what does not come takes no room",
        _find_more_of_less,
        runs_again=True,
    ),
)

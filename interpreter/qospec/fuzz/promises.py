"""What every device promises without anyone writing it: judged of each flow of a scenario.

That nothing is invented or forgotten is judged in every trial anyway, at each element by cause and
unit; see `engine.measure.ledger`.
"""

from __future__ import annotations

from typing import NamedTuple


class Promise(NamedTuple):
    """A promise of all devices that carry something.

    Attributes:
        name: Its name, with which its criteria begin.
        carries: Of flows of what: "cell" or "packet".
        condition: What must be so of a flow; `{flow}` is its name.
        source: The standard that says so.
    """

    name: str
    carries: str
    condition: str
    source: str


PROMISES = (
    Promise(
        "order",
        "packet",
        "{flow}.reordered == 0 pkt",
        "RFC 2597, 2 (packets of a flow and class stay in order); RFC 4737, 3.3 (reordered)",
    ),
)


def criteria(promise: Promise, flows: list[str]) -> list[str]:
    """Return the criteria that judge a promise of flows, as a specification writes them."""
    return [
        f"  expect {promise.name}_of_{flow}: {promise.condition.format(flow=flow)}"
        for flow in flows
    ]


def promised(label: str) -> str:
    """Return the name of the promise that a criterion of that label judges."""
    return label.rpartition("_of_")[0]

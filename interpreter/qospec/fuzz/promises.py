"""What every device promises, and a specification can say: judged of each flow of a scenario.

What it cannot say is judged of each trial; see `qospec.promises`. That nothing is invented or
forgotten is judged in every trial anyway, by cause and unit; see `engine.measure.ledger`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable


class Passage(NamedTuple):
    """What of a flow decides which promises concern it.

    Attributes:
        carries: "cell" or "packet".
        is_reordered: Whether its items overtake each other outside the devices.
        is_compared: Whether its bytes are compared, behind a device like the one they entered by.
    """

    carries: str
    is_reordered: bool
    is_compared: bool


class Promise(NamedTuple):
    """A promise of all devices that carry something.

    Attributes:
        name: Its name, with which its criteria begin.
        condition: What must be so of a flow; `{flow}` is its name.
        source: The standard that says so.
        concerns: Whether it is promised of a flow.
    """

    name: str
    condition: str
    source: str
    concerns: Callable[[Passage], bool]


PROMISES = (
    Promise(
        "order",
        "{flow}.reordered == 0 pkt",
        "RFC 2597, 2 (packets of a flow and class stay in order); RFC 4737, 3.3 (reordered)",
        lambda flow: flow.carries == "packet" and not flow.is_reordered,
    ),
    Promise(
        "round_trip",
        "{flow}.errored == 0 pkt",
        "RFC 4303, 3.4 (what is decrypted is what was encrypted)",
        lambda flow: flow.carries == "packet" and flow.is_compared,
    ),
)


def write_criteria(promise: Promise, flows: list[str], where: str = "") -> list[str]:
    """Return the criteria that judge a promise of flows, as a specification writes them.

    Args:
        promise: The promise.
        flows: The names of the flows.
        where: With a dot, the point at which they are measured; "" in a test without one.
    """
    return [
        f"  expect {promise.name}_of_{flow}: {promise.condition.format(flow=where + flow)}"
        for flow in flows
    ]


def read_promise(label: str) -> str:
    """Return the name of the promise that a criterion of that label judges."""
    return label.rpartition("_of_")[0]


def read_flow(label: str) -> str:
    """Return the flow that a criterion of that label judges."""
    return label.rpartition("_of_")[2]

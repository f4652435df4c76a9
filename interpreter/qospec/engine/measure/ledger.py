"""The ledger of a trial: what became of all items, at each node and in the whole network.

Each node has an account for each kind and unit, items and bytes. In each of them, came + made +
grew = left + consumed + lost + held, and at the end nothing is held. In the network, what sources
had ready and elements made was delivered, consumed or lost. Both sides are counted at different
places, so a difference shows a defect of the engine or of an element. All is counted over the whole
trial, with its warmup.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple
from qospec.engine.items.totals import CONSUMED, GREW, MADE, UNITS, Unit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from qospec.engine.arrays import Whole
    from qospec.protocol.streams import KindName

NETWORK = "the network"
"""In place of a node's path."""
INSIDE = [MADE, GREW, CONSUMED]
"""The entries of the network that only its nodes can tell."""


class Key(NamedTuple):
    """Of which node, or of the `NETWORK`, which kind and which unit an account is."""

    path: str
    kind: KindName
    unit: Unit


class Account(NamedTuple):
    """What became of the items, or the bytes, of one kind at one node.

    Attributes:
        came: That arrived.
        made: That it made of itself, such as OAM cells.
        grew: By how much it changed sizes, less than 0 where items shrank; no items, only bytes.
        left: That left by an output.
        consumed: That ended here, neither lost nor delivered: they have served their purpose.
        lost: That were lost here, for any cause.
    """

    came: int = 0
    made: int = 0
    grew: int = 0
    left: int = 0
    consumed: int = 0
    lost: int = 0

    @property
    def held(self) -> int:
        """Return how much is still here."""
        return self.came + self.made + self.grew - self.left - self.consumed - self.lost


class Ledger(NamedTuple):
    """What became of all items of a trial.

    Attributes:
        accounts: Those of nodes.
        network: Those of the whole network: what sources had ready came, what was delivered left.
        lost: By (element's path, cause), how many items were lost, or discarded on purpose.
    """

    accounts: Mapping[Key, Account] = {}
    network: Mapping[Key, Account] = {}
    lost: Mapping[tuple[str, str], int] = {}

    def sum_items(self, path: str) -> Account:
        """Return the account of a node in items, of all kinds."""
        accounts = [
            account
            for key, account in self.accounts.items()
            if key.path == path and key.unit == "items"
        ]
        return Account(*map(sum, zip(*accounts, strict=True)))

    @property
    def imbalance(self) -> str:
        """Return what does not balance at the end of a trial; "" if all does."""
        for key, account in itertools.chain(self.accounts.items(), self.network.items()):
            if account.held:
                return (
                    f"{key.path} holds {account.held:_} {key.unit} of kind {key.kind} at the end:"
                    f" {account}"
                )
        return ""


def list_accounts(
    path: str, kinds: Sequence[KindName], entries: Whole
) -> Iterator[tuple[Key, Account]]:
    """Yield the accounts of a node, given (entries, kinds, units) numbers."""
    for (p, kind), (u, unit) in itertools.product(enumerate(kinds), enumerate(UNITS)):
        yield Key(path, kind, unit), Account(*entries[:, p, u].tolist())


def build_ledger(
    network: Whole,
    kinds: Sequence[KindName],
    entries: Mapping[str, Whole],
    ended: Mapping[tuple[str, str], int],
) -> Ledger:
    """Return the ledger: the network has made and consumed what its nodes have."""
    whole = network.copy()
    whole[INSIDE] += sum(entry[INSIDE] for entry in entries.values())
    accounts = (list_accounts(path, kinds, account) for path, account in entries.items())
    found = dict(itertools.chain.from_iterable(accounts))
    return Ledger(found, dict(list_accounts(NETWORK, kinds, whole)), dict(ended))


class Discipline(NamedTuple):
    """What a queueing discipline of a kernel counted itself: packets that it sent and dropped."""

    name: str
    sent: int
    dropped: int


def sum_counts(counts: Whole) -> int:
    """Return the sum; of a flow with one connection NumPy would take ten times as long."""
    return int(counts[0]) if len(counts) == 1 else int(counts.sum())


def list_sums(counts: Whole, group: int) -> list[int]:
    """Return the sums of each `group` of counts."""
    sums: list[int] = (counts if group == 1 else counts.reshape(-1, group).sum(axis=1)).tolist()
    return sums

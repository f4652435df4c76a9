"""The ledger of a trial: what became of all items, at each node and in the whole network.

At each node came + made = left + consumed + lost + held, and at the end nothing is held. In the
network, what sources had ready and elements made was delivered, consumed or lost. Both sides are
counted at different places, so a difference shows a defect of the engine or of an element. All is
counted in items, cells or packets, over the whole trial, with its warmup.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class Account(NamedTuple):
    """What became of the items of one node.

    Attributes:
        came: Items that arrived.
        made: Items that it made of itself, such as OAM cells.
        left: Items that left by an output.
        consumed: Items that ended here, neither lost nor delivered: they have served their purpose.
        lost: Items that were lost here, for any cause.
    """

    came: int = 0
    made: int = 0
    left: int = 0
    consumed: int = 0
    lost: int = 0

    @property
    def held(self) -> int:
        """Return the number of items that are still here."""
        return self.came + self.made - self.left - self.consumed - self.lost

    def plus(self, other: Account) -> Account:
        """Return the account of both."""
        return Account(*map(sum, zip(self, other, strict=True)))


class Ledger(NamedTuple):
    """What became of all items of a trial.

    Attributes:
        accounts: By path of a node, its account.
        ready: How many items the sources had ready.
        delivered: How many arrived where their path ends.
        lost: By (element's path, cause), how many were lost, or discarded on purpose.
    """

    accounts: Mapping[str, Account] = {}
    ready: int = 0
    delivered: int = 0
    lost: Mapping[tuple[str, str], int] = {}

    @property
    def whole(self) -> Account:
        """Return the account of the whole network, which has left what it has delivered."""
        made, consumed = (
            sum(getattr(account, column) for account in self.accounts.values())
            for column in ("made", "consumed")
        )
        return Account(self.ready, made, self.delivered, consumed, sum(self.lost.values()))

    @property
    def imbalance(self) -> str:
        """Return what does not balance at the end of a trial; "" if all does."""
        for path, account in self.accounts.items():
            if account.held:
                return f"{path} holds {account.held} items at the end: {account}"
        return f"the network holds {self.whole.held} items: {self.whole}" if self.whole.held else ""

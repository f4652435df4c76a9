"""The numbers of what is encrypted with one key; from each follows a nonce, so none may repeat."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from qospec.ciphers.octets import Numbers


class NonceError(ValueError):
    """A number, and so a nonce, would be used twice with one key; nothing is encrypted with it."""


class ExhaustedError(ValueError):
    """All numbers of a key are used; nothing is encrypted with a higher one."""


class Numbering:
    """The numbers of one key, from 1 on: they only rise from claim to claim, and may have gaps."""

    def __init__(self, name: str, highest: int) -> None:
        """Begin; `name` is that of the cipher, `highest` the last number of a key."""
        self._name = name
        self._highest = highest
        self.last = 0

    def claim(self, numbers: Numbers) -> None:
        """Claim numbers, in any order.

        Raises:
            NonceError: Some were claimed before, are below one that was, or occur twice.
            ExhaustedError: Some are above the highest.
        """
        if not len(numbers):
            return
        # Usually they are a few rising sequences, which a stable sort merges.
        ordered = np.sort(numbers, kind="stable")
        if ordered[-1] > self._highest:
            raise ExhaustedError(
                f"{self._name}: {self._highest} is the last number of a key, which would be"
                f" followed by {ordered[-1]}; change the key before"
            )
        if ordered[0] <= self.last:
            raise NonceError(
                f"{self._name}: the number {ordered[0]} would repeat a nonce, since {self.last} was"
                " used with this key"
            )
        twice = ordered[1:][ordered[1:] == ordered[:-1]]
        if len(twice):
            raise NonceError(f"{self._name}: the number {twice[0]} would be used twice")
        self.last = int(ordered[-1])

"""The transforms that only authenticate, over rows.

Sources: RFC 2104 (HMAC); RFC 2403, RFC 2404 and RFC 4868, 2.3 (truncation).
"""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING

from qospec.ciphers.octets import iterate_rows, read_rows

if TYPE_CHECKING:
    from qospec.ciphers.key import Key
    from qospec.ciphers.octets import Octets
    from qospec.protocol.esp import Integrity


class RowHmac:
    """A transform with its key."""

    def __init__(self, integrity: Integrity, key: Key) -> None:
        """Take the key.

        Raises:
            KeyLengthError: The transform takes no key of this length.
        """
        key.check(integrity.name, integrity.key_bytes)
        self._secret = key.reveal()
        self._digest = integrity.digest
        self._icv_bytes = integrity.icv_bytes

    def compute_values(self, rows: Octets) -> Octets:
        """Return (n, icv_bytes) the integrity check value of each row."""
        secret, digest = self._secret, self._digest
        found = [hmac.digest(secret, row, digest) for row in iterate_rows(rows)]
        return read_rows(found)[:, : self._icv_bytes]

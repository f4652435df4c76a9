"""When an association of ESP is replaced by another one, and whether that can succeed in time.

The exchange of keys begins once the association has been used for so long, and takes a time; then
its successor is used. The association may expire before that: it may be used only for its lifetime.

Source: RFC 4301, 4.4.2.1 (soft and hard lifetimes); RFC 7296, 2.8 (rekeying).
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.dataclass import dataclass
from qospec.engine.items.batch import FOREVER_PS
from qospec.engine.security.seal import LARGEST_NUMBER
from qospec.units import DATA, PACKETS, PS_PER_S, TIME, text_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from qospec.catalogue.kinds import Lifetime

MOST_BYTES = 2**60
DIMENSIONS = {
    "packet": (PACKETS, Fraction(1)),
    "byte": (DATA, Fraction(8)),
    "time": (TIME, Fraction(1, PS_PER_S)),
}
"""Of a lifetime, by its unit: its dimension, and what 1 is in the base unit of that."""
LONGEST = {"packet": LARGEST_NUMBER, "byte": MOST_BYTES, "time": FOREVER_PS // 4}
"""By unit, the longest lifetime. Source of the packets: RFC 4303, 3.3.3."""


@dataclass(frozen=True)
class Rekeying:
    """What is agreed of the end of an association.

    Attributes:
        after: For how long it is used before the exchange of keys begins; None if it is not
            replaced.
        negotiation_ps: How long that takes.
        lifetime: For how long it may be used at most; None: for all its sequence numbers.
        encrypted_bytes: Of a packet of so many bytes, how many count.
    """

    after: Lifetime | None
    negotiation_ps: int
    lifetime: Lifetime | None
    encrypted_bytes: Callable[[int], int]

    def __post_init__(self) -> None:
        for name, each in (("rekey", self.after), ("lifetime", self.lifetime)):
            if each is not None and each.amount > LONGEST[each.unit]:
                most = _written(each._replace(amount=LONGEST[each.unit]))
                raise ValueError(f"{name}: {_written(each)} is more than {most}")
        if self.after is None:
            if self.negotiation_ps:
                raise ValueError("nothing is negotiated without `rekey`: say when that begins")
        elif self.lifetime is not None and self.after.unit == self.lifetime.unit:
            self._finishes(self.after, self.lifetime)

    def _finishes(self, after: Lifetime, lifetime: Lifetime) -> None:
        """Raise ValueError if the association always expires before it can be replaced."""
        taken = self.negotiation_ps if after.unit == "time" else 0
        if after.amount + taken > lifetime.amount:
            lasts = f" and takes {_time(taken)}" if taken else ""
            least = after._replace(amount=after.amount + taken)
            raise ValueError(
                f"an exchange of keys that begins after {_written(after)}{lasts} cannot finish"
                f" before the association expires after {_written(lifetime)}: rekey earlier, or"
                f" give it a `lifetime` of at least {_written(least)}"
            )

    def late(self, packet_rate: Fraction, byte_rate: Fraction) -> tuple[Fraction, Fraction] | None:
        """Return when it expires and when it is replaced, in s, if that is later; else None.

        Args:
            packet_rate: Packets/s.
            byte_rate: Bytes/s, as they are encrypted.
        """
        rates = {"packet": packet_rate, "byte": byte_rate, "time": Fraction(PS_PER_S)}
        if self.after is None or self.lifetime is None or not packet_rate:
            return None
        expires_s = self.lifetime.amount / rates[self.lifetime.unit]
        used = self.after.amount - (self.after.unit == "packet")  # the first is sent at 0 s
        begins_s = min(used / rates[self.after.unit], expires_s)
        replaced_s = begins_s + Fraction(self.negotiation_ps, PS_PER_S)
        return (expires_s, replaced_s) if replaced_s > expires_s else None


def _written(lifetime: Lifetime) -> str:
    dimension, unit = DIMENSIONS[lifetime.unit]
    return text_of(lifetime.amount * unit, dimension, exact=True)


def _time(time_ps: int) -> str:
    return text_of(Fraction(time_ps, PS_PER_S), TIME, exact=True)

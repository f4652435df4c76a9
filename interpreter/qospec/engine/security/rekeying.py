"""When an association of ESP is replaced by another one, and whether that can succeed in time.

The exchange of keys begins once the association has been used for so long, and takes a time; then
its successor is used. The association may expire before that: it may be used only for its lifetime.

Source: RFC 4301, 4.4.2.1 (soft and hard lifetimes); RFC 7296, 2.8 (rekeying).
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.catalogue.kinds import UnfitError
from qospec.dataclass import NamedTuple, dataclass
from qospec.engine.items.batch import FOREVER_PS
from qospec.engine.security.seal import LARGEST_NUMBER
from qospec.units import DATA, PACKETS, PS_PER_S, TIME, format_value

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


class Gap(NamedTuple):
    """When an association expires and when it is replaced, in s since it is used; None: never.

    `is_first` says that it is so of the first; else it is so of all others. `loses_first` says that
    the exchange of keys begins with a packet that is lost.
    """

    expires_s: Fraction
    replaced_s: Fraction | None
    is_first: bool
    loses_first: bool = False


class _Use(NamedTuple):
    """Of one association: as of `Gap`, and whether it expires before it is replaced."""

    expires_s: Fraction
    replaced_s: Fraction
    is_late: bool
    loses_first: bool


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
        for name, volume in (("rekey", self.after), ("lifetime", self.lifetime)):
            if volume is not None and volume.amount > LONGEST[volume.unit]:
                most = _format_lifetime(volume._replace(amount=LONGEST[volume.unit]))
                raise UnfitError(
                    f"{name}: {_format_lifetime(volume)} is more than {most}",
                    f"write at most `{most}`",
                )
        if self.after is None:
            if self.negotiation_ps:
                raise ValueError("nothing is negotiated without `rekey`: say when that begins")
        elif self.lifetime is not None and self.after.unit == self.lifetime.unit:
            self._check_finish(self.after, self.lifetime)

    def _check_finish(self, after: Lifetime, lifetime: Lifetime) -> None:
        """Raise ValueError if the association always expires before it can be replaced."""
        taken = self.negotiation_ps if after.unit == "time" else 0
        if after.amount + taken > lifetime.amount:
            lasts = f" and takes {_format_time(taken)}" if taken else ""
            least = after._replace(amount=after.amount + taken)
            raise UnfitError(
                f"an exchange of keys that begins after {_format_lifetime(after)}{lasts}"
                f" cannot finish before the association expires after {_format_lifetime(lifetime)}",
                f"rekey earlier, or give it a `lifetime` of at least {_format_lifetime(least)}",
            )

    def find_gap(self, packet_rate: Fraction, byte_rate: Fraction, end_s: Fraction) -> Gap | None:
        """Return when an association first expires before it is replaced, up to a time; else None.

        Args:
            packet_rate: Packets/s, at equal intervals from 0 s on.
            byte_rate: Bytes/s, as they are encrypted.
            end_s: That time.
        """
        since_s = Fraction(0)
        if self.lifetime is None or not packet_rate:
            return None
        if self.after is None:
            expires_s = self._find_expiry_s(packet_rate, byte_rate, since_s)
            return Gap(expires_s, None, is_first=True) if expires_s < end_s else None
        for is_first in (True, False):
            use = self._use(packet_rate, byte_rate, is_first=is_first)
            if use.is_late and since_s + use.expires_s < end_s:
                return Gap(use.expires_s, use.replaced_s, is_first, use.loses_first)
            since_s = use.replaced_s
        return None

    def compute_used_up_s(
        self, packet_rate: Fraction, byte_rate: Fraction, count: int
    ) -> Fraction | None:
        """Return when the last of so many associations ought to be replaced, in s; None: never.

        Args:
            packet_rate: As of `find_gap`.
            byte_rate: Likewise.
            count: The first included.
        """
        if self.after is None or not packet_rate:
            return None
        first, later = (
            self._use(packet_rate, byte_rate, is_first=is_first) for is_first in (True, False)
        )
        return first.replaced_s + (count - 1) * later.replaced_s

    def _use(self, packet_rate: Fraction, byte_rate: Fraction, *, is_first: bool) -> _Use:
        """Return for how long an association is used.

        Its first packet comes when it begins, if it is the first. Another begins when an exchange
        of keys is over: then a packet is due, or has just been sent by the one before.
        """
        assert self.after is not None  # noqa: S101 -- as both that ask have seen
        mean_bytes = byte_rate / packet_rate
        packets = {"packet": Fraction(1), "byte": mean_bytes}
        negotiation_s, until_packet_s = Fraction(self.negotiation_ps, PS_PER_S), Fraction(0)
        if self.after.unit != "time" and not is_first:  # the exchange began at a packet
            sent = max(1, -(-negotiation_s * packet_rate // 1))
            until_packet_s = sent / packet_rate - negotiation_s
        if self.after.unit == "time":
            begins_s = Fraction(self.after.amount, PS_PER_S)
        else:
            used = -(-self.after.amount // packets[self.after.unit])
            begins_s = until_packet_s + Fraction(used - 1) / packet_rate
        expires_s = self._find_expiry_s(packet_rate, byte_rate, until_packet_s)
        is_late = begins_s + negotiation_s > expires_s
        loses_first = self.after.unit != "time" and begins_s >= expires_s
        if loses_first:
            is_late = True
            begins_s = until_packet_s + -(-(expires_s - until_packet_s) * packet_rate // 1) / (
                packet_rate
            )
        return _Use(expires_s, begins_s + negotiation_s, is_late, loses_first)

    def _find_expiry_s(
        self, packet_rate: Fraction, byte_rate: Fraction, until_packet_s: Fraction
    ) -> Fraction:
        """Return when an association whose first packet comes at some time expires, in s."""
        if self.lifetime is None:
            return Fraction(LONGEST["time"], PS_PER_S)
        if self.lifetime.unit == "time":
            return Fraction(self.lifetime.amount, PS_PER_S)
        of_packet = Fraction(1) if self.lifetime.unit == "packet" else byte_rate / packet_rate
        return until_packet_s + self.lifetime.amount // of_packet / packet_rate


def _format_lifetime(lifetime: Lifetime) -> str:
    dimension, unit = DIMENSIONS[lifetime.unit]
    return format_value(lifetime.amount * unit, dimension, exact=True)


def _format_time(time_ps: int) -> str:
    return format_value(Fraction(time_ps, PS_PER_S), TIME, exact=True)

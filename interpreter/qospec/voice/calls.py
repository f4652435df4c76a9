"""How one direction of a call is rated by the packets that are played.

The receiver has a fixed de-jitter buffer: it plays each packet at the same time after it was sent,
the least delay of the call plus the playout delay. So the delay from mouth to ear is the same for
all packets that are played, and a packet whose delay exceeds the least one by more is too late, and
lost like one that did not arrive. Source: RFC 5481, 3.2 (the size of a de-jitter buffer, by PDV).
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from qospec.dataclass import NamedTuple
from qospec.voice.emodel import BEST, WORST, Connection, rate_connection

PS_PER_MS = 10**9


class Call(NamedTuple):
    """What is known of a call before anything is sent.

    Attributes:
        equipment_impairment: Ie of its codec.
        packet_loss_robustness: Bpl, in per cent.
        coding_ps: From when the first sound of a packet is spoken until the packet is sent.
        playout_ps: How long the receiver keeps the packet with the least delay.
    """

    equipment_impairment: Fraction
    packet_loss_robustness: Fraction
    coding_ps: int
    playout_ps: int


class Heard(NamedTuple):
    """What became of the packets of one call.

    Attributes:
        sent: How many were sent.
        arrived: How many of them arrived, at any time.
        late: How many of these arrived too late to be played.
        bursts: The number of longest runs, in order of sending, of which none was played.
        least_ps: The least delay of those that arrived; None if none did.
    """

    sent: int
    arrived: int
    late: int
    bursts: int
    least_ps: int | None

    @property
    def played(self) -> int:
        """Return how many packets were played."""
        return self.arrived - self.late


def describe_connection(call: Call, heard: Heard) -> Connection | None:
    """Return the parameters of the E-model; None if nothing was played.

    T = Ta and Tr = 2 Ta: the delay is that of either direction, and echoes are cancelled as well as
    the default ratings say. BurstR is L (1 - Ppl) for a mean run of L packets that are not played,
    and at least 1. Source: G.107, 7.4 and 7.5.
    """
    if heard.least_ps is None or not heard.played:
        return None
    missing = heard.sent - heard.played
    loss = Fraction(missing, heard.sent)
    mean_run = Fraction(missing, heard.bursts) if heard.bursts else Fraction(1)
    delay_ms = Fraction(call.coding_ps + heard.least_ps + call.playout_ps, PS_PER_MS)
    return Connection(
        echo_delay_ms=delay_ms,
        round_trip_delay_ms=2 * delay_ms,
        absolute_delay_ms=delay_ms,
        equipment_impairment=call.equipment_impairment,
        packet_loss_robustness=call.packet_loss_robustness,
        packet_loss_percent=100 * loss,
        burst_ratio=max(Fraction(1), mean_run * (1 - loss)),
    )


def rate_call(call: Call, heard: Heard) -> Fraction | None:
    """Return R of a call, from 0 to 100; 0 if nothing was played, None if nothing was sent."""
    if not heard.sent:
        return None
    connection = describe_connection(call, heard)
    if connection is None:
        return Fraction(WORST)
    return min(max(_rate_connection(connection), Fraction(WORST)), Fraction(BEST))


@lru_cache(maxsize=4096)
def _rate_connection(connection: Connection) -> Fraction:
    return rate_connection(connection).r

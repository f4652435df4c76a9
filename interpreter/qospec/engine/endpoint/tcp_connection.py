"""Connections of TCP: what packets say, and what a sender keeps of each of its connections.

Sequence numbers count the bytes of a connection in 64 bits, so they never wrap: that of the SYN is
0, the first byte of data has 1. The column NUMBER of a packet to the receiver holds the number of
its first byte, NO_DATA if it only acknowledges, PROBE if it asks for the window; that of an
acknowledgement, the number of the byte that the receiver expects, 0 in answer to a SYN, and its
column WINDOW how many bytes it takes from there on, in WINDOW_BITS bits; above these a SYN and the
answer to it have how much data their sender takes in a segment, before options. FLAGS has ECHO in
an acknowledgement if congestion was experienced, REDUCED in a segment if the window was reduced,
DONT_FRAGMENT in all that a sender sends who discovers the MTU of its path.
STAMP is when a packet was sent, or of an acknowledgement, when that was of which it tells. Each of
the columns from FIRST_BLOCK on holds what came out of order, the latest first: how far behind that
number it begins, and its length in LENGTH_BITS bits; 0 of none. What is sent again has the bounds
that it had at first. In a dialogue EXPECTS is what a packet acknowledges, beside the number of its
data, so that its time stamps are elsewhere: STAMPED_AT when it was sent, and ECHOED that of which
it tells.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.engine.endpoint.deadlines import DEADLINE
from qospec.engine.event.transition import MORE, STAMP
from qospec.engine.items.batch import COLUMNS as COLUMNS_OF_BATCHES
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole

    Event = tuple[Whole, int, Whole]
    """Of a kernel of transitions: `items`, `now_ps` and `out`."""

INITIAL_RTO_PS = PS_PER_S
"""Before the first round trip is known. Source: RFC 6298, 2.1."""
RTO_AFTER_LOST_SYN_PS = 3 * PS_PER_S
"""Source: RFC 6298, 5.7."""
LONGEST_RTO_PS = 60 * PS_PER_S
"""Source: RFC 6298, 2.5: at least 60 s."""
USER_TIMEOUT_PS = 300 * PS_PER_S
"""Source: RFC 9293, 3.9.1: 5 min by default."""
DUPLICATES = 3
"""So many duplicate acknowledgements tell of a loss. Source: RFC 5681, 3.2."""
MADE_AT_ONCE = 2
"""Of items, for a segment: itself, and its exchange."""
NO_DATA, PROBE = -1, -2
EXPECTS = STAMP
STAMPED_AT, ECHOED = (MORE + len(COLUMNS_OF_BATCHES) + place for place in range(2))
"""Behind the columns that have names: no batch carries them."""
AS_SAID = -1
"""In place of the size of a transfer: of a dialogue, in which each end says something in turn."""
WINDOW_BITS = 32
WINDOW_MASK = (1 << WINDOW_BITS) - 1
LARGEST_FIRST_BYTES, MOST_FIRST_SEGMENTS, LEAST_FIRST_SEGMENTS = 14_600, 10, 2
"""Of the initial window. Source: RFC 6928, 2."""
UNLIMITED = 2**40
"""The slow start threshold before the first loss, beyond any window."""
SYN, FIRST_BYTE = 0, 1
NO_END = 2**60
"""Beyond the last byte of a connection that has always something to send."""
STAMP_BYTES = 12
"""What a time stamp adds to a header, padded. Source: RFC 7323, appendix A."""
ECHO, REDUCED = 1, 2
"""ECE and CWR, of which a packet of a dialogue may have both. Source: RFC 3168, 6.1."""
DONT_FRAGMENT = 4
"""DF of the IP header. Source: RFC 791, 3.1."""
BLOCKS, LENGTH_BITS = 3, 31
BLOCK_OPTION_BYTES, BLOCK_BYTES = 4, 8
"""What blocks add to a header: padded, and each of them. Source: RFC 2018, 3."""

(
    FIRST_SEGMENT,
    FIRST_ACKNOWLEDGEMENT,
    FIRST_EXCHANGE,
    HEADER_BYTES,
    MARKS,
    MSS,
    SEND_BUFFER,
    LIMIT,
    WRITE,
    TRANSFER,
    HOLDS_SHORT,
    PLACES,
    INITIAL_WINDOW,
    LEAST_RTO,
    RETRIES,
    PARTIAL,
    SACK,
    STAMPED,
    PROMPTS,
    ECN,
    TELLS,
    STOP,
    CONNECTIONS,
    HAS_BEGUN,
    ALARM_AT,
    RAISE_AFTER,
    FIRST_NOTICE,
    RAISE_AT,
    SENDER,
) = range(29)
"""The first numbers of the state: what the sender is; whether the connections have their times to
begin; when the alarm goes off; how long what notices say of a path is believed, 0 if it discovers
no MTU, the first index of these, and when the first of what they said is old. A row for each
connection follows, as one for the heap of deadlines, then for each a ring of PLACES for the
segments under way."""
(
    PHASE,
    ACKNOWLEDGED,
    NEXT_BYTE,
    HIGHEST,
    WRITTEN,
    EDGE,
    LARGEST_WINDOW,
    CONGESTION_WINDOW,
    THRESHOLD,
    DUPLICATE,
    PROMPTED,
    RECOVERING,
    RECOVER,
    REDUCED_TO,
    IS_REDUCED,
    RTO,
    SMOOTHED,
    DEVIATION,
    TIMED,
    TIMED_AT,
    RETRIED,
    PROBED,
    FIRST,
    NEXT,
    LAST,
    SACKED_BYTES,
    LOST_BYTES,
    RESENT_BYTES,
    LOST_TO,
    SACKED_BEHIND,
    SACKED_TO,
    RESEND,
    WHOLE,
    END,
    TOLD_WINDOW,
    EFFECTIVE_MSS,
    LARGEST_MSS,
    VALID_UNTIL,
    OWN,
) = range(DEADLINE, DEADLINE + 39)
OWN_FIELDS = 8
COLUMNS = OWN + OWN_FIELDS
"""The columns of a row, named in RFC 9293, 5681 and 6298: SND.UNA, SND.NXT, the highest number sent
so far, behind what the application has written, SND.UNA + SND.WND, Max(SND.WND), cwnd, ssthresh,
duplicate acknowledgements, the new bytes that the first of them have let go, whether and until
where it recovers, up to where the window was reduced for congestion, and whether the receiver has
yet to be told that it was, RTO, SRTT, RTTVAR, the byte whose acknowledgement is timed (0: none) and
since when, at first when the connection begins, retries in a row, probes of a window. Of the
segments, counted from 0: the first under way, the next to send, the one behind the last. Of RFC
6675: bytes that are sacked, lost, and sent again; up to which segment those not sacked are lost;
the bytes sacked from there on; the segment behind the last that is sacked; the first segment that
may be sent again. WHOLE is the exchange under way, if it is a transfer or a dialogue, END behind
what the application has to write so far, TOLD_WINDOW the window that was told last, EFFECTIVE_MSS
the most data of a segment (RFC 9293, 3.7.1: Eff.snd.MSS), LARGEST_MSS that before a notice lowered
it, which is believed until VALID_UNTIL. From OWN on, OWN_FIELDS of the congestion control."""
START, BEHIND, ITEM, STATUS, SEGMENT = range(5)
"""Of a segment: the number of its first byte, the one behind its last, its exchange, its status."""
UNKNOWN, LOST, RESENT, REPEATED, SACKED = range(5)
"""What is known of a segment: nothing, that it is lost, and sent again, that it is sent again but
not known as lost, or that it has arrived."""
AFTER_FIRST = 2
"""`RECOVERING` is 1 more than the number of partial acknowledgements."""
CLOSED, OPENING, OPEN, GIVEN_UP = range(4)
"""Phases of a connection."""
ENDED = 2
"""The output for segments that are acknowledged."""
TIMED_OUT = 0
"""The cause of loss."""
QUANTITIES = ("acknowledged", "retransmitted", "timeouts", "round_trip", "window")
"""What a sender tells of a connection, if that is asked for: bytes that an acknowledgement is of,
segments that are sent again, timeouts that expire, ps from a segment until it is acknowledged, and
the congestion window from then on, in bytes."""
TOLD_ACKNOWLEDGED, TOLD_AGAIN, TOLD_TIMEOUT, TOLD_ROUND_TRIP, TOLD_WINDOWS = range(len(QUANTITIES))


def find_last_column(*, sack: bool, is_stamped: bool, flags: bool) -> str:
    """Return the last of the columns in which packets say something."""
    if sack:
        return "third_block"
    return "stamp" if is_stamped else "flags" if flags else "window"

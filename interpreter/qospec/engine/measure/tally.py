"""The counts of one population (a flow, a member, its OAM cells), as exact plain numbers."""

from __future__ import annotations

from dataclasses import field
from fractions import Fraction
from math import isqrt
from typing import TYPE_CHECKING

from qospec.catalogue.statistics import is_of_cause, parse_packet_number, parse_share
from qospec.dataclass import NamedTuple, dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from qospec.engine.measure.bytes import Volume
    from qospec.engine.measure.calls import RatedCall


UNKNOWN_CAUSE = "cause unknown"
"""Of what was lost where nothing tells why, as in a real device."""


@dataclass(frozen=True)
class Delays:
    """The transfer delays of a population, in ps.

    `buckets` holds (lowest delay of the bucket, lowest delay above it, count), in ascending order;
    the width of a bucket is at most 1/512 of its lowest delay. The sum of squares is None if it is
    unknown, as for hundreds of delays that are days apart.
    """

    count: int = 0
    sum_ps: int = 0
    sum_of_squares_ps2: int | None = 0
    min_ps: int | None = None
    max_ps: int | None = None
    buckets: tuple[tuple[int, int, int], ...] = ()

    def read(self, statistic: str) -> Fraction | int | None:
        """Return a statistic in ps: mean, min, max, std, sample_std or a quantile; None if empty.

        Standard deviations are rounded down to a fraction of a ps.
        """
        if not self.count:
            return None
        share = parse_share(statistic)
        if share is not None:
            return self.compute_quantile_ps(share)
        if statistic == "mean":
            return Fraction(self.sum_ps, self.count)
        if statistic in ("std", "sample_std"):
            return self._compute_deviation_ps(sample=statistic == "sample_std")
        return self.min_ps if statistic == "min" else self.max_ps

    def _compute_deviation_ps(self, *, sample: bool) -> Fraction | None:
        """Return the standard deviation; None of a sample of one, or of unknown squares."""
        if self.sum_of_squares_ps2 is None:
            return None
        spread = self.count * self.sum_of_squares_ps2 - self.sum_ps**2  # n² times the variance
        if not sample:
            return Fraction(isqrt(spread), self.count)
        both = self.count * (self.count - 1)
        return Fraction(isqrt(spread * both), both) if both else None

    def reduce(self, time_ps: int) -> Delays:
        """Return the delays, each reduced by the same time."""
        if self.min_ps is None or self.max_ps is None or not time_ps:
            return self
        count, sum_ps = self.count, self.sum_ps
        squares_ps2 = self.sum_of_squares_ps2
        if squares_ps2 is not None:
            squares_ps2 += count * time_ps**2 - 2 * time_ps * sum_ps
        return Delays(
            count,
            sum_ps - count * time_ps,
            squares_ps2,
            self.min_ps - time_ps,
            self.max_ps - time_ps,
            tuple((low - time_ps, high - time_ps, items) for low, high, items in self.buckets),
        )

    def count_above(self, bound_ps: int) -> tuple[int, int]:
        """Return how many delays are certainly above a bound, and how many may be.

        The difference is in the bucket of the bound, within 0.2 % of it.
        """
        if self.min_ps is None or self.max_ps is None or self.max_ps <= bound_ps:
            return 0, 0
        if self.min_ps > bound_ps:
            return self.count, self.count
        sure = sum(count for low, _, count in self.buckets if low > bound_ps)
        return sure, sum(count for _, high, count in self.buckets if high - 1 > bound_ps)

    def compute_quantile_ps(self, share: Fraction) -> int | None:
        """Return the delay that `share` of the cells do not exceed; None without cells or buckets.

        The smallest d with at least share * count delays <= d. The middle of a bucket, limited to
        min and max, represents its cells, so the error is at most 0.1 %.
        """
        if not self.count or self.min_ps is None or self.max_ps is None:
            return None
        rank = -(-share * self.count // 1)
        if rank <= 1:
            return self.min_ps
        if rank >= self.count:
            return self.max_ps
        seen = 0
        for low, high, count in self.buckets:
            seen += count
            if seen >= rank:
                return min(max((low + high) // 2, self.min_ps), self.max_ps)
        return None


def read_places(by_place: tuple[Delays, ...] | None, places: slice) -> tuple[int, int]:
    """Return the number and the sum, in ps, of delays at places in a frame, as far as it goes."""
    found = by_place[places] if by_place else ()
    return sum(cells.count for cells in found), sum(cells.sum_ps for cells in found)


def combine_signs(above: Delays, below: Delays) -> Delays:
    """Return times of both signs, given those of at least 0, and the absolute values of others."""
    if below.min_ps is None or below.max_ps is None:
        return above
    squares_ps2 = None
    if above.sum_of_squares_ps2 is not None and below.sum_of_squares_ps2 is not None:
        squares_ps2 = above.sum_of_squares_ps2 + below.sum_of_squares_ps2
    mirrored = tuple((1 - high, 1 - low, items) for low, high, items in reversed(below.buckets))
    known = bool(below.buckets) and bool(above.buckets) == bool(above.count)
    return Delays(
        above.count + below.count,
        above.sum_ps - below.sum_ps,
        squares_ps2,
        -below.max_ps,
        -below.min_ps if above.max_ps is None else above.max_ps,
        mirrored + above.buckets if known else (),
    )


class Reordering(NamedTuple):
    """Packets that arrived after one that was sent later: their number and extents, in packets."""

    packets: int = 0
    sum_of_extents: int = 0
    largest_extent: int = 0


class Packet(NamedTuple):
    """A packet that arrived: its number among those sent, from 1, and its times."""

    number: int
    sent_ps: int
    at_ps: int
    latency_ps: int


class Smoothed(NamedTuple):
    """The jitter of RFC 3550, in ps: after the last packet, at its largest, and its mean."""

    last_ps: Fraction
    largest_ps: Fraction
    mean_ps: Fraction


class Variation(NamedTuple):
    """The variation of times from packet to packet, within each connection.

    Attributes:
        arrivals: |A_n - A_(n-1)| of the times A_n between arrivals, in order of sending.
        latencies: |L_n - L_(n-1)| of latencies, in order of sending.
        one_way: D_n - D_(n-1) of delays of packets sent one after the other that both arrived.
        received: |L_n - L_(n-1)| in order of arrival.
        reordering: Reordering, in order of arrival.
        smoothed: The jitter of RFC 3550, in order of arrival; None before two packets.
        smoothed_as_sent: Likewise, in order of sending.
        packets: Those that arrived of the first of each connection, in order of sending.
        complete: Whether these are all that arrived.
        connections: The number of connections.
    """

    arrivals: Delays = Delays()
    latencies: Delays = Delays()
    one_way: Delays = Delays()
    received: Delays = Delays()
    reordering: Reordering = Reordering()
    smoothed: Smoothed | None = None
    smoothed_as_sent: Smoothed | None = None
    packets: tuple[Packet, ...] = ()
    complete: bool = False
    connections: int = 1

    def read_change(
        self, kept: Delays, statistic: str, of: Callable[[tuple[Packet, ...]], int | None]
    ) -> Fraction | int | None:
        """Return a statistic of all changes, or the change `of` a single packet."""
        number = parse_packet_number(statistic)
        return kept.read(statistic) if number is None else of(self.find_packets(number))

    def find_packets(self, number: int) -> tuple[Packet, ...]:
        """Return up to two packets that arrived before that of the number, and that packet, last.

        Empty if it did not arrive or was not tracked, or if there are several connections.
        """
        if self.connections != 1:
            return ()
        place = next((i for i, packet in enumerate(self.packets) if packet.number == number), None)
        return () if place is None else self.packets[max(0, place - 2) : place + 1]


class FrameLatencies(NamedTuple):
    """The latencies of frames of cells: from one bit in to one bit out, at the ends of a flow.

    Attributes:
        fifo: From the first bit in to the first bit out.
        lilo: From the last bit in to the last bit out.
        lifo: From the last bit in to the first bit out.
        filo: From the first bit in to the last bit out.
        mimo: The least of `lilo`, and of `filo` less the nominal output time of each frame.
    """

    fifo: Delays
    lilo: Delays
    lifo: Delays
    filo: Delays
    mimo: Delays


class Outages(NamedTuple):
    """Times without arrivals, in ps, and times since the beginning of the window.

    Attributes:
        longest_ps: The longest time between two successive arrivals of a connection; None if none
            had two. Losses before the first arrival and after the last are outages, too.
        lost_ps: When the last of the lost items was sent; None if none was lost.
        changed_ps: When something last changed in the trial; None if nothing did.
        goes_on: Whether nothing arrived any more after the longest, which may thus be longer.
    """

    longest_ps: int | None = None
    lost_ps: int | None = None
    changed_ps: int | None = None
    goes_on: bool = False


class Sample(NamedTuple):
    """The samples of one quantity: how many, or for how many ps, their sum, and the extremes.

    Attributes:
        times: Of round trips, and not by interval: all of them.
    """

    weight: int
    total: int
    least: int | None
    most: int | None
    times: Delays | None = None


@dataclass(frozen=True)
class Tally:
    """Counts of one population in one trial.

    Attributes:
        connections: The number of its connections.
        up: The number of them over which at least one cell arrived.
        planned: Cells that the source had ready in the window.
        sent: Cells whose first bit left the source's line in the window; for OAM: inserted.
        received: Those of `sent` that arrived, whenever.
        carried: Cells that arrived in the window, whenever they were sent.
        lost: Those of `sent` that were lost, by (element's path, cause).
        consumed: Those of `sent` that ended at an element, neither lost nor delivered.
        size_bytes: Length of a cell.
        window_ps: Length of the window.
        delays: Of `received`.
        volume: For packets, the bytes of `carried` by layer.
        sent_volume: Likewise, the bytes of `sent`.
        one_point_variation_max_ps: Largest 1-point CDV y_k (cells early, in clumps), if it was
            recorded.
        one_point_variation_min_ps: Smallest y_k (gaps).
        recorded: The needs of metrics that were recorded.
        latencies: Of `received`: from the last bit sent to the last that arrived.
        readings: The delays of `received` as the tester reads them; None if they were not recorded.
        positions: The delays of `received` by place in their frames; None if not recorded.
        position_readings: Likewise, as the tester reads them.
        frames: The latencies of frames; None if they were not recorded.
        variation: The variation of times from packet to packet.
        shares: The part of `carried` of each member of a group, or each connection of a flow.
        fates: Of each of these, the parts of `sent` and of `lost`.
        outages: Times without arrivals; None if they were not recorded.
        errored: Those of `received` whose bytes are others; None if no bytes were made.
        keys: The number of keys with which those of `sent` were encrypted; likewise.
        marked: By their marks, how many of `received` there were; None if marks were not read.
        samples: By quantity, what endpoints tell of connections; None if it was not recorded.
        calls: Each call, by connection; None if they were not recorded.
        delay_bound_ps: The longest delay that is possible; None if none is proved.
    """

    connections: int
    up: int
    planned: int
    sent: int
    received: int
    lost: dict[tuple[str, str], int]
    size_bytes: int
    window_ps: int
    carried: int = 0
    consumed: int = 0
    delays: Delays = field(default_factory=Delays)
    volume: Volume | None = None
    sent_volume: Volume | None = None
    one_point_variation_max_ps: int | None = None
    one_point_variation_min_ps: int | None = None
    recorded: frozenset[str] = frozenset({"histogram"})
    latencies: Delays | None = None
    readings: Delays | None = None
    positions: tuple[Delays, ...] | None = None
    position_readings: tuple[Delays, ...] | None = None
    frames: FrameLatencies | None = None
    variation: Variation | None = None
    shares: tuple[int, ...] = ()
    fates: tuple[tuple[int, int], ...] = ()
    outages: Outages | None = None
    calls: tuple[RatedCall, ...] | None = None
    errored: int | None = None
    keys: int | None = None
    marked: Mapping[int, int] | None = None
    samples: Mapping[str, Sample] | None = None
    delay_bound_ps: int | None = None

    @property
    def lost_count(self) -> int:
        """Return the number of cells lost, whatever the cause."""
        return sum(self.lost.values())

    def count_marked(self, chosen: Callable[[int], bool]) -> int | None:
        """Return how many arrived with marks that are chosen; None if marks were not read."""
        if self.marked is None:
            return None
        return sum(count for marks, count in self.marked.items() if chosen(marks))

    def count_lost_for(self, name: str) -> int | None:
        """Return the number of cells lost for a cause, or for those that have this name.

        None if it is not known for what some were lost.
        """
        if any(cause == UNKNOWN_CAUSE for _, cause in self.lost):
            return None
        return sum(cells for (_, cause), cells in self.lost.items() if is_of_cause(cause, name))

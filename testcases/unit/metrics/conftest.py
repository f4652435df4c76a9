"""A population with plain numbers, and packets that are followed one by one."""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
from connected import connected
from hypothesis import strategies as st

from qospec.elements.line import Line
from qospec.engine.element import Loss
from qospec.engine.experiment import Experiment, MeasurementSpec, Monitor, Node, Source
from qospec.engine.items.batch import Batch, build_batch
from qospec.engine.items.contract import Contract
from qospec.engine.measure.observation import Recorder
from qospec.engine.measure.tally import Delays, Tally
from qospec.engine.source.sizes import Sizes
from qospec.voice.calls import Call


@pytest.fixture
def tally() -> Callable[..., Tally]:
    """Return a maker of tallies: nothing seen, in a window of one second, but for what is given."""

    def make(*, delays_ps: tuple[int, ...] | None = None, **seen: Any) -> Tally:
        plain: dict[str, Any] = {
            "connections": 1,
            "up": 0,
            "planned": 0,
            "sent": 0,
            "received": 0,
            "lost": {},
            "size_bytes": 53,
            "window_ps": 10**12,
        }
        if delays_ps is not None:
            plain["delays"] = of_values(delays_ps)
        return Tally(**(plain | seen))

    return make


def of_values(delays_ps: tuple[int, ...]) -> Delays:
    values = sorted(delays_ps)
    return Delays(
        count=len(values),
        sum_ps=sum(values),
        sum_of_squares_ps2=sum(value**2 for value in values),
        min_ps=values[0],
        max_ps=values[-1],
        buckets=tuple((value, value + 1, values.count(value)) for value in sorted(set(values))),
    )


CALL = Call(Fraction(0), Fraction("25.1"), 20 * 10**9, 3 * 10**6)
"""G.711 with loss concealment in packets of 20 ms, and a buffer of 3 us."""


class Trip(NamedTuple):
    """A packet: whose it is, when its first bit was sent, its latency, its size, its fate."""

    sent_ps: int
    latency_ps: int
    connection: int = 0
    size_bytes: int = 46
    lost: bool = False

    @property
    def delay_ps(self) -> int:
        """Return the time from its first bit sent to its last that arrives."""
        return self.latency_ps + max(64, self.size_bytes + 18) * 80_000

    @property
    def at_ps(self) -> int:
        """Return when it arrives."""
        return self.sent_ps + self.delay_ps


class Wire:
    """A Fast Ethernet link, whatever is behind it, and a recorder of the packets of one flow."""

    line = Line(
        Fraction(10**8), carries="packet", preamble=8, header=18, min_frame=64, gap=12, mtu=1_500
    )

    def tally(  # noqa: PLR0913
        self,
        trips: Sequence[Trip],
        *,
        cuts: Sequence[int] = (),
        connections: int = 1,
        sizes: tuple[int, ...] = (46,),
        start_ps: int = 0,
        needs: tuple[str, ...] = ("latencies", "variation", "outages", "calls"),
        monitor: Monitor = Monitor(),  # noqa: B008 -- a tuple
    ) -> Tally:
        """Return what is recorded of packets, in order of sending, told in pieces cut by time."""
        mix = Sizes(sizes, (1,) * len(sizes))
        source = Source("f", None, 0, connections, "even", mix, 0, 0, call=CALL, monitor=monitor)
        recorder = Recorder(
            Experiment(
                *connected((Contract("packets", Fraction(1), 0),) * connections),
                (source,),
                (Node("a.tx", self.line, self.line.build_clock(stamps=True)),),
                (),
                MeasurementSpec(
                    start_ps,
                    2**61,
                    (0,) * connections,
                    tuple((need, 0, connections) for need in needs),
                ),
                ("seed",),
            )
        )
        arriving = sorted((t for t in trips if not t.lost), key=lambda t: (t.at_ps, t.sent_ps))
        ending = [t for t in trips if t.lost]
        before_ps = 0
        for until_ps in (*sorted(cuts), 2**62):
            for batch in self._within(trips, "sent_ps", before_ps, until_ps):
                recorder.count_sent(batch)
            for batch in self._within(ending, "sent_ps", before_ps, until_ps):
                recorder.count_lost("q", Loss("overflow", batch))
            for batch in self._within(arriving, "at_ps", before_ps, until_ps):
                recorder.count_arrived(batch, 0)
            before_ps = max(before_ps, until_ps)
        return recorder.build_observation().pool(0, connections)

    @staticmethod
    def _within(trips: Sequence[Trip], name: str, before_ps: int, until_ps: int) -> Iterator[Batch]:
        some = [t for t in trips if before_ps <= getattr(t, name) < until_ps]
        if some:
            yield build_batch(
                at_ps=np.array([getattr(t, name) for t in some], np.int64),
                sent_ps=np.array([t.sent_ps for t in some], np.int64),
                connection=np.array([t.connection for t in some], np.int32),
                size_bytes=np.array([t.size_bytes for t in some], np.int32),
                marks=np.zeros(len(some), np.uint32),
            )


SIZES = (46, 200, 1_500)
LATENCIES_PS = st.one_of(
    st.integers(0, 50),
    st.sampled_from([0, 10**6, 2 * 10**6, 10**9]),
    st.integers(0, 10**7),
    st.just(2**45),
)


@st.composite
def journeys(draw: st.DrawFn, *, connections: int = 3) -> tuple[list[Trip], list[int]]:
    """Draw packets that may be lost or overtake each other, and where time is cut."""
    count = draw(st.integers(0, 30))
    sent_ps, trips = 0, []
    for _ in range(count):
        sent_ps += draw(st.sampled_from([1, 10**5, 5_120_000, 10**7]))
        trips.append(
            Trip(
                sent_ps,
                draw(LATENCIES_PS),
                draw(st.integers(0, connections - 1)),
                draw(st.sampled_from(SIZES)),
                draw(st.integers(0, 3)) == 0,
            )
        )
    cuts = draw(st.lists(st.integers(0, 10**9), max_size=4))
    return trips, cuts


TABLE_2_1 = {
    "constant": (2, 2, 2, 2, 2, 2),
    "saw tooth": (1, 3, 1, 3, 1, 3),
    "spike": (1, 1, 7, 1, 1, 1),
    "step": (1, 1, 1, 3, 3, 3),
    "steps": (1, 2, 3, 3, 2, 1),
}
"""UNH 2004, table 2.1: latencies in ms of six packets that are sent every 2 ms."""
MS = 10**9


class Road(Wire):
    """The same, and what may come along it."""

    trip = Trip
    call = CALL
    journeys = staticmethod(journeys)

    def drawn(self, data: st.DataObject) -> tuple[list[list[Trip]], Tally]:
        """Return by connection the packets that arrived, in order of sending, and what was seen."""
        trips, cuts = data.draw(journeys())
        tally = self.tally(trips, cuts=cuts, connections=3, sizes=SIZES)
        assert tally == self.tally(trips, connections=3, sizes=SIZES), "cuts change something"
        came = [t for t in trips if not t.lost]
        return [[t for t in came if t.connection == c] for c in range(3)], tally

    def alone(self, data: st.DataObject) -> tuple[list[Trip], Tally]:
        """Return packets of one connection, lost ones and all, and what was seen."""
        trips, cuts = data.draw(journeys(connections=1))
        return trips, self.tally(trips, cuts=cuts, sizes=SIZES)

    def has_quantiles_of(self, metric: Any, tally: Tally, values: Sequence[int]) -> bool:
        """Return whether a metric's quantiles are those of these values, by the definition."""
        in_order = sorted(values)
        for percent in (1, 25, 50, 90, 99):
            found = metric.measure(tally, f"p{percent}")
            if not values:
                return found is None
            exact = in_order[-(-percent * len(values) // 100) - 1]
            if abs(found - exact) > abs(exact) / 1000:
                return False
        return True

    @staticmethod
    def extents(mine: Sequence[Trip]) -> list[int]:
        """Return the extent of each reordered packet of a connection, by RFC 4737 as it is written.

        Of packet i in the order of arrival: i - j for the first j that was sent later.
        """
        came = sorted(mine, key=lambda trip: (trip.at_ps, trip.sent_ps))
        found = []
        for i, packet in enumerate(came):
            ahead = [j for j in range(i) if came[j].sent_ps > packet.sent_ps]
            found += [i - ahead[0]] if ahead else []
        return found

    @staticmethod
    def in_order(numbers: Sequence[int]) -> list[Trip]:
        """Return packets with these numbers in the order in which they arrive."""
        trips = [Trip(n, 10**9 * (1 + place)) for place, n in enumerate(numbers)]
        return sorted(trips, key=lambda trip: trip.sent_ps)

    def case(self, name: str) -> Tally:
        """Return what is seen of a case of table 2.1, exactly as it is printed."""
        rows = enumerate(TABLE_2_1[name])
        return self.tally([Trip(2 * MS * n, latency * MS) for n, latency in rows])


@pytest.fixture(scope="session")
def road() -> Road:
    """Return a road on which packets are followed."""
    return Road()

"""A flow of a scenario: what it sends, as plain data, and the strategies that draw it."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from qospec.dataclass import NamedTuple
from qospec.fuzz.strategies import round_value
from qospec.protocol.ip import FAMILY_EXTRA_BYTES, IPV4_HEADER_BYTES, TRANSPORT_HEADER_BYTES
from qospec.units import CELL_RATE, COUNT, PACKET_RATE, TIME, format_number, format_value

if TYPE_CHECKING:
    from qospec.fuzz.device import Arguments

FULL = (Fraction(1), Fraction(1, 2), Fraction(9, 10), Fraction(1), Fraction(1, 10))
SHARES = (*FULL, Fraction(1, 100), Fraction(1, 10_000))
"""Of what its line carries, what a flow sends."""
MOST_INSTANTS = 12
GAPS_US = (1_000, 0, 1, 3, 10, 100, 20_000)
"""Between items at listed instants, in us."""
BURSTS = (2, 3, 5, 10, 30, 100)
TOLERANCES = ("0 s", "1 us", "10 us", "100 us", "1 ms", "10 ms")
SIZES = (64, 46, 1_500, 200, 576, 1_000)
LARGE_SIZES = (64, 1_400, 1_000, 1_400)
"""The largest leaves room for what encryption adds to a packet."""
FRAMING_BYTES = 38
"""Of Ethernet, around an IP packet."""
CODE_POINTS = (0, 46, 10, 0, 46, 34)
"""Of packets: best effort and expedited forwarding more often than others."""


MARKS = ("dscp", "priority", "traffic_class")


class Contract(NamedTuple):
    """What a flow declares: of cells its contract, of packets what each is like.

    Attributes:
        kind: Of its traffic.
        rate: Of each connection, the peak or the only one, in items/s.
        slower: Of cells, the sustainable rate; None if there is none.
        mbs: With it, the most cells at the peak rate.
        tolerance: Of cells, that for their delay variation.
        size: Of packets, in bytes.
        connections: How many there are.
        marks: Fields that may be left out, names with values as text, such as `("dscp", "46")`.
    """

    kind: str
    rate: Fraction
    slower: Fraction | None = None
    mbs: int = 0
    tolerance: str = TOLERANCES[0]
    size: int = 0
    connections: int = 1
    marks: Arguments = ()

    @property
    def code(self) -> int:
        """Return the mark of its packets by which classes are told apart."""
        return next((int(value) for name, value in self.marks if name in MARKS), 0)

    @property
    def unit(self) -> str:
        """Return the unit of its items."""
        return "pkt" if self.kind == "packets" else "cell"


class Source(NamedTuple):
    """What a flow sends other than it declares.

    Attributes:
        kind: Of the source; "" if it sends what it declares.
        rate: Of each connection, in items/s.
        burst: How many items come at once.
        gaps_us: Between items at listed instants, in us; the first is not one.
        later: The rate from the change in the measurement on; 0: what it was before.
    """

    kind: str
    rate: Fraction = Fraction(0)
    burst: int = 0
    gaps_us: tuple[int, ...] = ()
    later: Fraction = Fraction(0)

    def compute_mean_rate(self, rate: Fraction) -> Fraction:
        """Return the items/s that it sends at a rate: bursts come after times with two digits."""
        return self.burst / round_value(self.burst / rate, TIME) if self.kind == "burst" else rate

    def write_pace(self, rate: Fraction, unit: str) -> str:
        """Return what a specification writes for a rate: of bursts, how often one comes."""
        if self.kind == "burst":
            return format_value(self.burst / self.compute_mean_rate(rate), TIME, exact=True)
        return f"{format_number(rate)} {unit}/s"

    def write_source(self, unit: str, pace: str = "") -> str:
        """Return it as a specification writes it; `pace` is the variable of one that changes."""
        if self.kind == "replay":
            instants = (sum(self.gaps_us[1 : n + 1]) for n in range(len(self.gaps_us)))
            texts = (
                format_value(Fraction(instant, 10**6), TIME, exact=True) for instant in instants
            )
            return f"replay {{ at = [{', '.join(texts)}] }}"
        pace = pace or self.write_pace(self.rate, unit)
        if self.kind == "burst":
            return f"burst {{ size = {self.burst} {unit}, every = {pace} }}"
        return f"{self.kind} {{ rate = {pace} }}"


class Sending(NamedTuple):
    """A flow.

    Attributes:
        origin: The number of its host.
        target: Likewise.
        contract: What it declares.
        source: What it sends.
    """

    origin: int
    target: int
    contract: Contract
    source: Source = Source("")

    @property
    def kind(self) -> str:
        """Return the kind of its traffic."""
        return self.contract.kind

    def list_fields(self, pace: str) -> Arguments:
        """Return the fields of its traffic, names with values as text; its source among them.

        `pace` is the variable that says how fast it sends, if that changes.
        """
        it, source = self.contract, self.source
        some = [*_list_packet_fields(self)] if it.kind == "packets" else [*_list_cell_fields(it)]
        if it.connections > 1:
            some.append(("connections", str(it.connections)))
        some += it.marks
        if source.kind:
            some.append(("source", source.write_source(it.unit, pace if source.later else "")))
        return tuple(some)

    @property
    def per_second(self) -> Fraction:
        """Return how many items it sends on average at first; 0 if it sends at listed instants."""
        rate = (
            self.source.compute_mean_rate(self.source.rate) if self.source.kind else self.declared
        )
        return rate * self.contract.connections

    @property
    def later_per_second(self) -> Fraction:
        """Return the same from the change on."""
        later = self.source.later
        return (
            self.source.compute_mean_rate(later) * self.contract.connections
            if later
            else self.per_second
        )

    @property
    def declared(self) -> Fraction:
        """Return how many items/s of each connection it declares."""
        return self.contract.rate if self.contract.slower is None else self.contract.slower

    @property
    def with_source(self) -> Sending:
        """Return it with a source: a constant one if it sends what it declares."""
        return self if self.source.kind else self._replace(source=Source("constant", self.declared))

    def change_rate(self, by: Fraction) -> Sending:
        """Return it sending so many times as much from the change on."""
        source = self.with_source.source
        return self._replace(source=source._replace(later=round_value(source.rate * by, COUNT)))

    def scale_rate(self, by: Fraction) -> Sending:
        """Return it sending so many times as much all the time; listed instants stay."""
        source = self.with_source.source
        rates = [
            round_value(rate * by, COUNT) if rate else rate for rate in (source.rate, source.later)
        ]
        return self._replace(source=source._replace(rate=rates[0], later=rates[1]))

    @property
    def last_ps(self) -> int:
        """Return when it sends the last of those at listed instants; 0 if it does not."""
        return sum(self.source.gaps_us[1:]) * 10**6 + 1 if self.source.kind == "replay" else 0


def _list_packet_fields(flow: Sending) -> Arguments:
    size = ("size", f"{format_number(flow.contract.size)} B @ip")
    rate = ("rate", format_value(flow.contract.rate, PACKET_RATE))
    return (size,) if flow.source.kind else (size, rate)


def _list_cell_fields(it: Contract) -> Arguments:
    fields = [("pcr", format_value(it.rate, CELL_RATE))]
    if it.slower is not None:
        fields += [("scr", format_value(it.slower, CELL_RATE)), ("mbs", f"{it.mbs} cell")]
    if it.tolerance != TOLERANCES[0] or it.kind != "ubr":
        fields += [("cdvt", it.tolerance)]
    return tuple(fields)


# ---- drawing


class Load(NamedTuple):
    """What a flow may be drawn from: shares of its line, sources, and sizes of packets."""

    shares: st.SearchStrategy[Fraction]
    sources: st.SearchStrategy[str]
    sizes: st.SearchStrategy[int]


ANY = Load(
    st.sampled_from(SHARES),
    st.sampled_from(["", "replay", "burst", "constant", "poisson"]),
    st.sampled_from(SIZES),
)
DENSE = Load(
    st.sampled_from(FULL),
    st.sampled_from(["", "", "burst", "poisson"]),
    st.sampled_from(LARGE_SIZES),
)


class Line(NamedTuple):
    """What decides how much a flow may send, and with which marks.

    Attributes:
        framing: "cell", "packet", or the mark that its frames have.
        most: The most cells/s or Mbit/s.
        families: Versions of IP.
        codes: Marks of packets.
    """

    framing: str
    most: int
    families: tuple[str, ...]
    codes: tuple[int, ...]


def compute_most_per_second(most: int, size_bytes: int) -> Fraction:
    """Return the items/s on a line of so many cells/s, or so many Mbit/s of packets of a size."""
    if not size_bytes:
        return Fraction(most)
    return Fraction(most * 10**6, 8 * (size_bytes + FRAMING_BYTES))


@st.composite
def draw_contract(draw: st.DrawFn, line: Line, load: Load) -> tuple[Contract, Source]:
    """Draw what is declared and what is sent."""
    it = draw(_draw_cells(line, load) if line.framing == "cell" else _draw_packets(line, load))
    phased = (("phases", "even"),) if draw(st.booleans()) else ()
    return it._replace(marks=(*it.marks, *phased)), draw(_draw_sources(it.rate, load.sources))


@st.composite
def _draw_cells(draw: st.DrawFn, line: Line, load: Load) -> Contract:
    """Draw a contract of cells."""
    kind = draw(st.sampled_from(["cbr", "ubr", "vbr_rt", "vbr_nrt"]))
    share = draw(load.shares)
    connections = draw(st.sampled_from([1, 2, 3, 10]))
    alone = share == 1 and connections == 1
    rate = Fraction(line.most) if alone else round_value(line.most * share / connections, COUNT)
    slower, mbs = None, 0
    if kind.startswith("vbr"):
        slower = round_value(rate / draw(st.sampled_from([2, 10, 100])), COUNT)
        mbs = draw(st.sampled_from(BURSTS))
    tolerance = draw(st.sampled_from(TOLERANCES))
    marks = (("clp", "1"),) if draw(st.booleans()) else ()
    return Contract(kind, rate, slower, mbs, tolerance, 0, connections, marks)


@st.composite
def _draw_packets(draw: st.DrawFn, line: Line, load: Load) -> Contract:
    """Draw packets."""
    some = line.families
    family = draw(st.sampled_from(some)) if len(some) > 1 else some[0]
    least = IPV4_HEADER_BYTES + FAMILY_EXTRA_BYTES[family] + TRANSPORT_HEADER_BYTES["udp"]
    size = max(draw(load.sizes), least)
    share = draw(load.shares)
    connections = draw(st.sampled_from([1, 2, 3, 10]))
    rate = round_value(compute_most_per_second(line.most, size) * share / connections, COUNT)
    marks: Arguments = (("family", family),) if family != "ipv4" else ()
    code = draw(st.sampled_from(line.codes))
    mark = "dscp" if line.framing == "packet" else line.framing
    marks += ((mark, str(code)),) if code else ()
    return Contract("packets", rate, size=size, connections=connections, marks=marks)


@st.composite
def _draw_sources(draw: st.DrawFn, rate: Fraction, sources: st.SearchStrategy[str]) -> Source:
    """Draw what is sent by each connection of that rate."""
    how = draw(sources)
    if how == "":
        return Source("")
    if how == "replay":
        gaps = draw(st.lists(st.sampled_from(GAPS_US), min_size=1, max_size=MOST_INSTANTS))
        return Source(how, gaps_us=tuple(gaps))
    sent = rate * draw(st.sampled_from([1, 2, 10]))
    return Source(how, sent, draw(st.sampled_from(BURSTS)) if how == "burst" else 0)

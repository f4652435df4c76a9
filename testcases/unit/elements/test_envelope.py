"""An envelope of MEF 10.4 against its algorithm in exact fractions, one meter, and by hand."""

from fractions import Fraction

import pytest
from books import in_bytes
from hypothesis import given
from hypothesis import strategies as st

from qospec.catalogue.kinds import Buffer, Load
from qospec.elements.envelope import Envelope
from qospec.elements.rfc4115 import Rfc4115
from qospec.protocol.marks import MARKS
from qospec.units import PS_PER_S

GREEN, YELLOW, RED = range(3)
NAMES = ("gold", "silver", "bronze", *(f"flow_{number}" for number in range(13)))
MBIT = 10**6
MS = 10**9


def envelope(rates, bursts, more, excess, **fields):
    """Return an envelope of as many flows; rates are in bit/s and bursts in B, @ip."""

    def loads(values):
        return tuple(zip(NAMES, (Load(Fraction(value), "ip") for value in values), strict=False))

    def sizes(values):
        return tuple(zip(NAMES, (Buffer(value, "byte") for value in values), strict=False))

    return Envelope(loads(rates), sizes(bursts), loads(more), sizes(excess), **fields)


class Book:
    """MEF 10.4, 12.1: tokens come, flow on where a bucket is full, and are taken by packets.

    A packet is covered by what comes before its ps has ended.
    """

    def __init__(self, meter):
        self.meter, self.now = meter, 0
        gains = (meter.committed_information_rate, meter.excess_information_rate)
        sizes = (meter.committed_burst_size, meter.excess_burst_size)
        self.gains = [[rate.amount / 8 / PS_PER_S for _, rate in rates] for rates in gains]
        self.full = [[Fraction(size.amount) for _, size in some] for some in sizes]
        self.levels = [[*full] for full in self.full]

    def add(self, which, rank, tokens):
        """Add tokens to a bucket; return what finds no room."""
        level = self.levels[which][rank] + tokens
        self.levels[which][rank] = min(level, self.full[which][rank])
        return level - self.levels[which][rank]

    def colour(self, rank, size, came, now):
        elapsed, self.now = now - self.now, now
        over, given = Fraction(0), {}
        for n in range(len(self.full[0])):
            over = self.add(0, n, elapsed * self.gains[0][n] + over)
            if self.meter.inputs[n] in self.meter.coupled:
                given[n], over = over, Fraction(0)
        over = over if self.meter.coupling else Fraction(0)
        for n in range(len(self.full[0])):
            over = self.add(1, n, elapsed * self.gains[1][n] + over + given.get(n, 0))
        for which in (GREEN, YELLOW):
            missing = size - self.levels[which][rank]
            if came <= which and (missing <= 0 or missing < self.gains[which][rank]):
                self.levels[which][rank] -= size
                return which
        return RED


def colours(lab, meter, *inputs, **how):
    """Return the colours of packets that leave, by number; each is (at, size, number, colour)."""
    batches = [
        lab.cells(
            [at for at, *_ in packets],
            size_bytes=[size for _, size, _, _ in packets],
            sent_ps=[number for _, _, number, _ in packets],
            marks=[MARKS["colour"].put(0, colour) for *_, colour in packets],
        )
        for packets in inputs
    ]
    (left,) = lab.carry(meter, lab.setting(), *batches, **how).departures
    marks = map(MARKS["colour"].read, left.marks.tolist())
    return dict(zip(left.sent_ps.tolist(), marks, strict=True))


EACH_MS = [(n * MS, 1_250, n, GREEN) for n in range(1_000)]
"""10 Mbit/s."""


@given(st.data())
def test_it_colours_by_the_book(lab, data):
    flows = data.draw(st.integers(1, 3))
    some = st.sampled_from([0, 8_000, 64_000, 12 * MBIT, Fraction(10**8, 3)])
    sizes = st.sampled_from([0, 100, 1_500, 4_000])
    rates, more = ([data.draw(some) for _ in range(flows)] for _ in range(2))
    rates[0] = rates[0] or 8_000
    bursts, excess = ([data.draw(sizes) for _ in range(flows)] for _ in range(2))
    coupling = data.draw(st.booleans())
    coupled = () if coupling else data.draw(st.sampled_from([(), NAMES[:1], NAMES[:flows]]))
    aware = data.draw(st.booleans())
    fields = {"coupled": coupled, "coupling": coupling, "aware": aware}
    meter = envelope(rates, bursts, more, excess, **fields)
    book, now, inputs, wanted = Book(meter), 0, [[] for _ in range(flows)], {}
    for number in range(data.draw(st.integers(1, 25))):
        now += data.draw(st.sampled_from([1, MS, 10 * MS, 10**12]) | st.integers(1, 3 * MS))
        rank, size = (
            data.draw(st.integers(0, flows - 1)),
            data.draw(st.sampled_from([40, 100, 1_500])),
        )
        came = data.draw(st.sampled_from([GREEN, YELLOW, RED]))
        inputs[rank].append((now, size, number, came))
        wanted[number] = book.colour(rank, size, came if aware else GREEN, now)
    assert colours(lab, meter, *inputs) == wanted


@pytest.mark.parametrize("coupled", [False, True])
def test_an_envelope_of_one_flow_is_a_meter(lab, coupled):
    packets = [(n * MS // 3, 300 + 40 * (n % 9), n, n % 2) for n in range(90)]
    one = in_bytes(Rfc4115, 4 * MBIT, 2_000, MBIT, 3_000, coupling=coupled, aware=True)
    names = NAMES[:1] if coupled else ()
    meter = envelope([4 * MBIT], [2_000], [MBIT], [3_000], coupled=names, aware=True)
    found = colours(lab, meter, packets)
    assert found == colours(lab, one, packets)
    assert {*found.values()} == {GREEN, YELLOW, RED}


@pytest.mark.parametrize(
    ("fields", "green", "yellow"),
    [({}, 540, 180), ({"coupled": ("gold",)}, 270, 450), ({"coupling": True}, 540, 180)],
)
def test_a_lower_rank_gets_what_a_higher_one_leaves(lab, fields, green, yellow):
    """Of 3 Mbit/s each, a packet of 10,000 bits a ms is offered to the lower one alone.

    Of the last 900 each Mbit/s lets 90 pass. So it has 540 with what gold leaves. Where gold is
    coupled, that goes by its own excess bucket, which is full, to this one's: 270 more are yellow.
    """
    meter = envelope([3 * MBIT] * 2, [10_000] * 2, [0, 2 * MBIT], [10_000] * 2, **fields)
    found = [*colours(lab, meter, [], EACH_MS).values()][100:]
    assert abs(found.count(GREEN) - green) <= 1
    assert abs(found.count(YELLOW) - yellow) <= 1


def test_what_no_flow_uses_is_yellow_for_the_highest(lab):
    """3 Mbit/s committed to gold and to silver, which sends nothing, and no excess rate at all.

    Gold offers 10 Mbit/s: 3 are green and, of the envelope's flag, silver's 3 are yellow.
    """
    for coupling, yellow in ((False, 0), (True, 270)):
        meter = envelope([3 * MBIT] * 2, [10_000] * 2, [0, 0], [10_000] * 2, coupling=coupling)
        found = [*colours(lab, meter, EACH_MS, []).values()][100:]
        assert abs(found.count(GREEN) - 270) <= 1
        assert abs(found.count(YELLOW) - yellow) <= 1


def test_what_cannot_be_is_refused():
    with pytest.raises(ValueError, match="coupling: tokens of a flow"):
        envelope([MBIT], [100], [0], [100], coupled=("gold",), coupling=True)
    with pytest.raises(ValueError, match="coupled: `iron` is no flow"):
        envelope([MBIT], [100], [0], [100], coupled=("iron",))
    with pytest.raises(ValueError, match="cbs: expected the flows of `cir`"):
        envelope([MBIT, MBIT], [100], [0, 0], [100, 100])
    with pytest.raises(ValueError, match="cir: no flow is given any tokens"):
        envelope([0], [100], [0], [100])
    with pytest.raises(ValueError, match="too fine"):
        envelope([Fraction(10**9, 7), Fraction(49_999_999)], [9_999] * 2, [0, 0], [0, 0])


def test_what_many_flows_leave_is_added_up_exactly_or_refused(lab):
    """What 16 flows have gained in days finds no room and goes through all of their buckets.

    With buckets of 25,600 B that does not fit 64 bits: the excess of the 13th flow was below 0.
    """

    def make(excess_bytes):
        sizes = ([100] * 16, [excess_bytes] * 16)
        return envelope([10] * 16, sizes[0], [10] * 16, sizes[1], coupling=True)

    inputs = ([(4 * 10**17, 1_500, number, GREEN)] for number in range(16))
    assert {*colours(lab, make(20_000), *inputs).values()} == {YELLOW}
    with pytest.raises(ValueError, match="too fine"):
        make(25_600)


@pytest.mark.parametrize(("dscp", "told"), [(0, []), (46, [("W0607", "m.share.voice")])])
def test_packets_longer_than_the_bucket_of_their_own_flow_are_told(planned, problems, dscp, told):
    planned(f"""
device box {{
  port user, network: packet
  sort = classify {{ voice = pkt.dscp == 46, data = otherwise }}
  share = envelope {{
    cir = {{ voice: 2 Mbit/s @ip, data: 4 Mbit/s @ip }}
    cbs = {{ voice: 300 B, data: 20_000 B }}
    eir = {{ voice: 0 bit/s @ip, data: 1 Mbit/s @ip }}
    ebs = {{ voice: 0 B, data: 20_000 B }}
  }}
  user.rx -> sort
  sort.voice -> share.voice
  sort.data -> share.data
  share -> network.tx
  network.rx -> user.tx
}}
topology bench {{
  a, b = host
  m = box
  link a -- m.user via media.gigabit_ethernet
  link m.network -- b via media.gigabit_ethernet
}}
test t on bench {{
  flow d = packets {{ rate = 100 pkt/s, size = 1_400 B @ip, dscp = {dscp} }} from a to b
  run {{ measure = 10 ms }}
  report d.lost
}}
""")
    found = [(problem.code, problem.message.split("`")[-2]) for problem in problems.all]
    assert [warning for warning in found if warning[0] != "W0605"] == told

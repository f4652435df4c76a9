"""What is proved of whole cases, against what is measured of them."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import pytest

from qospec.catalogue.kinds import Buffer, discover
from qospec.elements.shape import Shape
from qospec.plan.plan import CasePlan
from qospec.plan.proofs.chains import Chains
from qospec.plan.proofs.places import Key, Place
from qospec.run import trial
from qospec.units import PS_PER_S

US = PS_PER_S // 10**6

ROUND = """
let lane = line { rate = 424 Mbit/s @cell, slotted = false, length = 0 m }
device hub(room: Int) {
  port p[3]: cell
  fabric = vc_switch { ports = 3, latency = 5 us }
  for i in 0 .. 2 {
    q = fifo { limit = room * 1 cell }
    p[i].rx -> fabric.entry[i]
    fabric.exit[i] -> q -> p[i].tx
  }
}
topology star {
  a, b, c = host
  h = hub(room = ROOM)
  link a -- h.p[0] via lane
  link b -- h.p[1] via lane
  link c -- h.p[2] via lane
}
test t on star {
  flow one = ubr { pcr = 100_000 cell/s, source = replay { at = [0 us, 1 us, 2 us] } } from a to c
  flow two = ubr { pcr = 100_000 cell/s, source = replay { at = [0 us, 1 us, 2 us] } } from b to c
  run { measure = 1 ms, overload = true }
  expect one.received + two.received == SURVIVORS
  expect h.q[2].occupancy.max >= 0 cell
}
"""
"""Three cells from either side at once, each 1 us on a line."""


def case_of(planned, text: str, **words: object) -> CasePlan:
    for name, word in words.items():
        text = text.replace(name.upper(), str(word))
    (case,) = planned(text)
    return case


@pytest.mark.parametrize(("room", "survivors", "waiting"), [(64, 6, 3), (1, 5, 1)])
def test_a_bound_is_met_exactly(planned, ran, room: int, survivors: int, waiting: int) -> None:
    """Six cells arrive in 2 us, so the last waits for three; or for the one that finds room."""
    case = case_of(planned, ROUND, room=f"{room}", survivors=f"{survivors} cell")
    proofs = case.networks[""].proofs
    readings = ran(case).readings
    (_, seen), *_ = readings._seen.values()
    longest = {f: readings._tallies[f].delays.max_ps for f in ("one", "two")}
    bound = {f: proofs.find_delay(n, n + 1).most_ps for n, f in enumerate(longest)}
    waits = 3 if room == 64 else 1
    assert max(longest.values()) == bound["one"] == bound["two"] == (1 + 5 + waits + 1) * US
    assert seen.occupancies["h.q[2]"].most == proofs.waiting["h.q[2]"] == waiting
    assert proofs.find_delay(0, 1).path == (
        ("a -> h.p[0]", US),
        ("h.fabric", 5 * US),
        ("h.q[2]", (waits + 1) * US),
    )


SHAPED = """
device edge {
  port w, e: packet
  s = shape { rate = 8 Mbit/s @ip, burst = 200 B, limit = 9 pkt }
  w.rx -> s -> e.tx
  e.rx -> w.tx
}
topology one {
  a, b = host
  x = edge
  link a -- x.w via media.fast_ethernet
  link x.e -- b via media.fast_ethernet
}
test t on one {
  flow f = packets { size = 100 B @ip, source = replay { at = [0 us, 0 us, 0 us] } } from a to b
  run { measure = 1 ms, overload = true }
  expect f.delay.max < 1 s
}
"""
"""Two packets leave at once, and the third when it has its tokens."""


def test_a_shaper_that_is_off_by_one_packet_is_found(planned, monkeypatch) -> None:
    (case,) = planned(SHAPED)
    assert trial.run(case, discover(), lambda _: None).errors == ()
    right = Shape.build_transition

    def off_by_one(self: Shape, setting: object) -> object:
        return right(replace(self, burst_size=Buffer(100, "byte")), setting)

    monkeypatch.setattr(Shape, "build_transition", off_by_one)
    (error,) = trial.run(case, discover(), lambda _: None).errors
    assert error.startswith("BoundError: f was delayed by ")
    assert "and at most" in error
    assert "x.s " in error


ROW = """
device slow(each: Time) {
  port w, e: packet
  cpu = processor { per_packet = each, limit = 64 pkt }
  w.rx -> cpu.entry[0]
  cpu.exit[0] -> e.tx
  e.rx -> w.tx
}
topology row {
  a, b = host
  x = slow(FIRST)
  y = slow(SECOND)
  link a -- x.w via media.fast_ethernet
  link x.e -- y.w via media.fast_ethernet
  link y.e -- b via media.fast_ethernet
}
test t on row {
  flow f = packets { size = 82 B @ip, source = replay { at = [0 us, 0 us, 0 us, 0 us, 0 us] } }
    from a to b
  run { measure = 2 ms, overload = true }
  expect f.delay.max < 1 s
}
"""
"""Five packets, each 9.6 us on a line, of which 0.64 us are preamble and 0.96 us gap."""


@pytest.mark.parametrize(("first", "second"), [(100, 50), (50, 100), (100, 100)])
def test_a_burst_is_paid_only_once(planned, ran, first: int, second: int) -> None:
    """It waits where it is served slowest; elsewhere each packet takes its own time."""
    case = case_of(planned, ROW, first=f"{first} us", second=f"{second} us")
    proof = case.networks[""].proofs.find_delay(0, 1)
    waits_ns = 4 * (max(first, second) * 1_000 - 9_600)
    lines_ns = 3 * (9_600 - 960) - 640
    longest_ps = ((first + second) * 1_000 + lines_ns + waits_ns) * US // 1_000
    readings = ran(case).readings
    assert proof.most_ps == readings._tallies["f"].delays.max_ps == longest_ps
    assert [where for where, _ in proof.path] == ["a -> x.w", "x.cpu to y.e -> b"]


SHARED = """
device box {
  port x, y, out: packet
  s = SCHEDULER
  x.rx -> s.a
  y.rx -> s.b
  s -> out.tx
  out.rx -> x.tx
}
topology one {
  p, q, r = host
  d = box
  link p -- d.x via media.gigabit_ethernet
  link q -- d.y via media.gigabit_ethernet
  link d.out -- r via media.fast_ethernet
}
test t on one {
  flow fast = packets { size = 1_518 B @frame, source = replay { at = [FIRST us] } } from p to r
  flow slow = packets { size = 1_518 B @frame, source = replay { at = [OTHERS] } } from q to r
  run { measure = 10 ms }
  expect fast.delay.max < 1 s
}
"""
"""A packet of 123.04 us on the line, of which the last 0.96 us are a gap, and 12.144 us before."""


@pytest.mark.parametrize(
    ("scheduler", "first", "others", "longest_ns"),
    [
        # One of the other input was begun 1 us before.
        ("wfq { weights = { a: 5, b: 1 } }", 1, "0 us", 12_144 + 2 * 123_040 - 960 - 1_000),
        ("wf2q_plus { weights = { a: 5, b: 1 } }", 1, "0 us", 12_144 + 2 * 123_040 - 960 - 1_000),
        ("scfq { weights = { a: 5, b: 1 } }", 1, "0 us", 12_144 + 2 * 123_040 - 960 - 1_000),
        # The quantum is too small for a packet: two turns each, and the other input was first.
        (
            "drr { weights = { a: 1, b: 1 }, quantum = 1_400 B }",
            30,
            "0 us, 0 us, 0 us",
            12_144 + 3 * 123_040 - 960 - 30_000,
        ),
    ],
)
def test_what_others_have_begun_is_within_the_bound(
    planned, ran, scheduler: str, first: int, others: str, longest_ns: int
) -> None:
    case = case_of(planned, SHARED, scheduler=scheduler, first=first, others=others)
    measured_ps = ran(case).readings._tallies["fast"].delays.max_ps
    assert measured_ps == longest_ns * 1_000
    assert case.networks[""].proofs.find_delay(0, 1).most_ps >= measured_ps


REORDERED = (
    ROW.replace("0 us, 0 us, 0 us]", "150 us, 300 us, 450 us]")
    .replace(
        "topology row {",
        """device faulty {
  port w, e: packet
  there = reorder { first = 2, time = 300 us }
  w.rx -> there -> e.tx
  e.rx -> w.tx
}
topology row {
  between = faulty""",
    )
    .replace(
        "link x.e -- y.w via media.fast_ethernet",
        "link x.e -- between.w via media.fast_ethernet\n"
        "  link between.e -- y.w via media.fast_ethernet",
    )
)


@pytest.mark.parametrize(
    ("bucket", "last_ns"),
    [
        # The last leaves the shaper when the tokens of 15,000 B have come, and the line is idle.
        (3_000, 2_000 * 15_000 + 1_220_800),
        # Eight leave at once, and keep the line busy until it has sent all.
        (12_000, 11 * 1_230_400 + 1_220_800),
    ],
)
def test_a_shaper_and_the_line_behind_it_pay_a_burst_once(
    planned, ran, bucket: int, last_ns: int
) -> None:
    """Twelve packets of 1,500 B, 123.04 us apart, at 4 Mbit/s; each 1.2304 ms on the line."""
    shaper = f"4 Mbit/s @ip, burst = {bucket} B, limit = 99 pkt"
    text = SHAPED.replace("8 Mbit/s @ip, burst = 200 B, limit = 9 pkt", shaper)
    text = text.replace("size = 100 B", "size = 1_500 B").replace("measure = 1 ms", "measure = 1 s")
    text = text.replace("at = [0 us, 0 us, 0 us]", f"at = [{', '.join(['0 us'] * 12)}]")
    text = text.replace("x.e -- b via media.fast_ethernet", "x.e -- b via media.ethernet")
    case = case_of(planned, text)
    proof = case.networks[""].proofs.find_delay(0, 1)
    longest_ps = (121_440 + last_ns - 11 * 123_040) * 1_000
    assert ran(case).readings._tallies["f"].delays.max_ps == longest_ps == proof.most_ps
    assert [where for where, _ in proof.path] == ["a -> x.w", "x.s to x.e -> b"]


def test_a_burst_is_paid_again_behind_what_lets_items_be_overtaken(planned, ran) -> None:
    """The second is held back, and then waits for those that overtook it."""
    case = case_of(planned, REORDERED, first="100 us", second="140 us")
    proof = case.networks[""].proofs.find_delay(0, 1)
    longest_ps = ran(case).readings._tallies["f"].delays.max_ps
    assert proof.most_ps >= longest_ps
    assert [where for where, _ in proof.path] == [
        "a -> x.w",
        "x.cpu to x.e -> between.w",
        "between.there",
        "between.e -> y.w to y.e -> b",
    ]


def test_what_follows_a_random_source_is_bounded_by_the_line_before_it(planned) -> None:
    """A line passes a cell a us at most, so behind one as fast nothing waits."""
    text = ROUND.replace(
        "source = replay { at = [0 us, 1 us, 2 us] }", "source = poisson { rate = 100_000 cell/s }"
    )
    text = text.replace("from b to c", "from b to a")
    case = case_of(planned, text, room="64", survivors="0 cell")
    proofs = case.networks[""].proofs
    assert proofs.find_delay(0, 1).most_ps == (1 + 5 + 1) * US
    assert proofs.waiting["h.q[2]"] == 0


def test_each_reason_is_told(planned, ran) -> None:
    (case,) = planned(
        """
        device box {
          port w, e: cell
          w.rx -> e.tx
          e.rx -> w.tx
        }
        topology one {
          a, b = host
          x = box
          link a -- x.w via media.stm1
          link x.e -- b via media.e3
        }
        test t on one {
          flow f = ubr { pcr = 90_000 cell/s, source = poisson { rate = 9_000 cell/s } }
            from a to b
          run { measure = 1 ms }
          expect f.delay.bound < 1 s
        }
        """
    )
    assert [judgement.verdict for judgement in ran(case).judgements] == ["inconclusive"]
    proof = case.networks[""].proofs.find_delay(0, 1)
    assert proof.most_ps is None
    assert proof.why == "x.e -> b: more may arrive than it serves"
    assert case.networks[""].proofs.find_delay(5, 6).why == "none of it is sent"


def test_a_bound_of_cells_is_none_of_their_frames(planned):
    (case,) = planned(
        """
        topology one {
          a, b = host
          link a -- b via media.stm1
        }
        test t on one {
          flow f = frames { cells = 3 cell, rate = 1_000 frame/s } from a to b
          run { measure = 1 ms }
          expect f.lost == 0 cell
        }
        """
    )
    proofs = case.networks[""].proofs
    assert proofs.find_delay(0, 1).most_ps is not None
    assert proofs.find_delay(1, 2).why == "what is proved is of cells, not of whole frames"


def test_the_rate_of_the_path_is_that_of_the_arrivals(planned) -> None:
    """Cells evenly apart wait for nothing, whatever their number."""
    text = ROUND.replace("source = replay { at = [0 us, 1 us, 2 us] }", "phases = even")
    text = text.replace("pcr = 100_000 cell/s", "pcr = 1_000 cell/s, connections = 400")
    text = text.replace("from b to c", "from b to a")
    case = case_of(planned, text, room="64", survivors="0 cell")
    assert case.networks[""].proofs.find_delay(0, 1).most_ps == Fraction(7 * US)


def test_criteria_may_be_about_bounds(planned, ran) -> None:
    text = ROUND.replace("h.q[2].occupancy.max >= 0 cell", "one.delay.bound <= 10 us")
    text = text.replace("expect one.r", "expect h.q[2].occupancy.bound == 3 cell\n  expect one.r")
    case = case_of(planned, text, room="64", survivors="6 cell")
    assert [judgement.verdict for judgement in ran(case).judgements] == ["pass"] * 3


@pytest.mark.slow
def test_a_long_chain_has_a_bound(planned) -> None:
    """Behind the first of equal lines nothing waits, and no depth of calls grows with the hops."""
    text = """
        device hop {
          port w, e: cell
          w.rx -> e.tx
          e.rx -> w.tx
        }
        topology chain {
          a, b = host
          x = hop(count = 550)
          link a -- x[0].w via line { rate = 424 Mbit/s @cell, slotted = false, length = 0 m }
          for i in 0 .. 548 {
            link x[i].e -- x[i + 1].w via line { rate = 424 Mbit/s @cell, slotted = false }
          }
          link x[549].e -- b via line { rate = 424 Mbit/s @cell, slotted = false }
        }
        test t on chain {
          flow f = ubr { pcr = 1_000 cell/s } from a to b
          run { measure = 1 ms }
          expect f.lost == 0
        }
    """
    (case,) = planned(text)
    assert case.networks[""].proofs.find_delay(0, 1).most_ps == 551 * US


IN_CELLS = """
device edge {
  port lan: packet
  port wan: cell
  cut = aal_segment
  join = aal_reassemble
  out = fifo { limit = 1_000 cell }
  back = fifo { limit = 100 pkt }
  lan.rx -> cut -> out -> wan.tx
  wan.rx -> join -> back -> lan.tx
}

topology cells {
  a, b = host
  left, right = edge
  link a -- left.lan via media.fast_ethernet
  link left.wan -- right.wan via line { rate = 4.24 Mbit/s @cell, slotted = false }
  link right.lan -- b via media.fast_ethernet
}

test t on cells {
  flow f = packets {
    size = 1_500 B @ip
    source = replay { at = [0 us, 0 us, 0 us] }
  } from a to b
  run { measure = 20 ms }
  expect f.lost == 0 pkt
}
"""


def test_packets_are_bounded_across_cells(planned, ran) -> None:
    """Three packets of 32 cells, each 100 us on the line.

    The bound is as if they were cut at once, and their last cells came one behind the other.
    """
    case = case_of(planned, IN_CELLS)
    measured_ps = ran(case).readings._tallies["f"].delays.max_ps
    assert measured_ps == (121_440 + 96 * 100_000 - 2 * 123_040 + 122_080) * 1_000
    proof = case.networks[""].proofs.find_delay(0, 1)
    last_ns = 122_080 + 2 * (123_040 - 100_000)
    assert proof.most_ps == (121_440 + 96 * 100_000 + last_ns) * 1_000 > measured_ps


def test_what_all_flows_have_in_common_is_found_once(
    planned, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was found again for each of them, which took half of the run of 2,000 flows."""
    asked: list[Key] = []
    arriving = Chains._list_arriving

    def note(chains: Chains, place: Place) -> Iterator[Key]:
        keys = list(arriving(chains, place))
        asked.extend(keys)
        return iter(keys)

    monkeypatch.setattr(Chains, "_list_arriving", note)
    flow = "flow one = ubr { pcr = 100 cell/s } from a to c"
    head, _, tail = ROUND.partition("  flow one")
    text = head + f"  for i in 0 .. 19 {{ {flow} }}\n  flow two" + tail.partition("  flow two")[2]
    case = case_of(planned, text.replace("one.rec", "one[0].rec"), room="64", survivors="4 cell")
    assert case.networks[""].proofs.find_delay(0, 1).most_ps
    places = 8  # inputs: of two lines and their switch, queue and line, there and behind
    assert 0 < len(asked) <= 21 * places

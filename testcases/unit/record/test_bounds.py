"""Proved bounds in a document, and in words."""

from fractions import Fraction
from types import SimpleNamespace

from qospec.catalogue.kinds import discover
from qospec.judge.readings import Bounded
from qospec.record.outcome import describe_bounds
from qospec.record.schema import BOUND, list_violations
from qospec.report.words import describe_proved_bounds
from qospec.run import trial
from qospec.units import COUNT

TEXT = """
let lane = line { rate = 424 Mbit/s @cell, slotted = false, length = 0 m }
device box {
  port w, e: cell
  q = fifo { limit = 9 cell }
  w.rx -> q -> e.tx
  e.rx -> w.tx
}
topology one {
  a, b = host
  x = box
  link a -- x.w via lane
  link x.e -- b via lane
}
test t on one {
  flow f = ubr { pcr = 100_000 cell/s, source = replay { at = [0 us, 0 us] } } from a to b
  flow none = ubr { pcr = 1 cell/s, source = replay { at = [1 s] } } from a to b
  flow back = ubr { pcr = 1_000 cell/s } from b to a
  run { measure = 1 ms }
  expect x.q.occupancy.max >= 0 cell
}
"""


def test_each_bound_stands_beside_what_was_measured(planned) -> None:
    (case,) = planned(TEXT)
    repeats = trial.run(case, discover(), lambda _: None).repeats
    documents = describe_bounds([repeat.readings for repeat in repeats])
    assert not list(list_violations(documents, [BOUND]))
    assert describe_proved_bounds({"bounds": documents}) == [
        "delay of f: at most 2 us, 2 us measured (100 %)",
        "delay of none: at most 2 us, nothing measured",
        "delay of back: at most 2 us, 2 us measured (100 %)",
        "items in x.q: at most 0, 0 measured",
    ]


def test_the_most_of_all_repeats_counts_whichever_comes_last() -> None:
    def repeat(measured: int | None) -> SimpleNamespace:
        most = None if measured is None else Fraction(measured)
        found = Bounded("items in q", Fraction(8), most, COUNT)
        return SimpleNamespace(list_bounds=lambda: [found])

    (document,) = describe_bounds([repeat(2), repeat(6), repeat(4), repeat(None)])
    assert document["measured"]["value"] == "6"
    assert document["share"]["value"] == "3/4"


def test_a_queue_without_a_bound_says_why(planned) -> None:
    text = TEXT.replace("cell\n  q = fifo { limit = 9 cell }", "packet\n  q = processor { PER }")
    text = text.replace("w.rx -> q -> e.tx", "w.rx -> q.entry[0]\n  q.exit[0] -> e.tx")
    text = text.replace("via lane", "via media.fast_ethernet").replace("0 cell", "0 pkt")
    text = text.replace("PER", "per_packet = 1 us, limit = 9 pkt, random_interruption = 1 ms")
    flow = "flow f = packets { rate = 1_000 pkt/s, size = 100 B @ip } from a to b\n  run"
    text = text[: text.index("flow f")] + flow + text.partition("run")[2]
    (case,) = planned(text)
    repeats = trial.run(case, discover(), lambda _: None).repeats
    documents = describe_bounds([repeat.readings for repeat in repeats])
    assert describe_proved_bounds({"bounds": documents}) == [
        "delay of f: x.q: its interruptions are random",
        "items in x.q: its interruptions are random",
    ]


def test_an_older_record_has_no_bounds() -> None:
    assert describe_proved_bounds({}) == []
    why = {"what": "delay of f", "most": None, "measured": None, "share": None, "why": "x: random"}
    assert describe_proved_bounds({"bounds": [why]}) == ["delay of f: x: random"]

"""Pause frames between queues: who hears them, what they count on, and that all drivers agree."""

from fractions import Fraction

import pytest
from drivers import by_definition, counted, seen

CHAIN = """
device sender {
  port host, line: packet
  out = pause_queue { limit = 1_000 pkt }
  sort = classify { told = pkt.message, rest = otherwise }
  host.rx -> out.in
  out -> line.tx
  line.rx -> sort
  sort.told -> out.heard
  sort.rest -> host.tx
}

device receiver {
  port line, next: packet
  wait = pause_queue { limit = 8 pkt, xoff = 3 pkt, quanta = 100 }
  told, back = fifo { limit = 10 pkt }
  out = strict { order = [told, back] }
  slow = media.fast_ethernet
  line.rx -> wait
  wait.out -> slow -> next.tx
  wait.pause -> told -> out.told
  next.rx -> back -> out.back
  out -> line.tx
}

topology chain {
  a, b = host
  s = sender
  r = receiver
  link a -- s.host via media.gigabit_ethernet
  link s.line -- r.line via media.gigabit_ethernet { length = 1 km }
  link r.next -- b via media.gigabit_ethernet
}

test t on chain {
  flow f = packets { rate = 900 Mbit/s @line, size = 1_500 B @ip } from a to b
  flow g = packets { rate = 300 Mbit/s @line, size = 400 B @ip } from b to a
  run { measure = 1 ms, overload = true }
  expect f.lost == 0
}
"""


def find_told(plans):
    ((network,),) = [case.networks.values() for case in plans]
    experiment = network.experiment
    return experiment, {node.path: node.told for node in experiment.nodes if node.told}


def test_the_nearest_queue_that_obeys_hears_it_and_quanta_are_those_of_its_own_line(planned):
    experiment, told = find_told(planned(CHAIN))
    ((path, one),) = told.items()
    assert path == "r.wait"
    assert one.bit_rate == Fraction(10**9)
    (stream,) = [stream for stream in experiment.streams.own if stream.kind == "messages"]
    assert one.connection == stream.first


def test_nobody_is_told_where_a_fifo_is_behind_the_link(planned, problems):
    deaf = CHAIN.replace(
        "out = pause_queue { limit = 1_000 pkt }\n", "out = fifo { limit = 9 pkt }\n"
    )
    deaf = deaf.replace("out.in\n", "out\n").replace("told -> out.heard", "told -> discard")
    assert find_told(planned(deaf))[1] == {}
    assert "W0638" in [problem.code for problem in problems.all]


BACK_BY_A_SLOW_LINE = CHAIN.replace(
    "  out -> line.tx\n}\n\ntopology",
    """  back_line = media.fast_ethernet
  out -> back_line -> line.tx
}

topology""",
)


def test_the_line_by_which_frames_go_back_decides_nothing_of_their_quanta(planned):
    (one,) = find_told(planned(BACK_BY_A_SLOW_LINE))[1].values()
    assert one.bit_rate == Fraction(10**9)


ALONE = """
device loop {
  port lan, line: packet
  w = pause_queue { limit = 10 pkt, xoff = 3 pkt, obeys = true }
  back = delay { time = 1 us }
  lan.rx -> w.in
  w.out -> line.tx
  w.pause -> back -> w.heard
  line.rx -> lan.tx
}

topology net {
  a, b = host
  s = loop
  link a -- s.lan via media.gigabit_ethernet
  link s.line -- b via media.fast_ethernet
}

test t on net {
  flow f = packets { rate = 300 Mbit/s @line, size = 1_500 B @ip } from a to b
  run { measure = 1 ms, overload = true }
  expect f.lost == 0
}
"""


def test_a_queue_that_tells_itself_is_heard_by_nobody(planned, problems):
    assert find_told(planned(ALONE))[1] == {}
    assert "W0638" in [problem.code for problem in problems.all]


CLASSES = CHAIN.replace(
    "limit = 8 pkt, xoff = 3 pkt", "limit = 8 pkt, xoff = 3 pkt, priorities = { some: 3 }"
).replace("-> wait\n", "-> wait.some\n")


@pytest.mark.parametrize(("priorities", "heard"), [("", 0), ("some: 5", 0), ("some: 3", 1)])
def test_a_priority_is_heard_only_where_it_stops_something(planned, problems, priorities, heard):
    given = f"limit = 1_000 pkt, priorities = {{ {priorities} }}"
    text = CLASSES
    if priorities:
        text = text.replace("limit = 1_000 pkt", given).replace("out.in", "out.some")
    assert len(find_told(planned(text))[1]) == heard
    assert ("W0638" in [problem.code for problem in problems.all]) == (not heard)


def test_all_drivers_agree(planned):
    experiment, _ = find_told(planned(CHAIN))
    whole = seen(experiment, 10**6, by_events=False)
    assert sum(whole.made.values()) > 5, "no pause frame was made"
    assert seen(experiment, 7, by_events=False) == whole
    assert by_definition(experiment) == whole
    assert counted(experiment) == whole.sums

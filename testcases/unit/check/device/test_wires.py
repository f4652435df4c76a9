"""Wires: which end is meant, what leads to a line, and what takes no time."""

import pytest


@pytest.mark.parametrize(("names", "more"), [("a, b", ""), ("a, b, c", ", or another of them")])
def test_a_wire_without_the_name_of_its_end_may_be_one_of_several(checked, names, more):
    """Two such wires are not both told to write the first."""
    box = f"""
device box {{
  port west, east: cell
  one = fifo {{ limit = 8 cell }}
  s = strict {{ order = [{names}] }}
  west.rx -> one
  one -> s
  s -> east.tx
  east.rx -> discard
}}
"""
    [problem] = [found for found in checked(box)[1] if found.code == "E0408"]
    assert problem.help == f"write `… -> s.a` or `… -> s.b`{more}"


@pytest.mark.parametrize(
    ("wires", "help_"),
    [
        ("west.rx -> first -> wait -> east.tx", "move `wait` before `first`"),
        (
            "west.rx -> first -> second -> east.tx",
            "remove one of them, or put a `line` between `first` and `second`",
        ),
        ("west.rx -> first -> slow -> second -> east.tx", None),
    ],
)
def test_two_queues_are_not_moved_before_each_other(checked, wires, help_):
    used = [name for name in ("first", "second", "wait", "slow") if f"> {name} " in wires]
    kinds = {"wait": "delay { time = 1 us }", "slow": "line { rate = 10 Mbit/s @cell }"}
    parts = "\n".join(f"{name} = {kinds.get(name, 'fifo { limit = 8 cell }')}" for name in used)
    text = f"device box {{\nport west, east: cell\n{parts}\n{wires}\neast.rx -> west.tx\n}}"
    assert [problem.help for problem in checked(text)[1]] == ([help_] if help_ else [])


@pytest.mark.parametrize(
    ("queue", "note"),
    [
        ("fifo", "a queue is emptied by the line it feeds, directly or through a scheduler"),
        ("codel", "`codel` goes by how long packets wait for the line it feeds"),
        ("pie", "`pie` goes by how long packets wait for the line it feeds"),
    ],
)
def test_a_queue_that_needs_its_line_is_not_sent_through_a_scheduler(checked, queue, note):
    text = f"""
device d {{
  port p, q: packet
  e = {queue} {{ limit = 64 pkt }}
  w = delay {{ time = 1 ms }}
  p.rx -> e -> w -> q.tx
  q.rx -> p.tx
}}
"""
    [problem] = [found for found in checked(text)[1] if found.code == "E0405"]
    assert problem.notes == (note,)


def test_a_queue_of_cells_is_not_told_how_long_packets_wait(checked):
    text = """
device d {
  port p, q: cell
  e = abr_queue { limit = 64 cell, feedback = explicit_rate }
  w = delay { time = 1 ms }
  p.rx -> e -> w -> q.tx
  q.rx -> p.tx
}
"""
    [problem] = [found for found in checked(text)[1] if found.code == "E0405"]
    assert problem.notes == ("`abr_queue` goes by the state of the line it feeds",)


def test_a_pause_queue_behind_a_scheduler_is_led_to_its_priorities(checked):
    text = """
device d {
  port p, q: packet
  e = pause_queue { limit = 64 pkt }
  f = fifo { limit = 64 pkt }
  s = strict { order = [e, f] }
  p.rx -> e.in
  e -> s.e
  q.rx -> f -> s.f
  s -> q.tx
}
"""
    [problem] = [found for found in checked(text)[1] if found.code == "E0405"]
    assert "`priorities`" in problem.help


def test_queues_that_tell_each_other_in_no_time_are_a_loop(checked):
    text = """
device d {
  port p, q: packet
  one, two = pause_queue {
    limit = 64 pkt, xoff = 5 pkt, obeys = true, priorities = { told: 7, data: 3 }
  }
  p.rx -> one.data
  q.rx -> two.data
  one.out -> q.tx
  two.out -> p.tx
  one.pause -> two.told
  two.pause -> one.told
}
"""
    assert "E0409" in [found.code for found in checked(text)[1]]

"""Wires of queues that stop each other: what leads to a line, and what takes no time."""


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

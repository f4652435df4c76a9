"""Invariants of devices: what they count, for each device, and what comes of one that is broken."""

from qospec.catalogue.kinds import discover
from qospec.record.outcome import describe_case
from qospec.run import trial

DEVICES = """
device box(room: Count) {
  port west, east, spare: cell
  there = fifo { limit = room }
  back = fifo { limit = room }
  west.rx -> there -> east.tx
  east.rx -> back -> west.tx
  spare.rx -> discard
  invariant kept: there.lost == 0
  invariant sums: west.rx.count == east.tx.count + there.overflow
  invariant shown: west.rx.count < 0 cell or spare.tx.count == spare.rx.count
}

topology bench(room: Count) {
  a, b = host
  x = box(room = room)
  y = box(room = 1_000 cell)
  link a -- x.west via media.stm1
  link x.east -- y.west via line { rate = 14.976 Mbit/s @cell }
  link y.east -- b via media.stm1
}

traffic clumps = ubr { pcr = 20_000 cell/s, source = burst { size = 20 cell, every = 1 ms } }

test t on bench(room = 4 cell) {
  control wide = bench(room = 100 cell)
  flow f = clumps from a to b
  run { warmup = 3 ms, measure = 7 ms }
  expect f.received > 0
}
"""


def test_each_device_in_its_place_has_its_invariants(planned) -> None:
    (case,) = planned(DEVICES)
    found = describe_case(case, trial.run(case, discover(), lambda _: None))
    held = {s["label"]: s["verdict"] for s in found["statements"] if s["kind"] == "invariant"}
    assert held == {
        f"{where}{device}: {label}": "pass"
        for where in ("", "wide.")
        for device in ("x", "y")
        for label in ("kept", "sums", "shown")
    } | {"x: kept": "error"}
    assert found["verdict"] == "error"


def test_the_whole_trial_is_counted_warmup_and_all(planned) -> None:
    (case,) = planned(DEVICES)
    result = trial.run(case, discover(), lambda _: None)
    planned_network, observation = result.repeats[0].readings._seen[""]
    came = observation.ledger.sum_items(planned_network.lines["a -> x.west"]).left
    left = observation.ledger.sum_items(planned_network.lines["x.east -> y.west"]).left
    lost = observation.ledger.lost["x.there", "overflow"]
    assert (came, left + lost) == (200, 200)
    assert observation.sent.sum() == 140
    assert planned_network.lines["x.east -> y.west"] == "x.there"


def test_what_is_discarded_outside_the_measurement_is_a_reason_too(planned) -> None:
    text = DEVICES.replace("warmup = 3 ms, measure = 7 ms", "warmup = 1 ms, measure = 6 us")
    text = text.replace("every = 1 ms }", "every = 1 ms }, phases = even")
    (case,) = planned(text.replace("control wide = bench(room = 100 cell)", ""))
    found = describe_case(case, trial.run(case, discover(), lambda _: None))
    (why,) = found["why"]
    assert why.startswith("no cell was discarded that was sent during the measurement; others")
    assert why.endswith(" were: x.there (28 overflow)")


def test_an_invariant_is_no_criterion(planned) -> None:
    text = DEVICES.replace("expect f.received > 0", "report f.received")
    (case,) = planned(text.replace("room = 4 cell", "room = 100 cell"))
    found = describe_case(case, trial.run(case, discover(), lambda _: None))
    assert found["verdict"] == "measured"

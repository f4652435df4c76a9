"""Devices are fuzzed: what breaks an invariant is found, and fails in the file that is kept."""

import re
from pathlib import Path

import pytest
from hypothesis import Phase, find, settings
from hypothesis import strategies as st

from qospec.catalogue.kinds import discover
from qospec.check import Checked, check
from qospec.diagnostics import Problems
from qospec.engine.machine import state
from qospec.fuzz.devices import SPEAKER
from qospec.fuzz.explore import Block, explore
from qospec.fuzz.target import Violation
from qospec.fuzz.targets import list_targets
from qospec.plan.plan import Bounds, plan
from qospec.resources import STDLIB
from qospec.run.runner import run_alone

TOO_MANY = """qos 1
device switch(buffer: Count = 2 cell) {
  port west, east: cell
  there = fifo { limit = buffer %s }
  west.rx -> there -> east.tx
  east.rx -> west.tx
  invariant limited: there.occupancy.max <= buffer
}
"""


def target(text: str, folder: Path):
    (folder / "switches.qos").write_text(text, encoding="utf-8")
    checked = Checked([folder / "switches.qos"], discover())
    assert not checked.problems.errors
    (only,) = list_targets(checked)
    return only


def broken(text: str, folder: Path) -> list[str]:
    """Return what breaks in a file, as `qos run` finds it."""
    path = folder / "kept.qos"
    path.write_text(text, encoding="utf-8")
    problems = Problems()
    (planned,) = plan(check([path], discover(), problems), "0", Bounds(), problems)
    assert not problems.errors
    found = run_alone(planned, Bounds(), lambda: None)
    assert found["errors"] == []
    return [
        statement["label"].rpartition(": ")[2]
        for statement in found["statements"]
        if statement["verdict"] in ("error", "fail")
    ]


@pytest.mark.slow
def test_a_queue_with_a_place_too_many_is_found_and_shrunk(tmp_path):
    (finding,) = explore(target(TOO_MANY % "+ 1 cell", tmp_path), Block(0, 60, "0")).findings
    assert finding.statement == "limited"
    assert finding.reason == "there.occupancy.max <= buffer: of dut it is 3 cell, needed <= 2 cell"
    assert finding.text.count("  flow ") == 1
    assert "peer" not in finding.text
    assert broken(finding.text, tmp_path) == ["limited"]
    target(TOO_MANY % "", tmp_path)  # mends it
    assert broken(finding.text, tmp_path) == []


TWO = """qos 1
device pipe {
  port west, east: cell
  there = fifo { limit = 50 cell }
  west.rx -> there -> east.tx
  east.rx -> west.tx
  invariant short: there.occupancy.max <= 2 cell
  invariant dead: east.tx.count == 0
}
"""


@pytest.mark.slow
def test_a_scenario_that_breaks_another_promise_is_no_smaller_one(tmp_path):
    """One cell is enough for the second; three at once break the first, and so the second, too."""
    found = explore(target(TWO, tmp_path), Block(0, 60, "0")).findings
    assert {finding.statement for finding in found} == {"short", "dead"}
    shown = {item.statement for item in found if item.statement in broken(item.text, tmp_path)}
    assert shown == {"short", "dead"}


@pytest.mark.slow
def test_nothing_is_found_of_a_sound_device(tmp_path):
    explored = explore(target(TOO_MANY % "", tmp_path), Block(0, 30, "0"))
    assert explored.findings == ()
    assert explored.reached["loss: there (overflow)"]
    assert explored.reached["full queue: there"]
    assert explored.reached["item behind: there"]


@pytest.mark.slow
def test_what_may_happen_is_known_of_a_device(tmp_path):
    text = """qos 1
    device router {
      port west, east: packet
      classes = classify { urgent = pkt.dscp == 63 and pkt.dscp == 62, rest = otherwise }
      guard = police { cir = 1 Mbit/s @ip, cbs = 1_500 B }
      there = fifo { limit = 5 pkt }
      west.rx -> classes
      classes.urgent -> guard -> there
      classes.rest -> there -> east.tx
      east.rx -> west.tx
    }
    """
    subject = target(text, tmp_path)
    assert subject.reachable == {
        "full queue: there",
        "item behind: classes.urgent",
        "item behind: classes.rest",
        "item behind: guard",
        "item behind: there",
        "loss: guard (policed)",
        "loss: there (overflow)",
    }
    # No packet has both code points.
    never = subject.reachable - set(explore(subject, Block(0, 40, "0")).reached)
    assert never >= {"item behind: classes.urgent", "item behind: guard", "loss: guard (policed)"}
    assert "item behind: classes.rest" not in never


WATCHES = """qos 1
device guard(patience: Time = 1 us) {
  port west, east: cell
  there = fifo { limit = 50 cell }
  west.rx -> watch.in
  watch.out -> there -> east.tx
  east.rx -> west.tx
  machine watch {
    timers = { rest: patience, long: 1_000 s }
    state idle { on item -> seen { start = [rest] } }
    state seen {
      on rest -> done { start = [long] }
    }
    state done { on long -> idle }
  }
}
"""


def test_what_a_machine_never_does_is_known(tmp_path):
    subject = target(WATCHES, tmp_path)
    of_machine = {name for name in subject.reachable if name.startswith(("state", "transition"))}
    assert of_machine == {
        "state: watch.idle",
        "state: watch.seen",
        "state: watch.done",
        "transition: watch.idle: on item -> seen",
        "transition: watch.seen: on rest -> done",
        "transition: watch.done: on long -> idle",
    }
    never = of_machine - set(explore(subject, Block(0, 5, "0")).reached)
    assert never == {"transition: watch.done: on long -> idle"}  # no trial is that long


def test_a_device_that_hangs_is_stopped_and_found(tmp_path, monkeypatch):
    monkeypatch.setattr(state, "MOST_TRANSITIONS", 1_000)
    ends = "state seen {\n      on rest -> done { start = [long] }"
    never_ends = "state seen {\n      on rest -> seen { start = [rest] }, on long -> done"
    text = WATCHES.replace("start = [rest] }", "start = [rest, long] }").replace("1 us", "1 ns")
    subject, found = target(text.replace(ends, never_ends), tmp_path), list[Violation]()

    def fails(data: st.DataObject) -> bool:
        found.extend(subject.run(data.draw).violations)
        return bool(found)

    find(st.data(), fails, settings=settings(derandomize=True, phases=[Phase.generate]))
    assert found[0].statement == "end"
    assert "takes more than 1_000 transitions, the last one in state `seen`" in found[0].reason


TALK = """qos 1
device asker {
  port line: cell
  queue = fifo { limit = 16 cell }
  line.rx -> ask.line
  ask.line -> queue -> line.tx
  machine ask {
    ports = [line]
    messages = [request, answer]
    state idle { on begin -> waiting { send = [request] } }
    state waiting { on answer -> done }
    state done {}
  }
  invariant unanswered: ask.done.entered == 0
}
"""
ANSWERER = """
device replier {
  port line: cell
  queue = fifo { limit = 16 cell }
  line.rx -> reply.line
  reply.line -> queue -> line.tx
  machine reply {
    ports = [line]
    messages = [request, answer]
    state idle { on request -> idle { send = [answer] } }
  }
}
"""


@pytest.mark.slow
def test_a_device_speaks_with_another_of_its_file(tmp_path):
    (tmp_path / "talk.qos").write_text(TALK + ANSWERER, encoding="utf-8")
    checked = Checked([tmp_path / "talk.qos"], discover())
    asker, replier = list_targets(checked)
    explored = explore(asker, Block(0, 3, "0"))
    (finding,) = explored.findings
    assert finding.statement == "unanswered"
    assert "speaker0 = talk.replier()" in finding.text
    assert broken(finding.text, tmp_path) == ["unanswered"]
    assert explore(replier, Block(0, 3, "0")).reached["transition: reply.idle: on request -> idle"]


def test_a_device_with_which_none_speaks_is_not_examined(tmp_path):
    explored = explore(target(TALK, tmp_path), Block(0, 3, "0"))
    assert set(explored.refused) == {SPEAKER}


@pytest.mark.slow
def test_an_invariant_that_divides_by_zero_is_not_taken_for_kept(tmp_path):
    ratio = TOO_MANY.replace("there.occupancy.max <= buffer", "there.lost / west.rx.count < 2")
    explored = explore(target(ratio % "", tmp_path), Block(0, 20, "0"))
    assert explored.findings == ()
    assert 0 < explored.unjudged["limited"] < 20, "where nothing is sent there, it is unknown"


@pytest.mark.slow
def test_equal_seeds_find_the_same(tmp_path):
    subject = target(TOO_MANY % "+ 1 cell", tmp_path)
    first, second = (explore(subject, Block(0, 20, "7")) for _ in range(2))
    assert first == second


def items_before_and_after_the_change(text: str) -> tuple[float, float]:
    """Return how many packets a case sends until its only flow changes, and from then on."""
    numbers = (
        r"measure = ([\d.]+) ms\s+pace0 = ([\d_]+) pkt/s\s+at ([\d.]+) ms \{ pace0 = ([\d_]+) "
    )
    found = re.search(numbers, text)
    assert found is not None
    measured_ms, before, changed_ms, later = map(float, found.groups())
    return before * changed_ms / 1_000, later * (measured_ms - changed_ms) / 1_000


@pytest.mark.nightly
def test_a_fault_is_found_that_only_a_falling_load_shows(tmp_path):
    (folder := tmp_path / "found").mkdir()
    checked = Checked([STDLIB / "devices" / "broken" / "meters.qos"], discover())
    (subject,) = (target for target in list_targets(checked) if target.name == "flood_guard")
    (finding,) = explore(subject, Block(0, 100, "0")).findings
    assert finding.statement == "opens"
    assert re.search(
        r"  point p \{\n    measure = .*\n    pace0 = .*\n    at .* \{ pace0 = ", finding.text
    )
    assert finding.text.count("  flow ") == 1
    assert broken(finding.text, folder) == ["opens"]
    flooded, later = items_before_and_after_the_change(finding.text)
    assert 198 <= flooded <= 204, "it shuts after 200 that come densely"
    assert 19 <= later <= 21, "and what follows are 20 gaps, of one packet each"
    mended = finding.text.replace("meters.flood_guard", "meters.flood_guard(fault = false)")
    assert broken(mended, folder) == []
    steady = re.sub(r"    at .*\n", "", finding.text)
    assert broken(steady, folder) == []


def test_each_broken_device_says_how_to_mend_it():
    checked = Checked([STDLIB / "devices" / "broken"], discover())
    assert not checked.problems.all
    subjects = list(list_targets(checked))
    assert len(subjects) == 14
    assert all(subject.device.choices["fault"] == ["", "false"] for subject in subjects)
    assert all(
        subject.device.get_template((("fault", "false"),)) is not None for subject in subjects
    )


SEALS = """qos 1
device gateway(family: Name = ipv6) {
  port inner, outer: packet
  seal = esp_encrypt { encryption = aes_128_gcm, mode = transport, family = family }
  open = esp_decrypt { encryption = aes_128_gcm, mode = transport, family = family }
  out, back = fifo { limit = 64 pkt }
  inner.rx -> seal -> out -> outer.tx
  outer.rx -> open -> back -> inner.tx
}
"""


@pytest.mark.slow
def test_packets_are_of_the_family_that_a_device_takes(tmp_path):
    explored = explore(target(SEALS, tmp_path), Block(0, 12, "0"))
    assert explored.findings == ()
    assert "what E0311 asks for" not in explored.refused
    assert explored.reached["item behind: open"]


@pytest.mark.slow
def test_two_links_may_be_offered_more_than_they_carry(tmp_path):
    explored = explore(target(TOO_MANY % "", tmp_path), Block(0, 40, "0"))
    assert "what E0305 asks for" not in explored.refused

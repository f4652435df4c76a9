"""A search drives towards proved bounds, says how close it came, and finds what is beyond them."""

from dataclasses import replace

import pytest
from unit.fuzz.test_devices import TOO_MANY, target

from qospec.elements.processor import Processor
from qospec.fuzz.aims import Aim, select_closest
from qospec.fuzz.explore import Block, explore

SLOW = """qos 1
device forwarder {
  port west, east: packet
  cpu = processor { per_packet = 20 us, limit = 64 pkt }
  west.rx -> cpu.entry[0]
  cpu.exit[0] -> east.tx
  east.rx -> west.tx
}
"""


def test_words_say_100_only_if_nothing_is_missing():
    assert Aim(0.9999, "its limit").words == "99 % of its limit"
    assert Aim(1.0, "its proved bound of 1 ms").words == "100 % of its proved bound of 1 ms"


def test_the_closest_of_each_is_kept():
    near, far = Aim(0.9, "its limit"), Aim(0.2, "its limit")
    found = select_closest([("delay", far), ("backlog of q", far), ("delay", near), ("delay", far)])
    assert found == {"delay": near, "backlog of q": far}


@pytest.mark.slow
def test_a_queue_is_driven_to_its_bound(tmp_path):
    explored = explore(target(TOO_MANY % "", tmp_path), Block(0, 60, "0"))
    found = dict(explored.closest)
    assert sorted(found) == ["backlog of there", "delay", "fill of there"]
    assert found["backlog of there"].share == 1
    assert 0.7 < found["delay"].share <= 1
    assert found["delay"].of.startswith("its proved bound of ")


@pytest.mark.slow
def test_a_delay_beyond_its_bound_is_a_finding_of_its_own_kind(tmp_path, monkeypatch):
    right = Processor.start

    def slower(self: Processor, setting: object) -> object:
        return right(replace(self, per_packet=self.per_packet + 1), setting)

    monkeypatch.setattr(Processor, "start", slower)
    (finding,) = explore(target(SLOW, tmp_path), Block(0, 60, "0")).findings
    assert (finding.statement, finding.slug) == ("bound", "bound")
    assert "was delayed by" in finding.reason
    assert "and at most" in finding.reason

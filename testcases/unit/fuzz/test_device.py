"""What is drawn of a device: its parameters' values and its ports, from its declaration."""

from pathlib import Path

import pytest

from qospec.catalogue.kinds import discover
from qospec.check import Checked
from qospec.fuzz.device import list_devices, list_ports, locate_module
from qospec.resources import STDLIB

INNER = """
device inner(room: Count, oam: Name) {
  port west, east: cell
  upc = gcra { oam = oam }
  queue = fifo { limit = room }
  west.rx -> upc -> queue -> east.tx
  east.rx -> west.tx
}
"""


@pytest.fixture
def device(tmp_path: Path):
    """Return a function that gives the device `it` of a text."""

    def found(text: str):
        path = tmp_path / "a.qos"
        path.write_text(f"qos 1\n{text}", encoding="utf-8")
        checked = Checked([path], discover())
        assert not checked.problems.errors
        return {device.name: device for device in list_devices(checked)}["it"]

    return found


def device_with(parameter: str, field: str) -> str:
    return f"""
    let costs = {{ slow: 20 us, fast: 10 us }}
    device it({parameter}) {{
      port west, east: packet
      cpu = processor {{ {field} }}
      west.rx -> cpu.entry[0]
      east.rx -> cpu.entry[1]
      cpu.exit[0] -> east.tx
      cpu.exit[1] -> west.tx
    }}
    """


def test_the_default_comes_first_and_numbers_around_it_follow(device):
    text = device_with("each: Time = 20 us", "ports = 2, per_packet = each, limit = 4 pkt")
    choices = device(text).choices["each"]
    assert choices[:4] == ["", "10 us", "40 us", "5 us"]
    assert "0 s" not in choices, "a processor takes some time for each packet"


def test_a_word_is_a_choice_of_the_field_that_it_is_used_in(device):
    text = (
        INNER
        + """
    device it(policing: Name = joint) {
      port west, east: cell
      stage = inner(room = 4 cell, oam = policing)
      west.rx -> stage.west.rx
      stage.west.tx -> west.tx
      east.rx -> stage.east.rx
      stage.east.tx -> east.tx
    }
    """
    )
    assert device(text).choices["policing"] == ["", "separate", "exempt"]


def test_a_word_is_a_key_of_the_map_that_it_chooses_from(device):
    text = device_with("kind: Name", "ports = 2, per_packet = costs[kind], limit = 4 pkt")
    assert device(text).choices["kind"] == ["slow", "fast"]


def test_what_cannot_be_known_is_not_drawn(device):
    text = device_with("kind: Name", "ports = 2, per_packet = 5 us, limit = 4 pkt") + ""
    assert device(text).undrawn == ("kind",)


def test_ports_depend_on_the_parameters(device):
    text = """
    device it(ports: Int = 2) {
      port p[ports]: packet
      fabric = router { ports = ports }
      for i in 0 .. ports - 1 { p[i].rx -> fabric.entry[i], fabric.exit[i] -> p[i].tx }
    }
    """
    it = device(text)
    assert [port.name for port in list_ports(it.get_template((("ports", "3"),)))] == [
        "p[0]",
        "p[1]",
        "p[2]",
    ]
    assert it.get_template((("ports", "0"),)) is None


def test_the_library_is_imported_by_its_name_and_a_project_from_its_root(tmp_path):
    assert locate_module((STDLIB / "devices" / "sitline.qos").resolve())[0] == "std.devices.sitline"
    (tmp_path / "qos.toml").write_text("")
    (tmp_path / "lab").mkdir()
    file = tmp_path / "lab" / "edge.qos"
    file.write_text("qos 1\n")
    module, beside = locate_module(file.resolve())
    assert (module, beside.parent) == ("lab.edge", tmp_path.resolve())


def test_the_marks_are_known_by_which_a_device_tells_classes_apart(device):
    text = """
    device inner(own: Int = 5) {
      port west, east: packet
      classes = classify { b = pkt.priority >= 3, rest = otherwise }
      west.rx -> classes
      classes.b -> east.tx
      classes.rest -> discard
      east.rx -> west.tx
    }
    device it(fault: Bool = true) {
      port west, east: packet
      let some = [46, 12] if fault else []
      classes = classify { a = pkt.dscp in some, c = pkt.dscp == 10, rest = otherwise }
      stage = inner()
      west.rx -> classes
      classes.a -> stage.west.rx
      classes.c -> discard
      classes.rest -> discard
      stage.east.tx -> east.tx
      east.rx -> stage.east.rx
      stage.west.tx -> west.tx
    }
    """
    assert device(text).named == {"dscp": (10, 12, 46), "priority": (3,)}

"""Devices: their elements and their wires."""

import pytest

BACK = "east.rx -> discard"


def device(*lines):
    body = "\n  ".join(("port west, east: cell", *lines))
    return f"device box {{\n  {body}\n}}\n"


SORT = "sort = classify { high = vc.category == cbr, low = otherwise }"


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        ((SORT, "west.rx -> sort", "sort.high -> east.tx", BACK), "E0402"),
        (("w = delay { time = 1 s }", "w -> east.tx", "west.rx -> discard", BACK), "E0403"),
        (("west.rx -> east.tx", "west.rx -> discard", BACK), "E0404"),
        (("q = fifo { limit = 1 cell }", "west.rx -> q -> discard", BACK), ""),
        (("q = fifo { limit = 1 cell }", "west.rx -> q -> terminate", BACK), "E0405"),
        (("west.rx -> west.rx", BACK), "E0407"),
        (("west.rx -> discard -> east.tx", BACK), "E0407"),
        (("west -> east.tx", BACK), "E0407"),
        ((SORT, "west.rx -> sort -> east.tx", "sort.low -> discard", BACK), "E0408"),
        (("west.rx -> east.tx",), "E0410"),
        (("west.rx -> esat.tx", BACK), "E0101"),
        (("q = fifo { limit = 1 s }", "west.rx -> q -> east.tx", BACK), "E0202"),
        (("west.rx -> east.tx", BACK, "flow f = x from a to b"), "E0112"),
        (("west.rx -> east.tx", BACK, "invariant west.rx == 0"), "E0423"),
        ((SORT + " {}", "west.rx -> east.tx", BACK), ""),
        (("west.rx -> east.tx", BACK, "p = 5"), "E0419"),
    ],
)
def test_wires_keep_the_rules(codes, lines, code):
    found = codes(device(*lines))
    if "{}" in " ".join(lines):
        assert found
    else:
        assert found == ([code] if code else [])


def test_a_device_that_nobody_uses_is_checked_with_unknown_parameters(codes):
    text = """
device switch(ports: Int, rate: CellRate) {
  port p[ports]: cell
  fabric = vc_switch { ports = ports }
  for i in 0 .. ports - 1 {
    out = fifo { limit = rate }
    p[i].rx -> fabric.entry[i]
    fabric.exit[i] -> out -> p[i].tx
  }
}
"""
    assert codes(text) == ["E0202"]
    assert codes(text.replace("limit = rate", "limit = 8 cell")) == ["W0621"]


def test_a_wire_from_an_unknown_place_still_feeds_where_it_ends(codes):
    """With `ports` unknown, `exit[i]` and `exit[ports]` look alike."""
    text = """
device switch(ports: Int = 2) {
  port p[ports], trunk: cell
  fabric = vc_switch { ports = ports + 1 }
  for i in 0 .. ports - 1 {
    wait = delay { time = 1 us }
    p[i].rx -> fabric.entry[i]
    fabric.exit[i] -> wait -> p[i].tx
  }
  trunk.rx -> fabric.entry[ports]
  fabric.exit[ports] -> trunk.tx
}
"""
    assert codes(text) == []
    assert codes(text.replace("fabric.exit[i] -> wait", "wait")) == ["E0403"]


def test_an_element_of_a_loop_is_an_array_outside(codes):
    text = device(
        "for i in 1 .. 2 {\n    wait = delay { time = i * 1 us }\n  }",
        "west.rx -> wait[1] -> wait[2] -> east.tx",
        BACK,
    )
    assert codes(text) == []
    assert codes(text.replace("wait[2]", "wait[3]")) == ["E0215"]


@pytest.mark.parametrize(
    ("condition", "code"),
    [
        ("vc.category == crb", "E0214"),
        ("cell.size == 3", "E0416"),
        ("cell.clp == 2", "E0205"),
        ("cell.clp", "E0416"),
        ("cell.oam == 1", "E0204"),
        ("vc.path in 3", "E0204"),
    ],
)
def test_a_class_asks_only_what_is_known(codes, condition, code):
    sort = f"sort = classify {{ high = {condition}, low = otherwise }}"
    assert codes(
        device(sort, "west.rx -> sort", "sort.high -> discard", "sort.low -> discard", BACK)
    ) == [code]


def test_every_cell_has_a_class(checked):
    sort = "sort = classify { a = cell.oam, b = vc.path < 3 and not cell.oam }"
    _, (problem,) = checked(
        device(sort, "west.rx -> sort", "sort.a -> discard", "sort.b -> discard", BACK)
    )
    assert problem.code == "E0415"
    assert "VPI 3" in problem.notes[0]


def test_an_element_that_is_fed_is_reported_for_its_output(checked):
    text = """device box {
  port p[1]: cell
  dly = delay { time = 1 us }
  p[0].rx -> dly
}
"""
    _, (problem,) = checked(text)
    assert (problem.code, problem.label) == ("E0402", "its output goes nowhere")

"""The table of lines, nodes and elements: each once, and where it is."""

import pytest

from qospec.report.parts import list_parts, name_links, name_members
from qospec.report.render import render


def element(*names, kind="fifo", given=()):
    return {
        "names": [*names],
        "kind": kind,
        "given": [list(pair) for pair in given],
        "defaults": [["drop", "tail"]] if kind == "fifo" else [],
    }


def node(*names, given=(), elements=(), device="switch"):
    given = [list(pair) for pair in given]
    return {
        "names": [*names],
        "device": device,
        "given": given,
        "defaults": [["transit", "9 us"]],
        "elements": [*elements],
    }


def line(*links, rate="1 Gbit/s @line"):
    links = [list(ends) for ends in links]
    return {"links": links, "rate": rate, "delay": "5 us", "given": [], "defaults": []}


EDGE = node(
    "east", given=[("ports", "2")], elements=[element("q[0]", "q[1]", given=[("limit", "9 cell")])]
)
CORE = node(
    "core",
    given=[("ports", "5")],
    elements=[
        element("q[0]", "q[1]", "q[2]", given=[("limit", "9 cell")]),
        element("upc", kind="gcra", given=[("oam", "separate")]),
    ],
)


@pytest.fixture
def described(document):
    """Return a record of which two tests have networks, the second without the core."""
    first, second = document["tests"][:2]
    first["networks"] = {"": {"lines": [line(("a[0]", "left[0].p"))], "nodes": [EDGE, CORE]}}
    second["networks"] = {
        "": {
            "lines": [line(("a[0]", "left[0].p")), line(("east.p[1]", "b"), rate="2 Gbit/s @line")],
            "nodes": [EDGE],
        }
    }
    return document


def test_what_is_equal_is_one_row_with_the_tests_it_is_in(described):
    parts = list_parts(described)
    assert [(line["rate"], line["tests"]) for line in parts["lines"]] == [
        ("1 Gbit/s @line", []),
        ("2 Gbit/s @line", ["repeated"]),
    ]
    (device,) = parts["devices"]
    assert [(node["names"], node["tests"]) for node in device["nodes"]] == [
        (["east"], []),
        (["core"], ["data_plane"]),
    ]
    assert [(element["names"], element["nodes"]) for element in device["elements"]] == [
        (["q[0]", "q[1]", "q[2]"], []),
        (["upc"], ["core"]),
    ]


def test_the_method_has_given_parameters_apart_from_defaults(described):
    page = render(described, {}, "html")
    _, _, table = page.partition('aria-label="Lines and nodes"')
    table = table.partition("</table>")[0]
    assert "<td>ports 5</td><td>transit 9 µs</td>" in table
    assert "<td>limit 9 cell</td><td>drop tail</td>" in table
    assert "q[0..2]" in table
    assert ">data_plane</small>" in table
    before, _, drawing = page.partition('id="h-test-2"')
    assert ">2 × 1 Gbit/s</text>" in before, "a[0] and a[1] are one box"
    assert 'class="times' not in drawing.partition("</figure>")[0], "its links have no line"


def test_a_record_without_networks_has_no_table(document):
    assert 'aria-label="Lines and nodes"' not in render(document, {}, "html")


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["a"], "a"),
        (["a[0]", "a[1]", "a[2]", "b"], "a[0..2], b"),
        (["a[0].p", "a[2].p"], "a[0,2].p"),
        (["a[0].p[1]", "a[1].p[1]"], "a[0,1].p[1]"),
        (["a[0].p[0]", "a[1].p[1]", "a[2].p[2]"], "a[0].p[0] .. a[2].p[2]"),
    ],
)
def test_members_of_arrays_are_named_together(names, said):
    assert name_members(names) == said


def test_links_between_arrays_are_named_together():
    links = [*([f"a[{n}]", f"left.p[{n}]"] for n in range(4)), ["left.p[0]", "b"]]
    assert name_links(links) == "a[0..3] – left.p[0..3], left.p[0] – b"

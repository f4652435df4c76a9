import pytest

from qospec.report.charts.topology import draw_topology


def labels(links):
    return [box["label"] for box in draw_topology(links)["boxes"]]


def texts(line):
    return [label["text"] for label in line["labels"]]


def columns(links):
    """Return the labels by column, from left to right and top to bottom."""
    found = {}
    for box in draw_topology(links)["boxes"]:
        found.setdefault(box["x"], []).append((box["y"], box["label"]))
    return [[label for _, label in sorted(of)] for _, of in sorted(found.items())]


def test_links_are_layers_from_left_to_right():
    assert columns([["a", "left"], ["left", "west"], ["west", "b"]]) == [
        ["a"],
        ["left"],
        ["west"],
        ["b"],
    ]


def test_members_of_an_array_that_see_the_same_are_one_box():
    links = [pair for i in range(4) for pair in ([f"a[{i}]", f"left[{i}]"], [f"left[{i}]", "west"])]
    drawn = draw_topology(links)
    assert [box["label"] for box in drawn["boxes"]] == ["a[0..3]", "left[0..3]", "west"]
    assert [texts(line) for line in drawn["lines"]] == [["4 ×"], ["4 ×"]]


def test_members_of_an_array_that_see_different_things_are_apart():
    links = [["a[0]", "left"], ["a[1]", "left"], ["a[2]", "plain"], ["left", "w"], ["plain", "w"]]
    assert set(labels(links)) == {"a[0,1]", "a[2]", "left", "plain", "w"}


@pytest.mark.parametrize(
    ("indices", "label"), [((0, 1, 2, 4), "a[0..2,4]"), ((0, 1), "a[0,1]"), ((3, 5), "a[3,5]")]
)
def test_a_box_names_its_members(indices, label):
    assert label in labels([[f"a[{i}]", "sw"] for i in indices])


def test_a_link_within_an_array_keeps_its_members_apart():
    ring = [["sw[0]", "sw[1]"], ["sw[1]", "sw[2]"], ["sw[2]", "sw[0]"]]
    assert labels(ring) == ["sw[0]", "sw[1]", "sw[2]"]
    assert len(draw_topology(ring)["lines"]) == 3


def test_an_end_that_was_written_first_still_stands_at_the_right():
    assert columns([["src", "sw"], ["snk", "sw"]]) == [["src"], ["sw"], ["snk"]]
    links = [["b", "enc_b"], ["a", "enc_a"], ["enc_a", "core"], ["core", "enc_b"]]
    assert columns(links)[-1] == ["b"]


def test_a_cycle_is_drawn():
    links = [["a", "x"], ["x", "y"], ["y", "x"], ["y", "b"]]
    assert columns(links) == [["a"], ["x"], ["y"], ["b"]]
    loop = draw_topology([["x", "x"]])
    assert [box["label"] for box in loop["boxes"]] == ["x"]


def test_a_line_over_a_layer_passes_between_its_boxes():
    drawn = draw_topology([["a", "x"], ["x", "b"], ["a", "b"]])
    middle = next(box for box in drawn["boxes"] if box["label"] == "x")
    over = drawn["lines"][2]["points"]
    assert len(over) == 4
    assert not middle["y"] <= over[1][1] <= middle["y"] + middle["height"]


def test_lines_cross_no_more_than_they_must():
    links = [["a", "p"], ["b", "q"], ["p", "y"], ["q", "x"], ["y", "z"], ["x", "z"]]
    first, second, third, _ = columns(links)
    assert (first, second, third) in (
        (["a", "b"], ["p", "q"], ["y", "x"]),
        (["b", "a"], ["q", "p"], ["x", "y"]),
    )


def test_everything_lies_within_the_drawing():
    drawn = draw_topology(
        [[f"a[{i}]", "sw" if i else "other"] for i in range(9)] + [["other", "sw"]]
    )
    for box in drawn["boxes"]:
        assert 0 <= box["x"] <= box["x"] + box["width"] <= drawn["width"]
        assert 0 <= box["y"] <= box["y"] + box["height"] <= drawn["height"]


def test_nothing_is_drawn_of_nothing():
    assert draw_topology([])["boxes"] == []


def line(rate, delay, *links):
    return {"rate": rate, "delay": delay, "links": [list(ends) for ends in links]}


def test_lines_have_their_rate_and_their_delay():
    links = [["a", "left"], ["left", "b"]]
    lines = [
        line("1 Gbit/s @line", "0 s", ("a", "left.p")),
        line("10 Mbit/s @cell", "50 us", ("left.q", "b")),
    ]
    drawn = draw_topology(links, lines)["lines"]
    assert [texts(line) for line in drawn] == [["1 Gbit/s"], ["10 Mbit/s @cell", "50 us"]]


def test_links_drawn_as_one_line_have_all_their_rates_unless_they_are_many():
    links = [[f"a[{n}]", "sw"] for n in range(3)]
    two = [line(f"{min(n, 1)} Gbit/s @line", "0 s", (f"a[{n}]", f"sw.p[{n}]")) for n in range(3)]
    assert [texts(line) for line in draw_topology(links, two)["lines"]] == [
        ["3 × 0 Gbit/s, 1 Gbit/s"]
    ]
    three = [line(f"{n} Gbit/s @line", "0 s", (f"a[{n}]", f"sw.p[{n}]")) for n in range(3)]
    assert [texts(line) for line in draw_topology(links, three)["lines"]] == [["3 ×"]]


def test_two_links_between_two_nodes_are_counted():
    lines = [line("1 Gbit/s @line", "0 s", ("a.p", "b.p"), ("a.q", "b.q"))]
    (drawn,) = draw_topology([["a", "b"]], lines)["lines"]
    assert texts(drawn) == ["2 × 1 Gbit/s"]


def test_no_two_texts_stand_at_one_place_and_each_has_room():
    mesh = [[a, b] for a in "abcd" for b in "abcd" if a < b]
    rates = [line("149.8 Mbit/s @cell", f"{n} us", ends) for n, ends in enumerate(mesh, 1)]
    drawn = draw_topology(mesh, rates)
    places = [(label["x"], label["y"]) for line in drawn["lines"] for label in line["labels"]]
    assert len(places) == len(set(places)) > 4
    lefts = sorted({box["x"] for box in drawn["boxes"]})
    rights = sorted({box["x"] + box["width"] for box in drawn["boxes"]})
    # 18 characters of some 6 px
    assert all(left - right > 18 * 6 for left, right in zip(lefts[1:], rights, strict=False))


def test_what_many_lines_all_are_is_said_once():
    links = [["a", "sw"], ["b", "sw"], ["sw", "c"], ["sw", "d"]]
    alike = line("1 Gbit/s @line", "5 us", *links)
    drawn = draw_topology(links, [alike])
    assert drawn["each"] == "1 Gbit/s, 5 us"
    assert [texts(one) for one in drawn["lines"]] == [[]] * 4
    few = draw_topology(links[1:], [{**alike, "links": links[1:]}])
    assert few["each"] == ""
    assert [texts(one) for one in few["lines"]] == [["1 Gbit/s", "5 us"]] * 3
    other = line("1 Gbit/s @line", "6 us", links.pop())
    assert (
        draw_topology([*links, other["links"][0]], [{**alike, "links": links}, other])["each"] == ""
    )


def test_texts_stand_where_their_line_does_not_go():
    """Lines from three boxes to one: the upper one falls, the lower one rises."""
    links = [["a", "x"], ["b", "x"], ["c", "x"], ["x", "y"]]
    drawn = draw_topology(
        links, [line("1 Gbit/s @line", f"{n} us", e) for n, e in enumerate(links, 1)]
    )
    for one, sides in zip(drawn["lines"], ("above", "between", "below", "between"), strict=True):
        lifts = [label["y"] - one["points"][0][1] for label in one["labels"]]
        assert len(lifts) == 2
        assert ["above", "below"][lifts[1] > 0] == ("below" if sides == "between" else sides)
        assert (lifts[0] > 0) == (sides == "below")

"""Streams: their indices, their kinds, and the populations that authors name."""

import pytest

from qospec.protocol.streams import (
    NO_FLOW,
    OWN,
    Population,
    Stream,
    Streams,
    describe_items,
    list_parts,
    number_streams,
)


@pytest.mark.parametrize(
    ("population", "carries", "said"),
    [
        ("ask", "packet", ("packet", "ask")),
        ("ask.answers", "packet", ("answer", "ask")),
        ("bare.ask[2].exchanges", "packet", ("exchange", "bare.ask[2]")),
        ("user.oam", "cell", ("cell", "user.oam")),
    ],
)
def test_a_part_of_a_flow_has_items_of_its_own(population, carries, said):
    assert describe_items(population, carries) == said


STREAMS = Streams(
    ("f", "g"),
    tuple(
        number_streams(
            [
                Stream(0, "user", 3),
                Stream(0, "user", 3),
                Stream(1, "user", 2),
                Stream(1, "answers", 2),
                Stream(NO_FLOW, "messages", 1),
                Stream(1, "exchanges", 2),
            ]
        )
    ),
    ("oam", "fragments"),
)
"""Two members of `f`, and `g`, whose requests are answered: 13 connections."""


def test_streams_stand_in_a_row_with_what_is_inserted_above_them():
    assert (STREAMS.count, STREAMS.indices) == (13, 39)
    rows = [(stream.kind, stream.first, stream.stop) for stream in STREAMS]
    assert rows[:6] == [
        ("user", 0, 3),
        ("user", 3, 6),
        ("user", 6, 8),
        ("answers", 8, 10),
        ("messages", 10, 11),
        ("exchanges", 11, 13),
    ]
    assert rows[6:12] == [("oam", 13 + first, 13 + stop) for _, first, stop in rows[:6]]
    assert rows[12:] == [("fragments", 26 + first, 26 + stop) for _, first, stop in rows[:6]]


@pytest.mark.parametrize(
    ("index", "flow", "kind", "place", "follows"),
    [
        (0, 0, "user", 0, 0),
        (5, 0, "user", 2, 5),
        (9, 1, "answers", 1, 9),
        (10, NO_FLOW, "messages", 0, 10),
        (12, 1, "exchanges", 1, 12),
        (18, 0, "oam", 2, 5),
        (22, 1, "oam", 1, 9),
        (38, 1, "fragments", 1, 12),
    ],
)
def test_an_index_is_of_one_connection_of_one_stream(index, flow, kind, place, follows):
    stream, number = STREAMS.find_stream(index)
    assert (stream.flow, stream.kind, number) == (flow, kind, place)
    assert STREAMS.find_connection(index) == follows
    seen = kind if kind in STREAMS.kinds else "user"
    assert STREAMS.find_kind(index) == seen
    assert STREAMS.compute_index(follows, seen) == index


def test_a_kind_that_is_not_in_use_has_no_index():
    assert STREAMS.start("oam") == 13
    assert STREAMS.list_indices("fragments") == range(26, 39)
    assert STREAMS.start("copies") == 39
    assert list(STREAMS.list_indices("copies")) == []


@pytest.mark.parametrize(
    ("found", "name"),
    [
        (Population("f", None, "user", 0, 6, 3), "f"),
        (Population("f", 1, "user", 3, 6, 1), "f[1]"),
        (Population("f", 1, "oam", 16, 19, 1), "f[1].oam"),
        (Population("f", None, "fragments", 26, 32, 3), "f.fragments"),
        (Population("g", None, "answers", 8, 10, 1), "g.answers"),
        (Population("g", None, "exchanges", 11, 13, 1), "g.exchanges"),
    ],
)
def test_a_population_is_what_an_author_names(found, name):
    assert STREAMS.select_population(*found[:3]) == found
    assert found.name == name


@pytest.mark.parametrize(("flow", "kind"), [("f", "answers"), ("g", "copies"), ("h", "user")])
def test_what_a_trial_does_not_have_is_no_population(flow, kind):
    assert STREAMS.select_population(flow, None, kind) is None


def test_a_flow_has_what_is_inserted_into_it_and_its_own():
    assert STREAMS.list_kinds("f") == ("user", "oam", "fragments")
    assert STREAMS.list_kinds("g") == ("user", "oam", "fragments", "answers", "exchanges")


def test_a_flow_without_answers_has_nothing_that_is_among_them():
    told = Streams(STREAMS.flows, STREAMS.own, ("copies", "notices"))
    assert told.list_kinds("f") == ("user", "copies")
    assert told.list_kinds("g") == ("user", "copies", "notices", "answers", "exchanges")
    for flow in told.flows:
        assert all(told.select_population(flow, None, kind) for kind in told.list_kinds(flow))


def test_authors_name_no_messages_and_no_cells_of_resource_management():
    assert list_parts("cell") == ("oam", "misinserted")
    assert list_parts("cell", OWN)[2:] == ("answers", "frames")
    assert list_parts("packet") == ("cells", "fragments", "copies")
    assert list_parts("packet", OWN)[3:] == ("notices", "answers", "exchanges")

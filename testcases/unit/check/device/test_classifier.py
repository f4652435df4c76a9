"""Classes together: however many there are and however long, checking them ends soon."""

import pytest

from qospec.check.device import classifier
from qospec.model.expression import count_leaves, evaluate


def sorting(*conditions):
    listed = "\n    ".join(
        f"c{number} = {condition}" for number, condition in enumerate(conditions)
    )
    sinks = "\n  ".join(f"sort.c{number} -> discard" for number in range(len(conditions)))
    return f"""
device box {{
  port p: packet
  sort = classify {{
    {listed}
  }}
  p.rx -> sort
  {sinks}
}}
"""


def apart(number):
    return (
        f"(pkt.source_port == {number} and pkt.destination_port == {number}"
        f" and pkt.dscp == {number % 64})"
    )


@pytest.mark.slow
def test_long_conditions_are_tried_on_fewer_items(codes, monkeypatch):
    looked_at = []

    def counted(expression, read):
        looked_at.append(count_leaves(expression))
        return evaluate(expression, read)

    monkeypatch.setattr(classifier, "evaluate", counted)
    assert codes(sorting(*map(apart, range(100)), "pkt.dscp <= 63")) == []
    assert 0 < sum(looked_at) <= classifier.MAX_COMPARISONS


def test_where_all_else_has_a_class_nothing_is_missed(codes):
    assert codes(sorting(*map(apart, range(100)), "otherwise")) == []


@pytest.mark.parametrize(
    ("conditions", "unreached"),
    [
        (("otherwise", "otherwise"), ["c1"]),
        (("otherwise", "pkt.dscp < 16", "otherwise"), ["c1", "c2"]),
        (("pkt.dscp < 16", "otherwise", "pkt.dscp == 46"), ["c2"]),
        (("pkt.dscp < 16", "pkt.dscp >= 16", "otherwise"), []),
    ],
)
def test_behind_what_takes_all_nothing_is_of_a_class(checked, conditions, unreached):
    problems = checked(sorting(*conditions))[1]
    assert [(problem.code, problem.span.text) for problem in problems] == [
        ("W0604", name) for name in unreached
    ]


def test_what_is_sorted_is_called_by_its_name(checked):
    [problem] = checked(sorting("pkt.dscp == 46"))[1]
    assert problem.message == "some packets match no class"
    cells = sorting("cell.clp == 1").replace(": packet", ": cell")
    assert [problem.message for problem in checked(cells)[1]] == ["some cells match no class"]


@pytest.mark.slow
def test_an_array_of_ports_is_counted_each_time_that_it_is_asked_for(codes):
    ports = sorting(*["pkt.input in p"] * 12, "otherwise").replace("port p:", "port p[90_000]:")
    assert "E0608" in codes(ports)


@pytest.mark.parametrize(
    ("condition", "reported"),
    [
        ("vc.path <= 4_095", []),
        ("vc.path in (0 .. 4_095)", []),
        ("vc.path in (0 .. 4_094)", ["E0415"]),
        ("vc.path in [0 - 1, 3] or vc.path != 3", ["E0205"]),
    ],
)
def test_a_virtual_path_has_twelve_bits(codes, condition, reported):
    assert codes(sorting(condition).replace("packet", "cell")) == reported


@pytest.mark.parametrize(
    ("written", "way_out"),
    [
        ("10.1.0.0/255.255.0.0", 'write "10.1.0.0/16"'),
        ("10.1.0.9/0.0.255.255", 'write "10.1.0.0/16"'),
        ("10.1.0.0/016", 'write "10.1.0.0/16"'),
        ("10.1.0.9/016", 'write "10.1.0.0/16"'),
        ("fe80::1%eth0", 'write "fe80::1"'),
        ("fe80::%1/64", 'write "fe80::/64"'),
    ],
)
def test_a_network_is_written_with_the_number_of_its_bits(checked, written, way_out):
    (reported,) = checked(sorting(f'pkt.source_address == "{written}"', "otherwise"))[1]
    assert (reported.code, reported.help) == ("E0214", way_out)
    assert reported.notes

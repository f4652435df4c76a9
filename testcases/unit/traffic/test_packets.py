"""What packets become on their first link, in exact fractions."""

from dataclasses import replace
from fractions import Fraction

import pytest

from qospec.catalogue.kinds import Load, SizeMix
from qospec.elements.line import Line
from qospec.engine.source.sizes import Sizes, compute_mean_bytes
from qospec.protocol.encapsulation import Encapsulation
from qospec.protocol.marks import MARKS
from qospec.traffic.cbr import Cbr
from qospec.traffic.packets import Packets

ETHERNET = Encapsulation(8, 18, 64, 12, 1_500)
SIMPLE = SizeMix(((40, 7), (576, 4), (1_500, 1)), "ip")
SOME = Packets(rate=Load(Fraction(1), ""), size=SizeMix(((64, 1),), "ip"))


def sized(size, layer):
    return replace(SOME, size=SizeMix(((size, 1),), layer))


def framed(**fields):
    """Return what Fast Ethernet puts around packets, with more of it."""
    ethernet = {"preamble": 8, "header": 18, "min_frame": 64, "gap": 12, "mtu": 1_500}
    line = Line(Fraction(10**8), carries="packet", **{**ethernet, **fields})
    return line.build_clock(stamps=False).encapsulation


@pytest.mark.parametrize(
    ("layer", "packet_rate"),
    [
        ("ip", Fraction(12 * 10**6, 8 * (7 * 40 + 4 * 576 + 1_500))),
        ("frame", Fraction(12 * 10**6, 8 * (7 * 64 + 4 * 594 + 1_518))),
        ("line", Fraction(12 * 10**6, 8 * (7 * 84 + 4 * 614 + 1_538))),
        ("payload", Fraction(12 * 10**6, 8 * (7 * 12 + 4 * 548 + 1_472))),
    ],
)
def test_a_rate_becomes_packets_by_the_mean_size_of_its_layer(layer, packet_rate):
    traffic = Packets(rate=Load(Fraction(10**6), layer), size=SIMPLE, gaps="poisson")
    stream = traffic.describe_packets(ETHERNET)
    assert stream.source == ("poisson", {"rate": packet_rate})
    assert stream.sizes == Sizes((40, 576, 1_500), (7, 4, 1))


@pytest.mark.parametrize(
    ("size", "layer", "packet"),
    [(64, "frame", 46), (1_518, "frame", 1_500), (84, "line", 46), (160, "payload", 188)],
)
def test_a_size_is_that_of_the_packet_within(size, layer, packet):
    stream = replace(sized(size, layer), rate=Load(Fraction(5), "")).describe_packets(ETHERNET)
    assert stream.sizes == Sizes((packet,))
    assert stream.source == ("constant", {"rate": 5})


def test_short_frames_are_filled_up_and_still_differ():
    """58 and 62 bytes with header and check sequence: 40 and 44 of a packet, both in 64."""
    mix = SizeMix(((58, 55), (62, 2)), "frame")
    stream = replace(SOME, size=mix, protocol="none").describe_packets(ETHERNET)
    assert stream.sizes == Sizes((40, 44), (55, 2))
    assert compute_mean_bytes(stream.sizes, ETHERNET, "frame", 0) == 64


def test_an_order_stays_though_sizes_become_those_of_the_link():
    order = SizeMix(((64, 1), (1_518, 1), (64, 1), (62, 2)), "frame", in_order=True)
    stream = replace(SOME, size=order, protocol="none").describe_packets(ETHERNET)
    assert stream.sizes == Sizes((46, 1_500, 46, 44), (1, 1, 1, 2), in_order=True)
    assert compute_mean_bytes(stream.sizes, ETHERNET, "frame", 0) == Fraction(4 * 64 + 1_518, 5)


@pytest.mark.parametrize(
    ("fields", "header_bytes", "packet"),
    [({}, 18, 46), ({"vlan_tags": 1}, 22, 42), ({"vlan_tags": 1, "labels": 2}, 30, 34)],
)
def test_tags_and_labels_take_their_bytes_of_a_frame(fields, header_bytes, packet):
    """A frame of 64 bytes holds 46 of a packet, and 4 less for each tag and label."""
    link = framed(**fields)
    assert link.header_bytes == header_bytes
    assert sized(64, "frame").describe_packets(link).sizes == Sizes((packet,))
    assert link.count_line_bytes(1_500) == 1_500 + header_bytes + 20
    assert (
        link.carries_mark("priority"),
        link.carries_mark("traffic_class"),
        link.carries_mark("dscp"),
    ) == (
        "vlan_tags" in fields,
        "labels" in fields,
        True,
    )


def test_an_ip_header_has_20_or_40_bytes():
    """100 bytes of payload behind UDP's 8: 128 and 148 of a packet."""
    assert sized(100, "payload").describe_packets(ETHERNET).sizes == Sizes((128,))
    long = replace(sized(100, "payload"), family="ipv6").describe_packets(ETHERNET)
    assert long.sizes == Sizes((148,))
    assert ETHERNET.count_layer_bytes(148, "payload", long.transport_bytes) == 100


@pytest.mark.parametrize(
    ("size", "layer"), [(1_501, "ip"), (27, "ip"), (1_519, "frame"), (18, "frame"), (30, "line")]
)
def test_what_no_link_takes_is_refused(size, layer):
    with pytest.raises(ValueError, match="size:"):
        sized(size, layer).describe_packets(ETHERNET)


def test_a_packet_of_ipv6_is_longer():
    with pytest.raises(ValueError, match="48 to 1500 B @ip"):
        replace(sized(47, "ip"), family="ipv6").describe_packets(ETHERNET)


@pytest.mark.parametrize("rate", [Fraction(1, 1_001), Fraction(10**11 + 1)])
def test_a_rate_that_no_process_keeps_is_refused(rate):
    with pytest.raises(ValueError, match="rate:"):
        replace(SOME, rate=Load(rate, "")).describe_packets(ETHERNET)


@pytest.mark.parametrize(
    "fields",
    [{"source_address": "2001:db8::1"}, {"family": "ipv6", "destination_address": "10.1.0.7"}],
)
def test_an_address_is_one_of_its_family(fields):
    with pytest.raises(ValueError, match="_address: expected an address of ipv"):
        replace(SOME, **fields)


def test_marks_and_what_a_classifier_asks():
    stream = replace(
        SOME,
        dscp=46,
        priority=5,
        traffic_class=3,
        ecn="ect0",
        protocol="tcp",
        destination_port=443,
        source_address="10.1.0.7",
    ).describe_packets(framed(vlan_tags=1, labels=1))
    assert {name: mark.read(stream.marks) for name, mark in MARKS.items()} == {
        "clp": 0,
        "colour": 0,
        "dscp": 46,
        "priority": 5,
        "traffic_class": 3,
        "ecn": 0b10,
    }
    assert stream.header_fields == {
        "family": "ipv4",
        "protocol": "tcp",
        "source_port": 0,
        "destination_port": 443,
        "source_address": "10.1.0.7",
        "destination_address": "0.0.0.0",  # noqa: S104 -- no socket is bound
        "vlan": 0,
        "inner_vlan": 0,
    }
    assert stream.transport_bytes == 20


def test_cells_of_packets_may_have_a_contract():
    contract = (
        replace(SOME, cells=Cbr(Fraction(5_000), 10**9)).describe_packets(ETHERNET).cell_contract
    )
    assert contract is not None
    assert (contract.category, contract.peak_cell_rate) == ("cbr", 5_000)
    assert contract.cell_delay_variation_tolerance_ps == 10**9
    assert SOME.describe_packets(ETHERNET).cell_contract is None


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (SOME, "cells: expected a contract: `cbr`"),
        (Cbr(Fraction(5_000), 0, connections=2), "cells: give the terms of a contract alone"),
        (Cbr(Fraction(5_000), 0, clp=1), "cells: give the terms of a contract alone"),
    ],
)
def test_what_is_no_contract_of_cells(cells, message):
    with pytest.raises(ValueError, match=message):
        replace(SOME, cells=cells)

"""What packets become on their first link, in exact fractions."""

from fractions import Fraction

import pytest

from qospec.catalogue import Load, SizeMix
from qospec.engine.encapsulation import Encapsulation
from qospec.engine.marks import MARKS
from qospec.engine.sizes import Sizes
from qospec.traffic.packets import Packets

ETHERNET = Encapsulation(8, 18, 64, 12, 1_500)
SIMPLE = SizeMix(((40, 7), (576, 4), (1_500, 1)), "ip")


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
    stream = Packets(Load(Fraction(10**6), layer), SIMPLE, "poisson").stream(ETHERNET)
    assert stream.source == ("poisson", {"rate": packet_rate})
    assert stream.sizes == Sizes((40, 576, 1_500), (7, 4, 1))


@pytest.mark.parametrize(
    ("size", "layer", "packet"),
    [(64, "frame", 46), (1_518, "frame", 1_500), (84, "line", 46), (160, "payload", 188)],
)
def test_a_size_is_that_of_the_packet_within(size, layer, packet):
    traffic = Packets(Load(Fraction(5), ""), SizeMix(((size, 1),), layer))
    stream = traffic.stream(ETHERNET)
    assert stream.sizes == Sizes((packet,))
    assert stream.source == ("constant", {"rate": 5})


def test_short_frames_are_filled_up_and_still_differ():
    """58 and 62 bytes with header and check sequence: 40 and 44 of a packet, both in 64."""
    mix = SizeMix(((58, 55), (62, 2)), "frame")
    stream = Packets(Load(Fraction(1), ""), mix, protocol="none").stream(ETHERNET)
    assert stream.sizes == Sizes((40, 44), (55, 2))
    assert ETHERNET.mean_bytes(stream.sizes, "frame", 0) == 64


@pytest.mark.parametrize(
    ("size", "layer"), [(1_501, "ip"), (27, "ip"), (1_519, "frame"), (18, "frame"), (30, "line")]
)
def test_what_no_link_takes_is_refused(size, layer):
    traffic = Packets(Load(Fraction(1), ""), SizeMix(((size, 1),), layer))
    with pytest.raises(ValueError, match="size:"):
        traffic.stream(ETHERNET)


@pytest.mark.parametrize("rate", [Fraction(1, 1_001), Fraction(10**11 + 1)])
def test_a_rate_that_no_process_keeps_is_refused(rate):
    traffic = Packets(Load(rate, ""), SizeMix(((64, 1),), "ip"))
    with pytest.raises(ValueError, match="rate:"):
        traffic.stream(ETHERNET)


def test_marks_and_what_a_classifier_asks():
    stream = Packets(
        Load(Fraction(1), ""),
        SizeMix(((64, 1),), "ip"),
        dscp=46,
        priority=5,
        protocol="tcp",
        destination_port=443,
    ).stream(ETHERNET)
    assert MARKS["dscp"].of(stream.marks) == 46
    assert MARKS["priority"].of(stream.marks) == 5
    assert stream.asked == {"protocol": "tcp", "source_port": 0, "destination_port": 443}
    assert stream.transport_bytes == 20

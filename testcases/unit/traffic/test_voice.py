"""What calls are on their first link, and how they are rated."""

from dataclasses import replace
from fractions import Fraction

import pytest

from qospec.catalogue.kinds import Duration, UnfitError
from qospec.engine.random import Draws
from qospec.engine.source.sizes import Sizes
from qospec.protocol.encapsulation import Encapsulation
from qospec.protocol.marks import MARKS
from qospec.traffic.on_off import OnOff
from qospec.traffic.voice import Voice

MS = 10**9
ETHERNET = Encapsulation(8, 18, 64, 12, 1_500)
CALL = Voice(codec="g729a", packet_time=30 * MS)


def test_voice_is_sent_a_packet_at_a_time():
    stream = CALL.describe_packets(ETHERNET)
    assert stream.source == ("constant", {"rate": Fraction(100, 3)})
    assert stream.sizes == Sizes((70,))
    assert stream.header_fields["protocol"] == "udp"


@pytest.mark.parametrize(
    ("codec", "packet_ms"), [("g711", 20), ("g729", 20), ("gsm_fr", 20), ("g723_1_5k3", 30)]
)
def test_voice_packets_last_20_ms_or_one_frame(codec, packet_ms):
    """RFC 3551, 4.2."""
    stream = Voice(codec=codec).describe_packets(ETHERNET)
    assert stream.contract.peak_cell_rate == Fraction(1_000, packet_ms)


def test_voice_headers_are_those_of_ip():
    stream = replace(CALL, family="ipv6", dscp=46, destination_port=5_004).describe_packets(
        ETHERNET
    )
    assert stream.sizes == Sizes((90,))
    assert MARKS["dscp"].read(stream.marks) == 46
    assert stream.header_fields["destination_port"] == 5_004


@pytest.mark.parametrize(
    ("codec", "packet_ms", "help_text"),
    [
        ("g729", 25, "write `20 ms` or `30 ms`"),
        ("g723_1_6k3", 20, "write `30 ms`"),
        ("g728", 19, "write `17.5 ms` or `20 ms`"),
    ],
)
def test_voice_packets_hold_whole_frames(codec, packet_ms, help_text):
    with pytest.raises(UnfitError, match="is not a whole number of frames") as caught:
        Voice(codec=codec, packet_time=packet_ms * MS)
    assert caught.value.help == help_text


def test_voice_packets_fit_the_link():
    """1,500 bytes @ip leave 1,460 for speech."""
    with pytest.raises(UnfitError, match="packet_time: 1612 B @payload leaves 1640 B") as caught:
        Voice(codec="g711", packet_time=200 * MS).describe_packets(ETHERNET)
    assert caught.value.help == "the longest that fits is `182.5 ms`"
    assert Voice(codec="g711", packet_time=1_460 * MS // 8).describe_packets(
        ETHERNET
    ).sizes == Sizes((1_500,))


def test_voice_pauses_are_those_of_p_59():
    """Talkspurts of 1.004 s, pauses of 1.587 s: 38.75 % of the time is speech."""
    name, fields = replace(CALL, silence_suppression=True).describe_packets(ETHERNET).source
    assert name == "on_off"
    assert fields["on"] == Duration(1_004 * MS, "exponential")
    process = OnOff(**fields)
    share = Fraction(1_004, 1_004 + 1_587)
    assert process.compute_mean_rate(10) == 10 * Fraction(100, 3) * share
    assert round(share, 4) == Fraction("0.3875")
    at_ps, _ = process.emit(process.start(200, "random", Draws(("voice",))), 10 * 10**12)
    assert len(at_ps) == pytest.approx(200 * 10 * 100 / 3 * share, rel=0.1)


def test_voice_is_rated_by_its_codec():
    """From the first sound until it is sent: 30 ms of speech and 5 ms of look-ahead."""
    call = replace(CALL, playout_delay=40 * MS).describe_packets(ETHERNET).call
    assert call == (11, 19, 35 * MS, 40 * MS)


def test_voice_is_rated_by_what_is_given():
    given = replace(
        CALL, codec="g722", equipment_impairment=3, packet_loss_robustness=Fraction(20, 100)
    )
    assert given.unrated == ""
    assert given.describe_packets(ETHERNET).call[:2] == (3, 20)


def test_voice_without_a_tabulated_robustness_has_the_default_of_g_107():
    assert Voice(codec="g726_32").describe_packets(ETHERNET).call[:2] == (7, Fraction("4.3"))


def test_voice_in_wideband_is_not_rated():
    wideband = Voice(codec="g722")
    assert "g722" in wideband.unrated
    assert wideband.describe_packets(ETHERNET).call is None

"""Codecs: what packets of speech are on the networks that carry them."""

from fractions import Fraction

import pytest

from qospec.protocol.encapsulation import Encapsulation
from qospec.traffic.voice import Voice
from qospec.voice.codecs import CODECS, LEAST_ROBUSTNESS

MS = 10**9
ETHERNET = Encapsulation(8, 18, 64, 12, 1_500)


@pytest.mark.parametrize(
    ("codec", "packet_ms", "speech", "ip", "ip_kbit_s", "line_kbit_s"),
    [
        ("g711", 10, 80, 120, "96.0", "126.4"),
        ("g711", 20, 160, 200, "80.0", "95.2"),
        ("g711_plc", 30, 240, 280, "74.7", "84.8"),
        ("g722", 20, 160, 200, "80.0", "95.2"),
        ("g726_16", 20, 40, 80, "32.0", "47.2"),
        ("g726_24", 20, 60, 100, "40.0", "55.2"),
        ("g726_32", 20, 80, 120, "48.0", "63.2"),
        ("g726_32", 30, 120, 160, "42.7", "52.8"),
        ("g726_40", 20, 100, 140, "56.0", "71.2"),
        ("g728", 20, 40, 80, "32.0", "47.2"),
        ("g729", 20, 20, 60, "24.0", "39.2"),
        ("g729a", 30, 30, 70, "18.7", "28.8"),
        ("g723_1_6k3", 30, 24, 64, "17.1", "27.2"),
        ("g723_1_5k3", 30, 20, 60, "16.0", "26.1"),
        ("gsm_fr", 20, 33, 73, "29.2", "44.4"),
        ("gsm_efr", 20, 31, 71, "28.4", "43.6"),
    ],
)
def test_voice_packets_by_layer(codec, packet_ms, speech, ip, ip_kbit_s, line_kbit_s) -> None:
    """The rates are printed to a tenth of a kbit/s: 40 bytes of IP, UDP and RTP, 38 of Ethernet."""
    stream = Voice(codec=codec, packet_time=packet_ms * MS).describe_packets(ETHERNET)
    rate = stream.contract.peak_cell_rate
    (size,) = stream.sizes.size_bytes
    assert rate == Fraction(1_000, packet_ms)
    assert size == ip == speech + 12 + 8 + 20
    for size_bytes, printed in ((ip, ip_kbit_s), (ETHERNET.count_line_bytes(ip), line_kbit_s)):
        assert abs(8 * size_bytes * rate / 1_000 - Fraction(printed)) <= Fraction(6, 100)


@pytest.mark.parametrize(
    ("codec", "kbit_s"),
    [
        *(("g711", 64), ("g711_plc", 64), ("g722", 64), ("g728", 16), ("g729", 8), ("g729a", 8)),
        *(("g726_16", 16), ("g726_24", 24), ("g726_32", 32), ("g726_40", 40)),
    ],
)
def test_voice_codecs_send_their_nominal_rate(codec: str, kbit_s: int) -> None:
    known = CODECS[codec]
    assert Fraction(8 * known.frame_bytes * 10**12, known.frame_ps) == 1_000 * kbit_s


def test_voice_codecs_have_what_g_113_states() -> None:
    stated = {
        name: codec for name, codec in CODECS.items() if codec.equipment_impairment is not None
    }
    assert set(CODECS) - set(stated) == {"g722"}
    robust = {name for name, codec in stated.items() if codec.packet_loss_robustness is not None}
    assert robust == {"g711", "g711_plc", "g723_1_6k3", "g729a", "gsm_efr"}
    assert min(CODECS[name].packet_loss_robustness for name in robust) == LEAST_ROBUSTNESS

"""Speech codecs: what they send, how long they look ahead, and how they are rated.

Sources: frames from RFC 3551, 4.5; of a codec that codes sample by sample, a frame is the smallest
group of them that is whole bytes. The look-ahead is that of each codec's Recommendation.
Impairments are those of ITU-T G.113, Appendix I: Ie for transmission without loss, and Bpl, how
robust a codec and its concealment are against loss. G.729A and G.723.1 at 6.3 kbit/s are tabulated
there with voice activity detection.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

PS_PER_US = 10**6

LEAST_ROBUSTNESS = Fraction("4.3")
"""Bpl where none is tabulated: the default, and the lowest value that is permitted.
Source: ITU-T G.107, 7.7, table 2."""
STEEPEST = Fraction(95 * 100) / LEAST_ROBUSTNESS
"""By how much R falls at most per share of packets lost: 95 / Bpl per cent, if all are in a row."""


class Codec(NamedTuple):
    """A codec.

    Attributes:
        title: Its usual name.
        frame_ps: What one frame lasts.
        frame_bytes: Its length.
        look_ahead_ps: How much of what follows a frame is needed to code it.
        equipment_impairment: Ie; None if there is none on the scale of narrowband speech.
        packet_loss_robustness: Bpl, in per cent; None if none is tabulated.
    """

    title: str
    frame_ps: int
    frame_bytes: int
    look_ahead_ps: int
    equipment_impairment: Fraction | None
    packet_loss_robustness: Fraction | None = None


def _describe_codec(
    title: str,
    frame_us: int,
    frame_bytes: int,
    impairment: int | None,
    robustness: str = "",
    look_ahead_us: int = 0,
) -> Codec:
    return Codec(
        title,
        frame_us * PS_PER_US,
        frame_bytes,
        look_ahead_us * PS_PER_US,
        None if impairment is None else Fraction(impairment),
        Fraction(robustness) if robustness else None,
    )


CODECS: Mapping[str, Codec] = {
    "g711": _describe_codec("G.711", 125, 1, 0, "4.3"),
    "g711_plc": _describe_codec("G.711 with loss concealment, Appendix I", 125, 1, 0, "25.1"),
    "g722": _describe_codec("G.722 at 64 kbit/s, wideband", 125, 1, None),
    "g723_1_5k3": _describe_codec("G.723.1 at 5.3 kbit/s", 30_000, 20, 19, look_ahead_us=7_500),
    "g723_1_6k3": _describe_codec(
        "G.723.1 at 6.3 kbit/s", 30_000, 24, 15, "16.1", look_ahead_us=7_500
    ),
    "g726_16": _describe_codec("G.726 at 16 kbit/s", 500, 1, 50),
    "g726_24": _describe_codec("G.726 at 24 kbit/s", 1_000, 3, 25),
    "g726_32": _describe_codec("G.726 at 32 kbit/s", 250, 1, 7),
    "g726_40": _describe_codec("G.726 at 40 kbit/s", 1_000, 5, 2),
    "g728": _describe_codec("G.728 at 16 kbit/s", 2_500, 5, 7),
    "g729": _describe_codec("G.729", 10_000, 10, 10, look_ahead_us=5_000),
    "g729a": _describe_codec("G.729 Annex A", 10_000, 10, 11, "19.0", look_ahead_us=5_000),
    "gsm_fr": _describe_codec("GSM full rate, 06.10", 20_000, 33, 20),
    "gsm_efr": _describe_codec("GSM enhanced full rate, 06.60", 20_000, 31, 5, "10.0"),
}
"""By the name that a specification gives."""

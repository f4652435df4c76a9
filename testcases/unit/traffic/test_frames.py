"""What frames declare, and when their cells are sent."""

from fractions import Fraction

import numpy as np
import pytest

from qospec.catalogue.kinds import SizeMix, discover
from qospec.engine.items.contract import Contract
from qospec.engine.random import Draws
from qospec.traffic.frames import Frames

PS_PER_S = 10**12


def ip(size_bytes: int) -> SizeMix:
    return SizeMix(((size_bytes, 1),), "ip")


MIX = SizeMix(((40, 3), (100, 1)), "ip")
"""Of 2 and 3 cells, with 16 B around each packet."""


def frames_of_3(peak: Fraction | None = None) -> Frames:
    return Frames(cells=3, rate=Fraction(1_000), peak_cell_rate=peak)


def sent(frames: Frames, until_ps: int) -> list[int]:
    """Return when the cells of one connection are ready, since the first."""
    name, given = frames.describe_conforming_source()
    process = discover().select_role("arrivals")[name].build(**given)
    at_ps, _ = process.emit(process.start(1, "even", Draws(("test",))), until_ps)
    return [at - int(at_ps[0]) for at in at_ps.tolist()]


def test_a_contiguous_frame_is_ready_at_once() -> None:
    assert sent(frames_of_3(), 2 * 10**9) == [0, 0, 0, 10**9, 10**9, 10**9]


def test_a_spaced_frame_keeps_to_its_peak() -> None:
    frames = frames_of_3(Fraction(10_000))
    assert sent(frames, 2 * 10**9) == [0, 10**8, 2 * 10**8, 10**9, 11 * 10**8, 12 * 10**8]
    assert frames.build_contract() == Contract("ubr", Fraction(10_000), 0)


def test_without_a_peak_the_contract_has_none_that_a_line_could_reach() -> None:
    assert frames_of_3().build_contract().peak_cell_rate >= 10**11


def test_a_frame_ends_before_the_next_begins() -> None:
    frames_of_3(Fraction(3_000))
    with pytest.raises(ValueError, match="rate: the next frame begins before this one is over"):
        frames_of_3(Fraction(2_999))


@pytest.mark.parametrize(
    ("given", "cells"),
    [
        ({"size": ip(9_180)}, 192),
        ({"size": ip(40)}, 2),
        ({"size": ip(40), "encapsulation": "vc_multiplexed"}, 1),
        ({"size": ip(4_656), "aal": "aal3_4", "encapsulation": "vc_multiplexed"}, 106),
        ({"size": ip(4_657), "aal": "aal3_4", "encapsulation": "vc_multiplexed"}, 107),
    ],
)
def test_a_packet_has_the_cells_of_its_layers(given, cells) -> None:
    """LLC/SNAP and a trailer of 8 B each (RFC 2684, 5.1; I.363.5, 9); 44 B a cell (I.363.3)."""
    assert Frames(rate=Fraction(10), **given).describe_conforming_source()[1]["size"] == cells


@pytest.mark.parametrize(("aal", "most"), [("aal5", 1_366), ("aal3_4", 1_490)])
def test_a_frame_is_no_longer_than_its_layer_allows(aal, most) -> None:
    """65,535 B and 8 B around them, in cells of 48 and of 44 B."""
    assert Frames(rate=Fraction(10), cells=most, aal=aal).frame_cells == (most,)
    with pytest.raises(ValueError, match=f"cells: a frame of `{aal}` has at most {most:_}"):
        Frames(rate=Fraction(10), cells=most + 1, aal=aal)


@pytest.mark.parametrize("given", [{}, {"cells": 3, "size": ip(40)}])
def test_it_is_given_by_cells_or_by_a_packet(given) -> None:
    with pytest.raises(ValueError, match="give either `cells`, or the `size` of a packet"):
        Frames(rate=Fraction(10), **given)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"gaps": "poisson", "cells": 3, "peak_cell_rate": Fraction(10_000)}, "sent back to back"),
        ({"size": MIX, "peak_cell_rate": Fraction(10_000)}, "sent back to back"),
        ({"gaps": "poisson", "cells": 3, "rate": Fraction(1, 1_001)}, "at least one in 1000 s"),
    ],
)
def test_frames_at_random_have_limits(given, words) -> None:
    with pytest.raises(ValueError, match=words):
        Frames(**{"rate": Fraction(10), **given})


@pytest.mark.parametrize(
    ("size", "words"),
    [
        (ip(9_181), "size: 9181 B exceed the MTU of 9180 B"),
        (ip(19), "size: an IP packet has at least its header of 20 B"),
        (SizeMix(((40, 1),), "payload"), "are counted @ip, not @payload"),
        (SizeMix(((9_180, 530), (40, 1)), "ip", in_order=True), "more than 100_000 cells together"),
    ],
)
def test_packets_fit_their_layers(size, words) -> None:
    with pytest.raises(ValueError, match=words):
        Frames(rate=Fraction(10), size=size)


def test_sizes_in_order_are_repeated() -> None:
    """Of 40 B twice and 100 B once, with 16 B around each: 2, 2 and 3 cells, each after 1 ms."""
    size = SizeMix(((40, 2), (100, 1)), "ip", in_order=True)
    frames = Frames(rate=Fraction(1_000), size=size)
    assert frames.frame_cells == (2, 2, 3)
    assert [at // 10**9 for at in sent(frames, 4 * 10**9)] == [0, 0, 1, 1, 2, 2, 2, 3, 3]
    spaced = Frames(rate=Fraction(1_000), size=size, peak_cell_rate=Fraction(4_000))
    times = [0, 250, 1_000, 1_250, 2_000, 2_250, 2_500, 3_000, 3_250]
    assert [at // 10**6 for at in sent(spaced, 4 * 10**9)] == times


@pytest.mark.parametrize(
    ("given", "cells"),
    [
        ({"cells": 5, "gaps": "poisson"}, 5),
        ({"size": ip(100), "gaps": "poisson"}, 3),
        ({"size": MIX}, Fraction(9, 4)),
        ({"size": MIX, "gaps": "poisson"}, Fraction(9, 4)),
        ({"size": MIX._replace(in_order=True), "gaps": "poisson"}, Fraction(9, 4)),
    ],
)
def test_frames_at_random_are_as_many_and_contiguous(given, cells) -> None:
    """Within five standard deviations of 10,000 frames; all cells of each are ready at once."""
    at_ps = sent(Frames(rate=Fraction(1_000), **given), 10**13)
    instants = len(set(at_ps))
    assert abs(instants - 10_000) <= 5 * 100
    assert abs(len(at_ps) / instants - cells) < 5 * 0.5 / instants**0.5
    assert (len(set(np.diff(sorted(set(at_ps))))) > 1) == (given.get("gaps") == "poisson")

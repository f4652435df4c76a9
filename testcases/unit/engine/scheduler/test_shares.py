"""What each scheduler guarantees an input, with the numbers of its publication.

The line sends a byte per ps and adds nothing to packets, so the numbers are times and bytes alike.
Of the other inputs only the sizes are known, so they may always have something to send.
"""

from fractions import Fraction

import pytest

from qospec.calculus.curve import Curve
from qospec.calculus.guarantee import Guarantee, bound_items, describe_unbounded
from qospec.elements.custom import Custom
from qospec.elements.drr import Drr
from qospec.elements.scfq import Scfq
from qospec.elements.strict import Strict
from qospec.elements.wf2q_plus import Wf2qPlus
from qospec.elements.wfq import Wfq
from qospec.elements.wrr import Wrr
from qospec.engine.line.clock import Clock
from qospec.engine.line.guarantee import guarantee_in_order
from qospec.protocol.encapsulation import Encapsulation

LINE = Clock(Fraction(8 * 10**12), slotted=False, encapsulation=Encapsulation())
OFTEN = Fraction(1, 100_000)
"""A packet in 100,000 ps, which is slower than any share."""


def weighted(*numbers: int) -> tuple[tuple[str, Fraction], ...]:
    return tuple(zip("abc", map(Fraction, numbers), strict=False))


def guaranteed(scheduler, burst: int, *sizes: int, others=describe_unbounded) -> list[Guarantee]:
    """Return what inputs are guaranteed, of which the first has bursts of packets."""
    first, *rest = sizes
    arriving = (
        bound_items(Curve.from_lines([(burst, OFTEN)]), [first]),
        *(others([other]) for other in rest),
    )
    return [*scheduler.guarantee_service(arriving, LINE, ()).inputs]


def bound_ps(scheduler, burst: int, *sizes: int) -> int:
    most_ps = guaranteed(scheduler, burst, *sizes)[0].most_ps
    assert most_ps is not None
    return most_ps


@pytest.mark.parametrize("kind", [Wfq, Wf2qPlus])
def test_fair_queueing_is_a_packet_behind_the_fluid_server(kind) -> None:
    """Parekh and Gallager 1993: sigma / g + L / r, here g = r / 4: 300 * 4 + 1,500.

    Without the packet it would be 1,200, and with the own one in place of the largest 1,300.
    """
    assert bound_ps(kind(weighted(1, 3)), 3, 100, 1_500) == 300 * 4 + 1_500
    assert bound_ps(kind(weighted(3, 1)), 3, 100, 1_500) == 300 * 4 // 3 + 1_500
    assert bound_ps(kind(weighted(1, 1, 2)), 1, 1_500, 64, 300) == 1_500 * 4 + 1_500


def test_self_clocked_queueing_waits_for_a_packet_of_each_other() -> None:
    """Golestani 1994: sigma / g and the largest packet of each other input."""
    assert bound_ps(Scfq(weighted(1, 3)), 3, 100, 1_500) == 300 * 4 + 1_500
    assert bound_ps(Scfq(weighted(1, 1, 2)), 3, 100, 1_500, 64) == 300 * 4 + 1_500 + 64


def test_deficit_round_robin_counts_what_others_have_saved_up() -> None:
    """Shreedhar and Varghese 1995, lemma 1: a deficit is less than the largest packet.

    For three packets of 100 at a quantum of 200 there is a full turn at most before the last one's:
    299 bytes with what had been saved up would be needed for the second. The other input has two
    turns of 500, and saved up 1,499 of a packet of 1,500. As a line by bytes, that is two turns and
    a part of one less than the byte: 500 + 1,499 + 500 / 200 * (300 - 100 + 99).
    """
    drr = Drr(weighted(2, 5), quantum=100)
    own, saved = 300, 1_499
    assert bound_ps(drr, 3, 100, 1_500) == own + 500 + saved + Fraction(500, 200) * 299 // 1
    assert bound_ps(drr, 1, 100, 1_500) == 100 + 500 + saved + 500 * 99 // 200
    # Two others: each has its turns, and what it saved up.
    three = Drr(weighted(1, 1, 2), quantum=1_500)
    assert bound_ps(three, 1, 1_500, 1_500, 64) == (
        1_500 + 1_500 + 1_499 + 3_000 + 63 + (1_500 + 3_000) * 1_499 // 1_500
    )


def test_weighted_round_robin_waits_for_the_turns_of_others() -> None:
    """Katevenis and others 1991: five packets at two in a turn come with three turns of others."""
    assert bound_ps(Wrr((("a", 2), ("b", 3))), 5, 100, 1_500) == 500 + 3 * 3 * 1_500
    assert bound_ps(Wrr((("a", 1), ("b", 3))), 6, 100, 1_500) == 600 + 6 * 3 * 1_500


def test_custom_queueing_exceeds_its_byte_counts_by_a_packet() -> None:
    """Another input sends up to a byte less than its count, and then a packet of 1,500."""
    custom = Custom((("a", 300), ("b", 2_000)))
    assert bound_ps(custom, 6, 100, 1_500) == 600 + 3_499 + 3_499 * 500 // 300
    assert bound_ps(custom, 1, 100, 1_500) == 100 + 3_499


def test_strict_priority_waits_for_one_packet_below() -> None:
    """Le Boudec and Thiran, chapter 6: (sigma + L) / r for the first; others are not bounded."""
    first, second = guaranteed(Strict(("a", "b")), 3, 100, 1_500)
    assert first.most_ps == 300 + 1_500
    assert second.most_ps is None


def test_strict_priority_leaves_the_rest_to_those_below() -> None:
    """The same: (sigma above + sigma) / (r - rho), where 3 of 100 come at once, and 1/4 after."""
    above = bound_items(Curve.from_lines([(3, Fraction(1, 400))]), [100])
    below = bound_items(Curve.from_lines([(2, OFTEN)]), [150])
    found = Strict(("a", "b")).guarantee_service((above, below), LINE, ()).inputs[1]
    assert found.most_ps == (300 + 300) * 4 // 3


@pytest.mark.parametrize("kind", [Wfq, Drr, Scfq])
def test_no_input_waits_longer_than_for_all_that_others_have(kind) -> None:
    """Le Boudec and Thiran, 6.2.1: (sigma of both) / (r - rho) in whatever order."""

    def few(sizes):
        return bound_items(Curve.from_lines([(2, Fraction(1, 4_000))]), sizes)

    found = guaranteed(kind(weighted(1, 9)), 3, 100, 1_000, others=few)[0]
    assert found.most_ps == (300 + 2_000) * 4 // 3


def test_sizes_that_differ_are_counted_in_packets_and_in_bytes() -> None:
    """A line of 20 bytes around each: one of 1,480 and, in its time, a small one each 200 ps.

    In packets alone the rate would exceed the line's; in bytes alone small ones cost twice theirs.
    """
    framed = Encapsulation(preamble_bytes=20)
    line = Clock(LINE.bit_rate, slotted=False, encapsulation=framed)
    large = bound_items(Curve.from_lines([(1, Fraction(1, 10_000))]), [1_480])
    small = bound_items(Curve.from_lines([(1, Fraction(1, 200))]), [20])
    (found,) = guarantee_in_order(line, large.add(small))
    assert found.most_ps == 1_500 + 40
    # Within 1,500 ps, which is the longest that one waits, so many come: 2 and 1,500 / 200.
    assert found.waiting == 2 + 7

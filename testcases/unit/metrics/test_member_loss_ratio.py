"""What members lose, most and least."""

from fractions import Fraction

import pytest

from qospec.metrics.member_loss_ratio import MemberLossRatio

FATES = ((10, 1), (100, 30), (5, 0), (0, 0))
"""What four members sent and lost; the last is silent."""


@pytest.mark.parametrize(
    ("statistic", "expected"),
    [("min", 0), ("mean", Fraction(2, 15)), ("max", Fraction(3, 10))],
)
def test_each_member_counts_alike(tally, statistic, expected):
    """31/115 of all items are lost: a member that sends more does not count more."""
    seen = tally(shares=(9, 70, 5, 0), fates=FATES)
    assert MemberLossRatio().measure(seen, statistic) == expected


def test_nobody_sent(tally):
    seen = tally(shares=(0, 0), fates=((0, 0), (0, 0)))
    assert MemberLossRatio().measure(seen, "max") is None
    with pytest.raises(ValueError, match="no statistic `p99`"):
        MemberLossRatio().measure(seen, "p99")

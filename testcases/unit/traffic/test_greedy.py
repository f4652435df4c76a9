"""Always at the peak."""

from fractions import Fraction

from qospec.traffic.constant import Constant
from qospec.traffic.greedy import Greedy


def test_it_has_a_cell_ready_every_interval(flow):
    rate = Fraction(353_207)
    got = flow.cells(Greedy(rate), 10**8, 2)
    assert got == flow.cells(Constant(rate), 10**8, 2)
    assert len(got) in (70, 71, 72)
    assert Greedy(rate).compute_mean_rate(2) == 706_414

"""Items that a test holds back: which ones, and what overtakes them."""

from fractions import Fraction

from qospec.elements.reorder import Reorder


def test_what_comes_within_the_time_overtakes_an_item(lab, two_vcs):
    cells = lab.cells([0, 10, 20, 30, 40], connection=[0, 0, 1, 0, 1])
    (left,) = lab.carry(Reorder(first=2, time=20), two_vcs, cells, cuts=[25]).departures
    assert left.at_ps.tolist() == [0, 20, 30, 30, 60]
    # Number 1, the second of its connection, leaves at 30, ahead of number 3, which comes then.
    assert left.sent_ps.tolist() == [0, 2, 1, 3, 4]


def test_those_that_are_held_back_stay_in_order_among_themselves(lab, two_vcs):
    cells = lab.cells([0, 1, 2, 3])
    (left,) = lab.carry(Reorder(first=1, count=2, time=2), two_vcs, cells).departures
    assert list(zip(left.at_ps.tolist(), left.sent_ps.tolist(), strict=True)) == [
        (2, 0),
        (2, 2),
        (3, 1),
        (3, 3),
    ]


def test_items_are_held_back_at_random_with_their_probability(lab, two_vcs):
    came = lab.cells(range(0, 400_000, 10))
    fault = Reorder(probability=Fraction(1, 100), time=15)
    (left,) = lab.carry(fault, two_vcs, came).departures
    late = left.at_ps - came.at_ps[left.sent_ps]
    assert set(late.tolist()) == {0, 15}
    assert abs(int((late > 0).sum()) - 400) < 5 * 20  # five standard deviations of a binomial

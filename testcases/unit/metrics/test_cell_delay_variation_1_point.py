from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from qospec.engine.items.contract import Contract
from qospec.engine.measure import cell_delay_variation
from qospec.engine.measure.tally import Tally
from qospec.metrics.cell_delay_variation_1_point import CellDelayVariation1Point


def test_the_example_of_the_definition(tally: Callable[..., Tally]) -> None:
    """I.356: T = 10, a = 0, 10, 25, 30 gives y = 0, 0, -5, 5."""
    rows = cell_delay_variation.create_rows([Contract("cbr", Fraction(10**11), 0)])
    at_ps = np.array([0, 10, 25, 30], np.int64)
    cell_delay_variation.follow(at_ps, np.zeros(4, np.uint32), rows)
    largest_ps, least_ps = (
        int(rows[0, at]) for at in (cell_delay_variation.LARGEST, cell_delay_variation.LEAST)
    )
    seen = tally(one_point_variation_max_ps=largest_ps, one_point_variation_min_ps=least_ps)
    assert CellDelayVariation1Point().measure(seen, "max") == 5
    assert CellDelayVariation1Point().measure(seen, "min") == -5


@pytest.mark.parametrize("statistic", ["max", "min"])
def test_what_was_not_followed_is_no_data(tally: Callable[..., Tally], statistic: str) -> None:
    assert CellDelayVariation1Point().measure(tally(received=5), statistic) is None


def test_another_statistic_is_refused(tally: Callable[..., Tally]) -> None:
    with pytest.raises(ValueError, match="no statistic `mean`"):
        CellDelayVariation1Point().measure(tally(), "mean")

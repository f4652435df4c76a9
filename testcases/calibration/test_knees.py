"""How often the bounds of a search are wrong where loss is random: as the documentation says.

The draws are fixed, so the counts are the same in every run. `make calibration` prints the whole
table.
"""

import pytest
from knees import KNEES, SEARCHES, Knee, count

SEARCHED = 100


WIDTH = 0.005


@pytest.mark.slow
@pytest.mark.parametrize("knee", [KNEES[0], KNEES[1], KNEES[5]], ids=str)
def test_ndr_of_mlrsearch_is_right_where_the_knee_is_steeper_than_the_width(knee: Knee) -> None:
    """A bad trial in ten at any load changes nothing."""
    found = count(knee, *SEARCHES[0], SEARCHED)
    assert (found.above, found.below) == (0, 0)


@pytest.mark.slow
@pytest.mark.parametrize("knee", KNEES, ids=str)
def test_mlrsearch_is_as_near_as_bisection_with_fewer_trials(knee: Knee) -> None:
    """And nearer than with one long trial at each load, as of RFC 2544."""
    mlrsearch, binary, single = (count(knee, *search, SEARCHED) for search in SEARCHES)
    assert mlrsearch.trials < 0.65 * binary.trials
    assert mlrsearch.farthest <= max(WIDTH, 1.25 * binary.farthest)
    assert mlrsearch.above + mlrsearch.below <= single.above + single.below

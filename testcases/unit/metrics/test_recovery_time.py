"""From a change to the last loss, by the book."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.engine.measure.tally import Outages
from qospec.metrics.recovery_time import RecoveryTime

MS = 10**9


@given(
    lost=st.lists(st.booleans(), min_size=1, max_size=20),
    changed=st.integers(0, 20),
    start=st.integers(0, 5),
)
def test_it_lasts_from_the_change_to_the_last_loss(road, lost, changed, start) -> None:
    trips = [road.trip(n * MS, 0, lost=is_lost) for n, is_lost in enumerate(lost)]
    if len(trips) <= start:
        return
    tally = road.tally(trips, start_ps=start * MS)
    tally = replace(tally, outages=tally.outages._replace(changed_ps=changed * MS))
    after = [n for n, is_lost in enumerate(lost) if is_lost and n >= start]
    expected = max(0, max(after, default=0) - start - changed) * MS
    assert RecoveryTime().measure(tally) == expected


@pytest.mark.parametrize(
    ("sent", "outages"), [(1, None), (1, Outages(lost_ps=3)), (0, Outages(changed_ps=3))]
)
def test_without_a_change_or_items_there_is_no_value(tally, sent, outages) -> None:
    assert RecoveryTime().measure(tally(sent=sent, outages=outages)) is None

"""Associations that are replaced, packets that are cut: the drivers agree at any cut of time."""

from pathlib import Path

import pytest
from drivers import seen

from qospec.catalogue.kinds import discover
from qospec.check import check
from qospec.diagnostics import Problems
from qospec.plan.plan import Bounds, plan

ACCEPT = Path(__file__).parents[2] / "language" / "accept"


@pytest.mark.parametrize("name", ["rekeying", "fragmentation"])
def test_both_drivers_show_the_same_of_tunnels(name: str) -> None:
    problems = Problems()
    plans = plan(check([ACCEPT / f"{name}.qos"], discover(), problems), "0", Bounds(), problems)
    assert not problems.all
    assert plans
    for planned in plans:
        experiment = planned.networks[""].experiment
        batches = seen(experiment, 10**6, by_events=False)
        assert sum(batches.sent.values()) > 10
        assert seen(experiment, 5, by_events=True) == batches

"""Every arrival process that takes a mean rate has it, exactly, by its own parameters."""

from fractions import Fraction

import pytest

from qospec.catalogue.kinds import Duration, discover
from qospec.engine.random import Draws

MS = 10**9
OTHERS = {
    "batches": {"size": 5},
    "burst": {"size": 7},
    "constant": {},
    "mmpp": {"calm": 3 * MS, "busy": 2 * MS, "share": Fraction(4, 5)},
    "on_off": {"on": Duration(2 * MS, "exponential"), "off": Duration(5 * MS)},
    "poisson": {},
}
"""What each is given besides the rate."""
PACED = {
    name: kind for name, kind in discover().select_role("arrivals").items() if kind.build.rate_field
}


def test_all_that_take_a_rate_are_listed():
    assert set(PACED) == set(OTHERS)


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("rate", [Fraction(10_000), Fraction(123_456, 7)])
def test_the_rate_follows_exactly(name, rate):
    process = PACED[name].build.from_rate(rate, **OTHERS[name])
    assert process.compute_mean_rate(1) == rate
    assert process.compute_mean_rate(3) == 3 * rate


@pytest.mark.untraced
@pytest.mark.parametrize("name", OTHERS)
def test_as_many_are_sent_in_the_long_run(name):
    """Within 5 % in 100 s, which is ten standard deviations for the burstiest of them."""
    process = PACED[name].build.from_rate(Fraction(2_000), **OTHERS[name])
    at_ps, _ = process.emit(process.start(2, "random", Draws((name,))), 100 * 10**12)
    assert len(at_ps) == pytest.approx(400_000, rel=0.05)


@pytest.mark.parametrize("name", PACED)
def test_the_field_that_follows_is_one_of_its_own(name):
    kind = PACED[name]
    assert kind.build.rate_field in kind.parameters
    assert set(kind.parameters) - {kind.build.rate_field} >= set(OTHERS[name])

"""What searches cost, as the documentation says. `make calibration` prints the whole table."""

import pytest
from costs import MODELS, cost


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_mlrsearch_for_ndr_and_pdr_costs_less_than_bisection_for_ndr(name: str) -> None:
    """Except at a soft knee, where each goal has bounds of its own."""
    found = cost(name, devices=10)
    assert found.both <= (1.5 if "soft" in name else 1.0) * found.ndr_by_bisection
    assert found.ndr <= found.both <= 1.9 * found.ndr

from collections.abc import Callable

from qospec.engine.measure.tally import Tally
from qospec.metrics.policed import Policed


def test_it_counts_what_policers_discarded_wherever_they_are(tally: Callable[..., Tally]) -> None:
    lost = {("a.upc", "policed"): 2, ("a.queue", "overflow"): 3, ("b.upc", "policed"): 4}
    assert Policed().measure(tally(sent=9, lost=lost)) == 6


def test_it_counts_by_whichever_test_cells_failed(tally: Callable[..., Tally]) -> None:
    lost = {("a.upc", "policed_pcr"): 2, ("a.upc", "policed_scr"): 3, ("b.meter", "policed"): 4}
    assert Policed().measure(tally(sent=20, lost=lost)) == 9


def test_losses_of_other_causes_are_not_its_own(tally: Callable[..., Tally]) -> None:
    assert Policed().measure(tally(sent=9, lost={("policed", "overflow"): 3})) == 0


def test_nothing_sent_is_no_data(tally: Callable[..., Tally]) -> None:
    assert Policed().measure(tally(planned=3)) is None

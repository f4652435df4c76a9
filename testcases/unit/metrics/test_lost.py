from collections.abc import Callable

from qospec.engine.measure.tally import Tally
from qospec.metrics.lost import Lost


def test_it_counts_losses_of_every_cause_everywhere(tally: Callable[..., Tally]) -> None:
    lost = {("a.upc", "policed"): 2, ("a.queue", "overflow"): 3, ("b.queue", "overflow"): 5}
    assert Lost().measure(tally(sent=20, received=10, lost=lost)) == 10


def test_none_lost_is_zero_not_unknown(tally: Callable[..., Tally]) -> None:
    assert Lost().measure(tally(sent=3, received=3)) == 0


def test_nothing_sent_is_no_data(tally: Callable[..., Tally]) -> None:
    assert Lost().measure(tally(planned=3)) is None


def test_it_counts_by_cause_wherever_that_is(tally: Callable[..., Tally]) -> None:
    lost = {("a.upc", "policed"): 2, ("a.queue", "overflow"): 3, ("b.queue", "overflow"): 5}
    seen = tally(sent=20, received=10, lost=lost)
    counts = [Lost().measure(seen, cause) for cause in ("overflow", "policed", "discarded")]
    assert counts == [8, 2, 0]


def test_what_was_planned_and_never_sent_is_not_lost(tally: Callable[..., Tally]) -> None:
    assert Lost().measure(tally(planned=9, sent=7, received=6, lost={("q", "overflow"): 1})) == 1


def test_a_name_of_several_causes_counts_them_together(tally: Callable[..., Tally]) -> None:
    lost = {("a.upc", "policed_pcr"): 2, ("a.upc", "policed_scr"): 3, ("b.meter", "policed"): 4}
    seen = tally(sent=20, lost=lost)
    causes = ("policed", "policed_pcr", "policed_scr")
    assert [Lost().measure(seen, cause) for cause in causes] == [9, 2, 3]

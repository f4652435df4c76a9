"""A source of ABR and its destination, by the rules of TM 4.1 worked out by hand."""

from fractions import Fraction

import pytest
from connected import connected

from qospec.dataclass import dataclass
from qospec.elements.line import Line
from qospec.engine.arrays import np
from qospec.engine.element import Element
from qospec.engine.endpoint.rm_cell import (
    CONGESTED,
    CURRENT_RATE,
    EFCI,
    EXPLICIT_RATE,
    IS_BACKWARD,
    IS_RM,
    NO_INCREASE,
    RATE_UNITS,
)
from qospec.engine.endpoint.traffic import Exchange
from qospec.engine.event.transition import DONE, FLAGS, Transition, lose, send
from qospec.engine.experiment import END, Experiment, MeasurementSpec, Node, Source, Wire
from qospec.engine.graph.emulation import run
from qospec.engine.source.sizes import CELLS
from qospec.protocol.streams import Stream, Streams
from qospec.traffic.abr import Abr
from qospec.units import PS_PER_MS

LINE = Line(Fraction(424_000_000), slotted=False)
"""A million cells in a second: there and back in 2 us."""
SLOW = Abr(peak_cell_rate=Fraction(1_000), initial_cell_rate=Fraction(125), cells_per_rm_cell=4)


@dataclass(frozen=True)
class Watch(Element):
    """Keep when cells came, with their flags and rates, and change or lose them."""

    causes = ("policed",)
    kept: list
    change: object = None

    def build_transition(self, _setting):
        return Transition(np.zeros(1, np.int64), self._arrive, losses=(("", "policed"),))

    def _arrive(self, _state, items, item, _port, now_ps, out):
        if self.change is not None and self.change(items, item, len(self.kept)) == "lost":
            lose(out, 0, item)
            return DONE
        row = items[item]
        self.kept.append((now_ps, int(row[FLAGS]), int(row[CURRENT_RATE]) / RATE_UNITS))
        send(out, 0, item, now_ps)
        return DONE


def observed(abr, stop_ms, there=None, back=None):
    """Return what came to the destination, and what came back, as (ps, flags, CCR)."""
    clock = LINE.build_clock(stamps=True)
    n = abr.connections
    ends = abr.build_endpoints(Exchange(n, 0, n, -1, None))
    came, returned = [], []
    nodes = (
        Node("to", LINE, clock),
        Node("watch", Watch(came, there)),
        Node("destination", ends.server),
        Node("from", LINE, clock),
        Node("hctaw", Watch(returned, back)),
        Node("source", ends.client),
    )
    wires = [Wire(k, 0, (k + 1) % 6) for k in range(6)] + [Wire(2, 1, END), Wire(5, 1, END)]
    contracts, _ = connected((abr.build_contract(),) * (2 * n))
    streams = Streams(("f",), (Stream(0, "user", n, 0), Stream(0, "answers", n, n)))
    sources = tuple(
        Source(name, abr.loop, first, n, "even", CELLS, 0, node, 0, None)
        for name, first, node in (("f", 0, 0), ("f.answers", n, 3))
    )
    spec = MeasurementSpec(0, stop_ms * PS_PER_MS, tuple(np.repeat(range(2), n).tolist()))
    run(Experiment(contracts, streams, sources, nodes, tuple(wires), spec, ("0",)))
    return came, returned


def rates(cells):
    """Return the current rates in the RM cells among these."""
    return [rate for _, flags, rate in cells if flags & IS_RM]


def test_the_first_cell_and_each_fourth_are_rm_cells_and_come_back():
    came, returned = observed(SLOW, 40)
    assert [flags for _, flags, _ in came[:9]] == [IS_RM, 0, 0, 0, IS_RM, 0, 0, 0, IS_RM]
    assert {flags for _, flags, _ in returned} == {IS_RM | IS_BACKWARD}
    assert returned[1][0] - came[4][0] == 1_000_000


def test_it_rises_by_a_part_of_its_peak_with_each_that_comes_back():
    """125 and 62.5 for each RM cell; at each rate four cells follow by 1/ACR."""
    came, _ = observed(SLOW, 60)
    assert rates(came)[:4] == [125, 187.5, 250, 312.5]
    gaps_ps = np.diff([at_ps for at_ps, _, _ in came])[:8]
    fast, faster = -(-(10**12) * 2 // 375), 4 * PS_PER_MS
    assert gaps_ps.tolist() == [fast] * 4 + [faster] * 4


def test_it_never_sends_more_than_its_peak():
    abr = Abr(peak_cell_rate=Fraction(1_000), initial_cell_rate=Fraction(1_000))
    came, _ = observed(abr, 100)
    assert set(np.diff([at_ps for at_ps, _, _ in came]).tolist()) == {PS_PER_MS}


def set_flags(flags):
    """Return a change that sets flags of each RM cell."""

    def change(items, item, _number):
        items[item, FLAGS] |= flags * (items[item, FLAGS] & IS_RM > 0)

    return change


def test_congestion_reduces_it_down_to_its_minimum():
    abr = Abr(
        peak_cell_rate=Fraction(1_000),
        minimum_cell_rate=Fraction(300),
        cells_per_rm_cell=4,
        rate_decrease_factor=Fraction(1, 2),
    )
    came, _ = observed(abr, 40, back=set_flags(CONGESTED))
    assert rates(came)[:4] == [1_000, 500, 300, 300]


def test_no_increase_leaves_it_as_it_is():
    came, _ = observed(SLOW, 100, there=set_flags(NO_INCREASE))
    assert set(rates(came)) == {125}


def test_an_explicit_rate_bounds_it_and_the_minimum_bounds_that():
    def offer(items, item, number):
        items[item, EXPLICIT_RATE] = (400 if number < 2 else 5) * RATE_UNITS

    abr = Abr(peak_cell_rate=Fraction(1_000), cells_per_rm_cell=4)
    came, _ = observed(abr, 700, back=offer)
    assert rates(came)[:5] == [1_000, 400, 400, 10, 10]


def test_the_destination_reports_the_mark_of_the_last_cell_once():
    """Of cells 1 to 3 the last is marked: the next RM cell back has CI. Of 5 to 7 the first is."""

    def mark(items, item, number):
        items[item, FLAGS] |= EFCI * (number in (3, 5))

    _, returned = observed(SLOW, 70, there=mark)
    told = [flags & CONGESTED > 0 for _, flags, _ in returned[:4]]
    assert told == [False, True, False, False]


def test_without_answers_it_falls_by_halves():
    """CRM = 2: the third RM cell finds two that were not answered, and each behind it more."""
    abr = Abr(
        peak_cell_rate=Fraction(1_000),
        minimum_cell_rate=Fraction(200),
        cells_per_rm_cell=4,
        missing_rm_cells=2,
        cutoff_decrease_factor=Fraction(1, 2),
    )
    came, _ = observed(abr, 80, back=lambda *_: "lost")
    assert rates(came)[:6] == [1_000, 1_000, 500, 250, 200, 200]


def test_a_factor_of_nothing_never_cuts_it_off():
    abr = Abr(
        peak_cell_rate=Fraction(1_000), missing_rm_cells=1, cutoff_decrease_factor=Fraction(0)
    )
    came, _ = observed(abr, 80, back=lambda *_: "lost")
    assert set(rates(came)) == {1_000}


def test_a_slow_source_sends_rm_cells_by_time_and_begins_again_after_a_rest():
    """10 cell/s: with two cells behind each, and 100 ms, each third is one; ADTF is shorter."""
    abr = Abr(
        peak_cell_rate=Fraction(1_000),
        initial_cell_rate=Fraction(10),
        adtf=250 * PS_PER_MS,
        rate_increase_factor=Fraction(1, 1_024),
    )
    came, _ = observed(abr, 1_500)
    assert [flags for _, flags, _ in came[:7]] == [IS_RM, 0, 0, IS_RM, 0, 0, IS_RM]
    assert rates(came)[:3] == [10, 10, 10]


def test_connections_begin_within_their_spread_and_are_turned_by_themselves():
    abr = Abr(peak_cell_rate=Fraction(1_000), connections=2, spread=PS_PER_MS, cells_per_rm_cell=2)
    came, returned = observed(abr, 4)
    assert [at_ps % PS_PER_MS for at_ps, _, _ in came[:4]] == [10**6, PS_PER_MS // 2 + 10**6] * 2
    assert len(returned) == 4


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"minimum_cell_rate": Fraction(2_000)}, "mcr: it is above"),
        ({"initial_cell_rate": Fraction(5)}, "icr: it is below"),
        ({"initial_cell_rate": Fraction(1_001)}, "icr: it is below"),
        ({"rate_increase_factor": Fraction(1, 3)}, "rif: expected 1, or a half"),
        ({"rate_decrease_factor": Fraction(0)}, "rdf: expected 1, or a half"),
        ({"cutoff_decrease_factor": Fraction(1, 128)}, "cdf: expected"),
        ({"cells_per_rm_cell": 33}, "nrm: expected a power of two"),
    ],
)
def test_fields_that_do_not_fit_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        Abr(peak_cell_rate=Fraction(1_000), **given)


def test_its_first_link_carries_its_peak_and_others_its_minimum():
    loop = Abr(peak_cell_rate=Fraction(1_000), minimum_cell_rate=Fraction(20)).loop
    assert (loop.compute_first_rate(3), loop.compute_mean_rate(3)) == (3_000, 60)
    assert loop.count_most_items(2, 10**12) == 2_002

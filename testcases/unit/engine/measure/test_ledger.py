"""The ledger balances, or says what does not: by node, kind and unit, in both drivers alike."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from books import in_bytes

from qospec.catalogue.kinds import Buffer
from qospec.elements.encapsulate import Encapsulate
from qospec.elements.oam_extract import OamExtract
from qospec.elements.oam_insert import OamInsert
from qospec.elements.shape import Shape
from qospec.engine.element import Step
from qospec.engine.experiment import END, Experiment, MeasurementSpec, Node, Source, Wire
from qospec.engine.graph import emulation
from qospec.engine.items.batch import Batch
from qospec.engine.items.totals import Totals
from qospec.engine.measure.ledger import Account, Key, Ledger
from qospec.engine.source.sizes import Sizes

MADE = Account(came=10, made=2, left=9, consumed=2, lost=1)
"""At a node."""


def test_what_came_or_was_made_and_has_not_ended_is_held() -> None:
    assert MADE.held == 0
    assert MADE._replace(came=12).held == 2
    assert Account(came=500, grew=-20, left=480).held == 0


def test_the_account_of_a_node_in_items_is_that_of_all_planes() -> None:
    accounts = {
        Key("a", "user", "items"): MADE,
        Key("a", "oam", "items"): Account(came=3, left=1),
        Key("a", "user", "bytes"): Account(came=530, left=530),
        Key("b", "user", "items"): MADE,
    }
    assert Ledger(accounts).sum_items("a") == Account(13, 2, 0, 10, 2, 1)
    assert Ledger(accounts).sum_items("c") == Account()


@pytest.mark.parametrize("unit", ["items", "bytes"])
@pytest.mark.parametrize("kind", ["user", "oam"])
def test_a_node_that_keeps_something_is_named_with_plane_and_unit(kind: Any, unit: Any) -> None:
    fine, kept = Account(came=3, left=3), Account(came=3, left=2)
    ledger = Ledger({Key("a", kind, unit): fine, Key("b", kind, unit): kept})
    assert ledger.imbalance.startswith(f"b holds 1 {unit} of kind {kind} at the end")
    assert not Ledger().imbalance


def test_items_that_vanish_between_nodes_are_missed() -> None:
    balanced = {Key("a", "user", "items"): Account(came=3, left=3)}
    missed = {Key("the network", "user", "items"): Account(came=3, left=2)}
    assert Ledger(balanced, missed).imbalance.startswith("the network holds 1 items")


def chain(vcs: Any, listed: Any, *elements: Any, sizes: Sizes, inserted: Any = ()) -> Any:
    """Return packets at 0, 100, 200 ... through some elements, the rest of whose outputs end."""
    nodes = tuple(Node(f"n{number}", element) for number, element in enumerate(elements))
    wires = [Wire(number, 0, number + 1) for number in range(len(nodes) - 1)]
    last = len(nodes) - 1
    wires += [Wire(last, output, END) for output in range(len(elements[-1].outputs))]
    arrivals = listed([(at_ps, 0) for at_ps in range(0, 600, 100)])
    source = Source("f", arrivals, 0, 1, "even", sizes, 0, 0)
    measured = MeasurementSpec(0, 1_000, (0,))
    connections = vcs(1, inserted=inserted, cell_rate=10**10)
    return Experiment(*connections, (source,), nodes, tuple(wires), measured, ("s",))


@pytest.mark.parametrize("by_events", [False, True])
@pytest.mark.parametrize("chunk", [1, 4, 100])
def test_bytes_balance_where_items_grow_and_are_lost(
    vcs: Any, listed: Any, chunk: int, *, by_events: bool
) -> None:
    policing = in_bytes(Shape, Fraction(10**15), 120, Buffer(9, "packet"))
    experiment = chain(
        vcs, listed, Encapsulate(20), policing, sizes=Sizes((60, 80, 101), (1, 1, 1), in_order=True)
    )
    ledger = emulation.run(experiment, chunk=chunk, by_events=by_events).ledger
    assert not ledger.imbalance
    assert ledger.accounts["n0", "user", "bytes"] == Account(came=482, grew=120, left=602)
    assert ledger.accounts["n0", "user", "items"] == Account(came=6, left=6)
    assert ledger.accounts["n1", "user", "bytes"] == Account(came=602, left=360, lost=242)
    network = ledger.network["the network", "user", "bytes"]
    assert network == Account(came=482, grew=120, left=360, lost=242)


@pytest.mark.parametrize("by_events", [False, True])
def test_each_plane_has_its_account(vcs: Any, listed: Any, *, by_events: bool) -> None:
    insert, extract = OamInsert(Fraction(5 * 10**9), "even"), OamExtract()
    experiment = chain(vcs, listed, insert, extract, sizes=Sizes((53,)), inserted=("oam",))
    ledger = emulation.run(experiment, by_events=by_events).ledger
    assert not ledger.imbalance
    made = ledger.accounts["n0", "oam", "items"].made
    assert made
    assert ledger.accounts["n0", "oam", "bytes"] == Account(made=53 * made, left=53 * made)
    assert ledger.accounts["n1", "oam", "items"] == Account(came=made, left=made)
    assert ledger.accounts["n1", "user", "items"] == Account(came=6, left=6)
    assert ledger.network["the network", "oam", "items"] == Account(made=made, left=made)


class Swelling(Encapsulate):
    """A tunnel that does not account for the sizes that it changes."""

    def process(self, state: Any, arrivals: tuple[Batch, ...], until_ps: int) -> Step:
        return super().process(state, arrivals, until_ps)._replace(resized=())


def test_bytes_from_nowhere_are_named(vcs: Any, listed: Any) -> None:
    seen = emulation.run(chain(vcs, listed, Swelling(20), sizes=Sizes((100,))))
    assert seen.ledger.imbalance.startswith("n0 holds -120 bytes of kind user at the end")


def test_totals_are_those_of_each_plane(vcs: Any, batch_of: Any) -> None:
    batch = batch_of([0, 1, 2, 3], connection=[0, 3, 2, 1])
    batch = batch.with_sizes(np.array([1, 10, 100, 1_000], np.int32))
    totals = Totals(vcs(2, inserted=("oam",))[1])
    assert totals.count(batch).tolist() == [[2, 1_001], [2, 110]]
    assert totals.count(batch.select_range(0, 0)).tolist() == [[0, 0], [0, 0]]


def test_columns_that_are_handed_on_are_summed_once(vcs: Any, batch_of: Any) -> None:
    batch, totals = batch_of([0, 1]), Totals(vcs(1)[1])
    assert totals.count(batch) is totals.count(batch.with_times(batch.at_ps + 5))
    for size_bytes in range(100):  # the next column may be where the last one was
        batch = batch.with_sizes(np.full(2, size_bytes, np.int32))
        assert totals.count(batch).tolist() == [[2, 2 * size_bytes]]

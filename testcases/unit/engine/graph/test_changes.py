"""Changes from outside take effect at their time, whichever driver runs."""
# ruff: noqa: ARG002 -- transitions have one signature

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from connected import Connected

from qospec.elements.delay import Delay
from qospec.elements.vc_switch import VcSwitch
from qospec.engine.event.transition import DONE, Transition, lose, make, send, wake_at
from qospec.engine.experiment import END, Change, Experiment, MeasurementSpec, Node, Source, Wire
from qospec.engine.graph import emulation
from qospec.engine.measure.observation import Observation
from qospec.engine.source.sizes import CELLS

LONG_PS, SHORT_PS = 1_000, 10
Vcs = Callable[..., Connected]


def detour(vcs: Vcs, listed: Any, changes: tuple[Change, ...]) -> Experiment:
    """Return a switch that leads to a long way and a short one; cells come at 0, 100, 200, 300."""
    table = np.array([[0, 0]], np.uint8)
    nodes = (
        Node("switch", VcSwitch(2, latency=5), outputs=table),
        Node("long", Delay(LONG_PS)),
        Node("short", Delay(SHORT_PS)),
    )
    wires = (Wire(0, 0, 1), Wire(0, 1, 2), Wire(1, 0, END), Wire(2, 0, END))
    source = Source(
        "f", listed([(at_ps, 0) for at_ps in range(0, 400, 100)]), 0, 1, "even", CELLS, 0, 0
    )
    measured = MeasurementSpec(0, 1_000, (0,))
    return Experiment(*vcs(1), (source,), nodes, wires, measured, ("s",), changes)


def delays_ps(seen: Observation) -> tuple[int, int, int]:
    found = seen.tally(0, 1).delays
    return found.count, found.max_ps, found.min_ps


@pytest.mark.parametrize("by_events", [False, True])
@pytest.mark.parametrize("chunk", [1, 3, 100])
@pytest.mark.parametrize(
    ("at_ps", "late"), [(0, 0), (1, 1), (100, 1), (101, 2), (300, 3), (301, 4)]
)
def test_a_change_precedes_what_arrives_at_its_time(
    vcs: Vcs, listed: Any, at_ps: int, late: int, chunk: int, *, by_events: bool
) -> None:
    experiment = detour(vcs, listed, (Change(at_ps, 0, (0, 1)),))
    seen = emulation.run(experiment, chunk=chunk, by_events=by_events)
    ledger = seen.ledger
    assert (ledger.items("long").left, ledger.items("short").left) == (late, 4 - late)


@pytest.mark.parametrize("by_events", [False, True])
def test_a_connection_may_come_back(vcs: Vcs, listed: Any, *, by_events: bool) -> None:
    changes = (Change(100, 0, (0, 1)), Change(200, 0, (0, 0)))
    seen = emulation.run(detour(vcs, listed, changes), by_events=by_events)
    assert (seen.ledger.items("long").left, seen.ledger.items("short").left) == (3, 1)


class Counting(Delay):
    """Python logic in a network of kernels: it loses each second item, and after a while adds one.

    The item that it makes follows the first one by 3 ps.
    """

    def transition(self, setting: Any) -> Transition:
        return Transition(
            np.zeros(1, np.int64), self._arrive, self._wake, losses=(("", "policed"),)
        )

    def _arrive(
        self,
        state: Any,
        items: Any,
        item: int,
        port: int,
        now_ps: int,
        out: Any,
    ) -> int:
        state[0] += 1
        if state[0] % 2 == 0:
            lose(out, 0, item)
            return DONE
        if state[0] == 1:
            wake_at(out, now_ps + 3)
        send(out, 0, item, now_ps)
        return DONE

    def _wake(self, state: Any, items: Any, now_ps: int, out: Any) -> int:
        send(out, 0, make(items, out, 0, 53, 0, now_ps), now_ps)
        return DONE


def test_python_may_answer_among_kernels(vcs: Vcs, listed: Any) -> None:
    experiment = detour(vcs, listed, ())
    nodes = (experiment.nodes[0], Node("long", Counting(0)), *experiment.nodes[2:])
    seen = emulation.run(experiment._replace(nodes=nodes), by_events=True)
    assert seen.ledger.items("long").left == 3
    assert seen.losses["long", "policed"].tolist() == [2]


class Flooding(Delay):
    """Python logic that never lets time pass."""

    def transition(self, setting: Any) -> Transition:
        return Transition(np.zeros(1, np.int64), self._arrive, self._wake)

    def _arrive(
        self,
        state: Any,
        items: Any,
        item: int,
        port: int,
        now_ps: int,
        out: Any,
    ) -> int:
        wake_at(out, now_ps)
        return DONE

    def _wake(self, state: Any, items: Any, now_ps: int, out: Any) -> int:
        wake_at(out, now_ps)
        return DONE


def test_an_element_that_answers_itself_for_ever_is_stopped(
    vcs: Vcs, listed: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("qospec.engine.event.component.MOST_EVENTS", 100)
    experiment = detour(vcs, listed, ())
    nodes = (experiment.nodes[0], Node("long", Flooding(0)), *experiment.nodes[2:])
    with pytest.raises(emulation.EndlessError):
        emulation.run(experiment._replace(nodes=nodes), by_events=True)

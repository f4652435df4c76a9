"""An element changes another by what it sends there, and may be plain Python."""
# ruff: noqa: ARG001, ARG002 -- transitions have one signature

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from connected import Connected

from qospec.dataclass import dataclass
from qospec.elements.delay import Delay
from qospec.engine.event.component import EndlessError
from qospec.engine.event.transition import (
    DONE,
    MARKS,
    Transition,
    consume,
    lose,
    make,
    send,
    wake_at,
)
from qospec.engine.experiment import END, Experiment, MeasurementSpec, Node, Source, Wire
from qospec.engine.graph import emulation
from qospec.engine.kernel import kernel
from qospec.engine.source.sizes import CELLS

LONG_PS, SHORT_PS = 1_000, 10
Vcs = Callable[..., Connected]
USER, CONTROL = 0, 1
"""The inputs of the switch, and the connections that come by them."""


@kernel
def _call(state, items, item, port, now_ps, out):  # type: ignore[no-untyped-def]
    send(out, USER, item, now_ps)
    if now_ps == 0:
        for n in range(0, len(state), 2):
            message = make(items, out, CONTROL, 53, state[n + 1], now_ps)
            send(out, CONTROL, message, now_ps + state[n])
    return DONE


@kernel
def _switch(state, items, item, port, now_ps, out):  # type: ignore[no-untyped-def]
    if port == CONTROL:
        state[0] = items[item, MARKS]
        consume(out, item)
    else:
        send(out, state[0], item, now_ps)
    return DONE


@dataclass(frozen=True)
class Caller(Delay):
    """An element that sends messages behind the first item, each at its time: the next output."""

    outputs = ("user", "control")
    process = None

    messages: tuple[tuple[int, int], ...] = ()

    def build_transition(self, setting: Any) -> Transition:
        return Transition(np.array(self.messages, np.int64).ravel(), _call)


class Switch(Delay):
    """An element that sends all to one output, which messages change before what comes then."""

    inputs = ("user", "control")
    outputs = ("long", "short")
    process = None

    def build_transition(self, setting: Any) -> Transition:
        return Transition(np.zeros(1, np.int64), _switch, ports=(CONTROL, USER))


def detour(vcs: Vcs, listed: Any, *messages: tuple[int, int]) -> Experiment:
    """Return a switch that leads to a long way and a short one; cells come at 0, 100, 200, 300."""
    nodes = (
        Node("caller", Caller(0, messages)),
        Node("switch", Switch(0)),
        Node("long", Delay(LONG_PS)),
        Node("short", Delay(SHORT_PS)),
    )
    wires = (Wire(0, 0, 1), Wire(0, 1, 1, CONTROL), Wire(1, 0, 2), Wire(1, 1, 3))
    wires += (Wire(2, 0, END), Wire(3, 0, END))
    cells = listed([(at_ps, 0) for at_ps in range(0, 400, 100)])
    source = Source("f", cells, 0, 1, "even", CELLS, 0, 0)
    measured = MeasurementSpec(0, 1_000, (0, 0))
    return Experiment(*vcs(2), (source,), nodes, wires, measured, ("s",))


@pytest.mark.parametrize("by_events", [False, True])
@pytest.mark.parametrize("chunk", [1, 3, 100])
@pytest.mark.parametrize(
    ("at_ps", "late"), [(0, 0), (1, 1), (100, 1), (101, 2), (300, 3), (301, 4)]
)
def test_a_change_precedes_what_arrives_at_its_time(
    vcs: Vcs, listed: Any, at_ps: int, late: int, chunk: int, *, by_events: bool
) -> None:
    seen = emulation.run(detour(vcs, listed, (at_ps, 1)), chunk=chunk, by_events=by_events)
    ledger = seen.ledger
    assert (ledger.sum_items("long").left, ledger.sum_items("short").left) == (late, 4 - late)


@pytest.mark.parametrize("by_events", [False, True])
def test_a_connection_may_come_back(vcs: Vcs, listed: Any, *, by_events: bool) -> None:
    seen = emulation.run(detour(vcs, listed, (100, 1), (200, 0)), by_events=by_events)
    assert (seen.ledger.sum_items("long").left, seen.ledger.sum_items("short").left) == (3, 1)


class Counting(Delay):
    """Python logic in a network of kernels: it loses each second item, and after a while adds one.

    The item that it makes follows the first one by 3 ps.
    """

    def build_transition(self, setting: Any) -> Transition:
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
    experiment = detour(vcs, listed)
    nodes = (*experiment.nodes[:2], Node("long", Counting(0)), experiment.nodes[3])
    seen = emulation.run(experiment._replace(nodes=nodes), by_events=True)
    assert seen.ledger.sum_items("long").left == 3
    assert seen.losses["long", "policed"].tolist() == [2, 0]


class Flooding(Delay):
    """Python logic that never lets time pass."""

    def build_transition(self, setting: Any) -> Transition:
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
    experiment = detour(vcs, listed)
    nodes = (*experiment.nodes[:2], Node("long", Flooding(0)), experiment.nodes[3])
    with pytest.raises(EndlessError):
        emulation.run(experiment._replace(nodes=nodes), by_events=True)

"""Batches, compiled events, and events by their definition in Python give the same, bit for bit."""

from collections import Counter
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from testcases.definition import Definition
from testcases.properties.networks import networks

from qospec.catalogue.kinds import discover
from qospec.engine import kernel
from qospec.engine.element import Element, Loss
from qospec.engine.event import component
from qospec.engine.experiment import Experiment
from qospec.engine.graph import cycle, emulation
from qospec.engine.items.batch import Batch
from qospec.engine.measure.observation import Recorder

NIGHTLY = 2_000
"""Examples of the nightly profile; of whole networks it draws ten times as many."""
drawn = settings(
    max_examples=10 * settings().max_examples
    if settings().max_examples >= NIGHTLY
    else settings().max_examples // 4,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
NOT_DRAWN = {"merge", "processor", "remark", "decapsulate"}
"""Elements of several inputs, and those for which the packets of these networks may not fit."""
LONGEST_PS = 10**10
MIDDLE = [
    kind
    for kind in discover(("qospec.elements",)).of("element").values()
    if kind.duty == "element"
    and "packet" in kind.carries
    and kind.build.transition is not Element.transition
    and kind.name not in NOT_DRAWN
]


class Seen(NamedTuple):
    """All that a trial shows."""

    arrived: dict[int, list[tuple[int, ...]]]
    sent: Counter[tuple[int, ...]]
    lost: Counter[tuple[Any, ...]]
    departed: dict[str, int]
    occupancies: dict[str, Any]


def seen(experiment: Experiment, chunk: int, *, by_events: bool) -> Seen:
    """Return what a trial shows, each item by itself."""
    arrived: dict[int, list[tuple[int, ...]]] = {}
    sent: Counter[tuple[int, ...]] = Counter()
    lost: Counter[tuple[Any, ...]] = Counter()

    class Noting(Recorder):
        def arrived(self, batch: Batch, point: int) -> None:
            arrived.setdefault(point, []).extend(rows(batch))
            super().arrived(batch, point)

        def sent(self, batch: Batch) -> None:
            sent.update(rows(batch))
            super().sent(batch)

        def lost(self, path: str, loss: Loss) -> None:
            cells = zip(loss.connection.tolist(), loss.sent_ps.tolist(), strict=True)
            lost.update((path, loss.element, loss.cause, *cell) for cell in cells)
            super().lost(path, loss)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(emulation, "Recorder", Noting)
        found = emulation.run(experiment, chunk=chunk, by_events=by_events)
    return Seen(arrived, sent, lost, found.departed, found.occupancies)


def rows(batch: Batch) -> list[tuple[int, ...]]:
    return list(zip(*(column.tolist() for column in batch), strict=True))


def by_definition(experiment: Experiment) -> Seen:
    """Return what it shows if all is done event by event, in Python."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cycle, "Component", Definition)
        patch.setattr(component, "is_compiled", lambda _: False)
        patch.setattr(
            kernel._Kernel,
            "__call__",
            lambda self, *arguments: kernel.as_python(self._function)(*arguments),
        )
        return seen(experiment, 10**6, by_events=True)


def middles(drawing: Any) -> Any:
    """Return a function that draws elements, none with a delay of years."""
    some = st.sampled_from(MIDDLE).flatmap(drawing.elements)
    return lambda: some.filter(lambda element: element.lookahead_ps(None) < LONGEST_PS)


@drawn
@given(data=st.data())
def test_the_drivers_agree_on_networks(drawing: Any, data: st.DataObject) -> None:
    experiment = data.draw(networks(middles(drawing)))
    batches = seen(experiment, 10**6, by_events=False)
    assert seen(experiment, data.draw(st.sampled_from([1, 7, 40])), by_events=False) == batches
    assert seen(experiment, 10**6, by_events=True) == batches
    assert by_definition(experiment) == batches


@drawn
@given(data=st.data())
def test_the_cut_of_time_changes_nothing_by_events(drawing: Any, data: st.DataObject) -> None:
    experiment = data.draw(networks(middles(drawing)))
    whole = seen(experiment, 10**6, by_events=True)
    assert seen(experiment, data.draw(st.sampled_from([1, 7, 40])), by_events=True) == whole

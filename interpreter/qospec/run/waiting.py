"""Where the time went in a case that did not pass for its delays: a trial once more, watched.

To watch every queue of every trial would cost each run time that only a few need. So one trial of
such a case is run again with the same draws, and the queues on the way of its flows are watched.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.engine.graph import emulation
from qospec.judge.verdict import PROBLEMS
from qospec.model.expression import measurements
from qospec.record.quantity import quantity
from qospec.units import CELLS, PACKETS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from qospec.catalogue.kinds import Catalogue
    from qospec.document import Document
    from qospec.engine.measure.observation import Observation
    from qospec.plan.plan import CasePlan, Planned

MOST_CELLS = 5_000_000
"""Trials that send more are not run again: the run would take noticeably longer."""
MOST_PLACES = 3
"""Places at which the most time was spent waiting."""


def wait_documents(
    plan: CasePlan,
    statements: Sequence[Document],
    catalogue: Catalogue,
    on_progress: Callable[[float], None],
) -> list[Document]:
    """Return where the flows waited whose delays did not do, in the first trial.

    Args:
        plan: A case that has run, without phases.
        statements: The documents of its statements, with verdicts.
        catalogue: What says which metrics delays decide.
        on_progress: Called with the share of the case that is done; what it raises ends this.
    """
    flows = dict.fromkeys(_delayed(plan, statements, catalogue))
    if plan.cells > MOST_CELLS:
        return []
    found = []
    for network in dict.fromkeys(network for network, _ in flows):
        planned = plan.networks[network]
        mine = [flow for of, flow in flows if of == network]
        observation = _watched(planned, mine, lambda *_: on_progress(1.0))
        prefix = f"{network}." if network else ""
        found += [_document(planned, observation, flow, prefix) for flow in mine]
    return found


def _delayed(
    plan: CasePlan, statements: Sequence[Document], catalogue: Catalogue
) -> Iterator[tuple[str, str]]:
    """Yield the network and the name of each flow of which a criterion on its delays is unmet."""
    metrics = catalogue.of("metric")
    for statement, document in zip(plan.case.statements, statements, strict=True):
        if document["verdict"] not in PROBLEMS:
            continue
        for leaf in measurements(statement.expression):
            kind = metrics[leaf.metric].build
            of_time = kind.dimension == "time" and "outages" not in kind.needs
            if leaf.flow in plan.networks[leaf.network].holders and (of_time or kind.of_calls):
                yield leaf.network, leaf.flow


def _watched(
    planned: Planned, flows: Sequence[str], on_progress: Callable[[int, int], None]
) -> Observation:
    """Run the first trial again; all that it draws is as it was."""
    experiment = planned.experiment
    places = {place for flow in flows for place in planned.holders[flow]}
    measurement = experiment.measurement.without("payload")._replace(queues=tuple(sorted(places)))
    seed = (*experiment.seed, "repeat 0")
    again = experiment._replace(seed=seed, measurement=measurement)
    return emulation.run(again, on_progress=on_progress)


def _document(planned: Planned, observation: Observation, flow: str, prefix: str) -> Document:
    window = planned.experiment.measurement
    window_ps = window.stop_ps - window.start_ps
    dimension = PACKETS if flow in planned.packets else CELLS
    waited = {
        place: seen for place in planned.holders[flow]
        if (seen := observation.occupancies[place]).waited_ps
    }  # fmt: skip
    longest = sorted(waited, key=lambda place: -waited[place].waited_ps)
    return {
        "flow": prefix + flow,
        "places": [
            {
                "element": prefix + place,
                "mean": quantity(Fraction(waited[place].waited_ps, window_ps), dimension),
                "most": quantity(waited[place].most, dimension),
            }
            for place in longest[:MOST_PLACES]
        ],
    }

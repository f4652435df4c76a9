"""Where the time went in a case that did not pass for its delays: a trial once more, watched.

To watch every queue of every trial would cost each run time that only a few need. So one trial of
such a case is run again with the same draws, and the queues on the way of its flows are watched.
The verdict is known by then, and nothing here changes it.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import chain
from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple
from qospec.engine.graph import emulation
from qospec.engine.measure.occupancy import list_silent
from qospec.judge.verdict import PROBLEMS
from qospec.model.expression import list_measurements
from qospec.record.quantity import describe_quantity
from qospec.run.trial import seed_repeat
from qospec.units import CELLS, PACKETS, PS_PER_S, RATIO, TIME

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from qospec.catalogue.kinds import Catalogue
    from qospec.document import Document
    from qospec.engine.measure.observation import Observation
    from qospec.plan.plan import CasePlan, Planned

MOST_CELLS = 5_000_000
"""Trials that send more are not run again: the run would take noticeably longer."""
MOST_PLACES = 3
"""Places at which the most time was spent waiting."""


class Waits(NamedTuple):
    """Where flows waited: the documents of it, and in sentences what of it is unknown."""

    documents: list[Document]
    unknown: list[str]


def explain_delays(
    plan: CasePlan,
    statements: Sequence[Document],
    catalogue: Catalogue,
    on_progress: Callable[[float], None],
) -> Waits:
    """Return where the flows waited whose delays did not do, in the first trial.

    Args:
        plan: A case that has run, without phases.
        statements: The documents of its statements, with verdicts.
        catalogue: What says which metrics delays decide.
        on_progress: Called with the share of the case that is done; what it raises ends this.
    """
    waits = Waits([], [])
    if plan.cells > MOST_CELLS:
        return waits
    flows = dict.fromkeys(_list_delayed(plan, statements, catalogue))
    for network in dict.fromkeys(network for network, _ in flows):
        mine = [flow for its_network, flow in flows if its_network == network]
        _explain_network(plan, network, mine, lambda *_: on_progress(1.0), waits)
    return waits


def _explain_network(
    plan: CasePlan,
    network: str,
    flows: Sequence[str],
    on_progress: Callable[[int, int], None],
    waits: Waits,
) -> None:
    """Add to `waits` where the flows of a network waited.

    An element without a transition does not report what waits in it for a line. If all else is
    empty, nothing is said of where a flow waited: it may have been there.
    """
    planned = plan.networks[network]
    prefix = f"{network}." if network else ""
    silent = frozenset(list_silent(planned.experiment.nodes))
    watched = {
        flow: tuple(place for place in planned.holders[flow] if place not in silent)
        for flow in flows
    }
    try:
        observation = _watch(planned, watched.values(), on_progress)
    except Exception as error:  # noqa: BLE001 - as in a trial; an author's transition runs only here
        named = " and ".join(prefix + flow for flow in flows)
        waits.unknown.append(
            f"where {named} waited is unknown: to watch it failed: {type(error).__name__}: {error}"
        )
        return
    for flow in flows:
        document = _describe(planned, observation, flow, watched[flow], prefix)
        unknown = [place for place in planned.holders[flow] if place in silent]
        if document["places"] or not unknown:
            waits.documents.append(document)
        if unknown:
            named = " and ".join(prefix + place for place in unknown)
            waits.unknown.append(
                f"what waited at {named} on the way of {prefix}{flow} is unknown:"
                " an element without a transition does not report it"
            )


def _list_delayed(
    plan: CasePlan, statements: Sequence[Document], catalogue: Catalogue
) -> Iterator[tuple[str, str]]:
    """Yield the network and the name of each flow of which a criterion on its delays is unmet."""
    metrics = catalogue.select_role("metric")
    for statement, document in zip(plan.case.statements, statements, strict=True):
        if document["verdict"] not in PROBLEMS:
            continue
        for leaf in list_measurements(statement.expression):
            kind = metrics[leaf.metric].build
            of_time = kind.dimension == "time" and "outages" not in kind.needs
            if leaf.flow in plan.networks[leaf.network].holders and (of_time or kind.of_calls):
                yield leaf.network, leaf.flow


def _watch(
    planned: Planned, places: Iterable[Iterable[str]], on_progress: Callable[[int, int], None]
) -> Observation:
    """Run the first trial again with all `places` watched; all that it draws is as it was."""
    experiment = seed_repeat(planned.experiment, 0)
    queues = tuple(sorted(set(chain.from_iterable(places))))
    measurement = experiment.measurement.without_need("payload")._replace(queues=queues)
    return emulation.run(experiment._replace(measurement=measurement), on_progress=on_progress)


def _describe(
    planned: Planned, observation: Observation, flow: str, places: Iterable[str], prefix: str
) -> Document:
    """Return at which of `places` a flow waited longest; each name begins with `prefix`."""
    window = planned.experiment.measurement
    window_ps = window.stop_ps - window.start_ps
    dimension = PACKETS if flow in planned.packets else CELLS
    waited = {
        place: seen for place in places
        if (seen := observation.occupancies[place]).waited_ps
    }  # fmt: skip
    together_ps = sum(seen.whole_ps for seen in waited.values())
    longest = sorted(waited.items(), key=lambda entry: -entry[1].whole_ps)
    return {
        "flow": prefix + flow,
        "places": [
            {
                "element": prefix + place,
                "mean": describe_quantity(Fraction(seen.waited_ps, window_ps), dimension),
                "most": describe_quantity(seen.most, dimension),
                "mean_wait": describe_quantity(
                    Fraction(seen.whole_ps, seen.delayed * PS_PER_S), TIME
                ),
                "longest_wait": describe_quantity(Fraction(seen.longest_ps, PS_PER_S), TIME),
                "share": describe_quantity(Fraction(seen.whole_ps, together_ps), RATIO),
            }
            for place, seen in longest[:MOST_PLACES]
        ],
    }

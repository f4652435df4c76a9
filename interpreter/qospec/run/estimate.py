"""How much a run takes, about, before anything runs: time of computing, memory, and disk.

It follows from the plan: what a trial sets up, and what its items cost at the elements. The costs
were measured on one machine; a loop of some milliseconds tells how fast this one is beside it.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple
from qospec.engine.graph.emulation import CHUNK, list_answering
from qospec.engine.source.closed_loop import ClosedLoop

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qospec.engine.experiment import Experiment
    from qospec.model.suite import Suite
    from qospec.plan.plan import CasePlan, PhasePlan, Planned

START_S = 0.7
CASE_S, STATEMENT_S = 0.75e-3, 0.25e-3
TRIAL_S, NODE_S, SOURCE_S = 0.8e-3, 0.25e-3, 0.35e-3
MAKER_S, MACHINE_S = 0.4e-3, 1.4e-3
ITEM_S, MERGED_S, EVENT_S, ANSWERED_S = 28e-9, 16e-9, 100e-9, 0.8e-9
VARIATION_S, FOLLOWED_S, QUEUE_S, BYTES_S = 110e-9, 3e-9, 70e-9, 400e-9
"""What the command takes, a case, a statement of it, a trial, and in it each element, source,
endpoint and machine. An item, one beside those of other sources, and, event by event, one at each
place where it may wait, or that senders who wait for answers might send at most. An item whose gaps
are recorded, or something else of it, one where a queue is observed, one with bytes.

Fitted to 93 cases of 46 files of the suites: 95 % of them are within 2 times."""
SEARCHED = 0.7
"""The share of the loads that are tried at most, since a search ends early."""
LOOPS = 40_000
LOOP_S = 1.5e-3
"""How long so many rounds of a loop take on the machine of these times."""
PROCESS_BYTES, ITEM_BYTES, LOADED = 160 << 20, 250, 2
"""The memory of a process with all that it has loaded, of an item in a window, and of a byte of a
record."""
PACKED, MOST_PAGE_BYTES = 8, 5 << 20
PAGE_BYTES, CASE_BYTES, STATEMENT_BYTES, METRICS_BYTES = 80_000, 1_500, 650, 2_600
"""Of a report, and in the file of a case, of that itself, a statement, a flow in a trial."""


class Estimate(NamedTuple):
    """What a run takes, about.

    Attributes:
        items: How many cells and packets all trials send, of searches at most.
        time_s: Of computing, in one process, with compiled kernels.
        memory_bytes: Of a process, at most.
        disk_bytes: Of the record, with a report.
    """

    items: int
    time_s: float
    memory_bytes: int
    disk_bytes: int


def estimate_run(suite: Suite, plans: Iterable[CasePlan]) -> Estimate:
    """Return what the cases of a suite take together."""
    items, time_s, memory_bytes, files_bytes = 0, START_S, 0, 0
    for plan in plans:
        case = estimate_case(plan)
        items, time_s = items + case.items, time_s + case.time_s
        memory_bytes = max(memory_bytes, case.memory_bytes)
        files_bytes += case.disk_bytes
    memory_bytes += PROCESS_BYTES + LOADED * files_bytes
    disk_bytes = PAGE_BYTES + 3 * sum(len(source.shown) for source in suite.sources) + files_bytes
    # Cases are in the outcome, too, and in the page; if that is much, it is packed, or left out.
    disk_bytes += min(2 * files_bytes, files_bytes // PACKED + MOST_PAGE_BYTES)
    return Estimate(items, time_s * measure_slowness(), memory_bytes, disk_bytes)


def estimate_case(plan: CasePlan) -> Estimate:
    """Return what a case takes by itself, on the machine of the times above."""
    repeats = plan.case.run.repeat
    phases = [(_count_trials(phase), phase.cells) for phase in plan.phases]
    trials = phases or [(repeats, plan.cells)]
    items, followed = 0, 0
    time_s = CASE_S + STATEMENT_S * len(plan.case.statements)
    for network in plan.networks.values():
        for count, cells in trials:
            time_s += count * _estimate_trial_s(network, cells)
            time_s += count * cells * BYTES_S * plan.case.run.payload
            items += count * cells
        followed += len(network.populations)
    window = min(CHUNK, max(cells for _, cells in trials))
    metrics_bytes = METRICS_BYTES * followed * (1 + repeats)
    statements_bytes = STATEMENT_BYTES * len(plan.case.statements)
    disk_bytes = CASE_BYTES + statements_bytes + metrics_bytes
    return Estimate(items, time_s, ITEM_BYTES * window, disk_bytes)


def count_steps(plan: CasePlan) -> float:
    """Return how many items pass how many elements in all trials of a case, at most.

    Infinitely many where that does not follow from the plan, as elements act by themselves, and
    where bytes are computed.
    """
    experiments = [network.experiment for network in plan.networks.values()]
    if plan.phases or plan.examiner or plan.case.run.payload:
        return math.inf
    if any(list_answering(experiment) for experiment in experiments):
        return math.inf
    through = (
        _count_pieces(experiment) * (1 + len(experiment.nodes)) for experiment in experiments
    )
    return plan.case.run.repeat * plan.cells * sum(through)


def _count_trials(phase: PhasePlan) -> int:
    """Return how many trials a phase takes: of a search in which nothing is drawn, one a load."""
    if not phase.loads:
        return phase.cost.trials
    most = sum(phase.loads) if phase.bounded else phase.cost.trials
    return math.ceil(SEARCHED * most)


def _estimate_trial_s(network: Planned, cells: int) -> float:
    experiment = network.experiment
    elements = [node.element for node in experiment.nodes]
    machines = sum(element.most_made > 0 for element in elements)
    makers = sum(element.makes for element in elements) - machines
    set_up_s = TRIAL_S + NODE_S * len(elements) + MAKER_S * makers + MACHINE_S * machines
    set_up_s += SOURCE_S * len(experiment.sources)
    passed = [len(places) for places in network.holders.values()] or [len(experiment.nodes)]
    hops, pieces = sum(passed) / len(passed), _count_pieces(experiment)
    if any(isinstance(source.arrivals, ClosedLoop) for source in experiment.sources):
        return set_up_s + cells * pieces * (1 + hops) * ANSWERED_S
    item_s = ITEM_S + MERGED_S * (len(experiment.sources) > 1)
    item_s += hops * EVENT_S if list_answering(experiment) else 0
    measurement = experiment.measurement
    followed = {need for need, _, _ in measurement.followed} - {"histogram"}
    item_s += FOLLOWED_S * len(followed - {"variation"}) + VARIATION_S * ("variation" in followed)
    item_s += QUEUE_S * bool(measurement.queues)
    return set_up_s + cells * pieces * item_s


def _count_pieces(experiment: Experiment) -> int:
    """Return how many items an item becomes at most where elements cut it."""
    return max(
        (
            node.element.count_parts(max(source.sizes.size_bytes))
            for node in experiment.nodes
            if node.element.cuts
            for source in experiment.sources
        ),
        default=1,
    )


def measure_slowness() -> float:
    """Return how much longer than there this machine takes for a loop of Python."""
    best_s = min(_measure_loop_s() for _ in range(3))
    return best_s / LOOP_S


def _measure_loop_s() -> float:
    started_s = time.process_time()
    found = 0
    for number in range(LOOPS):
        found ^= number * number
    return time.process_time() - started_s

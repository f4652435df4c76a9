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

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qospec.model.suite import Suite
    from qospec.plan.plan import CasePlan, PhasePlan, Planned

START_S = 0.7
CASE_S = 2e-3
TRIAL_S, NODE_S, SOURCE_S, MAKER_S = 1e-3, 0.5e-3, 1.2e-3, 1e-3
ITEM_S, MERGED_S, BYTES_S, HOP_S, EVENT_S = 22e-9, 20e-9, 500e-9, 10e-9, 80e-9
"""What the command takes, a case, a trial, and in it each element, source, and element that sends
by itself; an item, one beside those of other sources, one with bytes, and an item at each place
where it may wait, in batches or event by event."""
ANSWERED, SEARCHED = 0.06, 0.7
"""The shares of what is sent and of the loads that are tried at most, where senders wait for
answers, and where a search ends early."""
LOOPS = 40_000
LOOP_S = 1.5e-3
"""How long so many rounds of a loop take on the machine of these times."""
PROCESS_BYTES, ITEM_BYTES, LOADED = 120 << 20, 250, 8
"""The memory of a process, of an item in a window, and of a byte of a record."""
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
    items, time_s, memory_bytes = 0, START_S, 0
    disk_bytes = PAGE_BYTES + 3 * sum(len(source.shown) for source in suite.sources)
    for plan in plans:
        case = estimate_case(plan)
        items, time_s = items + case.items, time_s + case.time_s
        memory_bytes = max(memory_bytes, case.memory_bytes)
        disk_bytes += 3 * case.disk_bytes  # by itself, in the outcome, and in the page
    memory_bytes += PROCESS_BYTES + LOADED * disk_bytes
    return Estimate(items, time_s * measure_slowness(), memory_bytes, disk_bytes)


def estimate_case(plan: CasePlan) -> Estimate:
    """Return what a case takes by itself, on the machine of the times above."""
    repeats = plan.case.run.repeat
    phases = [(_count_trials(phase), phase.cells) for phase in plan.phases]
    trials = phases or [(repeats, plan.cells)]
    items, time_s, followed = 0, CASE_S, 0
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


def _count_trials(phase: PhasePlan) -> int:
    """Return how many trials a phase takes: of a search in which nothing is drawn, one a load."""
    if not phase.loads:
        return phase.cost.trials
    most = sum(phase.loads) if phase.bounded else phase.cost.trials
    return math.ceil(SEARCHED * most)


def _estimate_trial_s(network: Planned, cells: int) -> float:
    experiment = network.experiment
    passed = [len(places) for places in network.holders.values()] or [len(experiment.nodes)]
    hops = sum(passed) / len(passed)
    makers = sum(node.element.makes for node in experiment.nodes)
    item_s = ITEM_S + MERGED_S * (len(experiment.sources) > 1)
    item_s += hops * (EVENT_S if list_answering(experiment) else HOP_S)
    set_up_s = TRIAL_S + NODE_S * len(experiment.nodes) + MAKER_S * makers
    set_up_s += SOURCE_S * len(experiment.sources)
    return set_up_s + cells * item_s * (ANSWERED if makers else 1)


def measure_slowness() -> float:
    """Return how much longer than there this machine takes for a loop of Python."""
    best_s = min(_time_loop() for _ in range(3))
    return best_s / LOOP_S


def _time_loop() -> float:
    started_s = time.process_time()
    found = 0
    for number in range(LOOPS):
        found ^= number * number
    return time.process_time() - started_s

"""Which trial of a recorded case is meant, and what the record holds of its result."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from qospec.capture.error import CaptureError, list_names
from qospec.catalogue.kinds import discover
from qospec.dataclass import NamedTuple
from qospec.diagnostics import suggest_name
from qospec.judge.phases import TrialResult
from qospec.judge.readings import Readings
from qospec.model.suite import Search, list_tested
from qospec.plan.plan import CasePlan
from qospec.record.outcome import describe_metrics
from qospec.record.phases import read_goals
from qospec.run.trial import name_draws
from qospec.run.workshop import plan_at_load
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from collections.abc import Callable

    from qospec.capture.specification import Recorded
    from qospec.document import Document
    from qospec.engine.measure.observation import Observation
    from qospec.model.suite import GoalResult, Phase
    from qospec.plan.plan import Planned

MOST_LISTED = 20
"""Trials of a search that a message lists."""


class Asked(NamedTuple):
    """Which trial is asked for; 0 and "" for what was not said.

    Attributes:
        trial: Its number, from 1: of a case without phases, the repeat.
        control: The name of a control, for its topology.
        phase: The name of a search's variable, or of a point.
        repeat: Of a case with phases, which repeat of all of them, from 1.
    """

    trial: int = 0
    control: str = ""
    phase: str = ""
    repeat: int = 0


class Trial(NamedTuple):
    """A trial of the record, which can be run again.

    Attributes:
        case: The plan of which it is one trial.
        planned: Its network.
        names: What its random draws depend on, besides the case.
        differs: Says in words how what was observed differs from the record; "" if it does not.
        words: Which trial it is.
    """

    case: CasePlan
    planned: Planned
    names: tuple[str, ...]
    differs: Callable[[Observation], str]
    words: str


def find_trial(of: Recorded, asked: Asked) -> Trial:
    """Return the trial that is asked for; raises CaptureError."""
    if of.plan.case.phases:
        return _find_in_phase(of, asked)
    if asked.phase or asked.repeat > 1:
        raise CaptureError(f"`{of.plan.case.name}` has no phases: `--trial` chooses its repeat")
    names = [name for name in of.plan.networks if name]
    if asked.control and asked.control not in names:
        raise CaptureError(_explain_unknown("control", asked.control, names))
    planned = of.plan.networks[asked.control]
    ran = of.document["repeats"]
    number = _check_number(asked.trial or 1, len(ran), "trial")

    def differs(seen: Observation) -> str:
        found = describe_metrics(Readings(discover(), {asked.control: (planned, seen)}))
        return _find_difference(found, ran[number - 1])

    words = f"trial {number} of {len(ran)}" + (f" of control {asked.control}" * bool(asked.control))
    return Trial(of.plan, planned, name_draws(number - 1), differs, words)


def _find_in_phase(of: Recorded, asked: Asked) -> Trial:
    if asked.control:
        raise CaptureError(f"`{of.plan.case.name}` has phases, and so no controls")
    documents = of.document["phases"]
    repeat = _check_number(asked.repeat or 1, max(phase["repeat"] for phase in documents), "repeat")
    mine = [phase for phase in documents if phase["repeat"] == repeat]
    phases = {phase.name: phase for phase in of.plan.case.phases}
    if asked.phase not in [phase["name"] for phase in mine]:
        raise _explain_which_phase(of, asked.phase, mine)
    document = next(phase for phase in mine if phase["name"] == asked.phase)
    phase = phases[asked.phase]
    found = dict(result for phase in mine for result in read_goals(phase))
    if isinstance(phase, Search):
        return _find_in_search(of, phase, document, found, repeat, asked.trial)
    ran = _count_trials_before(documents, repeat)
    number = _check_number(
        asked.trial or 1, document["repeats"], f"trial of the point `{phase.name}`"
    )
    planned = _plan_trial(of, phase, None, found)

    def differs(seen: Observation) -> str:
        network = planned.networks[""]
        made = describe_metrics(Readings(discover(), {phase.name: (network, seen)}))
        return _find_difference(made, of.document["repeats"][ran + number - 1])

    names = name_draws(repeat - 1, phase, number - 1)
    words = f"trial {number} of {document['repeats']} of the point {phase.name}"
    return Trial(planned, planned.networks[""], names, differs, words)


def _find_in_search(
    of: Recorded,
    search: Search,
    document: Document,
    found: dict[str, GoalResult],
    repeat: int,
    asked: int,
) -> Trial:
    trials = document["trials"]
    if not asked:
        raise _explain_which_trial(search, trials)
    number = _check_number(asked, len(trials), f"trial of the search `{search.name}`")
    ran = trials[number - 1]
    load = Fraction(ran["load"]["value"])
    varies = any(goal.varies for goal in search.goals)
    length_ps = None if varies else int(Fraction(ran["length"]["value"]) * PS_PER_S)
    planned = _plan_trial(of, search, load, found, length_ps)
    network = planned.networks[""]

    def differs(seen: Observation) -> str:
        flows = tuple(Readings(discover(), {"": (network, seen)}).count_exchanged())
        made = TrialResult(flows, frozenset(flow.name for flow in list_tested(planned.case.flows)))
        if (made.sent, made.lost) == (ran["sent"], ran["lost"]):
            return ""
        return (
            f"{made.lost} of {made.sent} items were lost,"
            f" and {ran['lost']} of {ran['sent']} in the record"
        )

    names = name_draws(repeat - 1, search, ran["number"], load)
    words = f"trial {number} of {len(trials)} of the search {search.name}, {ran['load']['text']}"
    return Trial(planned, network, names, differs, words)


def _plan_trial(
    of: Recorded,
    phase: Phase,
    load: Fraction | None,
    found: dict[str, GoalResult],
    length_ps: int | None = None,
) -> CasePlan:
    planned = plan_at_load(of.plan, phase, load, found, of.bounds, length_ps)
    if not isinstance(planned, CasePlan):
        raise CaptureError(f"no trial of `{phase.name}` was run: {planned.message}")
    return planned


def _count_trials_before(documents: list[Document], repeat: int) -> int:
    """Return how many trials with metrics the repeats before this one have."""
    most = [0] * repeat
    for document in documents:
        if document["kind"] == "point" and document["repeat"] < repeat:
            most[document["repeat"]] = max(most[document["repeat"]], document["repeats"])
    return sum(most)


def _check_number(asked: int, most: int, what: str) -> int:
    if not 1 <= asked <= most:
        there = f"the record has {most}" if most else "the record has none"
        raise CaptureError(f"there is no {what} {asked}: {there}")
    return asked


def _explain_unknown(what: str, name: str, names: list[str]) -> str:
    if not names:
        return f"there is no {what} `{name}`: the test has none"
    near = suggest_name(name, names)
    hint = f"did you mean `{near}`?" if near else f"there are {list_names(names)}"
    return f"there is no {what} `{name}`: {hint}"


def _explain_which_phase(of: Recorded, name: str, documents: list[Document]) -> CaptureError:
    if name:
        return CaptureError(
            _explain_unknown("phase", name, [document["name"] for document in documents])
        )
    lines = []
    for document in documents:
        count = len(document["trials"]) if document["kind"] == "search" else document["repeats"]
        trials = f"{count} trial{'s' * (count != 1)}"
        lines.append(f"--phase {document['name']}: a {document['kind']} with {trials}")
    chosen = f"`{of.plan.case.name}` has phases: choose one of them, and a trial of it"
    return CaptureError(chosen, lines)


def _explain_which_trial(search: Search, trials: list[dict[str, Any]]) -> CaptureError:
    lines = [
        f"--trial {number}: {listed['load']['text']}, {listed['lost']} of {listed['sent']} lost"
        for number, listed in enumerate(trials[:MOST_LISTED], 1)
    ]
    more = len(trials) - MOST_LISTED
    tail = [f"and {more} more"] if more > 0 else []
    return CaptureError(f"choose a trial of the search `{search.name}`", [*lines, *tail])


def _find_difference(found: Document, ran: Document) -> str:
    """Return the first metric that differs from the record's; "" if none does."""
    for population, metrics in found.items():
        for name, value in metrics.items():
            recorded = ran.get(population, {}).get(name)
            if value != recorded:
                was, is_ = (
                    quantity["text"] if quantity else "no data" for quantity in (recorded, value)
                )
                return f"`{population}.{name}` is {is_}, and {was} in the record"
    return ""

"""Fuzzing of devices: scenarios around each, run and judged exactly as `qos run` does."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from qospec.catalogue.kinds import discover
from qospec.check.device.observables import has_occupancy
from qospec.dataclass import dataclass
from qospec.diagnostics import Problems
from qospec.engine.experiment import Tap
from qospec.fuzz.aims import list_aims, select_closest
from qospec.fuzz.coverage import TESTED, list_reached, name_wire
from qospec.fuzz.promises import read_flow, read_promise
from qospec.fuzz.scenario import draw_scenario, lay_out, write_specification
from qospec.fuzz.smaller import list_smaller
from qospec.fuzz.target import Outcome, Smaller, Violation
from qospec.judge.readings import Readings
from qospec.model.expression import Counted, Measured, with_leaves
from qospec.plan.plan import Bounds, CasePlan, plan
from qospec.promises.builtin import ALL, CHEAP
from qospec.promises.promise import BrokenPromise
from qospec.run import trial
from qospec.run.workshop import plan_at_load
from qospec.units import format_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from qospec.check import Checked
    from qospec.fuzz.device import Device
    from qospec.fuzz.scenario import Scenario
    from qospec.fuzz.target import Draw
    from qospec.judge.phases import TrialResult
    from qospec.judge.verdict import Judgement
    from qospec.model.checked import CheckedSuite
    from qospec.model.expression import Leaf
    from qospec.model.suite import Case, Statement
    from qospec.promises.promise import Promise
    from qospec.source import Span

SEED = "0"
"""Of the trials, as of `qos run`; the scenarios are drawn by another."""
MOST_ITEMS = 2_000
"""Of a trial: an example with more is not worth its time."""
SPEAKER = "a device of the file that speaks with it"
"""What an example needs if the device has messages to exchange, and no two ports for flows."""
ONE_PORT = "it has one port, and a flow needs two"
"""Why a device cannot be examined that exchanges no messages."""
OVERLOAD = "E0305"
"""The error that `overload = true` removes."""
ERRORS = {
    "ConservationError": "conservation",
    "BoundError": "bound",
    "NonceError": "nonce",
    "EndlessError": "end",
    "BudgetError": "end",
    "LivelockError": "end",
    "CrowdedError": "end",
}
"""By error of a trial, the promise of all devices that it shows to be broken."""
MEAN_BYTES = 500
"""Of a packet in a queue whose room is in bytes."""


@dataclass(frozen=True)
class DeviceTarget:
    """A device of a file that was checked."""

    device: Device
    checked: Checked
    is_left_to_hypothesis = False

    @property
    def name(self) -> str:
        """Return its name, as in `FILE::NAME`."""
        return self.device.name

    @property
    def span(self) -> Span:
        """Return where it is declared."""
        return self.device.span

    @property
    def noun(self) -> str:
        """Return what it is."""
        return "device"

    @property
    def hindrance(self) -> str:
        """Return why no example of it can be run; "" if some can."""
        alone = self.device.has_one_port and not self.device.exchanges
        return self.device.unimportable or (ONE_PORT if alone else "")

    @property
    def note(self) -> str:
        """Return which device its file lacks, if it has machines that hear nothing."""
        words = ", ".join(f"`{port}`" for port in self.device.unheard)
        lacking = f"nothing speaks with it: add a device of one port that sends {words}"
        return lacking if words else ""

    @property
    def reachable(self) -> frozenset[str]:
        """Return what may happen in it, with the simplest values of its parameters.

        That is nothing if no example of it can be run.
        """
        return frozenset() if self.hindrance else self.device.reachable

    def run(self, draw: Draw) -> Outcome:
        """Draw a scenario, run and judge it."""
        whole = draw(draw_scenario(self.device))
        if isinstance(whole, str):
            silent = self.device.exchanges and not self.device.speakers
            return Outcome(refused=SPEAKER if silent else whole)
        case = self._plan_text(write_specification(whole))
        if isinstance(case, str):
            return Outcome(refused=case)
        template = self.device.get_template(whole.arguments)
        assert template is not None  # noqa: S101 -- it was planned
        rooms = _estimate_rooms(case)
        ran = _run(_watch_queues(case, rooms), ALL if whole.all_promises else CHEAP)
        kept = {
            again: found
            for violation in list_violations(case.case, ran)
            for again, found in self._list_broken(violation, whole)
        }
        readings = None if ran.seen is None else Readings(discover(), {"": ran.seen})
        return Outcome(
            tuple(kept),
            lambda violation: lay_out(kept[violation], violation),
            "",
            frozenset() if readings is None else list_reached(template, case, readings),
            frozenset(_list_unjudged(case.case, ran)),
            select_closest(() if readings is None else list_aims(readings, rooms)),
            lambda violation: self._simplify(violation, kept[violation]),
        )

    def _list_broken(
        self, violation: Violation, whole: Scenario
    ) -> Iterator[tuple[Violation, Scenario]]:
        """Yield the violation as it is in the file that would be kept, unless there is none.

        Random draws depend on the name of a test, which tells there what is violated.
        """
        case = self._plan_text(write_specification(whole, _drop_flow(violation)))
        if isinstance(case, str):
            return
        for found in list_violations(case.case, _run(case)):
            if found.statement == violation.statement:
                yield found, whole._replace(overload=case.case.run.overload)
                return

    def _simplify(self, violation: Violation, whole: Scenario) -> Iterator[Smaller | None]:
        """Yield smaller and smaller scenarios that break the same."""
        whole = whole._replace(overload=False)
        search, tried = list_smaller(whole), {write_specification(whole, _drop_flow(violation))}
        with suppress(StopIteration):
            smaller = next(search)
            while True:
                text = write_specification(smaller, _drop_flow(violation))
                found = None if text in tried else next(self._list_broken(violation, smaller), None)
                tried.add(text)
                yield None if found is None else Smaller(found[0], partial(lay_out, *found[::-1]))
                smaller = search.send(found is not None)

    def _plan_text(self, text: str) -> CasePlan | str:
        """Return the plan of the one trial of a text, or what of the checks it does not pass.

        It has `overload = true` if it needs that.
        """
        problems = Problems()
        suite = self.checked.check(text, self.device.path, problems)
        plans = () if problems.errors else plan(suite, SEED, Bounds(MOST_ITEMS), problems)
        if {error.code for error in problems.errors} == {OVERLOAD}:
            problems = Problems()
            plans = plan(_allow_overload(suite), SEED, Bounds(MOST_ITEMS), problems)
        return (
            f"what {problems.errors[0].code} asks for" if problems.errors else _plan_trial(plans[0])
        )


def _drop_flow(violation: Violation) -> Violation:
    """Return a violation, of whichever flow: how it is broken does not matter, nor by which."""
    return violation._replace(flow="", reason="")


def _allow_overload(suite: CheckedSuite) -> CheckedSuite:
    """Return a suite whose cases have `overload = true`."""
    (test,) = suite.suite.tests
    (case,) = test.cases
    case = replace(case, run=replace(case.run, overload=True))
    return suite.select([replace(test, cases=(case,))])


def _plan_trial(case: CasePlan) -> CasePlan:
    """Return the plan of the only trial of a case; at a point, with the criteria that judge it."""
    if not case.case.phases:
        return case
    (point,) = case.case.phases
    planned = plan_at_load(case, point, None, {}, Bounds(MOST_ITEMS))
    assert isinstance(planned, CasePlan)  # noqa: S101 -- both ends of the point were planned
    judged = (statement for statement in case.case.statements if statement.kind != "invariant")
    here = tuple(
        replace(statement, expression=with_leaves(statement.expression, _drop_point))
        for statement in judged
    )
    statements = (*planned.case.statements, *here)
    return replace(planned, case=replace(planned.case, statements=statements, phases=(point,)))


def _drop_point(leaf: Leaf) -> Leaf:
    """Return what is measured at a point as what its trial measures."""
    return replace(leaf, network="") if isinstance(leaf, Measured | Counted) else leaf


def _run(case: CasePlan, promises: tuple[Promise, ...] = ()) -> TrialResult:
    """Run the one trial of a case, with the draws that it has under `qos run`."""
    names = trial.name_draws(0, next(iter(case.case.phases), None))
    return trial.run_one(case, names, lambda _: None, keeps=True, promises=promises)


def list_violations(case: Case, ran: TrialResult) -> Iterator[Violation]:
    """Yield what a trial breaks: errors of the tester, invariants of devices, promises of all."""
    if ran.error:
        yield _build_violation(ran.error)
    for statement in case.statements:
        judgement = ran.judgements.get(statement.label)
        if judgement is not None and judgement.verdict in ("error", "fail"):
            broken = statement.kind == "invariant"
            label = statement.label
            flow = "" if broken else read_flow(label)
            label = label.partition(": ")[2] if broken else read_promise(label)
            name = re.sub(r"\W+", "_", label).strip("_")
            yield Violation(label, describe_reason(statement, judgement), name, flow)


def _list_unjudged(case: Case, ran: TrialResult) -> Iterator[str]:
    """Yield the invariants that have no verdict: something that they divide by is 0."""
    for statement in case.statements:
        judged = ran.judgements.get(statement.label)
        if statement.kind == "invariant" and judged and judged.verdict == "inconclusive":
            yield statement.label.partition(": ")[2]


def _build_violation(message: str) -> Violation:
    """Return what is violated if a trial ends with an error."""
    error, _, why = message.partition(": ")
    name = ERRORS.get(error, "")
    if error == BrokenPromise.__name__:
        name, _, why = why.partition(": ")
    # Of errors that are not known, those that differ in numbers only are one.
    return Violation(name or re.sub(r"[0-9_]+", "n", message), why or message, name or "error")


def describe_reason(statement: Statement, judgement: Judgement) -> str:
    """Return what is said of an invariant that does not hold."""
    node = statement.label.partition(": ")[0] if statement.kind == "invariant" else "the flow"
    measured, bound = (
        None
        if side is None or side.dimension is None or not isinstance(side.value, Fraction)
        else format_value(side.value, side.dimension)
        for side in (judgement.measured, judgement.bound)
    )
    if measured is None or bound is None:
        return f"not so of {node}: {statement.text}"
    return f"{statement.text}: of {node} it is {measured}, needed {judgement.comparison} {bound}"


def _estimate_rooms(case: CasePlan) -> dict[str, float]:
    """Return the queues of a case's devices, by path, and about how many items each may hold."""
    return {
        element.path: buffer.amount / (MEAN_BYTES if buffer.unit == "byte" else 1)
        for element in case.case.networks[""].elements
        if element.path.partition(".")[0] in TESTED
        and has_occupancy(element.kind)
        and (buffer := element.element.buffer) is not None
    }


def _watch_queues(case: CasePlan, queues: Iterable[str]) -> CasePlan:
    """Return a plan in which it is observed how many items wait in these queues, and pass where."""
    planned = case.networks[""]
    taps = tuple(
        Tap(name_wire(node.path, output, node.element.outputs), number, place)
        for number, node in enumerate(planned.experiment.nodes)
        for place, output in enumerate(node.element.outputs)
        if node.path.partition(".")[0] in TESTED
    )
    measurement = planned.experiment.measurement._replace(queues=tuple(sorted(queues)), taps=taps)
    experiment = planned.experiment._replace(measurement=measurement)
    return replace(case, networks={"": replace(planned, experiment=experiment)})

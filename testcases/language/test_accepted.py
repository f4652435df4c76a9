"""What is accepted is also understood: the files of `accept` state what they mean.

A comment `# = 42 cell` states the value of the `let`, or the field of traffic, on its line. A
comment `# name = text` states a fact of the declaration around it; several are separated by `; `:

- of traffic and of a line: the value of the field, `kind`
- of a device: `ports`, `elements`, `machines`, and the `work` of these; of a topology: `nodes`,
  `links`, a value by its name
- of a test: `cases`, `skipped`, `flows`, a flow's members by its name, `controls`, `statements`,
  `claims` of its criteria, `run`, `search`, `phases`, what is `sent` in each of them at the lowest
  load, `elements`, `covers` of the first case; `idle`, what does not apply in each case; `lacking`,
  what is not reproduced; `follows`, `deviations`; `cells`, the most that each case sends
- of a reference: `title`, `entries`; of a test and a property: `doc`
"""

import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import pytest

from qospec.catalogue.kinds import discover
from qospec.catalogue.machine import Program
from qospec.check import check
from qospec.check.evaluate.values import Deferred, List, Map, Value
from qospec.check.topology.body import lay_out
from qospec.diagnostics import Problems
from qospec.model.checked import CaseMaker
from qospec.model.suite import Case, Flow, Phase, Point, Run, Search, Suite
from qospec.plan.phases import check_ends
from qospec.plan.plan import Bounds, plan
from qospec.reference.declarations import Declarations, Declared
from qospec.reference.origins import trace_origins
from qospec.reference.values import value_text
from qospec.syntax import ast
from qospec.units import PACKET_RATE, RATIO, TIME, format_value

HERE = Path(__file__).parent
CATALOGUE = discover()
COMMENT = re.compile(r"(?:^|\s)# ((?:[\w.]+ )?= .*)$")
SAYING = re.compile(r"(?:([\w.]+) )?= (.*)")
PS_PER_S = 10**12


class Saying(NamedTuple):
    """What a file says of itself: on which line, of what, and the text that it is to be."""

    line: int
    name: str
    text: str


def sayings(text: str) -> Iterator[Saying]:
    for number, line in enumerate(text.split("\n"), 1):
        comment = COMMENT.search(line)
        for part in comment[1].split("; ") if comment else ():
            match = SAYING.fullmatch(part)
            assert match, f"line {number}: `{part}` is not like `name = text`"
            yield Saying(number, match[1] or "", match[2].strip())


def listed(texts: object) -> str:
    return ", ".join(map(str, texts))


def work(program: Program) -> str:
    waiting = "any number waits" if program.waiting is None else f"{program.waiting} wait"
    return f"{program.servers} {program.order}, {waiting}"


def shown(value: Value | None) -> str:
    """Return a value as text, lists and maps too."""
    if isinstance(value, List):
        return f"[{listed(map(shown, value.items))}]"
    if isinstance(value, Map):
        return f"{{{listed(f'{key}: {shown(item)}' for key, item in value.entries.items())}}}"
    return "measured" if isinstance(value, Deferred) else value_text(value)


class Meaning:
    """What a file means, piece by piece."""

    def __init__(self, path: Path) -> None:
        problems = Problems()
        self.declarations = Declarations.read([path], CATALOGUE, problems)
        checked = check([path], CATALOGUE, problems)
        self.suite: Suite = checked.suite
        self.makers = checked.makers
        self.cells = {
            planned.case.name: planned.cells for planned in plan(checked, "0", Bounds(), problems)
        }
        assert not problems.errors

    def of(self, saying: Saying) -> str:
        """Return what is so, of that on which the file says something else or the same."""
        declared = self._around(saying.line)
        say = {
            ast.Test: self._of_a_test,
            ast.Device: self._of_a_device,
            ast.Topology: self._of_a_topology,
            ast.Reference: self._of_a_reference,
            ast.Property: self._of_a_property,
        }.get(type(declared.node), self._of_a_value)
        return say(declared, saying) or "-"

    def _of_a_value(self, declared: Declared, saying: Saying) -> str:
        made = trace_origins(declared, self.declarations)
        if made is None:
            return shown(self.declarations.evaluate(declared))
        if saying.name == "kind":
            return str(made["kind"])
        here = f":{saying.line}"
        asked = [
            field
            for field in made["fields"]
            if (field["name"] == saying.name if saying.name else field["place"].endswith(here))
        ]
        return listed(field["value"] for field in asked)

    def _of_a_reference(self, declared: Declared, saying: Saying) -> str:
        found = next(
            reference for reference in self.suite.references if reference.name == declared.name
        )
        entries = dict(found.entries)
        known = {"title": found.title, "entries": listed(entries)}
        return known[saying.name]

    def _of_a_property(self, declared: Declared, saying: Saying) -> str:
        found = next(stated for stated in self.suite.properties if stated.name == declared.name)
        assert saying.name == "doc", saying.name
        return " ".join(found.doc.split())

    def _around(self, line: int) -> Declared:
        for declared in self.declarations.list_named():
            span = declared.node.span
            first = span.source.find_position(span.start)[0]
            if first <= line <= first + span.text.count("\n"):
                return declared
        pytest.fail(f"line {line} is in no declaration")

    def _of_a_test(self, declared: Declared, saying: Saying) -> str:
        what = saying.name
        test = next(test for test in self.suite.tests if test.name == declared.name)
        first = test.cases[0]
        known = {
            "cases": lambda: listed(case.name.removeprefix(f"{test.name}:") for case in test.cases),
            "cells": lambda: listed(f"{self.cells[case.name]:_}" for case in test.cases),
            "skipped": lambda: listed(
                f'"{case.skip}"' if case.skip else "-" for case in test.cases
            ),
            "doc": lambda: " ".join(test.doc.split()),
            "covers": lambda: listed(test.covers),
            "flows": lambda: listed(flow.name for flow in first.flows),
            "controls": lambda: listed(sorted(set(first.networks) - {""})),
            "statements": lambda: listed(
                f"{statement.kind} {statement.label}" for statement in first.statements
            ),
            "claims": lambda: listed(
                statement.claim or "-"
                for statement in first.statements
                if statement.kind != "report"
            ),
            "named": lambda: listed(
                " and ".join(statement.covers) or "-"
                for statement in first.statements
                if statement.kind != "report"
            ),
            "idle": lambda: " | ".join(
                listed(statement.label for statement in case.statements if statement.idle)
                for case in test.cases
            ),
            "follows": lambda: listed(test.follows),
            "deviations": lambda: " | ".join(f"{what}: {why}" for what, why in test.deviations),
            "lacking": lambda: " | ".join(f"{what}: {why}" for what, why in test.not_reproduced),
            "run": lambda: ran(first),
            "search": lambda: sought(first.phases[0]),
            "phases": lambda: listed(map(phase_text, first.phases)),
            "sent": lambda: " | ".join(
                listed(sent_in(self.makers[first.name], phase)) for phase in first.phases
            ),
            "elements": lambda: listed(element.path for element in first.networks[""].elements),
        }
        if what in known:
            return known[what]()
        return listed(members(next(flow for flow in first.flows if flow.name == what)))

    def _of_a_device(self, declared: Declared, saying: Saying) -> str:
        what = saying.name
        value = self.declarations.evaluate(declared)
        inside = value.signature.make_placeholders(defaults=True)
        made = value.build_template(inside, self.declarations.evaluator)
        if what == "machines":
            return listed(
                f"{part.path}: {' '.join(state.name for state in part.element.program.states)}"
                for part in made.parts
                if part.kind.duty == "machine"
            )
        if what == "work":
            return listed(
                f"{part.path}: {work(part.element.program)}"
                for part in made.parts
                if part.kind.duty == "machine"
            )
        if what == "ports":
            return listed(
                name if port.count is None else f"{name}[{port.count}]"
                for name, port in made.ports.items()
            )
        assert what == "elements", what
        return listed(part.path for part in made.parts)

    def _of_a_topology(self, declared: Declared, saying: Saying) -> str:
        what = saying.name
        value = self.declarations.evaluate(declared)
        inside = value.signature.make_placeholders(defaults=True)
        made = lay_out(declared.node, inside, self.declarations.evaluator)
        if what == "links":
            return listed(f"{cable.left[2]} -- {cable.right[2]}" for cable in made.cables)
        if what == "nodes":
            return listed(node.path for node in made.nodes)
        return shown(made.names[what].evaluate(self.declarations.evaluator.context))


def members(flow: Flow) -> Iterator[str]:
    for origin, target in zip(flow.origins, flow.targets, strict=True):
        yield f"{origin} -> {target}"


def restarted(run: Run) -> str:
    """Return what restarts, and when."""
    restarts = (
        f" restarting {listed(restart.elements)} after "
        f"{format_value(Fraction(restart.at_ps, PS_PER_S), TIME)}"
        for restart in run.restarts
    )
    return "".join(restarts)


def ran(case: Case) -> str:
    run = case.run
    times = " + ".join(
        format_value(time_ps / PS_PER_S, TIME)
        for time_ps in (run.warmup_ps, run.measure_ps)
        if time_ps
    )
    times += (f" x {run.repeat}" if run.repeat > 1 else "") + run.overload * " overload"
    return times + restarted(run)


def sought(found: Phase) -> str:
    assert isinstance(found, Search)
    ends = [format_value(end, found.dimension) for end in (found.low, found.high)]
    goals = listed(goal.name for goal in found.goals)
    return f"{found.name} {ends[0]} .. {ends[1]} {found.method}: {goals}"


def phase_text(phase: Phase) -> str:
    """Return a search with its step and its widths, or a point."""
    if isinstance(phase, Point):
        length = format_value(Fraction(phase.run.measure_ps, PS_PER_S), TIME)
        times = [
            format_value(Fraction(change_ps, PS_PER_S), TIME) for change_ps in phase.run.changes_ps
        ]
        changes = f" changing after {listed(times)}" if times else ""
        changes += restarted(phase.run)
        return f"point {phase.name} {length} x {phase.run.repeat}{changes}"
    step = "" if phase.step is None else f" step {format_value(phase.step, phase.dimension)}"
    confirm = f" x {phase.chooser.confirm}" if phase.method == "step" else ""
    widths = [format_value(g.width, phase.dimension if g.absolute else RATIO) for g in phase.goals]
    return f"search {sought(phase)} by {' '.join(widths)}{step}{confirm}"


def sent_in(maker: CaseMaker, phase: Phase) -> Iterator[str]:
    """Yield the flows of a phase as its goals have found the lowest loads, with their rates."""
    ends = check_ends(maker, phase, Problems())
    assert ends is not None
    for flow in ends.low.flows:
        sent = [flow, *(change.flow for change in flow.changes)]
        rates = (format_value(flow.arrivals.compute_mean_rate(1), PACKET_RATE) for flow in sent)
        yield f"{flow.name} {' then '.join(rates)}"


@pytest.mark.parametrize(
    "path", sorted((HERE / "accept").glob("*.qos")), ids=lambda path: path.stem
)
def test_it_means_what_it_says(path: Path) -> None:
    said = list(sayings(path.read_text(encoding="utf-8")))
    assert said, "this file says nothing of what it means: see above"
    meaning = Meaning(path)
    wrong = [(claim, found) for claim in said if (found := meaning.of(claim)) != claim.text]
    assert not wrong, "\n".join(
        f"line {claim.line}: {claim.name} = {found}, not {claim.text}" for claim, found in wrong
    )

"""Expands the tests of a file into cases."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from qospec.check.evaluate import context
from qospec.check.evaluate.context import CheckError, error, too_deep
from qospec.check.evaluate.loops import written_values
from qospec.check.evaluate.values import List, Poison, Text
from qospec.check.test import applicability, tautologies
from qospec.check.test.parts import CaseScope, is_template, parts_of, sweeps_of
from qospec.check.test.sweeps import case_name, combinations
from qospec.check.test.trials import CaseMaker
from qospec.model.expression import is_constant
from qospec.model.suite import Case, Search, Test, only_reports
from qospec.syntax import ast
from qospec.units import text_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qospec.check.declarations import TestValue
    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.check.evaluate.scope import Scope
    from qospec.check.modules.loader import Unit
    from qospec.check.test.parts import Parts
    from qospec.check.test.sweeps import Combination
    from qospec.check.topology.flatten import Networks
    from qospec.source import Span

    Texts = tuple[str, ...]
    Pairs = tuple[tuple[str, str], ...]


def expanded(unit: Unit, home: Scope, networks: Networks, evaluator: Evaluator) -> list[Test]:
    """Return the tests of a file with their cases; what has a mistake is reported and left out."""
    tests: list[Test] = []
    room = evaluator.context.limits.cases
    for node in unit.tree.declarations if unit.tree else ():
        parts = runnable(node, home, evaluator) if isinstance(node, ast.Test) else None
        if isinstance(node, ast.Test) and parts is not None:
            expansion = _Expansion(parts, networks, evaluator)
            cases = expansion.cases(room)
            room -= len(cases)
            judged = all(map(_is_judged, cases)) or only_reports(cases)
            if not (unit.tree and unit.tree.unparsed) and not judged:
                evaluator.context.report(_unexpected(node, cases))
            if any(map(_is_judged, cases)):
                for idle in (*tautologies.criteria(cases), *applicability.warnings(node, cases)):
                    evaluator.context.report(idle)
            tests.append(Test(node.name.text, node.doc, cases, node.span, *expansion.stated()))
    return tests


def runnable(node: ast.Test, home: Scope, evaluator: Evaluator) -> Parts | None:
    """Return the parts of a test; None for a template, and after a mistake."""
    parts = None if node.parameters else parts_of(node, home, evaluator)
    return None if parts is None or is_template(parts) else parts


def check_template(value: TestValue, networks: Networks, evaluator: Evaluator) -> None:
    """Check a template on its own: with unknown parameters, and with their defaults."""
    signature, before = value.signature, evaluator.context.mistakes
    rounds = [False] if signature.parameters or not signature.has_defaults() else []
    rounds += [True] if signature.has_defaults() else []
    for defaults in rounds:
        parts = parts_of(value.node, signature.placeholders(defaults=defaults), evaluator)
        if parts is None or not (value.node.parameters or is_template(parts)):
            return
        expansion = _Expansion(parts, networks, evaluator)
        expansion.cases(evaluator.context.limits.cases)
        expansion.stated()
        if evaluator.context.mistakes > before:
            return


def _is_judged(case: Case) -> bool:
    """Return whether a `require` or `expect` measures something; else the case is inconclusive."""
    return any(each.judges and not is_constant(each.expression) for each in case.statements)


def _unexpected(node: ast.Test, cases: Sequence[Case]) -> CheckError:
    without = [case for case in cases if not _is_judged(case)]
    if len(without) < len(cases):
        return error(
            "W0602",
            f"nothing is expected of {len(without):_} of {len(cases):_} cases of this test",
            node.name.span,
            note=f"`{without[0].name}` is inconclusive when run: nothing that applies measures",
            help="leave such cases out by `where` on the sweep, or say what must hold there",
        )
    return error(
        "W0602",
        "nothing is expected of this test",
        node.name.span,
        note="without a `require` or `expect` that measures something it is inconclusive when run",
        help=f"say what must hold, such as `expect {_example(cases)}`, or `report` a value",
    )


def _example(cases: Sequence[Case]) -> str:
    """Return a criterion that such a test may have; with phases, one of a goal or a point."""
    for phase in cases[0].phases:
        if isinstance(phase, Search):
            load = text_of(phase.low, phase.dimension) + (f" @{phase.layer}" if phase.layer else "")
            return f"{phase.goals[0].name}.{phase.name} >= {load}"
    prefix = f"{cases[0].phases[0].name}." if cases[0].phases else ""
    return f"{prefix}user.lost == 0 cell"


REASONS = {
    "not_reproduced": "figure 3: no cause is named",
    "deviations": "trials of 1 s: each case has thousands of packets",
}
"""Fields of pairs of what and why, each with an example."""


class _Expansion:
    """One test."""

    def __init__(self, parts: Parts, networks: Networks, evaluator: Evaluator) -> None:
        self._node = parts[-1].node
        self._parts = parts
        self._sweeps = sweeps_of(self._parts)
        self._networks = networks
        self._evaluator = evaluator
        self._context = evaluator.context

    def cases(self, room: int) -> tuple[Case, ...]:
        """Return the cases, at most `room`; none after the first with a mistake."""
        with self._context.evaluated_for(self._case(self._node.name.text, ())):
            try:
                return self._cases(room)
            except CheckError as mistake:
                self._context.report(mistake)
            except RecursionError:
                self._context.report(too_deep(self._node.name.span))
        return ()

    def _cases(self, room: int) -> tuple[Case, ...]:
        built: dict[str, Case] = {}
        for points in self._points(room):
            name = case_name(self._node.name.text, points)
            if name in built:
                raise error(
                    "E0508",
                    f"two cases are called `{name}`",
                    self._sweep().span,
                    help="sweep over different values",
                )
            before = self._context.mistakes
            self._context.case = self._case(name, points)
            maker = CaseMaker(self._parts, points, self._networks, self._evaluator)
            case = maker.build(name)
            if case is None or self._context.mistakes > before:
                return ()
            built[name] = case
        return tuple(built.values())

    def _case(self, name: str, points: Combination) -> context.Case:
        variables = tuple((each.binding.name, each.binding.span) for each in points)
        tests = tuple(part.node for part in self._parts)
        known = all(each.text for each in points)  # of a template, values may not be
        if not known:
            variables = ()
        return context.Case(name, self._node.span, variables, tests[:-1], tests[1:])

    def _points(self, room: int) -> Iterator[Combination]:
        count = 0
        before = self._context.mistakes
        if not any(each.where for _, each in self._sweeps):
            self._fit(math.prod(written_values(each.values) or 1 for _, each in self._sweeps), room)
        for points in combinations(self._sweeps, self._scopes_of, self._evaluator):
            count += 1
            self._fit(count, room)
            if self._context.mistakes > before:
                return
            yield points
        if not count and self._context.mistakes == before:
            raise error(
                "E0506",
                f"no case of `{self._node.name.text}` is left",
                self._sweep().span,
                help="loosen its `where`",
            )

    def _fit(self, count: int, room: int) -> None:
        """Refuse more cases than `room`."""
        if count > room:
            raise error(
                "E0601",
                f"more than {self._context.limits.cases:_} cases in one file",
                self._sweep().span,
                help="sweep over fewer values, or split the file",
            )

    def _scopes_of(self, points: Combination) -> Sequence[Scope]:
        return CaseScope(self._parts, points, self._evaluator).scopes

    def _sweep(self) -> ast.Node:
        return self._sweeps[-1][1] if self._sweeps else self._node.name

    def stated(self) -> tuple[Texts, Pairs, Texts, Pairs]:
        """Return what the test says of itself: the fields of `Test` from `covers` on."""
        covers, follows = (
            tuple(text for text, _ in self.texts(name)) for name in ("covers", "follows")
        )
        lacking = self.reasoned("not_reproduced", "what is not reproduced")
        return covers, lacking, follows, self.reasoned("deviations", "a deviation")

    def reasoned(self, name: str, shown: str) -> Pairs:
        """Return the pairs of `not_reproduced = ["what: why"]` or its like."""
        found = []
        for text, place in self.texts(name):
            what, _, why = (part.strip() for part in text.partition(":"))
            if what and why:
                found.append((what, why))
            else:
                self._context.report(
                    error(
                        "E0519",
                        f"{shown} needs a reason",
                        place,
                        help=f'write `"what: why"`, such as `"{REASONS[name]}"`',
                    )
                )
        return tuple(found)

    def texts(self, name: str) -> tuple[tuple[str, Span], ...]:
        """Return the texts of `covers = […]` or its like, each with its place."""
        found: list[tuple[str, Span]] = []
        for statement, scope in CaseScope(self._parts, (), self._evaluator).of(ast.Bind):
            if statement.names[0].text == name:
                node = statement.value
                value = self._evaluator.plain(node, scope)
                items = value.items if isinstance(value, List) else (value,)
                places = node.items if isinstance(node, ast.ListLiteral) else (node,) * len(items)
                for item, place in zip(items, places, strict=True):
                    if isinstance(item, Text):
                        found.append((item.text, place.span))
                    elif not isinstance(item, Poison):
                        self._context.report(
                            error(
                                "E0204",
                                f"`{name}` is a list of texts, not {item.what}",
                                statement.value.span,
                            )
                        )
        return tuple(found)

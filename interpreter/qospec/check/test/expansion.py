"""Expands the tests of a file into cases."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from qospec.check.evaluate import context
from qospec.check.evaluate.clauses import read_texts
from qospec.check.evaluate.context import CheckError, LimitReached, explain_too_deep, make_error
from qospec.check.evaluate.loops import count_written_values
from qospec.check.test.parts import (
    CaseScope,
    collect_parts,
    collect_sweeps,
    is_continuous,
    is_template,
    verify_arguments,
    with_statements,
)
from qospec.check.test.properties import PoisonError, to_draw, write_value
from qospec.check.test.sweeps import enumerate_combinations, make_unknown, name_case
from qospec.check.test.trials import CaseMaker
from qospec.check.test.vacuity import applicability, conditions, criteria, drawing
from qospec.model.checked import CheckedSuite
from qospec.model.expression import is_constant
from qospec.model.suite import Case, DrawnTest, Search, Suite, Test, is_report_only
from qospec.source import Source
from qospec.syntax import ast
from qospec.syntax.parser import parse
from qospec.units import format_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qospec.check.declarations import TestValue
    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.check.evaluate.scope import Scope
    from qospec.check.modules.loader import Unit
    from qospec.check.test.parts import Parts
    from qospec.check.test.sweeps import Combination
    from qospec.check.topology.flatten import Networks
    from qospec.diagnostics import Diagnostic
    from qospec.model.drawn import Draw, Drawn, DrawnValue
    from qospec.source import Span

    Texts = tuple[str, ...]
    Pairs = tuple[tuple[str, str], ...]


def expand_tests(
    unit: Unit, home: Scope, networks: Networks, evaluator: Evaluator
) -> tuple[list[Test], dict[str, CaseMaker]]:
    """Return the tests of a file with their cases; what has a mistake is reported and left out.

    And what makes the trials of those with phases, by their names.
    """
    tests: list[Test] = []
    makers: dict[str, CaseMaker] = {}
    room = evaluator.context.limits.cases
    for node in unit.tree.declarations if unit.tree else ():
        parts = find_runnable(node, home, evaluator) if isinstance(node, ast.Test) else None
        if isinstance(node, ast.Test) and draws_from_range(node):
            continue
        if isinstance(node, ast.Test) and parts is not None:
            expansion = _Expansion(parts, networks, evaluator)
            cases = expansion.list_cases(room)
            room -= len(cases)
            judged = all(map(_is_judged, cases)) or is_report_only(cases)
            unread = unit.missing_imports or (unit.tree and unit.tree.unparsed)
            if not unread and not judged:
                evaluator.context.report(_explain_unexpected(node, cases))
            if any(map(_is_judged, cases)):
                for idle in (
                    *criteria.warn_of_criteria(cases),
                    *conditions.explain_unmeetable(cases),
                    *applicability.warn_of_applicability(node, cases),
                ):
                    evaluator.context.report(expansion.move_to_use(idle))
            tests.append(Test(node.name.text, node.doc, cases, node.span, *expansion.read_stated()))
            makers |= expansion.makers
    return tests, makers


def find_runnable(node: ast.Test, home: Scope, evaluator: Evaluator) -> Parts | None:
    """Return the parts of a test; None for a template, what may be one, and after a mistake."""
    may_be_template = node.is_incomplete and not any(
        isinstance(part, ast.Flow) for part in node.with_all_below()
    )
    parts = None if node.parameters or may_be_template else collect_parts(node, home, evaluator)
    return None if parts is None or is_template(parts) else verify_arguments(parts, evaluator)


def draws_from_range(node: ast.Test) -> bool:
    """Return whether a test draws from a range, so that there is no end to its cases."""
    return any(
        isinstance(statement, ast.ForAll) and is_continuous(statement.values)
        for statement in node.statements
    )


def check_drawn(
    unit: Unit, home: Scope, networks: Networks, evaluator: Evaluator
) -> list[tuple[DrawnTest, DrawnTestMaker]]:
    """Return the tests of a file that draw from ranges, each checked at both ends of all ranges.

    With each, what makes a test of the values that it draws.
    """
    found: list[tuple[DrawnTest, DrawnTestMaker]] = []
    for node in unit.tree.declarations if unit.tree else ():
        if not isinstance(node, ast.Test) or not draws_from_range(node):
            continue
        before = evaluator.context.mistakes
        ends = [
            with_statements(node, [_take_end(statement, end) for statement in node.statements])
            for end in ("first", "last")
        ]
        at_first = find_runnable(ends[0], home, evaluator)
        if at_first is None:
            if evaluator.context.mistakes == before:
                evaluator.context.report(_explain_drawn_template(node))
            continue
        draws_of = drawing.verify_draws(node, home, evaluator)
        if draws_of is None:
            _report_others(node, at_first, networks, evaluator)
            continue
        cases: list[Case] = []
        for at_end in ends:
            parts = at_first if at_end is ends[0] else find_runnable(at_end, home, evaluator)
            if parts is None or evaluator.context.mistakes > before:
                break
            room = evaluator.context.limits.cases
            cases += _Expansion(parts, networks, evaluator).list_cases(room)
        else:
            use = _Expansion(at_first, networks, evaluator)
            for idle in drawing.examine_criteria(node, cases, draws_of, evaluator):
                evaluator.context.report(use.move_to_use(idle))
            test = DrawnTest(node.name.text, node.span)
            found.append((test, DrawnTestMaker(node, home, networks, evaluator)))
    return found


def _report_others(node: ast.Test, parts: Parts, networks: Networks, evaluator: Evaluator) -> None:
    """Report the mistakes of a test besides those in what it draws, which have been reported."""
    drawn_at = [forall.span for forall in node.statements if isinstance(forall, ast.ForAll)]
    with evaluator.context.check_apart() as problems:
        _Expansion(parts, networks, evaluator).list_cases(evaluator.context.limits.cases)
    for mistake in problems.errors:
        if not any(mistake.span in span for span in drawn_at):
            evaluator.context.report(CheckError(mistake))


def _explain_drawn_template(node: ast.Test) -> CheckError:
    return make_error(
        "E0516",
        f"`{node.name.text}` draws from a range, but is a template",
        next(statement.span for statement in node.statements if isinstance(statement, ast.ForAll)),
        note="a test with parameters or without a topology is run by tests that are built on it",
        help="draw in those tests, beside the flows that use the value",
    )


def _explain_drawn_later(node: ast.Test) -> CheckError:
    message = f"`{node.name.text}` draws from a range whose ends are not known yet"
    help_text = "draw first what it depends on"
    return make_error("E0516", message, node.name.span, help=help_text)


def _take_end(node: ast.Statement, end: str) -> ast.Statement:
    if not isinstance(node, ast.ForAll) or not is_continuous(node.values):
        return node
    return _let(node, getattr(node.values, end))


def _let(node: ast.ForAll, value: ast.Expression) -> ast.Let:
    return ast.Let(name=node.name, annotation=node.annotation, value=value, doc="", span=node.span)


class DrawnTestMaker:
    """Makes tests of values: the `model.checked.DrawnTestMaker` of a test."""

    def __init__(
        self, node: ast.Test, home: Scope, networks: Networks, evaluator: Evaluator
    ) -> None:
        self._node = node
        self._home = home
        self._networks = networks
        self._evaluator = evaluator
        self._context = evaluator.context

    def __call__(self, name: str, draw: Draw, /) -> CheckedSuite | Span | Diagnostic:
        """Return the test, the `where` that refuses the values, or the first mistake."""
        with self._context.check_apart() as problems:
            try:
                made = self._examine(name, draw)
                if made is not None and not problems.errors:
                    return made
            except CheckError as mistake:
                self._context.report(mistake)
            except PoisonError:
                self._context.report(_explain_drawn_later(self._node))
            except LimitReached:
                pass
        return problems.errors[0]

    def _examine(self, name: str, draw: Draw) -> CheckedSuite | Span | None:
        node = replace(self._node, name=replace(self._node.name, text=name))
        for place, statement in enumerate(self._node.statements):
            if not isinstance(statement, ast.ForAll):
                continue
            scope = self._build_scope(node)
            what, _ = to_draw(statement, scope, self._evaluator)
            statements = list(node.statements)
            statements[place] = _let(statement, self._parse_value(what, statement, draw(what)))
            node = with_statements(node, statements)
            where = statement.where
            if (
                where is not None
                and self._evaluator.require_truth(where, self._build_scope(node)) is False
            ):
                return where.span
        parts = find_runnable(node, self._home, self._evaluator)
        if parts is None:
            return None
        expansion = _Expansion(parts, self._networks, self._evaluator)
        cases = expansion.list_cases(self._context.limits.cases)
        test = Test(name, node.doc, cases, node.span)
        return CheckedSuite(Suite((test,), (), ()), expansion.makers)

    def _build_scope(self, node: ast.Test) -> Scope:
        """Return the names of a test; raises PoisonError."""
        parts = collect_parts(node, self._home, self._evaluator)
        if parts is None:
            raise PoisonError
        return CaseScope(parts, (), self._evaluator).scope

    def _parse_value(self, what: Drawn, node: ast.ForAll, value: DrawnValue) -> ast.Expression:
        """Return a value as an author would write it, parsed."""
        if what.choices and isinstance(node.values, ast.ListLiteral):
            return node.values.items[int(value)]  # type: ignore[arg-type]
        text = f"qos 1\nlet {what.name} = {write_value(what, value)}\n"
        tree = parse(Source(node.span.source.name, text), self._context.problems)
        declared = tree.declarations[0] if tree is not None else None
        assert isinstance(declared, ast.Let)  # noqa: S101 -- it was written so
        return declared.value


def check_template(value: TestValue, networks: Networks, evaluator: Evaluator) -> None:
    """Check a template on its own: with unknown parameters, and with their defaults."""
    signature, before = value.signature, evaluator.context.mistakes
    rounds = [False] if signature.parameters or not signature.has_defaults() else []
    rounds += [True] if signature.has_defaults() else []
    for defaults in rounds:
        parts = collect_parts(value.node, signature.make_placeholders(defaults=defaults), evaluator)
        if parts is None or not (value.node.parameters or is_template(parts)):
            return
        parts = verify_arguments(parts, evaluator)
        if parts is None:
            return
        expansion = _Expansion(parts, networks, evaluator)
        expansion.list_cases(evaluator.context.limits.cases)
        expansion.read_stated()
        if evaluator.context.mistakes > before:
            return


def _hold_once(case: Case, other: Case | None) -> Case:
    """Return a case that holds what does not depend on the sweeps as another one of its test does.

    It takes a third of the memory of thousands of cases.
    """
    if other is None or case.phases or len(case.statements) != len(other.statements):
        return case
    statements = tuple(
        known if known == statement and known.span == statement.span else statement
        for statement, known in zip(case.statements, other.statements, strict=True)
    )
    run = other.run if case.run == other.run and case.run.changes == other.run.changes else case.run
    return replace(case, statements=statements, run=run)


def _is_judged(case: Case) -> bool:
    """Return whether a `require` or `expect` measures something; else the case is inconclusive."""
    return any(
        statement.judges and not is_constant(statement.expression) for statement in case.statements
    )


def _explain_unexpected(node: ast.Test, cases: Sequence[Case]) -> CheckError:
    without = [case for case in cases if not _is_judged(case)]
    if len(without) < len(cases):
        return make_error(
            "W0602",
            f"nothing is expected of {len(without):_} of {len(cases):_} cases of this test",
            node.name.span,
            note=f"`{without[0].name}` is inconclusive when run: nothing that applies measures",
            help="leave such cases out by `where` on the sweep, or say what must hold there",
        )
    return make_error(
        "W0602",
        "nothing is expected of this test",
        node.name.span,
        note="without a `require` or `expect` that measures something it is inconclusive when run",
        help=f"say what must hold, such as `expect {_choose_example(cases)}`, or `report` a value",
    )


def _choose_example(cases: Sequence[Case]) -> str:
    """Return a criterion that such a test may have; with phases, one of a goal or a point."""
    for phase in cases[0].phases:
        if isinstance(phase, Search):
            load = format_value(phase.low, phase.dimension) + (
                f" @{phase.layer}" if phase.layer else ""
            )
            return f"{phase.goals[0].name}.{phase.name} >= {load}"
    prefix = f"{cases[0].phases[0].name}." if cases[0].phases else ""
    for flow in cases[0].flows:
        return f"{prefix}{flow.name}.lost == 0 {'cell' if flow.packets is None else 'pkt'}"
    return f"{prefix}user.lost == 0 cell"


REASONS = {
    "not_reproduced": "figure 3: no cause is named",
    "deviations": "trials of 1 s: each case has thousands of packets",
}
"""Fields of pairs of what and why, each with an example."""


class _Expansion:
    """One test; `makers` has what makes the trials of its cases with phases, by their names."""

    def __init__(self, parts: Parts, networks: Networks, evaluator: Evaluator) -> None:
        self._node = parts[-1].node
        self._parts = parts
        self._sweeps = collect_sweeps(self._parts)
        self._networks = networks
        self._evaluator = evaluator
        self._context = evaluator.context
        self.makers: dict[str, CaseMaker] = {}
        self._is_mistaken = False

    def list_cases(self, room: int) -> tuple[Case, ...]:
        """Return the cases, at most `room`; none after a mistake."""
        with self._context.evaluate_for(self._build_case(self._node.name.text, ())):
            try:
                return self._list_cases(room)
            except CheckError as mistake:
                self._context.report(mistake)
            except RecursionError:
                self._context.report(explain_too_deep(self._node.name.span))
        return ()

    def move_to_use(self, found: CheckError) -> CheckError:
        """Return what is found in a test of the library as one of the test that is built on it."""
        if not found.diagnostic.span.source.is_of_library:
            return found
        test = self._build_case(self._node.name.text, ())
        return CheckError(test.move_to_use(found.diagnostic))

    def _list_cases(self, room: int) -> tuple[Case, ...]:
        built: dict[str, Case] = {}
        names, sound = set[str](), True
        last: Case | None = None
        for points in islice(self._list_points(room), self._context.limits.sampled):
            name = name_case(self._node.name.text, points)
            if name in names:
                raise make_error(
                    "E0508",
                    f"two cases are called `{name}`",
                    self._run_sweep().span,
                    help="sweep over different values",
                )
            names.add(name)
            before = self._context.mistakes
            self._context.case = self._build_case(name, points)
            maker = CaseMaker(self._parts, points, self._networks, self._evaluator)
            case = maker.build(name)
            if case is not None and self._context.mistakes == before:
                built[name] = last = _hold_once(case, last)
                self.makers |= {name: maker} if case.phases else {}
            elif not any(point.binding.argument for point in points):
                return ()
            else:  # each value of an argument may be wrong for itself
                sound = False
        return tuple(built.values()) if sound and not self._is_mistaken else ()

    def _build_case(self, name: str, points: Combination) -> context.Case:
        variables = tuple((point.binding.name, point.binding.span) for point in points)
        tests = tuple(part.node for part in self._parts)
        known = all(point.text for point in points)  # of a template, values may not be
        if not known:
            variables = ()
        return context.Case(name, self._node.span, variables, tests[:-1], tests[1:])

    def _list_points(self, room: int) -> Iterator[Combination]:
        count = 0
        before = self._context.mistakes
        if not any(sweep.where for _, sweep in self._sweeps):
            self._fit(
                math.prod(count_written_values(sweep.values) or 1 for _, sweep in self._sweeps),
                room,
            )
        for points in enumerate_combinations(self._sweeps, self._build_scopes, self._evaluator):
            count += 1
            self._fit(count, room)
            self._is_mistaken = self._context.mistakes > before
            yield points
            if self._is_mistaken:  # then one case shows what else is wrong
                return
            before = self._context.mistakes  # those of its case included
        if not count and self._context.mistakes == before:
            message = f"no case of `{self._node.name.text}` is left"
            place = self._run_sweep().span
            self._context.report(make_error("E0506", message, place, help="loosen its `where`"))
            self._is_mistaken = True
            yield make_unknown(self._sweeps)

    def _fit(self, count: int, room: int) -> None:
        """Refuse more cases than `room`."""
        if count > room:
            raise make_error(
                "E0601",
                f"more than {self._context.limits.cases:_} cases in one file",
                self._run_sweep().span,
                help="sweep over fewer values, or split the file",
            )

    def _build_scopes(self, points: Combination) -> Sequence[Scope]:
        return CaseScope(self._parts, points, self._evaluator).scopes

    def _run_sweep(self) -> ast.Node:
        return self._sweeps[-1][1] if self._sweeps else self._node.name

    def read_stated(self) -> tuple[Texts, Pairs, Texts, Pairs]:
        """Return what the test says of itself: the fields of `Test` from `covers` on."""
        covers, follows = (
            tuple(text for text, _ in self.read_texts(name)) for name in ("covers", "follows")
        )
        lacking = self.read_reasons("not_reproduced", "what is not reproduced")
        return covers, lacking, follows, self.read_reasons("deviations", "a deviation")

    def read_reasons(self, name: str, shown: str) -> Pairs:
        """Return the pairs of `not_reproduced = ["what: why"]` or its like."""
        found = []
        for text, place in self.read_texts(name):
            what, _, why = (part.strip() for part in text.partition(":"))
            if what and why:
                found.append((what, why))
            else:
                self._context.report(
                    make_error(
                        "E0519",
                        f"{shown} needs a reason",
                        place,
                        help=f'write `"what: why"`, such as `"{REASONS[name]}"`',
                    )
                )
        return tuple(found)

    def read_texts(self, name: str) -> tuple[tuple[str, Span], ...]:
        """Return the texts of `covers = […]` or its like, each with its place."""
        found: list[tuple[str, Span]] = []
        for statement, scope in CaseScope(self._parts, (), self._evaluator).select_statements(
            ast.Bind
        ):
            if statement.names[0].text == name:
                found += read_texts(statement.value, f"`{name}`", scope, self._evaluator)
        return tuple(found)

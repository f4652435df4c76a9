"""`at 60 s { load = 50% of line }`: what changes during a trial, and when.

Times count from the beginning of the measurement. Variables of a phase have new values from then
on; of the flows that use them, only when they send may change, and by which ports. Devices may
restart, and links fail.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from qospec.catalogue.kinds import LONGEST_PS, REQUIRED, Domain, Parameter
from qospec.catalogue.words import explain_word
from qospec.check.evaluate.context import CheckError, flatten_text, make_error
from qospec.check.evaluate.loops import explain_misplaced
from qospec.check.records.fields import convert
from qospec.check.test.restarts import explain_end, is_field, with_restarts
from qospec.check.test.run_settings import RUN
from qospec.dataclass import NamedTuple
from qospec.model.suite import Change, FlowChange, WayChange
from qospec.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.check.evaluate.scope import Scope
    from qospec.check.test.parts import CaseScope
    from qospec.model.suite import Flow, Run

HERE = "`at`"
_TIME = Parameter("at", Domain("time", 1, LONGEST_PS), REQUIRED)


def list_changes(node: ast.Point) -> list[ast.At]:
    """Return the changes of a point, in the order in which they are written."""
    return [statement for statement in node.body.statements if isinstance(statement, ast.At)]


def apply_to_test(names: CaseScope, run: Run | None, evaluator: Evaluator) -> Run | None:
    """Return how a test without phases is run, with what restarts; mistakes are reported."""
    changes = list(names.select_statements(ast.At))
    if run is None or not changes:
        return run
    verify_variables([node for node, _ in changes], names.test, (), evaluator)
    changes_ps = evaluate_times(changes, run.measure_ps, evaluator)
    said = describe_changes((node for node, _ in changes), evaluator)
    run = replace(run, changes_ps=changes_ps, changes=said)
    return with_restarts(run, changes, names.network, evaluator)


def describe_changes(nodes: Iterable[ast.At], evaluator: Evaluator) -> tuple[Change, ...]:
    """Return what changes do as they are written: `load = 50% of line, restart = router`.

    Those of a template have the arguments of the test that is built on it in place of parameters.
    """
    case, found = evaluator.context.case, []
    for node in nodes:
        spans = [statement.span for statement in node.body.statements]
        texts = (
            case.find_words_at_use(span) if case else flatten_text(span.text) for span in spans
        )
        found.append(Change(", ".join(texts), node.span))
    return tuple(found)


def evaluate_times(
    changes: Sequence[tuple[ast.At, Scope]], measure_ps: int, evaluator: Evaluator
) -> tuple[int, ...]:
    """Return when changes take place, in ps since the measurement began; mistakes are reported.

    Each is given with the names that it sees. There are no times if one is not known.
    """
    found: list[int] = []
    for number, (node, scope) in enumerate(changes):
        try:
            at_ps = _evaluate_time(node, measure_ps, scope, evaluator)
            if at_ps is not None and found and at_ps <= found[-1]:
                raise _explain_order(changes[number - 1][0], node, same=at_ps == found[-1])
            found += [] if at_ps is None else [at_ps]
        except CheckError as mistake:
            evaluator.context.report(mistake)
    return tuple(found) if len(found) == len(changes) else ()


def _evaluate_time(node: ast.At, measure_ps: int, scope: Scope, evaluator: Evaluator) -> int | None:
    at_ps: int | None = convert(
        evaluator.require_plain(node.time, scope),
        _TIME,
        replace(RUN, name="a change"),
        node.time.span,
    )
    if at_ps is not None and at_ps >= measure_ps:
        raise explain_end(measure_ps, node.time.span)
    return at_ps


def _explain_order(before: ast.At, node: ast.At, *, same: bool) -> CheckError:
    return make_error(
        "E0523",
        "two changes at the same time" if same else "this change is before the one above it",
        node.time.span,
        secondary=(before.time.span, "the one above it"),
        help="write both between the same braces" if same else "write changes in order of time",
    )


def verify_variables(
    nodes: Sequence[ast.At],
    place: ast.Point | ast.Test,
    variables: Collection[str],
    evaluator: Evaluator,
) -> None:
    """Report what changes give a value that is no variable of the point, or give one twice."""
    for node in nodes:
        for statement in node.body.statements:
            if not isinstance(statement, ast.Bind):
                evaluator.context.report(explain_misplaced(statement, HERE))
        given: dict[str, ast.Name] = {}
        for name in _list_names(node):
            if name.text in given:
                evaluator.context.report(
                    make_error(
                        "E0102",
                        f"`{name.text}` already has a value",
                        name.span,
                        secondary=(given[name.text].span, "given here"),
                        help="keep one of them",
                    )
                )
            elif name.text not in variables and not is_field(name):
                evaluator.context.report(_explain_no_variable(name, place))
            given.setdefault(name.text, name)


def _explain_no_variable(name: ast.Name, place: ast.Point | ast.Test) -> CheckError:
    first = f"give it its first value in the point, `{name.text} = …`, and use it in a flow"
    if isinstance(place, ast.Test):
        first = f"write a `point` that gives it its first value: `{name.text} = …`"
    if name.text in RUN.parameters:
        first = "leave it out: how long and how often is measured does not change"
    note = "a change gives a variable of a point another value, or lets a device restart or a link"
    absent = explain_word(name.text)
    return make_error(
        "E0523",
        f"`{name.text}` is no variable of `{place.name.text}`",
        name.span,
        note=absent or f"{note} fail: `restart = …`, `down = …`",
        help="" if absent else first,
    )


def _list_names(node: ast.At) -> Iterator[ast.Name]:
    for statement in node.body.statements:
        if isinstance(statement, ast.Bind):
            yield from statement.names


def verify_use(nodes: Sequence[ast.At], used: Collection[str], evaluator: Evaluator) -> None:
    """Report changes of variables that no flow of the point uses."""
    for node in nodes:
        for name in _list_names(node):
            if name.text not in used and not is_field(name):
                evaluator.context.report(
                    make_error(
                        "E0523",
                        f"no flow depends on `{name.text}`",
                        name.span,
                        help="leave the change out, or use the variable in a flow's traffic",
                    )
                )


class Later(NamedTuple):
    """A change, when it takes place, and the flows with the values from then on."""

    node: ast.At
    at_ps: int
    flows: Sequence[Flow]


def change_flows(
    built: Sequence[Flow], changes: Sequence[Later], evaluator: Evaluator
) -> list[Flow]:
    """Return the flows with what changes about them; mistakes are reported."""
    found = []
    for flow in built:
        now, later, ways = flow, list[FlowChange](), list[WayChange]()
        for change in changes:
            then = {flow.name: flow for flow in change.flows}.get(flow.name)
            if then == now:
                continue
            if then is None or _list_fixed(then) != _list_fixed(now):
                evaluator.context.report(_explain_changed(flow, change))
                break
            if then.via != now.via:
                ways.append(WayChange(change.at_ps, then.via))
            if replace(then, via=now.via) != now:
                later.append(FlowChange(change.at_ps, then))
            now = then
        found.append(replace(flow, changes=tuple(later), ways=tuple(ways)))
    for change in changes:
        new = {flow.name for flow in change.flows} - {flow.name for flow in built}
        for flow in change.flows:
            if flow.name in new:
                evaluator.context.report(_explain_changed(flow, change))
    return found


def _list_fixed(flow: Flow) -> tuple[Any, ...]:
    """Return what stays as it is during a trial: all but when a flow sends, and by which ports."""
    form = (flow.kind, flow.origins, flow.targets, flow.connections, flow.phases, flow.clp)
    if flow.traffic.is_answered:
        return (*form, flow.packets or flow.traffic)
    if flow.packets is None:
        frames = (flow.traffic.frame_cells, flow.traffic.drawn) if flow.traffic.is_framed else ()
        return (*form, flow.virtual_path, flow.traffic.build_contract(), *frames)
    return (*form, flow.packets._replace(contract=None, source=None))


def _explain_changed(flow: Flow, change: Later) -> CheckError:
    answered = flow.traffic.is_answered
    note = "sizes, headers, contracts, connections and hosts stay as they are during a trial"
    if answered:
        note = "what its endpoints send is an answer to what arrives: it has no rate"
    return make_error(
        "E0523",
        f"`{flow.name}` changes in more than when it sends, and by which ports",
        change.node.time.span,
        secondary=(flow.span, "this flow"),
        note=note,
        help="use the variable in its rate, source or `via` only, or write a point for each value",
    )

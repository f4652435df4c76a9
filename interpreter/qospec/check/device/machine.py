"""Machines: what a device does by messages and timers, as states and transitions.

Unreachable states are reported, and timers that no state starts or handles.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from qospec.catalogue.kinds import LONGEST_PS, REQUIRED, Domain, Kind, Parameter
from qospec.check.evaluate.context import CheckError, error
from qospec.check.evaluate.dimensions import named
from qospec.check.evaluate.loops import misplaced
from qospec.check.evaluate.values import Amount, Map, Poison, Value
from qospec.check.records.fields import convert
from qospec.check.records.record import fields_of
from qospec.diagnostics import did_you_mean
from qospec.model.suite import Machine, State, Transition
from qospec.syntax import ast
from qospec.units import TIME

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.check.evaluate.scope import Scope
    from qospec.model.suite import State
    from qospec.source import Span

HERE = "a machine"
NAMES = Domain("names")
LENGTH = Domain("time", 1, LONGEST_PS)
"""Of a timer."""

MACHINE = Kind(
    name="machine",
    role="element",
    duty="element",
    summary="What a device does by messages and timers.",
    source="spec/4-devices.md",
    parameters={
        "messages": Parameter("messages", NAMES, ()),
        "timers": Parameter("timers", Domain("times"), ()),
    },
    build=dict,
)
TRANSITION = Kind(
    name="transition",
    role="element",
    duty="element",
    summary="What happens on a transition.",
    source="spec/4-devices.md",
    parameters={
        "after": Parameter("after", Domain("time", 0, LONGEST_PS), 0),
        "send": Parameter("send", NAMES, ()),
        "start": Parameter("start", NAMES, ()),
        "stop": Parameter("stop", NAMES, ()),
    },
    build=dict,
)
TIMERS = "timers"


class MachineValue(Value):
    """A machine, as a name of its device."""

    what: ClassVar[str] = "a machine"


class _Names(NamedTuple):
    """The names of a machine, each with the place of its declaration."""

    messages: Mapping[str, Span]
    timers: Mapping[str, Span]
    states: Mapping[str, Span]


def machine(node: ast.Machine, scope: Scope, evaluator: Evaluator) -> Machine | None:
    """Return a machine; None after a mistake in it, which is reported."""
    before = evaluator.context.mistakes
    own = _body(node.body.statements, ast.State, HERE, evaluator)
    binds, states = own
    timers = [each for each in binds if each.names[0].text == TIMERS]
    others = [each for each in binds if each.names[0].text != TIMERS]
    fields = fields_of(MACHINE, others, node.body, scope, evaluator)
    messages = dict.fromkeys(fields.get("messages", ()), node.name.span)
    lengths = _timers(timers, scope, evaluator)
    if not states:
        evaluator.context.report(
            error(
                "E0424",
                f"the machine `{node.name.text}` has no states",
                node.name.span,
                help="add `state idle { on message -> idle }`; it begins in the first",
            )
        )
    known = _Names(
        messages,
        dict.fromkeys(lengths, node.name.span),
        _distinct([each.name for each in states], "state", evaluator),
    )
    for name in sorted(messages.keys() & lengths.keys()):
        message = f"`{name}` is both a message and a timer"
        evaluator.context.report(
            error("E0424", message, node.name.span, help="give one of them another name")
        )
    made = tuple(_state(each, known, scope, evaluator) for each in states)
    if evaluator.context.mistakes == before and not _is_incomplete(scope):
        _report_unreachable(node, states, made, evaluator)
        _report_unused_timers(node, timers, made, evaluator)
    if evaluator.context.mistakes > before:
        return None
    return Machine(node.name.text, tuple(messages), tuple(lengths.items()), made, node.span)


def _is_incomplete(scope: Scope | None) -> bool:
    """Return whether part of the file could not be parsed: what is missing may be there."""
    return scope is not None and (bool(scope.unparsed) or _is_incomplete(scope.parent))


def _body(
    statements: Iterable[ast.Statement], part: type[Any], here: str, evaluator: Evaluator
) -> tuple[list[ast.Bind], list[Any]]:
    """Return the fields and the parts of a body; report anything else."""
    binds, parts = [], []
    for statement in statements:
        if isinstance(statement, ast.Bind):
            binds.append(statement)
        elif isinstance(statement, part):
            parts.append(statement)
        else:
            evaluator.context.report(misplaced(statement, here))
    return binds, parts


def _timers(binds: Sequence[ast.Bind], scope: Scope, evaluator: Evaluator) -> dict[str, int | None]:
    """Return the timers with their lengths in ps; None for a length that is not known yet."""
    found: dict[str, int | None] = {}
    for bind in binds:
        value = evaluator.plain(bind.value, scope)
        if isinstance(value, Poison):
            continue
        if not isinstance(value, Map):
            evaluator.context.report(
                error(
                    "E0204",
                    f"`timers` is a map from names to times, not {value.what}",
                    bind.value.span,
                    help="write `timers = { answer: 4 s }`",
                )
            )
            continue
        for name, length in value.entries.items():
            found[str(name)] = None
            try:
                found[str(name)] = _length(str(name), length, bind.value.span)
            except CheckError as mistake:
                evaluator.context.report(mistake)
    return found


def _length(name: str, value: object, span: Span) -> int | None:
    if isinstance(value, Poison):
        return None
    if not isinstance(value, Amount) or value.dimension != TIME:
        what = named(value.dimension) if isinstance(value, Amount) else getattr(value, "what", "")
        raise error("E0202", f"the timer `{name}` is a time, not {what}", span)
    if value.value is not None and value.value <= 0:
        raise error("E0205", f"the timer `{name}` must be more than 0", span)
    length_ps: int | None = convert(value, Parameter(name, LENGTH, REQUIRED), MACHINE, span)
    return length_ps


def _distinct(names: Sequence[ast.Name], what: str, evaluator: Evaluator) -> dict[str, Span]:
    found: dict[str, Span] = {}
    for name in names:
        if name.text in found:
            evaluator.context.report(
                error(
                    "E0102",
                    f"`{name.text}` is already declared",
                    name.span,
                    secondary=(found[name.text], f"the same {what}"),
                    help="keep one of them",
                )
            )
        found.setdefault(name.text, name.span)
    return found


def _state(node: ast.State, known: _Names, scope: Scope, evaluator: Evaluator) -> State:
    binds, ways = _body(node.body.statements, ast.Transition, "a state", evaluator)
    for bind in binds:
        evaluator.context.report(
            error(
                "E0104",
                f"a state has no field `{bind.names[0].text}`",
                bind.names[0].span,
                help="a state has only transitions, `on event -> state`",
            )
        )
    _distinct([each.name for each in ways], "event", evaluator)
    return State(node.name.text, tuple(_transition(each, known, scope, evaluator) for each in ways))


def _transition(
    node: ast.Transition, known: _Names, scope: Scope, evaluator: Evaluator
) -> Transition:
    heard = {**known.messages, **known.timers}
    _known(node.name.text, node.name.span, heard, "message or timer", evaluator)
    _known(node.target.text, node.target.span, known.states, "state", evaluator)
    given: dict[str, Any] = {}
    if node.body is not None:
        binds, _ = _body(node.body.statements, ast.Bind, "a transition", evaluator)
        given = fields_of(TRANSITION, binds, node.body, scope, evaluator)
        for field, offered, what in (
            ("send", known.messages, "message"),
            ("start", known.timers, "timer"),
            ("stop", known.timers, "timer"),
        ):
            for name in given.get(field, ()):
                _known(name, node.body.span, offered, what, evaluator)
    return Transition(
        node.name.text,
        node.target.text,
        int(Fraction(given.get("after", 0))),
        tuple(given.get("send", ())),
        tuple(given.get("start", ())),
        tuple(given.get("stop", ())),
    )


def _known(name: str, span: Span, offered: Iterable[str], what: str, evaluator: Evaluator) -> None:
    if name in offered:
        return
    near = did_you_mean(name, [*offered])
    evaluator.context.report(
        error(
            "E0101",
            f"this machine has no {what} `{name}`",
            span,
            note=f"it has: {' '.join(offered)}" if offered else f"it has no {what} at all",
            near=near,
            help=f"declare it as a {what.split(maxsplit=1)[0]}",
        )
    )


def _report_unreachable(
    node: ast.Machine, nodes: Sequence[ast.State], made: Sequence[State], evaluator: Evaluator
) -> None:
    """Report states that are unreachable from the first."""
    ways = {each.name: [way.target for way in each.transitions] for each in made}
    reached, waiting = set[str](), [made[0].name]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += ways[name]
    for each in nodes:
        if each.name.text not in reached:
            evaluator.context.report(
                error(
                    "E0424",
                    f"state `{each.name.text}` of `{node.name.text}` is unreachable",
                    each.name.span,
                    note=f"the initial state is `{made[0].name}`",
                    help=f"add `on … -> {each.name.text}` to a state, or leave it out",
                )
            )


def _report_unused_timers(
    node: ast.Machine, binds: Sequence[ast.Bind], made: Sequence[State], evaluator: Evaluator
) -> None:
    """Report timers that no state handles or starts."""
    ways = [way for state in made for way in state.transitions]
    started = {name for way in ways for name in way.start}
    heard = {way.event for way in ways}
    for bind in binds:
        for pair in bind.value.pairs if isinstance(bind.value, ast.MapLiteral) else ():
            name = pair.key.span.text
            if name in started and name in heard:
                continue
            lacking = "starts" if name not in started else "handles"
            written = f"start = [{name}]" if name not in started else f"on {name} -> …"
            evaluator.context.report(
                error(
                    "E0424",
                    f"no state of `{node.name.text}` {lacking} the timer `{name}`",
                    pair.span,
                    help=f"write `{written}` in a state, or leave the timer out",
                )
            )

"""Machines: what a device does by messages and timers, as states and transitions.

Reported are states that are unreachable, timers that no state starts or handles, and windows that
none counts in or asks for.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from qospec.catalogue.kinds import REQUIRED, Parameter
from qospec.catalogue.machine import (
    BEGIN,
    DESTINATION,
    DISCARD,
    FIRST_COME,
    IN,
    ITEM,
    MOST_AT_ONCE,
    OBSERVED,
    OPERATIONS,
    OUT,
    Message,
    Program,
    State,
    Variable,
)
from qospec.check.device import machine_transitions
from qospec.check.device.machine_code import A_WINDOW, convert_to_whole, read_variables
from qospec.check.device.machine_cycles import report_endless
from qospec.check.device.machine_fields import ADDRESSES, LENGTH, MACHINE, READ_HERE, STATE
from qospec.check.evaluate.context import CheckError, make_error
from qospec.check.evaluate.dimensions import describe_dimension
from qospec.check.evaluate.loops import explain_misplaced
from qospec.check.evaluate.values import Amount, Map, Poison, Text
from qospec.check.records.addresses import number_address
from qospec.check.records.fields import convert
from qospec.check.records.record import evaluate_fields
from qospec.check.records.spelling import explain_unknown_field
from qospec.dataclass import NamedTuple
from qospec.syntax import ast
from qospec.units import COUNT, TIME

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.check.evaluate.scope import Scope
    from qospec.source import Span
    from qospec.units import Dimension

    _Use = tuple[str, set[str], str]
    _Uses = tuple[str, _Use, _Use]
    """What is used, and its two uses: a verb, the names of which that is so, how it is written."""

HERE = "a machine"
EXAMPLES = {"timer": "{ answer: 4 s }", "window": "{ recent: 1 s }"}
"""Of maps from names to times."""


class Made(NamedTuple):
    """A machine, whether all of it is known, and the places of `model.suite.Instance`."""

    program: Program
    known: bool
    places: Mapping[str, Span]


def build_machine(node: ast.Machine, scope: Scope, evaluator: Evaluator) -> Made | None:
    """Return a machine; None after a mistake in it, which is reported."""
    before = evaluator.context.mistakes
    binds, states = read_body(node.body.statements, ast.State, HERE, evaluator)
    own = {name.text: bind.value for bind in binds for name in bind.names}
    others = [bind for bind in binds if bind.names[0].text not in READ_HERE]
    fields = evaluate_fields(MACHINE, others, node.body, scope, evaluator)
    messages = _read_messages(own.get("messages"), evaluator)
    lengths = _read_times("timer", own.get("timers"), scope, evaluator)
    windows = _read_times("window", own.get("windows"), scope, evaluator)
    values = _read_variables("values", own.get("values"), scope, evaluator)
    counters = _read_variables("counters", own.get("counters"), scope, evaluator)
    declared = _list_declared(values, counters, windows, own.get("windows"), node.name.span)
    known = machine_transitions.Known(
        tuple(fields.get("ports", ())),
        {message.name: message for message, _ in messages},
        lengths,
        windows,
        _check_distinct([state.name for state in states], "state", evaluator),
        read_variables(declared, scope, evaluator),
        scope,
        {},
    )
    _verify_names(node, known, messages, (values, counters), evaluator)
    made = tuple(_build_state(state, known, evaluator) for state in states)
    program = Program(
        node.name.text,
        known.ports,
        tuple(message for message, _ in messages),
        tuple(lengths.items()),
        made,
        tuple(value.made for value in values),
        tuple(counter.made for counter in counters),
        fields.get("instances"),
        int(fields.get("spread", 0)),
        fields.get("burst", 1),
        fields.get("size"),
        tuple(windows.items()),
        fields.get("servers", 1),
        fields.get("order", FIRST_COME),
        fields.get("waiting"),
        _read_address(own.get("address"), scope, evaluator),
    )
    if evaluator.context.mistakes == before and not _is_incomplete(scope):
        _verify(node, states, own, program, evaluator)
    given = {name: getattr(program, name) for name in ("instances", "size", "waiting", "address")}
    unknown = any(name in own and value is None for name, value in given.items())
    unknown |= None in [*lengths.values(), *windows.values()]
    if evaluator.context.mistakes > before:
        return None
    return Made(program, not unknown, {n.text: n.span for _, n in messages} | known.sent)


def _read_address(node: ast.Expression | None, scope: Scope, evaluator: Evaluator) -> int | None:
    """Return the number of an address; None if there is none, or it is not known yet."""
    value = None if node is None else evaluator.require_plain(node, scope)
    if node is None or value is None or isinstance(value, Poison):
        return None
    domain = ADDRESSES[isinstance(value, Text)]
    try:
        address = convert(value, Parameter("address", domain, REQUIRED), MACHINE, node.span)
    except CheckError as mistake:
        evaluator.context.report(mistake)
        return None
    return number_address(address) if isinstance(address, str) else address


def _list_declared(
    values: Sequence[_Variable],
    counters: Sequence[_Variable],
    windows: Iterable[str],
    node: ast.Expression | None,
    span: Span,
) -> dict[str, tuple[ast.Name, str, Dimension | None]]:
    """Return what conditions may use, in order: its name, what it is, and what it measures."""
    declared = {
        variable.name.text: (variable.name, what, variable.dimension)
        for what, group in (("a value", values), ("a counter", counters))
        for variable in group
    }
    if node is not None:
        for name in windows:
            declared.setdefault(name, (ast.Name(text=name, span=node.span), A_WINDOW, COUNT))
    declared.setdefault(DESTINATION, (ast.Name(text=DESTINATION, span=span), "known", COUNT))
    return declared


def _is_incomplete(scope: Scope | None) -> bool:
    """Return whether part of the file could not be parsed: what is missing may be there."""
    return scope is not None and (bool(scope.unparsed) or _is_incomplete(scope.parent))


def read_body(
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
            evaluator.context.report(explain_misplaced(statement, here))
    return binds, parts


# ---- what it declares


class _Variable(NamedTuple):
    name: ast.Name
    dimension: Dimension | None
    """None after a mistake in its first value."""
    made: Variable


def _read_messages(
    node: ast.Expression | None, evaluator: Evaluator
) -> list[tuple[Message, ast.Name]]:
    """Return the messages, each with the name where it is declared."""
    if node is None:
        return []
    found: list[tuple[Message, ast.Name]] = []
    try:
        if isinstance(node, ast.MapLiteral):
            for pair in node.pairs:
                name = machine_transitions.read_word(pair.key, "a message")
                carried = machine_transitions.read_words(pair.value, "a list of values")
                found.append((Message(name.text, tuple(name.text for name in carried)), name))
        else:
            listed = machine_transitions.read_words(node, "a list or a map of messages")
            found += [(Message(name.text), name) for name in listed]
    except CheckError as mistake:
        evaluator.context.report(mistake)
    _check_distinct([name for _, name in found], "message", evaluator)
    return found


def _read_times(
    what: str, node: ast.Expression | None, scope: Scope, evaluator: Evaluator
) -> dict[str, int | None]:
    """Return the timers or windows with their lengths in ps; None for one that is not known yet."""
    found: dict[str, int | None] = {}
    for name, length, span in _read_entries(f"{what}s", EXAMPLES[what], node, scope, evaluator):
        found[name.text] = None
        try:
            found[name.text] = _read_length(what, name.text, length, span)
        except CheckError as mistake:
            evaluator.context.report(mistake)
    return found


def _read_entries(
    field: str, example: str, node: ast.Expression | None, scope: Scope, evaluator: Evaluator
) -> Iterator[tuple[ast.Name, object, Span]]:
    """Yield the names of a field, their values and where these are; report one that is no map.

    After a mistake in a map, what it declares has no known values.
    """
    value = None if node is None else evaluator.require_plain(node, scope)
    if node is None or value is None or isinstance(value, Poison):
        for declared in node.pairs if isinstance(node, ast.MapLiteral) else ():
            if isinstance(declared.key, ast.Path):
                yield declared.key.name, Poison(), declared.value.span
        return
    if not isinstance(value, Map):
        evaluator.context.report(
            make_error(
                "E0204",
                f"`{field}` is a map from names to values, not {value.what}",
                node.span,
                help=f"write `{field} = {example}`",
            )
        )
        return
    for name, entry in value.entries.items():
        pair = value.write_pair(str(name), node.span)
        at = pair.key.span if pair else node.span
        yield ast.Name(text=str(name), span=at), entry, pair.value.span if pair else node.span


def _read_length(what: str, name: str, value: object, span: Span) -> int | None:
    if isinstance(value, Poison):
        return None
    if not isinstance(value, Amount) or value.dimension != TIME:
        found = (
            describe_dimension(value.dimension)
            if isinstance(value, Amount)
            else getattr(value, "what", "")
        )
        raise make_error("E0202", f"the {what} `{name}` is a time, not {found}", span)
    least = "more than 0" if what == "window" else "0 s or more"
    if value.value is not None and (value.value < 0 or (what == "window" and value.value == 0)):
        help_text = f"write a longer time, as in `{what}s = {EXAMPLES[what]}`"
        raise make_error("E0205", f"the {what} `{name}` must be {least}", span, help=help_text)
    length_ps: int | None = convert(value, Parameter(name, LENGTH, REQUIRED), MACHINE, span)
    return length_ps


def _read_variables(
    field: str, node: ast.Expression | None, scope: Scope, evaluator: Evaluator
) -> list[_Variable]:
    """Return the values or counters; a mistake is reported."""
    found = []
    for name, value, span in _read_entries(field, "{ tries: 0 }", node, scope, evaluator):
        initial, dimension = 0, None
        try:
            if isinstance(value, Amount):
                initial = convert_to_whole(value.value or Fraction(0), value.dimension, span)
                dimension = value.dimension
            elif isinstance(value, Text):
                parameter = Parameter(name.text, ADDRESSES[True], REQUIRED)
                address = convert(value, parameter, MACHINE, span)
                initial, dimension = number_address(address or ""), COUNT
            elif not isinstance(value, Poison):
                raise make_error(
                    "E0204", f"`{name.text}` is a number, not {getattr(value, 'what', '')}", span
                )
        except CheckError as mistake:
            evaluator.context.report(mistake)
        found.append(_Variable(name, dimension, Variable(name.text, initial, dimension or COUNT)))
    return found


def _check_distinct(names: Sequence[ast.Name], what: str, evaluator: Evaluator) -> dict[str, Span]:
    found: dict[str, Span] = {}
    for name in names:
        if name.text in found:
            evaluator.context.report(
                make_error(
                    "E0102",
                    f"`{name.text}` is already declared",
                    name.span,
                    secondary=(found[name.text], f"the same {what}"),
                    help="keep one of them",
                )
            )
        found.setdefault(name.text, name.span)
    return found


def _verify_names(
    node: ast.Machine,
    known: machine_transitions.Known,
    messages: Sequence[tuple[Message, ast.Name]],
    variables: tuple[Sequence[_Variable], Sequence[_Variable]],
    evaluator: Evaluator,
) -> None:
    """Report names that stand for two things, and values that a message carries but none has.

    So is a machine without a state.
    """
    if not known.states:
        message = f"the machine `{node.name.text}` has no states"
        help_text = "add `state idle { on message -> idle }`; it begins in the first"
        evaluator.context.report(make_error("E0424", message, node.name.span, help=help_text))
    groups = (
        ("a message", known.messages),
        ("a timer", known.timers),
        ("a state", known.states),
        ("a value", {variable.name.text for variable in variables[0]}),
        ("a counter", {variable.name.text for variable in variables[1]}),
        (A_WINDOW, known.windows),
        ("an event of each machine", (BEGIN, ITEM)),
        ("known of each item", (DESTINATION,)),
        ("what is counted of each machine", OBSERVED),
    )
    first: dict[str, str] = {}
    for what, names in groups:
        for name in names:
            if name in first:
                message = f"`{name}` is both {first[name]} and {what}"
                evaluator.context.report(
                    make_error(
                        "E0424", message, node.name.span, help="give one of them another name"
                    )
                )
            first.setdefault(name, what)
    for port in known.ports:
        if port in (IN, OUT, DISCARD):
            message = f"a port for messages cannot be called `{port}`"
            evaluator.context.report(make_error("E0424", message, node.name.span))
    _verify_carried(messages, {variable.name.text for variable in variables[0]}, evaluator)


def _verify_carried(
    messages: Sequence[tuple[Message, ast.Name]], values: Collection[str], evaluator: Evaluator
) -> None:
    """Report what messages carry that is no value."""
    for message, name in messages:
        for value in message.values:
            if value not in values:
                evaluator.context.report(
                    make_error(
                        "E0424",
                        f"`{message.name}` carries `{value}`, which is no value of the machine",
                        name.span,
                        help=f"declare it: `values = {{ {value}: 0 }}`",
                    )
                )


def _build_state(node: ast.State, known: machine_transitions.Known, evaluator: Evaluator) -> State:
    binds, ways = read_body(node.body.statements, ast.Transition, "a state", evaluator)
    forward = OUT
    for bind in binds:
        name = bind.names[0]
        if name.text not in STATE.parameters:
            evaluator.context.report(explain_unknown_field(STATE, name))
            continue
        try:
            forward = machine_transitions.read_word(bind.value, "an output").text
            if forward in known.ports or forward == IN:
                message = f"`{forward}` is a port for messages: what passes needs another output"
                raise make_error("E0424", message, bind.value.span)
            if forward in known.states:
                message = f"`{forward}` is a state: what passes needs another output"
                help_text = "give the output or the state another name"
                raise make_error("E0424", message, bind.value.span, help=help_text)
        except CheckError as mistake:
            evaluator.context.report(mistake)
    first = node.name.text == next(iter(known.states))
    made = tuple(machine_transitions.build_transition(way, known, evaluator) for way in ways)
    if evaluator.context.mistakes == 0 or not _is_incomplete(known.scope):
        machine_transitions.verify_order(ways, made, evaluator, first=first)
    return State(node.name.text, made, forward)


# ---- what must hold of all of it


def _verify(
    node: ast.Machine,
    states: Sequence[ast.State],
    own: Mapping[str, ast.Expression],
    program: Program,
    evaluator: Evaluator,
) -> None:
    _report_unreachable(node, states, program, evaluator)
    report_endless(states, program, evaluator)
    started = {name for way in program.transitions for name in (*way.start, *way.start_all)}
    heard = {way.event for way in program.transitions}
    said = ("timer", ("starts", started, "start = [{}]"), ("handles", heard, "on {} -> …"))
    _report_unused(node, own.get("timers"), said, evaluator)
    counted = {name for way in program.transitions for name in way.counts_in}
    asked = _list_asked(program)
    said = (
        "window",
        ("counts in", counted, "count = [{}]"),
        ("asks for", asked, "on … where {} >= 10 -> …"),
    )
    _report_unused(node, own.get("windows"), said, evaluator)
    if program.messages and not program.ports:
        message = f"no port carries the messages of `{program.name}`"
        help_text = "write `ports = [line]` in the machine, and wire it in the device"
        evaluator.context.report(make_error("E0424", message, node.name.span, help=help_text))
    _verify_instances(own, program, evaluator)
    used = {*program.inputs, *program.outputs}
    for port in program.ports:
        if port not in used:
            message = f"no message comes or goes by the port `{port}` of `{program.name}`"
            evaluator.context.report(
                make_error("E0424", message, own["ports"].span, help="use it, or leave it out")
            )
    cells = 1 if program.size is None or program.size.unit != "cell" else program.size.amount
    most = max((len(way.send) for way in program.transitions), default=0)
    if most * cells > MOST_AT_ONCE:
        message = f"a transition of `{program.name}` sends {most * cells} cells at once"
        note = f"{MOST_AT_ONCE} are the most"
        evaluator.context.report(make_error("E0424", message, node.name.span, note=note))
    if program.size is not None and program.size.unit == "packet":
        message = "the size of a message is in cells or bytes"
        evaluator.context.report(make_error("E0424", message, own["size"].span))


def _verify_instances(
    own: Mapping[str, ast.Expression], program: Program, evaluator: Evaluator
) -> None:
    """Report fields that do not fit how many instances there are, and how they begin."""
    for name in ("spread", "burst"):
        if name in own and not program.begins:
            message = f"no instance of `{program.name}` begins by itself, so `{name}` has no effect"
            help_text = "add `on begin -> …` to the first state, or leave it out"
            evaluator.context.report(make_error("E0424", message, own[name].span, help=help_text))
    instances = program.instances if "instances" in own else 1
    if instances is not None and program.burst > instances:
        message = f"`{program.name}` has no {program.burst} instances to begin together"
        note = f"`instances` is {instances}"
        evaluator.context.report(make_error("E0424", message, own["burst"].span, note=note))
    if program.servers > 1 and "instances" not in own:
        message = f"`{program.name}` is one instance, on which one server works at a time"
        help_text = "write `instances = 1_000`: so many are worked on side by side"
        evaluator.context.report(make_error("E0424", message, own["servers"].span, help=help_text))
    elif instances is not None and program.servers > instances:
        message = f"`{program.name}` has no {program.servers} instances to work on side by side"
        help_text = f"write `{instances}`, or more `instances`"
        evaluator.context.report(make_error("E0424", message, own["servers"].span, help=help_text))


def _report_unreachable(
    node: ast.Machine, nodes: Sequence[ast.State], program: Program, evaluator: Evaluator
) -> None:
    """Report states that are unreachable from the first."""
    made = program.states
    ways = {state.name: [way.target for way in state.transitions] for state in made}
    reached, waiting = set[str](), [made[0].name]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += ways[name]
    for state in nodes:
        if state.name.text not in reached:
            evaluator.context.report(
                make_error(
                    "E0424",
                    f"state `{state.name.text}` of `{node.name.text}` is unreachable",
                    state.name.span,
                    note=f"the initial state is `{made[0].name}`",
                    help=f"add `on … -> {state.name.text}` to a state, or leave it out",
                )
            )


def _list_asked(program: Program) -> set[str]:
    """Return the windows that a condition or a value asks for."""
    first = len(program.values) + len(program.counters)
    variable = OPERATIONS.index("variable")
    codes = [
        code
        for way in program.transitions
        for code in (way.where, way.after, *(code for _, code in (*way.assign, *way.call)))
    ]
    used = {number for code in codes for sign, number in code if sign == variable}
    return {name for number, (name, _) in enumerate(program.windows, first) if number in used}


def _report_unused(
    node: ast.Machine, declared: ast.Expression | None, said: _Uses, evaluator: Evaluator
) -> None:
    """Report timers or windows of which no state makes one of the two uses there are."""
    what, *uses = said
    for pair in declared.pairs if isinstance(declared, ast.MapLiteral) else ():
        name = pair.key.span.text
        lacking = next((use for use in uses if name not in use[1]), None)
        if lacking is None:
            continue
        verb, _, written = lacking
        evaluator.context.report(
            make_error(
                "E0424",
                f"no state of `{node.name.text}` {verb} the {what} `{name}`",
                pair.span,
                help=f"write `{written.format(name)}` in a state, or leave the {what} out",
            )
        )

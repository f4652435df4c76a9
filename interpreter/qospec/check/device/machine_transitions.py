"""Transitions of machines: events, conditions, what is sent, started, stopped and counted."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from qospec.catalogue.machine import BEGIN, DESTINATION, ITEM, Transition
from qospec.check.device.machine_code import (
    compile_address,
    compile_condition,
    compile_time,
    value_code,
)
from qospec.check.device.machine_fields import READ_HERE, TRANSITION
from qospec.check.evaluate.context import CheckError, make_error
from qospec.check.evaluate.loops import explain_misplaced
from qospec.check.records.record import evaluate_fields
from qospec.dataclass import NamedTuple
from qospec.diagnostics import suggest_name
from qospec.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from qospec.catalogue.machine import Code, Message
    from qospec.check.device.machine_code import Variables
    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.check.evaluate.scope import Scope
    from qospec.source import Span

LEAVE_TIMER = "leave it out: a timer is started and stopped, and not sent"
LEAVE_MESSAGE = "leave it out: a message is sent, and neither started nor stopped"


class Known(NamedTuple):
    """The names of a machine, with what is known of each.

    `sent` is filled by transitions: where a message is first sent, by `port.name`.
    """

    ports: tuple[str, ...]
    messages: Mapping[str, Message]
    timers: Mapping[str, int | None]
    windows: Mapping[str, int | None]
    states: Mapping[str, Span]
    variables: Variables
    scope: Scope
    sent: dict[str, Span]


def read_word(node: ast.Node, what: str) -> ast.Name:
    """Return a word that is written by itself; raises CheckError."""
    if isinstance(node, ast.Path) and not node.trail:
        return node.name
    raise make_error("E0204", f"expected the name of {what}", node.span)


def read_words(node: ast.Node, what: str) -> list[ast.Name]:
    """Return the words of a list; raises CheckError."""
    if not isinstance(node, ast.ListLiteral):
        raise make_error("E0204", f"expected {what}, as in `[setup, release]`", node.span)
    return [read_word(item, "one of a list") for item in node.items]


def build_transition(node: ast.Transition, known: Known, evaluator: Evaluator) -> Transition:
    """Return a transition; mistakes are reported."""
    port, event = _read_event(node.name, known, evaluator)
    _verify_known(node.target.text, node.target.span, known.states, "state", evaluator)
    where: Code = ()
    if node.where is not None:
        where = compile_condition(node.where, known.variables, evaluator)
    own: dict[str, ast.Expression] = {}
    given: dict[str, Any] = {}
    after: Code | None = None
    if node.body is not None:
        binds = []
        for statement in node.body.statements:
            if isinstance(statement, ast.Bind):
                binds.append(statement)
            else:
                evaluator.context.report(explain_misplaced(statement, "a transition"))
        own = {name.text: bind.value for bind in binds for name in bind.names}
        if "after" in own:
            after = compile_time("after", own["after"], known.variables, evaluator)
        read_here = READ_HERE if after is None else (*READ_HERE, "after")
        others = [bind for bind in binds if bind.names[0].text not in read_here]
        given = evaluate_fields(TRANSITION, others, node.body, known.scope, evaluator)
        named = [(field, known.timers, "timer") for field in ("start", "stop", "start_all")]
        for field, offered, what in (*named, ("count", known.windows, "window")):
            for name in given.get(field, ()):
                help_text = LEAVE_MESSAGE if name in known.messages else ""
                _verify_known(name, own[field].span, offered, what, evaluator, help_text)
    said = f" where {_read_text(node.where)}" if node.where is not None else ""
    return Transition(
        event,
        port,
        node.target.text,
        where,
        int(Fraction(given.get("after", 0))),
        tuple(_read_sent(own.get("send"), known, evaluator)),
        tuple(given.get("start", ())),
        tuple(given.get("stop", ())),
        tuple(_read_assigned(own.get("set"), known, evaluator)),
        f"on {_read_text(node.name)}{said} -> {node.target.text}",
        after or (),
        tuple(dict.fromkeys(given.get("count", ()))),
        tuple(dict.fromkeys(given.get("start_all", ()))),
        tuple(_read_called(own.get("call"), known, evaluator)),
    )


def _read_text(node: ast.Node) -> str:
    return " ".join(node.span.text.split())


def _read_event(node: ast.Path, known: Known, evaluator: Evaluator) -> tuple[str, str]:
    """Return the port of an event, or "", and its name."""
    port, name = _read_port(node, known, evaluator)
    heard = {*known.messages, *known.timers, BEGIN, ITEM}
    if port:
        _verify_known(name.text, name.span, known.messages, "message", evaluator)
    else:
        _verify_known(name.text, name.span, heard, "message or timer", evaluator)
    return port, name.text


def _read_port(node: ast.Path, known: Known, evaluator: Evaluator) -> tuple[str, ast.Name]:
    """Return the port, or "", and the name in `port.name` or `name`."""
    names = [step for step in node.trail if isinstance(step, ast.Name)]
    if not node.trail:
        return "", node.name
    if len(node.trail) > 1 or not names:
        evaluator.context.report(
            make_error(
                "E0204",
                f"expected a message, or a port and a message: `{_read_text(node)}`",
                node.span,
            )
        )
        return "", names[-1] if names else node.name
    _verify_known(node.name.text, node.name.span, known.ports, "port", evaluator)
    return node.name.text, names[0]


def _read_sent(
    node: ast.Expression | None, known: Known, evaluator: Evaluator
) -> Iterator[tuple[str, str]]:
    """Yield the port and name of each message that is sent; mistakes are reported."""
    if node is None:
        return
    if not isinstance(node, ast.ListLiteral):
        help_text = "write `send = [callee.setup]`"
        message = "`send` is a list of messages"
        evaluator.context.report(make_error("E0204", message, node.span, help=help_text))
        return
    for item in node.items:
        if not isinstance(item, ast.Path):
            evaluator.context.report(make_error("E0204", "expected a message", item.span))
            continue
        port, name = _read_port(item, known, evaluator)
        help_text = LEAVE_TIMER if name.text in known.timers else ""
        _verify_known(name.text, name.span, known.messages, "message", evaluator, help_text)
        if not port and len(known.ports) == 1:
            port = known.ports[0]
        elif not port and known.ports:
            evaluator.context.report(
                make_error(
                    "E0424",
                    f"by which port does `{name.text}` go?",
                    item.span,
                    note=f"its ports are {' '.join(known.ports)}",
                    help=f"write `send = [{known.ports[0]}.{name.text}]`",
                )
            )
        known.sent.setdefault(f"{port}.{name.text}", item.span)
        yield port, name.text


def _read_assigned(
    node: ast.Expression | None, known: Known, evaluator: Evaluator
) -> Iterator[tuple[int, Code]]:
    """Yield the number of each variable that is set, and the program of its value."""
    meaning = "`set` is a map from values and counters to what they become"
    example = "set = { tries: tries + 1 }"
    seen = set[str]()
    for name, value in _list_entries(node, (meaning, example), "a value or a counter", evaluator):
        numbers = [n for n in known.variables.numbers if n not in {*known.windows, DESTINATION}]
        if name.text in known.windows:
            message = f"`{name.text}` is a window, which nothing sets"
            help_text = "leave it out"
            evaluator.context.report(make_error("E0424", message, name.span, help=help_text))
            continue
        _verify_known(name.text, name.span, numbers, "value or counter", evaluator)
        if name.text in seen:
            evaluator.context.report(make_error("E0102", f"duplicate key `{name.text}`", name.span))
        elif name.text in numbers:
            seen.add(name.text)
            yield (
                known.variables.numbers[name.text],
                value_code(name, value, known.variables, evaluator),
            )


def _read_called(
    node: ast.Expression | None, known: Known, evaluator: Evaluator
) -> Iterator[tuple[str, Code]]:
    """Yield each port by which another machine is called, and the program of its address.

    Mistakes are reported.
    """
    first = known.ports[0] if known.ports else "line"
    meaning = "`call` is a map from ports to the addresses of machines"
    example = f"call = {{ {first}: 7 }}"
    seen = set[str]()
    for port, value in _list_entries(node, (meaning, example), "a port", evaluator):
        _verify_known(port.text, port.span, known.ports, "port", evaluator)
        if port.text in seen:
            evaluator.context.report(make_error("E0102", f"duplicate key `{port.text}`", port.span))
        elif port.text in known.ports:
            seen.add(port.text)
            yield port.text, compile_address(port.text, value, known.variables, evaluator)


def _list_entries(
    node: ast.Expression | None, field: tuple[str, str], what: str, evaluator: Evaluator
) -> Iterator[tuple[ast.Name, ast.Expression]]:
    """Yield the words and the values of a map; report what is none, and keys that are no words.

    Args:
        node: The map, if there is one.
        field: What the field is, and an example.
        what: What the words are.
        evaluator: Reports.
    """
    if node is None:
        return
    if not isinstance(node, ast.MapLiteral):
        meaning, example = field
        help_text = f"write `{example}`"
        evaluator.context.report(make_error("E0204", meaning, node.span, help=help_text))
        return
    for pair in node.pairs:
        try:
            yield read_word(pair.key, what), pair.value
        except CheckError as mistake:
            evaluator.context.report(mistake)


def _verify_known(
    name: str,
    span: Span,
    offered: Iterable[str],
    what: str,
    evaluator: Evaluator,
    help_text: str = "",
) -> None:
    if name in offered:
        return
    near = suggest_name(name, [*offered])
    evaluator.context.report(
        make_error(
            "E0101",
            f"this machine has no {what} `{name}`",
            span,
            note=f"it has: {' '.join(offered)}" if offered else f"it has no {what} at all",
            near=near,
            help=help_text or f"declare it as a {what.split(maxsplit=1)[0]}",
        )
    )


def verify_order(
    nodes: Sequence[ast.Transition],
    made: Sequence[Transition],
    evaluator: Evaluator,
    *,
    first: bool,
) -> None:
    """Report transitions that can never be taken, as one ahead of them always is."""
    always: dict[tuple[str, str], Span] = {}
    for node, way in zip(nodes, made, strict=True):
        before = always.get((way.event, way.port)) or always.get((way.event, ""))
        if before is not None:
            evaluator.context.report(
                make_error(
                    "E0102",
                    f"`{_read_text(node.name)}` is already declared",
                    node.name.span,
                    secondary=(before, "the same event, always taken"),
                    help="keep one of them, or write a condition at the first: `where …`",
                )
            )
        if node.where is None:
            always.setdefault((way.event, way.port), node.name.span)
        if way.event == BEGIN and not first:
            message = "`begin` happens only in the first state"
            evaluator.context.report(make_error("E0424", message, node.name.span))

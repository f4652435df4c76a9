"""The wires of a device, and what must hold of them all.

Each queue and scheduler leads to the line that empties it, directly or by schedulers. No loop of
wires takes no time: in one, the emulation would loop forever at one instant.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from qospec.check.device.ports import (
    End,
    LoopArray,
    Origin,
    Part,
    PartValue,
    Ports,
    PortValue,
    SideValue,
    Template,
)
from qospec.check.evaluate.context import CheckError, Context, make_error
from qospec.check.evaluate.values import Poison, Value
from qospec.dataclass import NamedTuple
from qospec.diagnostics import Edit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qospec.check.device.ports import Part
    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.check.evaluate.scope import Scope
    from qospec.source import Span
    from qospec.syntax import ast

ENDINGS = ("discard", "terminate")


class Side(NamedTuple):
    """One of the two sides of an element, in words, and how a wire there is written."""

    one: str
    other: str
    verb: str
    wire: str


OUTPUT = Side("output", "input", "begins", "{} -> …")
INPUT = Side("input", "output", "ends", "… -> {}")


def connect(
    wire: ast.Wire, scope: Scope, template: Template, evaluator: Evaluator, *, certain: bool = True
) -> bool:
    """Add a wire, hop by hop, and return whether all ends are known; raises CheckError.

    One that is not certain may be none, and stands beside another from the same place.
    """
    values = [_evaluate_end(end, scope, evaluator) for end in wire.ends]
    if any(isinstance(value, Poison) for value in values):
        return False
    last = len(wire.ends) - 1
    for place in range(last):
        origin = _find_origin(values[place], wire.ends[place], middle=place > 0)
        end = _end(values[place + 1], wire.ends[place + 1], middle=place + 1 < last)
        if certain or origin not in template.wires:
            _add(template, origin, end, wire.ends[place], evaluator.context)
        else:
            template.merged.add(end)
    return True


def _evaluate_end(end: ast.Path, scope: Scope, evaluator: Evaluator) -> Value | str:
    if end.name.text in ENDINGS and not end.trail and scope.find(end.name.text) is None:
        return end.name.text
    return evaluator.evaluate(end, scope)


def _add(template: Template, origin: Origin, end: End, node: ast.Path, context: Context) -> None:
    known = template.wires.get(origin)
    if known is not None and known != end:
        loose = origin.part < 0 and not _list_ports(template, origin).known
        if loose or (origin.part >= 0 and template.parts[origin.part].loose):
            template.merged.add(end)
        else:
            context.report(
                make_error(
                    "E0404",
                    f"`{node.span.text}` is wired to two places",
                    node.span,
                    label="wired again here",
                    secondary=(template.places[origin], "first wired here"),
                    help="insert an element that chooses, such as `classify`",
                )
            )
        return
    template.wires[origin] = end
    template.places[origin] = node.span


def _list_ports(template: Template, origin: Origin) -> Ports:
    whole = template if origin.inner < 0 else template.inners[origin.inner].template
    return whole.ports[origin.port[0]]


def _find_origin(value: Value | str, node: ast.Path, *, middle: bool) -> Origin:
    if isinstance(value, SideValue):
        _check_side(value, node, OUTPUT)
        return Origin(port=value.port, inner=value.inner)
    if isinstance(value, PartValue):
        return Origin(value.index, _find_named(value, node, OUTPUT, middle=middle))
    raise _explain_no_end(value, node, "begin")


def _check_side(value: SideValue, node: ast.Path, side: Side) -> None:
    """Refuse a wire that begins where items leave, or ends where they enter.

    What enters a device comes out of its port within it; of a device in it, what leaves it does.
    """
    within = value.inner >= 0
    if ((value.side == "rx") != within) == (side is OUTPUT):
        return
    verb, other = ("enter", "tx") if value.side == "rx" else ("leave", "rx")
    opposite = "leaves" if value.side == "rx" else "enters"
    written = node.span.text
    meant = f"{written.removesuffix(value.side)}{other}"
    raise make_error(
        "E0407",
        f"no wire can {side.verb.removesuffix('s')} at `{written}`: items {verb}"
        f"{' the device' if within else ''} there",
        node.span,
        help=f"write `{meant}` for what {opposite} {'it' if within else 'there'}",
        fix=_correct_end(node, meant, begins=side is OUTPUT),
    )


def _correct_end(node: ast.Path, meant: str, *, begins: bool) -> tuple[Edit, ...]:
    """Return the edit of a wire's end; none where it begins, since another may begin there."""
    return () if begins else (Edit(node.span, meant),)


def _find_named(value: PartValue, node: ast.Path, side: Side, *, middle: bool) -> str:
    """Return the output or input that a wire's end names; the only one, if it names none."""
    part = value.part
    ours, theirs = part.outputs, part.inputs
    if side is INPUT:
        ours, theirs = theirs, ours
    if value.name and not (middle and value.name in theirs):
        if part.loose or value.name in ours:
            return value.name
        raise make_error(
            "E0407",
            f"`{node.span.text}` is an {side.other}: no wire {side.verb} there",
            node.span,
            note=f"{side.one}s of {part.path}: {' '.join(ours)}",
        )
    if part.loose or len(ours) == 1:
        return ours[0] if ours else ""
    raise make_error(
        "E0408",
        f"`{part.path}` has {len(ours)} {side.one}s: say which",
        node.span,
        note=f"{side.one}s of {part.path}: {' '.join(ours[:12])}",
        help=_find_choice([side.wire.format(f"{part.path}.{name}") for name in ours]),
    )


def _find_choice(wires: Sequence[str]) -> str:
    """Return the wires that may be meant: two of them may lack the name of their end."""
    first = " or ".join(f"`{wire}`" for wire in wires[:2])
    more = ", or another of them" if len(wires) > 2 else ""  # noqa: PLR2004 -- those named
    return f"write {first}{more}" if wires else ""


def _end(value: Value | str, node: ast.Path, *, middle: bool) -> End:
    if isinstance(value, str):
        if middle:
            raise make_error(
                "E0407", f"nothing can follow `{value}`", node.span, help="end the wire here"
            )
        return End("discard" if value == "discard" else "terminate")
    if isinstance(value, SideValue):
        _check_side(value, node, INPUT)
        if middle:
            raise make_error(
                "E0407",
                f"nothing can follow `{node.span.text}`: items have left",
                node.span,
                help="end the wire here",
            )
        return End("port" if value.inner < 0 else "inner", port=value.port, inner=value.inner)
    if isinstance(value, PartValue):
        return End("element", value.index, _find_named(value, node, INPUT, middle=middle))
    raise _explain_no_end(value, node, "end")


def _explain_no_end(value: Value | str, node: ast.Path, verb: str) -> CheckError:
    if isinstance(value, PortValue):
        side = "rx" if (verb == "begin") == (value.inner < 0) else "tx"
        meant = f"{node.span.text}.{side}"
        return make_error(
            "E0407",
            f"`{node.span.text}` has two sides",
            node.span,
            help=f"write `{meant}`",
            fix=_correct_end(node, meant, begins=verb == "begin"),
        )
    if isinstance(value, LoopArray):
        return make_error(
            "E0408",
            f"`{node.span.text}` is an array of elements",
            node.span,
            help=f"say which: `{node.span.text}[0]`",
        )
    what = value.what if isinstance(value, Value) else f"`{value}`"
    return make_error("E0407", f"no wire can {verb} at {what}", node.span)


def verify(template: Template, context: Context) -> None:
    """Report outputs that go nowhere, inputs that nothing feeds, and queues without a line."""
    ends = {*template.wires.values(), *template.merged}
    fed = {(end.part, end.input) for end in ends if end.kind == "element"}
    for index, part in enumerate(template.parts):
        if part.loose and len(part.outputs) != 1:
            continue
        for name in part.outputs:
            if Origin(index, name) not in template.wires:
                reached = any((index, port) in fed for port in part.inputs)
                context.report(_explain_unwired(part, name, fed=reached))
        for name in () if part.loose else part.inputs:
            if (index, name) not in fed:
                context.report(_explain_unfed(part, name))
    for ports in template.ports.values():
        _find_received(template, ports, context)
    verify_served(template, context)
    verify_time(template, context)


def _find_received(template: Template, ports: Ports, context: Context) -> None:
    for index in range(1 if ports.count is None else ports.count):
        if Origin(port=(ports.name, index)) not in template.wires:
            name = ports.name if ports.count is None else f"{ports.name}[{index}]"
            help_text = f"connect it (`{name}.rx -> …`) or write `{name}.rx -> discard`"
            message = f"what enters by `{name}` goes nowhere"
            context.report(make_error("E0410", message, ports.span, help=help_text))


def _explain_unwired(part: Part, name: str, *, fed: bool) -> CheckError:
    whole = len(part.outputs) == 1
    shown = part.path if whole else f"{part.path}.{name}"
    return make_error(
        "E0402",
        f"output `{shown}` goes nowhere",
        part.named.get(name, part.span),
        label="its output goes nowhere" if whole and fed else "declared here, never wired",
        help=f"connect it (`{shown} -> …`) or write `{shown} -> discard`",
    )


def _explain_unfed(part: Part, name: str) -> CheckError:
    shown = part.path if len(part.inputs) == 1 else f"{part.path}.{name}"
    return make_error(
        "E0403",
        f"nothing feeds `{shown}`",
        part.span,
        label="declared here, never fed",
        help=f"connect something to it (`… -> {shown}`)",
    )


MAX_LEVELS = 16
"""Length of a chain of schedulers: each level takes time for every packet."""


def verify_served(template: Template, context: Context) -> None:
    """Report what is not emptied by one line, or shares its input to the line."""
    ways = Counter(template.wires.values())
    crowded = {end for end, count in ways.items() if count > 1}
    for index, part in enumerate(template.parts):
        if not part.kind.is_served or (part.loose and len(part.outputs) != 1):
            continue
        for output in part.outputs:
            origin = Origin(index, output)
            end = template.wires.get(origin)
            if end is None or end.kind == "discard" or output == _find_telling(part):
                continue
            place = template.places[origin]
            if not _is_served(template, part, end):
                _report_unserved(template, part, end, place, context)
            elif end in crowded and _is_known(template, end):
                _report_shared(template, part, end, place, context)
            elif part.kind.duty == "scheduler":
                _verify_levels(template, index, place, context)


def _find_telling(part: Part) -> str:
    """Return the output of a queue by which it tells others to stop, which no line empties."""
    return "" if part.element is None else part.element.tells_by


def _is_pausing(part: Part) -> bool:
    """Return whether it is a queue that sends, or obeys, pause frames."""
    return part.element is not None and bool(part.element.tells_by or part.element.hears_at)


def _is_served(template: Template, part: Part, end: End) -> bool:
    if end.kind != "element":
        return end.kind == "port"
    duties = ("line",) if part.kind.build.needs_line else ("line", "scheduler")
    return template.parts[end.part].kind.duty in duties


def _is_known(template: Template, end: End) -> bool:
    if end.kind == "port":
        return template.ports[end.port[0]].known
    return not template.parts[end.part].loose


def _report_unserved(
    template: Template, part: Part, end: End, place: Span, context: Context
) -> None:
    what: str = end.kind
    way_out = ""
    note = "a queue is emptied by the line it feeds, directly or through a scheduler"
    if part.kind.build.needs_line:
        lasts = "wait for" if part.kind.duty == "queue" else "take on"
        goes_by = f"how long packets {lasts}" if "packet" in part.kind.carries else "the state of"
        note = f"`{part.kind.name}` goes by {goes_by} the line it feeds"
    if end.kind == "element":
        other = template.parts[end.part]
        what, way_out = other.path, f"move `{other.path}` before `{part.path}`"
        if other.kind.duty == "scheduler" and _is_pausing(part):
            way_out = "name its classes by `priorities`: it sends the highest that waits first"
        elif other.kind.duty == "scheduler" and part.kind.build.needs_line:
            way_out = (
                "queue by `fifo` before a scheduler, with a drop policy such as `red`"
                if part.kind.duty == "queue"
                else f"let `{part.path}` feed the line, and `{other.path}` an input of it"
            )
        elif other.kind.is_served:  # swapped, they would be as wrong
            way_out = (
                f"remove one of them, or put a `line` between `{part.path}` and `{other.path}`"
            )
    context.report(
        make_error(
            "E0405",
            f"`{part.path}` must lead directly to a line, not to `{what}`",
            place,
            note=note,
            help=way_out,
        )
    )


def _report_shared(template: Template, part: Part, end: End, place: Span, context: Context) -> None:
    what, help_text = "its line", "put a scheduler such as `strict` before the line"
    if end.kind == "element" and template.parts[end.part].kind.duty == "scheduler":
        what = f"`{template.parts[end.part].path}.{end.input}`"
        help_text = "give each an input of its own, or merge them before one queue"
    context.report(
        make_error("E0406", f"`{part.path}` shares {what} with others", place, help=help_text)
    )


def _verify_levels(template: Template, start: int, place: Span, context: Context) -> None:
    """Report chains of schedulers that are too long, or form a cycle."""
    path, index = [start], start
    while len(path) <= MAX_LEVELS:
        outputs = template.parts[index].outputs  # none of what has been reported
        end = template.wires.get(Origin(index, outputs[0])) if outputs else None
        if end is None or end.kind != "element":
            return
        index = end.part
        if template.parts[index].kind.duty != "scheduler":
            return
        if index in path:
            if index == start and start == min(path):
                _report_cycle([template.parts[number].path for number in path], place, context)
            return
        path.append(index)
        above, below = template.parts[index], template.parts[start]
        if below.kind.build.policy.pauses and not above.kind.build.passes_over:
            context.report(
                make_error(
                    "E0405",
                    f"`{below.path}` may hold back what waits, and `{above.path}` not pass over it",
                    place,
                    note=f"`{above.kind.name}` divides a line that is busy while something waits",
                    help="lead it to a `strict` or `gates`, or to a line of its own",
                )
            )
            return
    context.report(
        make_error(
            "E0606",
            f"a chain of more than {MAX_LEVELS} schedulers begins at"
            f" `{template.parts[start].path}`",
            place,
            help="give one scheduler more inputs",
        )
    )


def _report_cycle(names: list[str], place: Span, context: Context) -> None:
    context.report(
        make_error(
            "E0405",
            f"`{names[0]}` leads back to itself, and to no line",
            place,
            note=" -> ".join([*names, names[0]]),
            help="connect the last scheduler to a port's `tx`",
        )
    )


def verify_time(template: Template, context: Context) -> None:
    """Report a cycle of elements that take no time: it would loop forever at one instant."""
    after: dict[int, list[int]] = {}
    instant: set[int] = set()
    for origin, end in template.wires.items():
        if origin.part < 0 or _takes_time(template.parts[origin.part], origin.output):
            continue
        if end.kind == "element":
            after.setdefault(origin.part, []).append(end.part)
            instant.add(origin.part)
    done: set[int] = set()
    for start in sorted(instant):
        circle = _find_cycle(start, after, instant, done)
        if circle:
            names = " -> ".join(template.parts[index].path for index in (*circle, circle[0]))
            context.report(
                make_error(
                    "E0409",
                    f"this loop takes no time: {names}",
                    template.parts[circle[0]].span,
                    help="add an element that takes time, such as `delay`",
                )
            )
            return


def _find_cycle(
    start: int, after: dict[int, list[int]], instant: set[int], done: set[int]
) -> list[int]:
    path: list[int] = []
    stack: list[tuple[int, Iterator[int]]] = []
    if start in done:
        return []
    path.append(start)
    above = {start}
    stack.append((start, iter(after.get(start, ()))))
    while stack:
        index, following = stack[-1]
        step = next(
            (number for number in following if number in instant and number not in done), None
        )
        if step is None:
            done.add(index)
            stack.pop()
            above.discard(path.pop())
        elif step in above:
            return path[path.index(step) :]
        else:
            path.append(step)
            above.add(step)
            stack.append((step, iter(after.get(step, ()))))
    return []


def _takes_time(part: Part, output: str) -> bool:
    if part.element is None:
        return True
    if part.kind.is_served or part.kind.duty == "line":
        return output != part.element.tells_by or not output
    return bool(part.element.find_lookahead_ps(None) > 0)

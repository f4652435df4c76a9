"""What may be made smaller in a draft, by kind: each pass yields the places where it applies.

A place is a sequence of alternatives, the smallest first, of which one at most is made; and an
alternative is a tuple of changes that belong together. Places of a pass are independent: any of
them may be changed together with any others.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.diagnostics import Edit
from qospec.shrink.devices import is_listed_number
from qospec.shrink.draft import list_paths
from qospec.shrink.rounding import (
    count_digits,
    find_exponent,
    list_simpler,
    read_number,
    with_value,
)
from qospec.syntax import ast
from qospec.units import TIME, find_unit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qospec.shrink.context import Context
    from qospec.shrink.draft import Draft

Change = tuple[Edit, ...]
Places = "Iterator[Sequence[Change]]"
_NAMED = (ast.Flow, ast.Let, ast.Control, ast.Search, ast.Point, ast.Goal, ast.ForAll)
SHARES = tuple(map(Fraction, ("1e-4", "1e-3", "1e-2", "0.1", "0.25", "0.5", "0.8")))
"""Of a length of time or a number of things, that are tried."""
COUNTED = ("count", "n", "repeat", "size", "mbs", "limit")


# ---- fewer


def remove_nodes(context: Context) -> Iterator[Sequence[Change]]:
    """Yield what can go: statements, fields, arguments, items."""
    draft = context.draft
    for node, above in draft.nodes:
        if context.is_kept(node, above) or not above:
            continue
        around = above[-1]
        if isinstance(node, ast.Run):
            if _has_phases(around) and not (context.careful and node.body.statements):
                yield [(draft.remove(node),)]
        elif isinstance(around, ast.Body) and not isinstance(node, ast.Port):
            yield from _remove_statement(draft, node, around)
        elif isinstance(around, ast.Call | ast.ListLiteral | ast.MapLiteral):
            items = [child for child in around.list_children() if type(child) is type(node)]
            fixed = context.is_of_device(node, above) and is_listed_number(node, above)
            if not fixed and (isinstance(around, ast.Call) or len(items) > 1):
                yield [(draft.remove(node),)]
        elif isinstance(node, ast.Body) and isinstance(around, ast.Flow | ast.Link):
            yield [(draft.remove(node),)]


def remove_warmups(context: Context) -> Iterator[Sequence[Change]]:
    """Yield the warm-ups: where one is left, a shorter measurement would come to need it."""
    for node, above in context.draft.nodes:
        inside = len(above) > 1 and isinstance(above[-2], ast.Run | ast.Point)
        if isinstance(node, ast.Bind) and inside and node.names[0].text == "warmup":
            yield [(context.draft.remove(node),)]


def _remove_statement(draft: Draft, node: ast.Node, body: ast.Body) -> Iterator[Sequence[Change]]:
    """Yield the removal of a statement, with those beside it that use what it makes."""
    if isinstance(node, ast.Bind) and len(node.names) > 1:
        for name in node.names:
            yield [(draft.remove(name), *_list_users(draft, {name.text}, node, body))]
    made = {node.name.text} if isinstance(node, _NAMED) else set[str]()
    if isinstance(node, ast.Bind):
        made = {name.text for name in node.names}
    change = (draft.remove(node), *_list_users(draft, made, node, body))
    if isinstance(node, ast.Search) and len(change) > 1:  # another phase may have its variable
        yield [change, (draft.remove(node),)]
    else:
        yield [change]


def _has_phases(body: ast.Node) -> bool:
    """Return whether statements are those of a test that needs no `run`."""
    return any(isinstance(child, ast.Search | ast.Point) for child in body.list_children())


def _list_users(draft: Draft, made: set[str], node: ast.Node, body: ast.Body) -> Iterator[Edit]:
    for statement in body.statements:
        if statement is not node and not (
            isinstance(statement, ast.Criterion) and statement.kind != "require"
        ):
            words = {word for path in list_paths(statement) for word in _list_words(path)}
            if words & made:
                yield draft.remove(statement)


def _list_words(path: ast.Path) -> Iterator[str]:
    yield path.name.text
    if path.trail and isinstance(path.trail[0], ast.Name):  # a flow of a control
        yield path.trail[0].text


def remove_guards(context: Context) -> Iterator[Sequence[Change]]:
    """Yield what says when the test counts: at the end, when nothing else gets smaller."""
    draft = context.draft
    for node, _ in draft.nodes:
        if isinstance(node, ast.Criterion) and node.kind == "require":
            yield [(draft.remove(node),)]
        if isinstance(node, ast.Criterion) and node.when is not None:
            yield [(_without_when(draft, node),)]


def _without_when(draft: Draft, node: ast.Criterion) -> Edit:
    assert node.when is not None  # noqa: S101 -- the caller's choice
    start = draft.text.rindex("when", node.condition.span.end, node.when.span.start)
    return Edit(draft.make_span(start, node.span.end), "")


# ---- values in place of their names


def inline_names(context: Context) -> Iterator[Sequence[Change]]:
    """Yield the values, parameters and traffic that can stand where they are used."""
    draft = context.draft
    for node, above in draft.nodes:
        if any(isinstance(ancestor, ast.Device) for ancestor in (*above, node)):
            continue
        if isinstance(node, ast.Let):
            yield from _let(context, node, above)
        elif isinstance(node, ast.Reference):
            yield from _replace_reference(draft, node)
        elif isinstance(node, ast.Traffic) and not node.parameters:
            yield from _replace_traffic(draft, node)
        elif isinstance(node, ast.Topology | ast.Traffic):
            for place, parameter in enumerate(node.parameters):
                yield from _replace_parameter(draft, node, place, parameter)


def _let(context: Context, node: ast.Let, above: Sequence[ast.Node]) -> Iterator[Sequence[Change]]:
    draft = context.draft
    scope = above[-1] if above else draft.tree
    if not context.devices and _is_of_both(node.name.text, scope):
        return
    if len(above) > 1 and isinstance(above[-2], ast.Test):
        scope = above[-2]  # what it is on may use it, too
    change = write_in_place(draft, node.name.text, node.value, scope)
    if change is not None:
        yield [(*change, draft.remove(node))]


def _is_of_both(name: str, scope: ast.Node) -> bool:
    """Return whether both what is sent and what is expected depend on a value.

    Where no change of a device tells what still counts, these must not part.
    """
    used = [
        any(path.name.text == name for path in list_paths(child)) for child in scope.list_children()
    ]
    expected = [isinstance(e, ast.Criterion) and e.kind == "expect" for e in scope.list_children()]
    of = {is_expected for is_expected, is_used in zip(expected, used, strict=True) if is_used}
    return len(of) > 1


def write_in_place(
    draft: Draft, name: str, value: ast.Expression, scope: ast.Node
) -> Change | None:
    """Return the changes that write a value wherever its name is; None if it cannot be so."""
    edits: list[Edit] = []
    for path in list_paths(scope):
        if path.name.text != name:
            continue
        if path.trail and isinstance(value, ast.Path):
            edits.append(Edit(path.name.span, draft.quote(value)))
        elif path.trail:
            item = _find_item(draft, value, path.trail)
            if item is None:
                return None
            edits.append(draft.replace(path, item))
        else:
            edits.append(draft.replace(path, draft.quote_operand(value)))
    return tuple(edits)


def _find_item(draft: Draft, value: ast.Node, trail: Sequence[ast.Node]) -> str | None:
    """Return an item of a list or map by its index, as it is written."""
    index = trail[0]
    if len(trail) > 1 or not isinstance(index, ast.Index):
        return None
    wanted = draft.quote(index.value)
    if isinstance(value, ast.MapLiteral):
        found = (pair.value for pair in value.pairs if draft.quote(pair.key) == wanted)
        item = next(found, None)
        return None if item is None else draft.quote_operand(item)
    if isinstance(value, ast.ListLiteral) and wanted.isdigit() and int(wanted) < len(value.items):
        return draft.quote_operand(value.items[int(wanted)])
    return None


def _replace_reference(draft: Draft, node: ast.Reference) -> Iterator[Sequence[Change]]:
    """Yield the published numbers that can stand where they are used, with the whole reference."""
    fields = {
        statement.names[0].text: statement.value
        for statement in node.body.statements
        if isinstance(statement, ast.Bind)
    }
    edits: list[Edit] = []
    for path in list_paths(draft.tree):
        if path.name.text != node.name.text or not path.trail:
            continue
        first, *rest = path.trail
        value = fields.get(first.text) if isinstance(first, ast.Name) else None
        if value is None:
            return
        item = draft.quote_operand(value) if not rest else _find_item(draft, value, rest)
        if item is None:
            return
        edits.append(draft.replace(path, item))
    yield [(*edits, draft.remove(node))]


def _replace_parameter(
    draft: Draft, node: ast.Topology | ast.Traffic, place: int, parameter: ast.Parameter
) -> Iterator[Sequence[Change]]:
    """Yield the changes that write a parameter's value in its place, if it has the same in all."""
    name = parameter.name.text
    calls = [
        call
        for call, _ in draft.nodes
        if isinstance(call, ast.Call) and not call.path.trail
        and call.path.name.text == node.name.text
    ]  # fmt: skip
    plain = len([p for p in list_paths(draft.tree) if p.name.text == node.name.text]) - len(calls)
    given: list[ast.Argument | None] = [None] * plain
    for call in calls:
        found = [a for a in call.arguments if a.name is not None and a.name.text == name]
        found = found or [a for a in call.arguments[place : place + 1] if a.name is None]
        given += found or [None]
    values = [parameter.default if argument is None else argument.value for argument in given]
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values) or len({draft.quote(value) for value in known}) > 1:
        return
    if any(path.name.text not in _list_outside(draft) for path in list_paths(known[0])):
        return
    change = write_in_place(draft, name, known[0], node)
    if change is not None:
        gone = [draft.remove(argument) for argument in given if argument is not None]
        yield [(*change, *gone, draft.remove(parameter))]


def _list_outside(draft: Draft) -> frozenset[str]:
    """Return the names that are known everywhere in a draft."""
    declared = (declaration.name.text for declaration in draft.tree.declarations)
    return frozenset(declared) | {import_.name for import_ in draft.tree.imports}


def _replace_traffic(draft: Draft, node: ast.Traffic) -> Iterator[Sequence[Change]]:
    """Yield the changes that write traffic wherever its name is."""
    edits: list[Edit] = []
    for user, _ in draft.nodes:
        base = user.traffic if isinstance(user, ast.Flow) else None
        base = user.base if isinstance(user, ast.Record) else base
        if isinstance(base, ast.Path) and base.name.text == node.name.text and not base.trail:
            body = user.body  # type: ignore[attr-defined]
            span = base.span if body is None else base.span.extend_to(body.span)
            edits.append(Edit(span, _with_fields(draft, node.value, body)))
    used = sum(path.name.text == node.name.text for path in list_paths(draft.tree))
    if edits and used == len(edits):
        yield [(*edits, draft.remove(node))]


def _with_fields(draft: Draft, value: ast.Expression, body: ast.Body | None) -> str:
    """Return a record with other fields."""
    if body is None:
        return draft.quote(value)
    changed = {_name_field(statement) for statement in body.statements}
    base, own = (value.base, value.body) if isinstance(value, ast.Record) else (value, None)
    kept = [
        statement
        for statement in (own.statements if own else ())
        if _name_field(statement) not in changed
    ]
    fields = ", ".join(draft.quote(statement) for statement in (*kept, *body.statements))
    return f"{draft.quote(base)} {{ {fields} }}"


def _name_field(node: ast.Node) -> str:
    return node.names[0].text if isinstance(node, ast.Bind) else ""


# ---- simpler


_OPERATIONS = (ast.Binary, ast.Unary, ast.Conditional, ast.Compare, ast.Member, ast.Call)


def fold_numbers(context: Context) -> Iterator[Sequence[Change]]:
    """Yield the operations on nothing but numbers, with their results."""
    draft, done = context.draft, -1
    for node, above in draft.nodes:
        if node.span.start < done or any(isinstance(ancestor, ast.Device) for ancestor in above):
            continue
        when = node.when if isinstance(node, ast.Criterion) else None
        if when is not None and context.values.write_value(when) == "true":
            assert isinstance(node, ast.Criterion)  # noqa: S101 -- it has a `when`
            yield [(_without_when(draft, node),)]
        if isinstance(node, ast.Path) and node.trail:
            yield from _fold_indices(context, node)
        if isinstance(node, _OPERATIONS) and not isinstance(above[-1], ast.Flow | ast.Link):
            text = context.values.write_value(node)
            if text is not None and len(text) <= len(draft.quote(node)):
                done = node.span.end
                yield [(draft.replace(node, text),)]


def _fold_indices(context: Context, path: ast.Path) -> Iterator[Sequence[Change]]:
    for step in path.trail:
        if isinstance(step, ast.Index) and not isinstance(step.value, ast.Number):
            text = context.values.write_value(step.value)
            if text is not None:
                yield [(context.draft.replace(step.value, text),)]


def reduce_to_parts(context: Context) -> Iterator[Sequence[Change]]:
    """Yield expressions with a part of theirs in their place."""
    draft = context.draft
    for node, above in draft.nodes:
        if context.is_kept(node, above) or context.is_of_device(node, above) or not above:
            continue
        inner: list[ast.Node] = []
        if isinstance(node, ast.Binary):
            inner = [node.right, node.left]
        elif isinstance(node, ast.Conditional):
            inner = [node.otherwise, node.value]
        elif isinstance(node, ast.Record):
            inner = [node.base]
        if inner:
            yield [(draft.replace(node, draft.quote_operand(operand)),) for operand in inner]


def remove_parentheses(context: Context) -> Iterator[Sequence[Change]]:
    """Yield calls without arguments, without their parentheses."""
    for node, above in context.draft.nodes:
        if isinstance(node, ast.Call) and not node.arguments and not context.is_kept(node, above):
            yield [(context.draft.replace(node, context.draft.quote(node.path)),)]


# ---- rounder and fewer


def shorten_lengths(context: Context) -> Iterator[Sequence[Change]]:
    """Yield how long is measured and sent, and how many there are of things, shorter."""
    draft = context.draft
    for node, above in draft.nodes:
        if not isinstance(node, ast.Number | ast.Quantity) or context.is_fixed(node, above):
            continue
        named = _name_above(above)
        value = read_number(node)
        if isinstance(node, ast.Number) and named in COUNTED and value > 1:
            yield [
                (draft.replace(node, with_value(node, simpler)),) for simpler in _list_fewer(value)
            ]
        elif isinstance(node, ast.Quantity) and value > 0 and _is_time(node):
            texts = dict.fromkeys(_rescale(node, value * share) for share in SHARES)
            yield [(draft.replace(node, text),) for text in texts if text != draft.quote(node)]


def _is_time(node: ast.Quantity) -> bool:
    known = find_unit(node.unit)
    return known is not None and known.dimension == TIME


def _list_fewer(value: Fraction) -> list[Fraction]:
    whole = int(value)
    some = {1, 2, whole // 10, whole // 2, whole - 1}
    return [Fraction(number) for number in sorted(some) if 0 < number < value]


_FINER = {"h": "min", "min": "s", "s": "ms", "ms": "us", "us": "ns", "ns": "ps"}
_STEP = {"h": 60, "min": 60}


def _rescale(node: ast.Quantity, value: Fraction) -> str:
    """Return a time with one or two digits, in a unit in which it is not below 1."""
    name = node.unit
    known = find_unit(name)
    name = known.canonical if known else name
    while value < 1 and name in _FINER:
        value *= _STEP.get(name, 1000)
        name = _FINER[name]
    if count_digits(value) > 1:
        power = Fraction(10) ** (len(str(int(value))) - 1) if value >= 1 else Fraction(1, 10)
        value = -(-value // power) * power
    return with_value(ast.Quantity(number="1", unit=name, span=node.span), value)


def round_numbers(context: Context) -> Iterator[Sequence[Change]]:
    """Yield numbers with fewer digits, and smaller ones."""
    draft = context.draft
    for node, above in draft.nodes:
        if not isinstance(node, ast.Number | ast.Quantity) or context.is_fixed(node, above):
            continue
        if any(isinstance(ancestor, ast.Index | ast.Loop) for ancestor in above[-3:]):
            continue
        value = read_number(node)
        whole = isinstance(node, ast.Number) and value.denominator == 1
        some = list(list_simpler(value, Fraction(0), 10 * value, 0 if whole else None))
        if count_digits(value) > 1 and value > 0:
            some.insert(
                2, 10 * Fraction(10) ** find_exponent(value)
            )  # a full line: others can go then
        if some:
            yield [(draft.replace(node, with_value(node, number)),) for number in some]


# ---- arrays


def lower_subscripts(context: Context) -> Iterator[Sequence[Change]]:
    """Yield the subscripts of the test's hosts, each lower wherever it is."""
    draft = context.draft
    for test in draft.tree.declarations:
        if not isinstance(test, ast.Test):
            continue
        found: dict[str, list[ast.Number]] = {}
        for path in list_paths(test):
            for step in path.trail:
                if isinstance(step, ast.Index) and isinstance(step.value, ast.Number):
                    found.setdefault(step.value.text, []).append(step.value)
        for text, places in found.items():
            lower = [str(i) for i in range(int(text)) if str(i) not in found]
            if lower:
                yield [tuple(draft.replace(place, new) for place in places) for new in lower]


def shrink_arrays(context: Context) -> Iterator[Sequence[Change]]:
    """Yield the arrays of a topology, each with fewer things, with the loops over them."""
    draft = context.draft
    for topology in draft.tree.declarations:
        if not isinstance(topology, ast.Topology):
            continue
        numbers = [
            (number, above)
            for number, above in draft.nodes
            if isinstance(number, ast.Number) and topology in above and number.text.isdigit()
        ]
        counts = [number for number, above in numbers if _name_above(above) == "count"]
        for length in sorted({int(count.text) for count in counts}):
            ends = [
                number
                for number, above in numbers
                if isinstance(above[-1], ast.Range) and int(number.text) == length - 1 > 0
            ]
            same = [count for count in counts if int(count.text) == length]
            yield [
                (
                    *(draft.replace(number, str(new)) for number in same),
                    *(draft.replace(end, str(new - 1)) for end in ends),
                )
                for new in range(1, length)
            ]


def _name_above(above: Sequence[ast.Node]) -> str:
    """Return the name of the nearest argument or field that a value is in."""
    for node in reversed(above):
        if isinstance(node, ast.Argument) and node.name is not None:
            return node.name.text
        if isinstance(node, ast.Bind):
            return node.names[0].text
    return ""


def remove_subscripts(context: Context) -> Iterator[Sequence[Change]]:
    """Yield arrays of one thing, without their subscripts."""
    draft = context.draft
    for topology in draft.tree.declarations:
        if not isinstance(topology, ast.Topology):
            continue
        for node in topology.body.statements:
            one = _remove_count(draft, node) if isinstance(node, ast.Bind) else None
            if one is None or not isinstance(node, ast.Bind):
                continue
            names = {name.text for name in node.names}
            subscripts = (
                path.trail[0]
                for path in list_paths(draft.tree)
                if path.name.text in names and path.trail
            )
            gone = [Edit(e.span, "") for e in subscripts if isinstance(e, ast.Index)]
            yield [(one, *gone)]


def _remove_count(draft: Draft, node: ast.Bind) -> Edit | None:
    """Return the change that takes away `count = 1`."""
    for argument in node.value.arguments if isinstance(node.value, ast.Call) else ():
        if (
            argument.name is not None
            and argument.name.text == "count"
            and draft.quote(argument.value) == "1"
        ):
            return draft.remove(argument)
    return None


# ---- flows and topology


def merge_flows(context: Context) -> Iterator[Sequence[Change]]:
    """Yield the pairs of flows of which one can send what both do."""
    draft = context.draft
    for node, above in draft.nodes:
        if not isinstance(node, ast.Flow) or not isinstance(above[-1], ast.Body):
            continue
        ours = _find_rate(node)
        for other in above[-1].statements:
            theirs = (
                _find_rate(other) if isinstance(other, ast.Flow) and other is not node else None
            )
            if ours is None or theirs is None or ours.unit != theirs.unit:
                continue
            total = with_value(theirs, read_number(ours) + read_number(theirs))
            users = _list_users(draft, {node.name.text}, node, above[-1])
            yield [(draft.replace(theirs, total), draft.remove(node), *users)]


def _find_rate(flow: ast.Flow) -> ast.Quantity | None:
    """Return the rate of a flow, if it is written as a quantity."""
    for statement in flow.body.statements if flow.body is not None else ():
        if isinstance(statement, ast.Bind) and statement.names[0].text in ("rate", "pcr"):
            value = (
                statement.value.value
                if isinstance(statement.value, ast.Layered)
                else statement.value
            )
            return value if isinstance(value, ast.Quantity) else None
    return None


def bypass_nodes(context: Context) -> Iterator[Sequence[Change]]:
    """Yield the nodes between two links, with one link in their place."""
    draft = context.draft
    for topology in draft.tree.declarations:
        if not isinstance(topology, ast.Topology):
            continue
        links = [
            statement for statement in topology.body.statements if isinstance(statement, ast.Link)
        ]
        for node in topology.body.statements:
            for name in node.names if isinstance(node, ast.Bind) else ():
                at = [link for link in links if name.text in _ends(link)]
                if len(at) == 2 and _ends(at[0]) != _ends(at[1]):  # noqa: PLR2004 -- one each side
                    yield [_bypass_node(draft, topology, node, name, at)]


def _ends(link: ast.Link) -> tuple[str, str]:
    return link.left.name.text, link.right.name.text


def _bypass_node(
    draft: Draft, topology: ast.Topology, node: ast.Statement, name: ast.Name, at: list[ast.Link]
) -> Change:
    first, second = at
    here = first.left if first.left.name.text == name.text else first.right
    there = second.right if second.left.name.text == name.text else second.left
    alone = isinstance(node, ast.Bind) and len(node.names) == 1
    gone = draft.remove(node if alone else name)
    del topology
    return (draft.replace(here, draft.quote(there)), draft.remove(second), gone)

"""What is declared and never used: perhaps something else was meant, or is missing.

A name is used where any expression begins with it, so there are no false warnings. Names of
modules may be used by importing files; only what no other file can reach is checked. A name that
begins with `_` is unused on purpose.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from qospec.check.evaluate.context import CheckError, make_error
from qospec.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from qospec.check.modules.loader import Unit

Uses = Counter[str]
"""How often expressions use each name, by their first name."""


def warn_of_unused(units: Sequence[Unit]) -> Iterator[CheckError]:
    """Yield a warning for each unused name in the files that were named.

    If nothing that is sent depends on the sweep of a template, what that makes of it would be
    wrong: an error.
    """
    tests = [
        declaration
        for unit in units
        for declaration in _list_declarations(unit)
        if isinstance(declaration, ast.Test)
    ]
    lineages = [_find_lineage(test, {test.name.text: test for test in tests}) for test in tests]
    on_topology = _on_topology(lineages)
    built_on = _find_built_on(lineages)
    for unit in units:
        if not unit.named:
            continue
        for declaration in _list_declarations(unit):
            if not isinstance(declaration, ast.Let):  # which is for whoever imports the file
                yield from _find_within(declaration, on_topology, built_on)
        own = _list_declarations(unit)
        yield from (
            sweep
            for lineage in lineages
            if lineage[0] in own
            for sweep in _find_idle_sweeps(lineage)
        )


def _list_declarations(unit: Unit) -> Sequence[ast.Declaration]:
    """Return the declarations of a file; none if part of it could not be parsed."""
    return unit.tree.declarations if unit.tree and not unit.tree.unparsed else ()


def _uses(node: ast.Node) -> Uses:
    found = Uses()
    waiting = [node]
    while waiting:
        here = waiting.pop()
        if isinstance(here, ast.Path):
            found[here.name.text] += 1
        waiting += here.list_children()
    return found


def _find_lineage(test: ast.Test, tests: Mapping[str, ast.Test]) -> list[ast.Test]:
    """Return a test, and what it is built on, as far as names tell."""
    found = [test]
    while (base := found[-1].base) is not None:
        named = tests.get(_drop_module(base))
        if named is None or named in found:
            break
        found.append(named)
    return found


def _on_topology(lineages: Iterable[Sequence[ast.Test]]) -> dict[str, Uses]:
    """Return what tests use, by the names of the topologies that they run on, controls too."""
    found: dict[str, Uses] = {}
    for test, *bases in lineages:
        uses = _uses(test)
        controls = [
            statement
            for statement in _iterate_statements(test.statements)
            if isinstance(statement, ast.Control)
        ]
        own = [part.topology for part in (test, *bases) if part.topology is not None]
        for base in (*own, *(control.topology for control in controls)):
            found.setdefault(_drop_module(base), Uses()).update(uses)
    return found


def _find_built_on(lineages: Iterable[Sequence[ast.Test]]) -> dict[str, Uses]:
    """Return what tests use of those that they are built on, by the names of these."""
    found: dict[str, Uses] = {}
    for test, *bases in lineages:
        for base in bases:
            found.setdefault(base.name.text, Uses()).update(_uses(test))
    return found


def _find_idle_sweeps(lineage: Sequence[ast.Test]) -> Iterator[CheckError]:
    """Yield an error for each sweep of a template on which nothing that is sent depends.

    It does where a test with a topology uses it, or what a `let` or a phase makes of it, or `run`.
    """
    placed = next((n for n, node in enumerate(lineage) if node.topology is not None), None)
    test = lineage[0]
    if placed is None or test.parameters:
        return
    templates = lineage[placed + 1 :]
    made: dict[str, Uses] = {}
    for name, uses in _list_made(
        statement for template in templates for statement in template.statements
    ):
        made.setdefault(name, Uses()).update(uses)
    runs = (
        statement
        for base in templates
        for statement in base.statements
        if isinstance(statement, ast.Run)
    )
    used: set[str] = set()
    waiting = [name for run in (*lineage[: placed + 1], *runs) for name in _uses(run)]
    while waiting:
        name = waiting.pop()
        if name not in used:
            used.add(name)
            waiting += made.get(name, ())
    sweeps = (
        statement
        for base in templates
        for statement in base.statements
        if isinstance(statement, ast.Sweep)
    )
    for sweep in sweeps:
        if not any(_is_idle(name.text) or name.text in used for name in sweep.names):
            name = sweep.names[0].text
            base = next(template for template in templates if sweep in template.statements)
            yield make_error(
                "E0514",
                f"`{_drop_module(test.base_path)}` needs a flow that uses `{name}`",
                test.base_path.span,
                secondary=(sweep.span, f"swept in `{base.name.text}`"),
                note=f"each case is named after its `{name}`, so what it sends must depend on it",
                help=f"write it in a flow, such as `… {{ {name} = {name} }}`",
            )


def _list_made(statements: Iterable[ast.Statement]) -> Iterator[tuple[str, Uses]]:
    """Yield each name to which a `let` or a phase gives a value, with what that depends on."""
    for statement in statements:
        if isinstance(statement, ast.Let | ast.Search):
            yield statement.name.text, _uses(statement)
        if isinstance(statement, ast.Search | ast.Point):
            for bind in statement.body.statements:
                if isinstance(bind, ast.Bind):
                    whole = statement if isinstance(statement, ast.Point) else bind.value
                    yield from ((name.text, _uses(whole)) for name in bind.names)


def _drop_module(base: ast.Path | ast.Call | ast.Name) -> str:
    """Return the name of a topology or test without that of its module."""
    path = base.path if isinstance(base, ast.Call) else base
    if isinstance(path, ast.Name):
        return path.text
    names = [step for step in path.trail if isinstance(step, ast.Name)]
    return (names or [path.name])[-1].text


def _find_within(
    node: ast.Declaration, on_topology: dict[str, Uses], built_on: dict[str, Uses]
) -> Iterator[CheckError]:
    """Yield the unused names within a declaration."""
    uses = _uses(node)
    if isinstance(node, ast.Traffic | ast.Device | ast.Topology | ast.Test):
        seen = on_topology.get(node.name.text) if isinstance(node, ast.Topology) else None
        yield from _find_parameters(node, uses + (seen or Uses()))
    if isinstance(node, ast.Let | ast.Traffic):
        return
    around: Uses | None = Uses()
    if isinstance(node, ast.Topology):
        around = on_topology.get(node.name.text)
    elif isinstance(node, ast.Test):
        around = built_on.get(node.name.text, Uses())
        if node.parameters or node.topology is None:  # other files may be built on it
            around = None
        else:
            uses += around
    own = node.statements if isinstance(node, ast.Test) else node.body.statements
    for statement in _iterate_statements(own):
        if isinstance(statement, ast.Let) and around is not None:
            yield from _let(statement, uses + around)
        elif isinstance(statement, ast.Sweep) and around is not None:
            yield from _find_sweep(statement, uses)
        elif isinstance(statement, ast.Bind) and around and isinstance(node, ast.Topology):
            yield from _find_hosts(statement, around)


def _is_idle(name: str) -> bool:
    """Return whether a name says that it is unused."""
    return name.startswith("_")


def _iterate_statements(statements: Sequence[ast.Statement]) -> Iterator[ast.Statement]:
    """Yield the statements of a body, and of the loops in it."""
    for statement in statements:
        yield statement
        if isinstance(statement, ast.Loop):
            yield from _iterate_statements(statement.body.statements)


def _let(node: ast.Let, uses: Uses) -> Iterator[CheckError]:
    name = node.name.text
    if not _is_idle(name) and uses[name] <= _uses(node)[name]:
        yield make_error(
            "W0620",
            f"`{name}` is never used",
            node.name.span,
            help=f"use it, leave it out, or call it `_{name}`",
        )


def _find_parameters(
    node: ast.Traffic | ast.Device | ast.Topology | ast.Test, uses: Uses
) -> Iterator[CheckError]:
    for parameter in node.parameters:
        if not _is_idle(parameter.name.text) and not uses[parameter.name.text]:
            yield make_error(
                "W0621",
                f"`{node.name.text}` does not use its parameter `{parameter.name.text}`",
                parameter.name.span,
                note="any value given for it changes nothing",
                help="use it, or leave it out",
            )


def _find_hosts(node: ast.Bind, around: Uses) -> Iterator[CheckError]:
    base = node.value.path if isinstance(node.value, ast.Call) else node.value
    if not (isinstance(base, ast.Path) and base.name.text == "host" and not base.trail):
        return
    for name in node.names:
        if not _is_idle(name.text) and not around[name.text]:
            yield make_error(
                "W0622",
                f"no test sends anything to or from `{name.text}`",
                name.span,
                help=f"send a flow, leave the host out, or call it `_{name.text}`",
            )


def _find_sweep(node: ast.Sweep, uses: Uses) -> Iterator[CheckError]:
    own = _uses(node)
    if any(_is_idle(name.text) or uses[name.text] > own[name.text] for name in node.names):
        return
    names = ", ".join(f"`{name.text}`" for name in node.names)
    are = "are" if len(node.names) > 1 else "is"
    yield make_error(
        "W0623",
        f"{names} {are} never used: all cases of this sweep are alike",
        node.names[0].span.extend_to(node.names[-1].span),
        note="they differ only in their random draws",
        help="use it; to run a case more than once, write `run { …, repeat = n }`",
    )

"""A test as a sequence of parts, and the names of one of its cases.

Each part is evaluated in its own file. Its names are known to the parts after it, which are built
on it; it does not know theirs. What a template requires of its arguments, a `require` that names
its parameters alone, is decided here, before anything else, and is no criterion of the test.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeGuard, TypeVar

from qospec.check.declarations import TestValue
from qospec.check.evaluate.context import Case, CheckError, flatten_text, make_error
from qospec.check.evaluate.scope import Binding, Scope, bind_known, explain_clash, explain_unknown
from qospec.check.evaluate.values import POISON, Poison
from qospec.check.records.parameters import let_binding
from qospec.dataclass import NamedTuple
from qospec.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.check.evaluate.values import Value
    from qospec.check.test.sweeps import Combination
    from qospec.model.suite import Network

T = TypeVar("T", bound=ast.Statement)


class Part(NamedTuple):
    """A test as it is written, and the names around it: of its file, and its parameters."""

    node: ast.Test
    home: Scope


Parts = tuple[Part, ...]
"""What a test is built on, then the test itself."""


def collect_parts(node: ast.Test, inside: Scope, evaluator: Evaluator) -> Parts | None:
    """Return the parts of a test with the parameters of `inside`; None after a mistake."""
    parts = [Part(_with_sweeps(node), inside)]
    while (written := parts[0].node.base) is not None:
        try:
            base = _find_base(written, parts, evaluator)
        except CheckError as mistake:
            evaluator.context.report(mistake)
            return None
        if base is None:
            return None
        parts.insert(0, base)
    on = [part.node for part in parts if part.node.topology is not None]
    if len(on) > 1:
        evaluator.context.report(_explain_second_topology(on[0], on[1]))
        return None
    return tuple(parts)


def _with_sweeps(node: ast.Test) -> ast.Test:
    """Return a test in which each `forall` of a list is a sweep: in a test they are the same."""
    if not any(isinstance(statement, ast.ForAll) for statement in node.statements):
        return node
    return with_statements(node, [_as_sweep(statement) for statement in node.statements])


def _as_sweep(node: ast.Statement) -> ast.Statement:
    if not isinstance(node, ast.ForAll) or is_continuous(node.values):
        return node
    return ast.Sweep(
        names=(node.name,), values=node.values, where=node.where, doc="", span=node.span
    )


def with_statements(node: ast.Test, statements: Sequence[ast.Statement]) -> ast.Test:
    """Return a test with other statements."""
    assert node.body is not None  # noqa: S101 -- it has statements
    return replace(node, body=replace(node.body, statements=tuple(statements)))


def is_continuous(values: ast.Expression) -> TypeGuard[ast.Range]:
    """Return whether any number between two may be drawn; with a step it is a list."""
    return isinstance(values, ast.Range) and values.step is None


def is_template(parts: Sequence[Part]) -> bool:
    """Return whether a test has no topology: it is never run, but others are built on it."""
    return all(part.node.topology is None for part in parts)


def _find_base(written: ast.Path | ast.Call, parts: Sequence[Part], of: Evaluator) -> Part | None:
    """Return what a test is built on; None after a reported mistake. Raises CheckError."""
    path = written.path if isinstance(written, ast.Call) else written
    value = _find_named(path, parts[0].home, of)
    if isinstance(value, Poison):
        return None
    if not isinstance(value, TestValue):
        raise make_error(
            "E0521",
            f"expected a test, found {value.what}",
            path.span,
            help="name a test to build on; the topology is written after `on`",
        )
    if value in of.context.circular or value.node.is_incomplete:  # which was reported
        return None
    known = [part.node for part in parts]
    if value.node in known:
        of.context.circular.add(value)
        circle = [*known[known.index(value.node) :: -1], value.node]
        names = " -> ".join(f"`{node.name.text}`" for node in reversed(circle))
        raise make_error(
            "E0103",
            f"this test is built on itself: {names}",
            path.span,
            help="build one of them on no other test",
        )
    arguments = written.arguments if isinstance(written, ast.Call) else ()
    own = (statement for part in parts for statement in part.node.statements)
    flows = [statement for statement in own if isinstance(statement, ast.Flow)]
    bound = value.signature.bind(arguments, parts[0].home, written, flows)
    return None if bound is None else Part(_with_sweeps(value.node), bound[0])


def _find_named(path: ast.Path, scope: Scope, of: Evaluator) -> Value:
    """Return what a test says that it is built on. Raises CheckError; only tests are suggested."""
    try:
        return of.require_value(path, scope)
    except CheckError as mistake:
        if path.trail or not mistake.diagnostic.label:  # else another name is suggested
            raise
        tests = [
            binding.name for binding in scope.list_bindings() if binding.what == TestValue.what
        ]
        raise explain_unknown(path.name.text, path.name.span, tests) from None


def _explain_second_topology(base: ast.Test, test: ast.Test) -> CheckError:
    first, second = base.topology, test.topology
    assert first is not None and second is not None  # noqa: PT018, S101 -- the caller's choice
    return make_error(
        "E0522",
        f"`{test.name.text}` already has a topology, from `{base.name.text}`",
        second.span,
        label="the second topology",
        secondary=(first.span, "the first"),
        help="remove `on …` from one of them",
    )


def list_requirements(parts: Parts) -> list[str]:
    """Return what a template requires of its arguments, in its own names."""
    case = _build_case(parts)
    return [
        case.find_words_at_use(statement.condition.span)
        for part in parts
        for statement in part.node.statements
        if _is_requirement(statement, part)
    ]


def _build_case(parts: Parts) -> Case:
    tests = tuple(part.node for part in parts)
    return Case(tests[-1].name.text, tests[-1].span, (), tests[:-1], tests[1:])


def verify_arguments(parts: Parts, evaluator: Evaluator) -> Parts | None:
    """Return a test without what is required of arguments; None if they do not meet it."""
    case, before = _build_case(parts), evaluator.context.mistakes
    for part in parts:
        for statement in part.node.statements:
            if _is_requirement(statement, part):
                _verify(statement, part, case, evaluator)
    return None if evaluator.context.mistakes > before else tuple(map(_drop_requirements, parts))


def _is_requirement(node: ast.Statement, part: Part) -> TypeGuard[ast.Criterion]:
    """Return whether a statement depends on parameters, and on nothing that a test declares."""
    if not isinstance(node, ast.Criterion) or node.kind != "require" or node.when is not None:
        return False
    every = node.condition.with_all_below()
    names = {path.name.text for path in every if isinstance(path, ast.Path)}
    parameters = {parameter.name.text for parameter in part.node.parameters}
    return bool(names & parameters) and all(part.home.find(name) for name in names)


def _verify(node: ast.Criterion, part: Part, case: Case, evaluator: Evaluator) -> None:
    try:
        met = evaluator.require_truth(node.condition, part.home)
    except CheckError as mistake:
        evaluator.context.report(mistake)
        return
    if met is not False:
        return
    text = flatten_text(node.condition.span.text)
    unmet = make_error(
        "E0525",
        f"`{part.node.name.text}` requires `{text}`",
        node.condition.span,
        help="choose arguments for which that holds",
    )
    if case.find_base(node.span) is not None:
        unmet = CheckError(case.move_to_use(replace(unmet.diagnostic, label="required here")))
    evaluator.context.report(unmet)


def _drop_requirements(part: Part) -> Part:
    kept = [statement for statement in part.node.statements if not _is_requirement(statement, part)]
    if len(kept) == len(part.node.statements):
        return part
    return Part(with_statements(part.node, kept), part.home)


class CaseScope:
    """The names of a case: for each part those of its file, then the topology's, then the case's.

    Attributes:
        test: The test itself, the last of the parts.
        topology: The topology as it is written, and the names that it sees; None for a template.
        network: Of the topology, once it is known.
        scope: Its names.
        scopes: The names of each part.
        statements: The statements of all parts, in order, each with the names that it sees.
    """

    def __init__(self, parts: Parts, points: Combination, evaluator: Evaluator) -> None:
        self.test = parts[-1].node
        self.topology: tuple[ast.Path | ast.Call, Scope] | None = None
        self.network: Network | None = None
        self.scopes = [Scope(Scope(part.home)) for part in parts]
        self.scope = self.scopes[-1]
        self.statements = [
            (statement, scope)
            for part, scope in zip(parts, self.scopes, strict=True)
            for statement in part.node.statements
        ]
        for place, scope in enumerate(self.scopes, 1):
            scope.statements = [
                statement for part in parts[:place] for statement in part.node.statements
            ]
        self._parts = parts
        self._evaluator = evaluator
        self._context = evaluator.context
        for scope, heir in zip(self.scopes, self.scopes[1:], strict=False):
            scope.heir = heir
        for part, scope in zip(parts, self.scopes, strict=True):
            if part.node.topology is not None:
                self.topology = part.node.topology, scope
        for point in points:
            self.scopes[point.part].declare(point.binding, self._context)
        for node, scope in self.select_statements(ast.Let):
            self._let(node, scope)
        for drawn, scope in self.select_statements(ast.ForAll):  # not here: see `expansion.drawn`
            made = bind_known(drawn.name, "a drawn value", POISON)
            scope.declare(made, self._context)

    def find_template(self, scope: Scope) -> ast.Test | None:
        """Return the template whose names these are; None for those of a test with a topology."""
        place = self.scopes.index(scope)
        first = self.scopes.index(self.topology[1]) if self.topology else len(self.scopes)
        return self._parts[place].node if place < first else None

    def select_statements(self, kind: type[T]) -> Iterator[tuple[T, Scope]]:
        """Yield the statements of one kind, each with the names that it sees."""
        for statement, scope in self.statements:
            if isinstance(statement, kind):
                yield statement, scope

    def _let(self, node: ast.Let, scope: Scope) -> None:
        scope.declare(let_binding(node, scope, self._evaluator), self._context)

    def add_topology(self, names: dict[str, Binding] | None) -> None:
        """Add the names of the topology, for its part and those after; None: they are unknown."""
        first = self.scopes.index(self.topology[1]) if self.topology else len(self.scopes)
        for part, scope in list(zip(self._parts, self.scopes, strict=True))[first:]:
            nodes = scope.parent
            assert nodes is not None and nodes.parent is not None  # noqa: PT018, S101 -- made above
            nodes.incomplete = names is None
            for name, binding in (names or {}).items():
                for taken in (nodes.parent.find(name), scope.names.get(name)):
                    if taken is None or taken.span == binding.span:
                        continue
                    if taken is scope.names.get(name) and taken.span not in part.node.span:
                        scope.inherit(taken, self._context, known=binding)
                    else:
                        self._context.report(explain_clash(taken, binding))
                nodes.names[name] = binding


def collect_sweeps(parts: Sequence[Part]) -> list[tuple[int, ast.Sweep]]:
    """Return the sweeps of all parts, each with the index of its part."""
    return [
        (index, statement)
        for index, part in enumerate(parts)
        for statement in part.node.statements
        if isinstance(statement, ast.Sweep)
    ]

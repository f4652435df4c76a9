"""Changes of a module's text, one operator or number at a time."""

import ast
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple

SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.USub: ast.UAdd,
}
"""What takes the place of each operator."""
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any"}


class Mutant(NamedTuple):
    """A module with one change.

    Attributes:
        tree: The whole module as it is.
        node: What is changed in it,
        fields: and how.
        lines: The lines of what is changed, and the first of its statement; from 1.
        function: In which function.
        was: The line's text before the change, without indentation.
        becomes: And after.
    """

    tree: ast.Module
    node: ast.AST
    fields: dict[str, Any]
    lines: frozenset[int]
    function: str
    was: str
    becomes: str

    def compiled(self, path: Path) -> CodeType:
        """Return the code of the changed module."""
        with _Changed(self.node, self.fields):
            return compile(ast.fix_missing_locations(self.tree), str(path), "exec")


class _Changed:
    """Changes a node for as long as a `with` lasts."""

    def __init__(self, node: ast.AST, fields: dict[str, Any]) -> None:
        self._node, self._fields = node, fields
        self._were = {name: getattr(node, name) for name in fields}

    def __enter__(self) -> None:
        for name, value in self._fields.items():
            setattr(self._node, name, value)

    def __exit__(self, *_: object) -> None:
        for name, value in self._were.items():
            setattr(self._node, name, value)


def mutants(text: str, wanted: Callable[[ast.FunctionDef], bool]) -> Iterator[Mutant]:
    """Yield every mutant of a module's text.

    Only functions that are `wanted` are changed, and in them no annotations, decorators, defaults,
    assertions and messages of errors: these say nothing about what a function gives. That what is
    zipped has the same length is such an assertion.
    """
    tree = ast.parse(text)
    lines = text.encode().splitlines()
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef) or not wanted(function):
            continue
        for outer in function.body:
            for node, statement in _inside(outer, outer):
                for fields in _changes(node):
                    at = frozenset((statement.lineno, *range(node.lineno, _end(node) + 1)))
                    was = _line(lines, node)
                    with _Changed(node, fields):
                        becomes = _line(lines, node, ast.unparse(node))
                    yield Mutant(tree, node, fields, at, function.name, was, becomes)


def is_kernel(function: ast.FunctionDef) -> bool:
    """Return whether a function is a kernel."""
    return any(
        isinstance(decorator, ast.Name) and decorator.id == "kernel"
        for decorator in function.decorator_list
    )


def is_any(function: ast.FunctionDef) -> bool:  # noqa: ARG001
    """Return true."""
    return True


def _end(node: ast.expr | ast.stmt) -> int:
    return node.end_lineno or node.lineno


def _line(lines: list[bytes], node: ast.expr | ast.stmt, instead: str | None = None) -> str:
    """Return the text of the lines of a node, as one line; with another text instead of it."""
    first, last = node.lineno - 1, _end(node) - 1
    if instead is None:
        return " ".join(b" ".join(lines[first : last + 1]).decode().split())
    before, after = lines[first][: node.col_offset], lines[last][node.end_col_offset :]
    return " ".join((before.decode() + instead + after.decode()).split())


def _inside(node: ast.AST, statement: ast.stmt) -> Iterator[tuple[ast.expr | ast.stmt, ast.stmt]]:
    """Yield what may be changed in a node, itself included, with the statement that it is in."""
    if isinstance(node, ast.Raise | ast.Assert | ast.FunctionDef):
        return
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return
    if isinstance(node, ast.stmt):
        statement = node
    if isinstance(node, ast.expr | ast.AugAssign):
        yield node, statement
    zips = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "zip"
    for name, value in ast.iter_fields(node):
        if name == "annotation" or (zips and name == "keywords"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _inside(child, statement)


def _changes(node: ast.AST) -> Iterator[dict[str, Any]]:
    """Yield the fields of each change of a node."""
    match node:
        case ast.Compare(ops=operators):
            for number, comparison in enumerate(operators):
                swapped = [*operators]
                swapped[number] = SWAPS[type(comparison)]()
                yield {"ops": swapped}
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield {"operand": ast.UnaryOp(ast.Not(), operand)}
        case (
            ast.BoolOp(op=operator)
            | ast.BinOp(op=operator)
            | ast.UnaryOp(op=operator)
            | ast.AugAssign(op=operator)
        ):
            if type(operator) in SWAPS:
                yield {"op": SWAPS[type(operator)]()}
        case ast.IfExp(body=body, orelse=orelse):
            yield {"body": orelse, "orelse": body}
        case ast.Constant(value=int(value)):  # a truth value, too
            yield {"value": not value if isinstance(value, bool) else value + 1}
        case ast.Call(func=ast.Name(id=name)) if name in NAMES:
            yield {"func": ast.Name(NAMES[name], ast.Load())}
        case _:
            pass

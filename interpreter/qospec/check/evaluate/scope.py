"""Names and what they stand for. No name is declared twice or hides another, at any level."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from qospec.catalogue.words import explain_word, translate
from qospec.check.evaluate.context import CheckError, make_error
from qospec.check.evaluate.values import POISON
from qospec.diagnostics import Edit, suggest_name
from qospec.protocol.marks import ALL, MARKS
from qospec.secret import IN_QUOTES, WITHHELD
from qospec.source import Span
from qospec.syntax import ast
from qospec.units import find_unit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from qospec.check.evaluate.context import Context
    from qospec.check.evaluate.values import Value

RESULTS = ("a goal", "a point")
"""What kinds of names have results of phases."""
FIELD = "a field"
"""What messages call names of fields."""
NODE = "a node"
"""What messages call names of nodes."""
FLOWS = ("a flow", "a flow of a loop")
"""What messages call names of flows."""
IMPORT = "an import"
"""What they call names of imported files."""
MAX_DEPTH = 60
"""How long a chain of names that depend on each other may be."""


DECLARE = "declare it, or import the file that does"
"""The remedy for a name that is like no other."""
_ELSEWHERE = {"yes": "true", "no": "false"}
_NOTHING = frozenset({"null", "none", "nil"})
"""How other languages write booleans and the absence of a value."""
_STATISTICS = {
    **dict.fromkeys(("percentile", "quantile", "perc", "pctl"), "p99"),
    **dict.fromkeys(("mean", "avg", "average"), "mean"),
    "median": "p50",
    **dict.fromkeys(("std", "stddev"), "std"),
}
"""Functions of other tools, by name, and the statistic to suggest."""
_MARKS_AND_WORDS = {name: name for name in ALL if name != "clp"} | {
    word: f"{name} == {word}" for name in ("colour", "ecn") for word in MARKS[name].words
}
"""Marks of packets and the words that are their values, which no value here is."""
_NEAR = 40
_EDITION = re.compile(r"^qos [0-9]+.*$", re.MULTILINE)
_BEFORE_UNIT = re.compile(r"([0-9][0-9_.]*(?: *[A-Za-z]+(?= */))?) *(/?) *$")


class Binding:
    """A name and its value, which is evaluated on first use.

    Attributes:
        name: The name.
        span: Where it was declared.
        what: What it is, for messages: "a parameter", "a device".
        argument: Of a parameter, what gives its value, and the names that this may use; None if it
            has its default. So it is with the variable of a sweep over a list that is an argument.
        varies: The variables of phases that its value depends on, each with what a criterion
            writes in its place.
    """

    def __init__(self, name: str, span: Span, what: str, make: Callable[[], Value]) -> None:
        self.name = name
        self.span = span
        self.what = what
        self.argument: tuple[ast.Expression, Scope] | None = None
        self.written: tuple[ast.Expression, Scope] | None = None
        self.varies: dict[str, str] = {}
        self._make = make
        self._value: Value | None = None

    def evaluate(self, context: Context) -> Value:
        """Return the value; POISON after a mistake in it, which is reported where it is."""
        if self._value is None:
            if self in context.evaluating:
                raise self._explain_cycle(context)
            if len(context.evaluating) >= MAX_DEPTH:
                raise make_error(
                    "E0605",
                    f"more than {MAX_DEPTH} names depend on each other in a chain that ends here",
                    self.span,
                    help="replace one of them by its value where it is used",
                )
            context.evaluating.append(self)
            try:
                self._value = self._make()
            except CheckError as mistake:
                context.report(mistake)
                self._value = POISON
            finally:
                context.evaluating.pop()
        if self.varies:
            for binding in context.evaluating:
                binding.varies |= self.varies
        return self._value

    def evaluate_at(self, span: Span, context: Context) -> Value:
        """Return the value where an expression names it; raises CheckError.

        A criterion is judged once, so it cannot use a variable, which has other values elsewhere.
        """
        value = self.evaluate(context)
        if self.varies and context.judging and not context.evaluating:
            goal = next(filter(None, self.varies.values()), "")
            message = f"a search tries many values of `{self.name}`: say which one"
            if not goal:
                message = f"`{self.name}` has a value in each phase: say which one"
            help_text = f"write what a goal has found: `{goal}`" if goal else "write the value"
            raise make_error("E0515", message, span, help=help_text)
        return value

    def _explain_cycle(self, context: Context) -> CheckError:
        evaluating = context.evaluating
        chain = [binding.name for binding in evaluating[evaluating.index(self) :]]
        if len(chain) == 1 and self.what == FIELD:
            bases = context.case.bases if context.case else ()
            message = f"`{self.name}` is defined in terms of itself"
            if bases:
                message = f"`{bases[-1].name.text}` declares no `{self.name}`"
            help_text = f"write a value after `{self.name} =`"
        elif len(chain) == 1:
            message = f"`{self.name}` is defined in terms of itself"
            help_text = "give it a name that its own value does not use"
        else:
            message = f"`{self.name}` depends on itself: " + " -> ".join([*chain, self.name])
            help_text = "give one of them a value that does not need the others"
        return make_error("E0103", message, self.span, help=help_text)


def find_given(node: ast.Expression, scope: Scope) -> tuple[Span, str]:
    """Return where a value was written: of a parameter's name, what was given for it, and so on.

    With it, the parameter for which it was given there, "" if for none.
    """
    name = ""
    while (given := _find_argument(node, scope)) is not None:
        name = node.name.text if isinstance(node, ast.Path) else ""
        node, scope = given
    return node.span, name


def find_given_items(node: ast.Expression, scope: Scope) -> tuple[Sequence[ast.Expression], Scope]:
    """Return the items of the list that was given for a parameter, if one was written out.

    With them, the names that they may use.
    """
    if _find_argument(node, scope) is None:
        return (), scope
    node, scope = find_written(node, scope)
    return (node.items if isinstance(node, ast.ListLiteral) else ()), scope


def find_written(node: ast.Expression, scope: Scope) -> tuple[ast.Expression, Scope]:
    """Return where a value is written out: what a name was given or is by `let`, and so on.

    With it, the names that it may use. A name that is defined in terms of itself is left as it is.
    """
    seen: set[Binding] = set()
    while isinstance(node, ast.Path) and not node.trail:
        binding = scope.find(node.name.text)
        found = None if binding is None else binding.argument or binding.written
        if binding is None or found is None or binding in seen:
            break
        seen.add(binding)
        node, scope = found
    return node, scope


def _find_argument(node: ast.Expression, scope: Scope) -> tuple[ast.Expression, Scope] | None:
    """Return what was given for a parameter, and the names that this may use; else None."""
    if not isinstance(node, ast.Path) or node.trail:
        return None
    binding = scope.find(node.name.text)
    return None if binding is None else binding.argument


def bind_known(name: ast.Name, what: str, value: Value) -> Binding:
    """Return a binding whose value is known."""
    return Binding(name.text, name.span, what, lambda: value)


class Scope:
    """One level of names within another.

    An `incomplete` one lacks names because of a reported mistake. `unparsed` are names that may
    have been declared in what could not be parsed, `missing_imports` those that imports without a
    file may have been for. `heir` is the scope of a test that is built on this one: whatever is
    declared here is declared there too. `statements` are those of the test whose scope it is, with
    those of what that is built on.
    """

    def __init__(self, parent: Scope | None = None, unparsed: frozenset[str] = frozenset()) -> None:
        self.parent = parent
        self.heir: Scope | None = None
        self.statements: Sequence[ast.Statement] = ()
        self.unparsed = unparsed
        self.missing_imports: frozenset[str] = frozenset()
        self.names: dict[str, Binding] = {}
        self.incomplete = False

    def find(self, name: str) -> Binding | None:
        """Return what a name stands for here."""
        found = self.names.get(name)
        if found is None and self.parent is not None:
            return self.parent.find(name)
        return found

    def may_hold(self, name: str) -> bool:
        """Return whether a name that is not found may be missing because of a reported mistake."""
        here = self.incomplete or name in self.unparsed
        return here or (self.parent is not None and self.parent.may_hold(name))

    def list_unread(self) -> frozenset[str]:
        """Return the names in what could not be parsed, here and around."""
        return self.parent.list_unread() | self.unparsed if self.parent else self.unparsed

    def may_import(self, name: str) -> bool:
        """Return whether a name is similar to an import without a file."""
        above = self.parent is not None and self.parent.may_import(name)
        return above or bool(suggest_name(name, self.missing_imports))

    def find_outermost(self) -> Scope:
        """Return the names of the file."""
        return self.parent.find_outermost() if self.parent else self

    def list_statements_around(self) -> Sequence[ast.Statement]:
        """Return the statements of the test, here or around."""
        around = self.parent.list_statements_around() if self.parent else ()
        return self.statements or around

    def list_known(self) -> Iterator[str]:
        """Yield all names that can be used here."""
        return (binding.name for binding in self.list_bindings())

    def list_bindings(self) -> Iterator[Binding]:
        """Yield what can be used here."""
        scope: Scope | None = self
        while scope is not None:
            yield from scope.names.values()
            scope = scope.parent

    def declare(self, binding: Binding, context: Context) -> None:
        """Add a name; one taken here stays, one of an outer scope is hidden. Both are reported.

        Hidden, because uses here mean this one: one slip is reported once.
        """
        known = self.find(binding.name)
        if known is not None and known.span != binding.span:
            self.report_clash(binding, known, context)
            if binding.name in self.names:
                return
        self.names[binding.name] = binding
        if self.heir is not None:
            self.heir.inherit(binding, context)

    def report_clash(self, binding: Binding, known: Binding, context: Context) -> None:
        """Report a taken name, unless an import has it whose file is missing: that is reported."""
        if binding.name not in self.find_outermost().missing_imports:
            context.report(explain_clash(binding, known))

    def inherit(self, binding: Binding, context: Context, known: Binding | None = None) -> None:
        """Add a name of what a test is built on.

        Where the test's own file or topology has that name, as `known`, it is to be changed there.
        Then it means neither, so that its uses are not reported too.
        """
        known = known or self.find(binding.name)
        if known is not None and known.span != binding.span:
            self.report_clash(known, binding, context)
            binding = Binding(known.name, known.span, known.what, lambda: POISON)
        self.names[binding.name] = binding
        if self.heir is not None:
            self.heir.inherit(binding, context)


def explain_clash(binding: Binding, known: Binding) -> CheckError:
    """Return the mistake of declaring a taken name, placed at the later of two in a file."""
    first, again = known, binding
    if known.span.source == binding.span.source:
        first, again = sorted((known, binding), key=lambda bound: bound.span.start)
    return make_error(
        "E0102",
        f"`{binding.name}` is already declared",
        again.span,
        label=f"declared again here as {again.what}",
        secondary=(first.span, f"first declared here as {first.what}"),
        help="choose another name: no name may be declared twice or hide another",
    )


def explain_unknown(
    name: str,
    span: Span,
    known: list[str],
    inside: str = "",
    imported: str = "",
    results: Sequence[str] = (),
) -> CheckError:
    """Return the mistake of using an undeclared name; `imported` is the import that has it.

    `inside` is the file whose names are `known`, `results` are the goals and points there.
    """
    near = _ELSEWHERE.get(name.lower()) or translate(name, known)
    absent = "" if near else explain_word(name)
    if not near and name in _MARKS_AND_WORDS:
        absent = f"a class tests it: `pkt.{_MARKS_AND_WORDS[name]}`"
    near = near or ("" if absent else suggest_name(name, [*known, "true", "false"]))
    help_text = f"write `import {imported}` below the first line" if imported else ""
    help_text = help_text or ("" if inside else DECLARE)
    help_text = f"write `{near}`" if near else help_text
    if not near and name.lower() in _STATISTICS:
        help_text = (
            f"a statistic follows what is measured, as in `flow.delay.{_STATISTICS[name.lower()]}`"
        )
    elif not near and name.lower() in _NOTHING:
        help_text = "leave out what has no value"
    elif find_unit(name) is not None:
        near, help_text = "", _as_unit(name, span)
    elif not span.text.strip(WITHHELD):
        near, help_text = "", IN_QUOTES
    label = f"did you mean `{near}`?" if near else ""
    where = f"in `{inside}`" if inside else "here"
    note = f"`{inside}` declares {' '.join(known) or 'nothing'}" if inside else ""
    if results and not near and not imported:
        note = f"goals and points here: {' '.join(results)}"
        help_text = f"write the name of a goal or a point, such as `{results[0]}`"
    message = f"nothing {where} is named `{name}`"
    note = note or absent
    return make_error("E0101", message, span, label=label, note=note, help=help_text)


def with_import(mistake: CheckError, imported: str) -> CheckError:
    """Return the mistake of not importing a file with its fix: the import, below the first line."""
    source = mistake.diagnostic.span.source
    first = _EDITION.search(source.text) if imported else None
    if first is None:  # the form in YAML has another first line
        return mistake
    fix = (Edit(Span(source, first.end(), first.end()), f"\nimport {imported}"),)
    return CheckError(replace(mistake.diagnostic, fix=fix), mistake.also)


def suggest_listing(listed: str) -> str:
    """Return the remedy for a name that is none of those that a command lists: `qos LISTED`."""
    return f"write one that `qos {listed}` lists"


def add_listing(mistake: CheckError, node: ast.Expression, listed: str) -> CheckError:
    """Return a mistake in what has to be one of a list; an unknown one is told where they are."""
    diagnostic = mistake.diagnostic
    if not listed or diagnostic.help != DECLARE or diagnostic.span.start != node.span.start:
        return mistake
    help_text = f"declare it, import the file that does, or {suggest_listing(listed)}"
    return CheckError(replace(diagnostic, help=help_text), mistake.also)


def _as_unit(name: str, span: Span) -> str:
    """Return how to write a unit that was separated from its number."""
    line = span.source.text[max(0, span.start - _NEAR) : span.start].rpartition("\n")[2]
    number = _BEFORE_UNIT.search(line)
    if number is None:
        return f"declare it; the unit `{name}` directly follows a number, as in `1 {name}`"
    return f"write `{number[1]}{'/' if number[2] else ' '}{name}`"

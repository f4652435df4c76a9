"""Evaluates expressions. There is one evaluator: a declaration is checked by evaluating it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from qospec.check.evaluate import arithmetic, literals, mixes
from qospec.check.evaluate.context import (
    CheckError,
    IndexedError,
    add_use,
    explain_too_deep,
    make_error,
)
from qospec.check.evaluate.functions import FUNCTIONS
from qospec.check.evaluate.reported import label_as_name
from qospec.check.evaluate.scope import (
    FIELD,
    FLOWS,
    IMPORT,
    NODE,
    RESULTS,
    add_listing,
    explain_unknown,
    find_given,
    with_import,
)
from qospec.check.evaluate.values import (
    POISON,
    Amount,
    Boolean,
    Deferred,
    List,
    Map,
    Pattern,
    Poison,
    Symbol,
    Text,
    Value,
    find_published,
)
from qospec.diagnostics import suggest_name
from qospec.model.expression import Operation
from qospec.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from qospec.catalogue.kinds import Role
    from qospec.check.evaluate.context import Context
    from qospec.check.evaluate.scope import Binding, Scope
    from qospec.source import Span

LIBRARY = "std"
"""The folder of the library in imports."""
ROLES: Mapping[str, Role] = {
    "elements": "element",
    "traffic": "traffic",
    "arrivals": "arrivals",
    "policies": "dropping",
}
"""By command that lists them, the role of kinds that can stand where it is named."""


class Evaluator:
    """Turns syntax into values."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self._listed = ("", 0)  # what `qos LISTED` lists is meant by the name that begins there
        self._may_be_kind = True
        self._taken: tuple[Binding | None, Span | None] = (None, None)
        """What has the name of a kind, and where that is meant."""
        self._methods: dict[type, Callable[[Any, Scope], Value]] = {
            ast.Number: lambda node, _: literals.read_number(node, context.limits),
            ast.Quantity: lambda node, _: literals.read_quantity(node, context.limits),
            ast.Text: lambda node, _: Text(node.text, written=node.span),
            ast.Boolean: lambda node, _: Boolean(node.value),
            ast.Layered: self._evaluate_layered,
            ast.Unary: self._evaluate_unary,
            ast.Binary: self._evaluate_binary,
            ast.Compare: self._compare,
            ast.Within: self._evaluate_within,
            ast.Member: self._evaluate_member,
            ast.Range: self._evaluate_range,
            ast.Conditional: self._choose,
            ast.ListLiteral: self._list,
            ast.TupleLiteral: self._list,
            ast.MapLiteral: self._map,
            ast.MixLiteral: lambda node, scope: mixes.evaluate_mix(node, scope, self),
            ast.Path: self._evaluate_path,
            ast.Call: self._call,
            ast.Record: self._evaluate_record,
        }

    def evaluate(
        self,
        node: ast.Expression,
        scope: Scope,
        listed: str = "",
        *,
        may_be_kind: bool = True,
    ) -> Value:
        """Return the value; POISON after a mistake, which is reported.

        Args:
            node: The expression.
            scope: The names that it may use.
            listed: The command that lists what it may be, if there is one: `qos LISTED`.
            may_be_kind: Whether it may be a kind: else none is suggested.
        """
        try:
            return self.evaluate_one_of(listed, node, scope, may_be_kind=may_be_kind)
        except CheckError as mistake:
            self.context.report(mistake)
        except RecursionError:
            self.context.report(explain_too_deep(node.span))
        return POISON

    def require_value(self, node: ast.Expression, scope: Scope) -> Value:
        """Return the value; raises CheckError."""
        self.context.count_step(node.span)
        method = self._methods.get(type(node))
        if method is None:
            raise make_error("E0112", f"`{node.span.text}` does not belong here", node.span)
        value = method(node, scope)
        if value.parts > self.context.limits.items:
            many = f"a value made of more than {self.context.limits.items:_} values"
            raise make_error("E0603", many, node.span)
        return value

    def evaluate_one_of(
        self, listed: str, node: ast.Expression, scope: Scope, *, may_be_kind: bool = True
    ) -> Value:
        """Return the value of one of what `qos LISTED` lists, "" if none; raises CheckError.

        Where it cannot be a kind, none is suggested.
        """
        around, self._listed = self._listed, (listed, node.span.start)
        before, self._may_be_kind = self._may_be_kind, may_be_kind
        outer = self._taken
        if listed:
            self._taken = (self._find_taken(node, scope), node.span)
        try:
            value = self.require_value(node, scope)
        except CheckError as mistake:
            raise add_listing(mistake, node, listed) from None
        finally:
            self._listed, self._may_be_kind, self._taken = around, before, outer
        if listed:
            self._verify_not_taken(node, value, scope)
        return value

    def _verify_not_taken(self, node: ast.Expression, value: Value, scope: Scope) -> None:
        """Refuse what can be no record where a kind is meant whose name it has taken."""
        binding = self._find_taken(node, scope)
        cannot = type(value).copy is Value.copy and type(value).call is Value.call
        if binding is not None and cannot and not isinstance(value, Poison):
            raise _explain_taken(binding, node.span)

    def _find_taken(self, node: ast.Expression, scope: Scope) -> Binding | None:
        """Return what has the name of a kind where an expression is only a name."""
        if not isinstance(node, ast.Path) or node.trail:
            return None
        binding = scope.find(node.name.text)
        taken = binding is not None and self.context.built_ins.knows(binding.name)
        return binding if taken else None

    def require_plain(self, node: ast.Expression, scope: Scope) -> Value:
        """Return a value that a model may depend on: neither measured nor published."""
        return self.require_known(self.evaluate(node, scope), node)

    def require_known(self, value: Value, node: ast.Expression) -> Value:
        """Return the value, unless a measurement or a published number went into it."""
        place = find_published(value)
        if place is not None:
            self.context.report(
                make_error(
                    "E0208",
                    "a published number can only be compared with",
                    node.span,
                    label="comes from a `reference`",
                    secondary=(place, "published here"),
                    help="write the number itself, and say where it is from in a `##` comment",
                )
            )
            return POISON
        if isinstance(value, Deferred):
            self.context.report(
                make_error(
                    "E0207",
                    "a measured value cannot flow back into the test",
                    node.span,
                    help="measured values belong in `require`, `expect` and `report`",
                )
            )
            return POISON
        return value

    def evaluate_word(self, node: ast.Expression, scope: Scope) -> Value:
        """Return a bare word as itself, unless it names a word or a text here."""
        if not isinstance(node, ast.Path) or node.trail:
            value = self.require_plain(node, scope)
            return Symbol(value.text, node.span) if isinstance(value, Text) else value
        known = scope.find(node.name.text)
        if known is not None:
            value = known.evaluate(self.context)
            if isinstance(value, Text | Symbol | Poison):
                self.context.add_meaning(node.name, known.span)
            if isinstance(value, Text):
                return Symbol(value.text, node.span)
            if isinstance(value, Symbol | Poison):
                return value
        return Symbol(node.name.text, node.span)

    def require_truth(self, node: ast.Expression, scope: Scope) -> bool | None:
        """Return a condition's value, which must be known before the run."""
        value = self.require_plain(node, scope)
        if isinstance(value, Boolean):
            return value.value
        if not isinstance(value, Poison | Deferred):
            self.context.report(
                make_error("E0204", f"expected a condition, found {value.what}", node.span)
            )
        return None

    def _evaluate_layered(self, node: ast.Layered, scope: Scope) -> Value:
        return literals.add_layer(node, self.require_value(node.value, scope))

    def _evaluate_unary(self, node: ast.Unary, scope: Scope) -> Value:
        if node.operator == "-":
            return arithmetic.negate(node, self.evaluate(node.operand, scope))
        known = self._evaluate_truth(node.operand, scope)
        return Boolean(None if known.value is None else not known.value, known.published)

    def _evaluate_binary(self, node: ast.Binary, scope: Scope) -> Value:
        if node.operator not in ("and", "or"):
            left, right = self.evaluate(node.left, scope), self.evaluate(node.right, scope)
            return arithmetic.apply_operator(node, left, right, self.context.limits)
        first, second = (
            self._evaluate_truth(node.left, scope),
            self._evaluate_truth(node.right, scope),
        )
        decisive = node.operator == "or"
        published = first.published or second.published
        if decisive in (first.value, second.value):
            return Boolean(decisive, published)
        return Boolean(None if None in (first.value, second.value) else not decisive, published)

    def _evaluate_truth(self, node: ast.Expression, scope: Scope) -> Boolean:
        value = self.evaluate(node, scope)
        if isinstance(value, Boolean):
            return value
        if not isinstance(value, Poison):
            raise make_error("E0204", f"expected a condition, found {value.what}", node.span)
        return Boolean(None)

    def _compare(self, node: ast.Compare, scope: Scope) -> Value:
        result = arithmetic.compare_values(
            node, self.evaluate(node.left, scope), self.evaluate(node.right, scope)
        )
        if isinstance(result, Operation):
            raise _explain_undecided(node)
        return result

    def _evaluate_within(self, node: ast.Within, scope: Scope) -> Value:
        parts = (node.value, node.tolerance, node.target)
        values = [self.evaluate(part, scope) for part in parts]
        condition = arithmetic.compare_within(node, *values)
        if any(isinstance(value, Deferred) for value in values):
            raise _explain_undecided(node)
        amounts = [value for value in values if isinstance(value, Amount)]
        published = next((amount.published for amount in amounts if amount.published), None)
        numbers = [amount.value for amount in amounts if amount.value is not None]
        if condition is None or len(numbers) < len(parts):
            return Boolean(None, published)
        value, tolerance, target = numbers
        share = condition.operator == "within share"
        reach = tolerance * abs(target) if share else tolerance
        return Boolean(abs(value - target) <= reach, published)

    def _evaluate_member(self, node: ast.Member, scope: Scope) -> Value:
        collection = self.evaluate(node.collection, scope)
        if isinstance(collection, Poison):
            return Boolean(None)
        if not isinstance(collection, List):
            raise make_error(
                "E0204",
                f"expected a list after `in`, found {collection.what}",
                node.collection.span,
                help="write a list `[…]`, or a range between parentheses: `in (1 .. 5)`",
            )
        item = self.evaluate(node.item, scope)
        found = any(arithmetic.is_equal(item, value) for value in collection.items)
        known = collection.known and not any(map(_is_unknown, (item, *collection.items)))
        return Boolean(found if known else None, find_published(collection) or find_published(item))

    def _evaluate_range(self, node: ast.Range, scope: Scope) -> Value:
        step = self.evaluate(node.step, scope) if node.step else None
        return literals.enumerate_range(
            node,
            self.evaluate(node.first, scope),
            self.evaluate(node.last, scope),
            step,
            self.context.limits,
        )

    def _choose(self, node: ast.Conditional, scope: Scope) -> Value:
        self.context.choices += 1
        known = self._evaluate_truth(node.condition, scope).value
        if known is None:
            self.evaluate(node.otherwise, scope)
            return self.evaluate(node.value, scope)
        return self.require_value(node.value if known else node.otherwise, scope)

    def _list(self, node: ast.ListLiteral | ast.TupleLiteral, scope: Scope) -> Value:
        if len(node.items) > self.context.limits.items:
            raise make_error(
                "E0603",
                f"a list of more than {self.context.limits.items:_} items",
                node.span,
                help="make it shorter",
            )
        return List(tuple(self.evaluate(item, scope) for item in node.items))

    def _map(self, node: ast.MapLiteral, scope: Scope) -> Value:
        entries: dict[Fraction | str, Value] = {}
        pairs: dict[Fraction | str, ast.Pair] = {}
        amounts: dict[Fraction | str, Amount] = {}
        for pair in node.pairs:
            named = self.evaluate_word(pair.key, scope)
            key = literals.read_key(named, pair.key.span)
            if key in entries:
                raise make_error(
                    "E0102",
                    f"duplicate key `{pair.key.span.text}`",
                    pair.key.span,
                    secondary=(pairs[key].key.span, "first here"),
                    help="leave one of the two entries out, or give it another key",
                )
            entries[key], pairs[key] = self.evaluate(pair.value, scope), pair
            if isinstance(named, Amount):
                amounts[key] = named
        return Map(entries, pairs, amounts)

    def _evaluate_path(self, node: ast.Path, scope: Scope) -> Value:
        within = bool(node.trail) and isinstance(node.trail[0], ast.Name)
        if node.name.text == LIBRARY and within and scope.find(LIBRARY) is None:
            raise self._explain_library(node, scope)
        value, named = self._find_named(node.name, scope, within=within), node.name.span
        before = named
        for step in node.trail:
            if isinstance(value, Pattern):
                self.refuse_pattern(value, named, scope)
            if isinstance(step, ast.Name):
                try:
                    value = value.get_field(step, self)
                except CheckError as mistake:
                    raise _suggest_flow(mistake, node, scope) from None
                named = named.extend_to(step.span)
            else:
                value = self._evaluate_item(value, step.value, scope, before)
            before = node.name.span.extend_to(step.span)
        return value

    def _evaluate_item(
        self, value: Value, index: ast.Expression, scope: Scope, before: Span
    ) -> Value:
        """Return what is under an index; a mistake is where this was given, if by a parameter.

        `before` is what is written before the index.
        """
        key, (place, _) = self.evaluate_index(index, value, scope), find_given(index, scope)
        try:
            return value.get_item(key, place)
        except IndexedError as mistake:
            raise mistake.add_before(before) from None
        except CheckError as mistake:
            raise add_use(index.span, mistake) from None

    def refuse_pattern(self, value: Pattern, span: Span, scope: Scope) -> None:
        """Refuse a device in place of a node, if there are nodes that are made of it."""
        nodes = [
            binding.name
            for binding in scope.list_bindings()
            if binding.what == NODE and binding.evaluate(self.context).made_of == value.name
        ]
        if nodes:
            listed = " ".join(f"`{node}`" for node in nodes)
            raise make_error(
                "E0104",
                f"`{span.text}` is a device: name a node of the topology",
                span,
                note=f"nodes that are one: {listed}",
                help=f"write `{nodes[0]}`",
            )

    def _explain_library(self, node: ast.Path, scope: Scope) -> CheckError:
        """Return the mistake of using the library's name instead of a file's: `std.dscp.ef`.

        Names of a file are qualified by the file's own name, however it is imported.
        """
        names = [LIBRARY, *(step.text for step in node.trail if isinstance(step, ast.Name))]
        imported, written = f"{LIBRARY}.NAME", "NAME.…"
        for place, name in enumerate(names[1:], 2):
            if self.context.built_ins.find_module(name) == ".".join(names[:place]):
                imported, written = ".".join(names[:place]), ".".join(names[place - 1 :])
        if imported.rpartition(".")[2] in scope.find_outermost().names:
            help_text = f"write `{written}`"
        else:
            help_text = f"write `import {imported}` below the first line, and `{written}` here"
        message = f"nothing here is named `{LIBRARY}`"
        note = (
            "a file of the library is imported by its path, and named here by the last part of it"
        )
        return make_error("E0101", message, node.name.span, note=note, help=help_text)

    def evaluate_index(self, node: ast.Expression, container: Value, scope: Scope) -> Value:
        """Return an index; that of a map, and of what may be one, may be a bare word."""
        bare = isinstance(node, ast.Path) and scope.find(node.name.text) is None
        return (
            self.evaluate_word(node, scope)
            if bare and isinstance(container, Map | Poison)
            else self.evaluate(node, scope)
        )

    def _find_named(self, name: ast.Name, scope: Scope, *, within: bool) -> Value:
        known, built_ins = scope.find(name.text), self.context.built_ins
        may_be_file = within and (known is None or self._is_own_field(known))
        imported = built_ins.find_module(name.text) if may_be_file else ""
        if known is not None and not imported:
            self.context.add_meaning(name, known.span)
            return known.evaluate_at(name.span, self.context)
        lacking = scope.may_hold(name.text) or (within and scope.may_import(name.text))
        # what is built in has no fields
        own = lacking and (within or built_ins.is_reserved(name.text))
        built_in = None if own or imported else built_ins.find_value(name)
        if built_in or lacking:
            return built_in or POISON
        listed, start = self._listed
        role = ROLES.get(listed) if name.span.start == start else None
        none = imported or not self._may_be_kind  # what is built in has no fields
        kinds = () if none else built_ins.list_names(role)
        known_names = () if imported and not self.context.judging else scope.list_known()
        everything = [*known_names, *kinds]
        if imported:  # a missing import is reported once
            scope.find_outermost().unparsed |= {name.text}
        help_text = (
            "" if within else built_ins.suggest_name(name.text, scope.find_outermost().names)
        )
        if help_text:
            raise make_error(
                "E0101", f"nothing here is named `{name.text}`", name.span, help=help_text
            )
        labelled = label_as_name(name, scope, self.context.case) if self.context.judging else None
        if labelled is not None:
            raise labelled
        taken, used = self._taken
        if taken is not None and taken in self.context.evaluating:  # no flow is known yet to it
            raise _explain_taken(taken, used)
        case = self.context.case
        in_trial = self.context.judging and case is not None and case.phase
        results = [
            binding.name
            for binding in scope.list_bindings()
            if within and binding.what in RESULTS and not in_trial
        ]
        mistake = explain_unknown(
            name.text, name.span, everything, imported=imported, results=results
        )
        raise mistake if self.context.judging else with_import(mistake, imported)

    def _is_own_field(self, known: Binding) -> bool:
        """Return whether a name stands for the field whose value is being evaluated."""
        return known.what == FIELD and known in self.context.evaluating

    def _call(self, node: ast.Call, scope: Scope) -> Value:
        if (
            not node.path.trail
            and node.path.name.text in FUNCTIONS
            and not scope.find(node.path.name.text)
        ):
            return FUNCTIONS[node.path.name.text](self, node, scope)
        called = self._evaluate_path(node.path, scope)
        self._verify_not_taken(node.path, called, scope)
        return called.call(node, scope, self)

    def _evaluate_record(self, node: ast.Record, scope: Scope) -> Value:
        base = self.require_value(node.base, scope)
        self._verify_not_taken(node.base, base, scope)
        return base.copy(node.body, scope, self)


def _suggest_flow(mistake: CheckError, node: ast.Path, scope: Scope) -> CheckError:
    """Return the mistake of what a file does not declare, with a flow that is called nearly so."""
    known = scope.find(node.name.text)
    if known is None or known.what != IMPORT or mistake.diagnostic.help:
        return mistake
    flows = [binding.name for binding in scope.list_bindings() if binding.what in FLOWS]
    near = suggest_name(node.name.text, flows)
    help_text = f"of the flow, write `{near}{node.span.text[len(node.name.text) :]}`"
    diagnostic = replace(mistake.diagnostic, help=help_text if near else "")
    return CheckError(diagnostic, mistake.also)


def _explain_taken(binding: Binding, span: Span | None) -> CheckError:
    return make_error(
        "E0113",
        f"`{binding.name}` is {binding.what} here, not the kind of that name",
        span or binding.span,
        secondary=(binding.span, f"declared here as {binding.what}"),
        help=f"give {binding.what.replace('a ', 'the ', 1)} another name",
    )


def _explain_undecided(node: ast.Expression) -> CheckError:
    return make_error(
        "E0207",
        "a measured value is not known before the run",
        node.span,
        help="measured values are compared in `require` and `expect`",
    )


def _is_unknown(value: Value) -> bool:
    """Return whether what a value is will be known later, as that of a parameter."""
    return isinstance(value, Poison) or (
        isinstance(value, Amount | Boolean) and value.value is None
    )

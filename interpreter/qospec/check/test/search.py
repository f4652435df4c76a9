"""`search x in low .. high { goal … }`: its range, and what its goals ask of a load."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING, Any

from qospec.catalogue.kinds import LONGEST_PS, REQUIRED, Domain, Kind, Parameter
from qospec.check.evaluate.arithmetic import verify_layers
from qospec.check.evaluate.context import CheckError, flatten_text, make_error
from qospec.check.evaluate.criteria import explain_second
from qospec.check.evaluate.dimensions import describe_dimension
from qospec.check.evaluate.loops import explain_misplaced
from qospec.check.evaluate.values import Amount, Poison
from qospec.check.records.fields import convert
from qospec.check.records.record import Record
from qospec.check.records.spelling import explain_missing
from qospec.dataclass import NamedTuple
from qospec.model.suite import WIDEST, Goal, Search
from qospec.syntax import ast
from qospec.units import PS_PER_S, TIME, WHOLE, format_value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from qospec.catalogue.kinds import Catalogue
    from qospec.check.evaluate.context import Case
    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.check.evaluate.scope import Scope
    from qospec.source import Span

HERE = "a search"
FINEST = Fraction(1, 10**6)
METHOD = "mlrsearch"
"""By which a search looks if it does not say."""
RFC_2544 = "rfc2544"
"""What other tools call a method."""
MOST = Fraction(99, 100)
"""Of a loss or exceed ratio: with 1, no load would be too high. Source: RFC 9971."""
SHARE = Domain("ratio", FINEST, WIDEST)
"""Of a width as a share of the load."""

_ATTRIBUTES = {
    "trial": Parameter("trial", Domain("trial", 1, LONGEST_PS), None),
    "total": Parameter("total", Domain("time", 1, LONGEST_PS), None),
    "exceed": Parameter("exceed", Domain("ratio", 0, MOST), None),
    "width": Parameter("width", Domain("width"), Fraction(1, 200)),
}
"""What a goal requires of a load. Source: RFC 9971 (MLRsearch), attributes of a search goal."""


class SearchFields:
    """The fields of a search and of its goals.

    They are those of its goals too, unless these have their own, except for `method` and what
    belongs to one method. Other names in its body give values to more variables.

    ```qos
    search load in 1 Mbit/s @line .. 100 Mbit/s @line {
      goal ndr { loss = 0 }
      goal pdr { loss = 0.5%, width = 1% }
      trial = 1 s
    }
    ```
    """

    loss: Fraction
    """The greatest share of cells or packets that may be lost in a good trial."""
    trial: int
    """How long a trial lasts, or how many items it sends; the default is that of the method."""
    total: int
    """How long the trials of one load last together; the default is that of the method."""
    exceed: Fraction
    """The greatest share of that time that may be bad trials at a good load; likewise."""
    width: Fraction
    """How near the bounds come to each other: a share of the upper one, or a difference."""
    method: str
    """By which rules the loads are chosen."""


class GoalFields(SearchFields):
    """The fields of a goal.

    ```qos
    search load in 1 Mbit/s @line .. 100 Mbit/s @line {
      goal ndr { loss = 0, trial = 10 s, total = 10 s, exceed = 0% }
    }
    ```

    A condition may take the place of `loss`: `goal good { meets = mos.min >= 3.6 }`. Criteria and
    later phases ask for `ndr.load`, `ndr.lower`, `ndr.upper` and `ndr.regular`.
    """


_SEARCH = Kind(
    name="search",
    role="element",
    duty="element",
    summary="How the greatest load is looked for.",
    source="spec/6-procedures.md",
    parameters=_ATTRIBUTES,
    build=SearchFields,
)
GOAL = replace(
    _SEARCH,
    name="goal",
    summary="What a load must meet.",
    build=GoalFields,
    parameters={
        "loss": Parameter("loss", Domain("ratio", 0, MOST), REQUIRED),
        **{name: replace(parameter, default=None) for name, parameter in _ATTRIBUTES.items()},
    },
)


_WITHOUT_LOSS = {"loss": replace(GOAL.parameters["loss"], default=None)}
OF_CONDITION = replace(GOAL, parameters={**GOAL.parameters, **_WITHOUT_LOSS})
"""A goal with a condition in place of a loss."""
MEETS = "meets"
"""The field with the condition, which is no value."""


def build_search_kind(catalogue: Catalogue) -> Kind:
    """Return the kind of a search: its fields are those of its goals, and those of all methods.

    Raises ValueError if two of these declare a field of the same name in different ways.
    """
    methods = catalogue.select_role("method")
    choice = Parameter("method", Domain("choice", choices=tuple(sorted(methods))), METHOD)
    merged = {**_ATTRIBUTES, "method": choice}
    for kind in methods.values():
        for name, parameter in kind.parameters.items():
            own = replace(parameter, default=None) if parameter.default is REQUIRED else parameter
            if merged.setdefault(name, own) != own:
                raise ValueError(f"two declarations of `{name}`, a field of a search")
    classes = tuple(kind.build for kind in methods.values())
    return replace(_SEARCH, parameters=merged, described_in=classes)


class Ends(NamedTuple):
    """The range of a search: its lowest and highest value, and the distance of those between.

    Their values are not known in a template whose parameters are not.
    """

    low: Amount
    high: Amount
    step: Amount | None

    @property
    def known(self) -> bool:
        """Return whether all values are known."""
        return all(amount is None or amount.value is not None for amount in self)


def _verify_once(meets: Sequence[ast.Bind], record: Record) -> None:
    """Raise CheckError if a goal has two conditions, or a condition and a loss."""
    if len(meets) > 1:
        raise explain_second(*meets[:2])
    if meets and "loss" in record.given:
        raise make_error(
            "E0514",
            f"a goal has a `loss` or what it `{MEETS}`",
            meets[0].span,
            secondary=(record.given["loss"].name.span, "here is the other"),
            help="write two goals, or `loss_ratio <= …` in the condition",
        )


def _explain_longer_than_all(
    node: ast.Goal, trial_ps: int, places: Mapping[str, Span], case: Case | None
) -> CheckError:
    """Return the mistake of a trial that is longer than all trials of a load together."""
    place, trial = places["total"], format_value(Fraction(trial_ps, PS_PER_S), TIME)
    parameter = "" if case is None else case.find_parameter_at(place)
    return make_error(
        "E0514",
        f"`{node.name.text}` has a trial longer than all trials together",
        place,
        secondary=(places["trial"], f"a trial lasts {trial}") if "trial" in places else None,
        note="`total` is the length of all trials of one load, `trial` that of one",
        help=f"give `{parameter or 'total'}` at least {trial}",
    )


def find_ends(node: ast.Search, scope: Scope, evaluator: Evaluator) -> Ends | None:
    """Return the range of a search; None after a mistake, which is reported."""
    values, context = node.values, evaluator.context
    if not isinstance(values, ast.Range):
        help_text = "write `in lowest .. highest`"
        mistake = make_error("E0514", "a search takes a range", values.span, help=help_text)
        context.report(mistake)
        return None
    low, high = (_end(value, scope, evaluator) for value in (values.first, values.last))
    step = None if values.step is None else _end(values.step, scope, evaluator)
    if low is None or high is None or (values.step is not None and step is None):
        return None
    for other, place in ((high, values.last), (step, values.step)):
        if other is not None and place is not None and other.dimension != low.dimension:
            what = "a search between" if other is high else "a search in steps from"
            context.report(
                make_error(
                    "E0203",
                    f"{what} {describe_dimension(low.dimension)} and "
                    f"{describe_dimension(other.dimension)}",
                    place.span,
                    label=f"this is {describe_dimension(other.dimension)}",
                    secondary=(values.first.span, f"this is {describe_dimension(low.dimension)}"),
                )
            )
            return None
        if other is not None and place is not None:
            verify_layers(low, other, values.first.span, place.span)
    ends = Ends(low, high, step)
    if not ends.known:
        return ends
    before = context.mistakes
    if low.dimension in WHOLE:
        ends = _require_whole_steps(values, ends, evaluator)
    if context.mistakes == before:
        _verify_range(values, ends, evaluator)
    return ends if context.mistakes == before else None


def _require_whole_steps(node: ast.Range, ends: Ends, evaluator: Evaluator) -> Ends:
    """Return a range of what is counted, which steps by one.

    Half a frame is never sent, so an end that is worked out is rounded into the range; one that is
    written as a number is a mistake, which is reported. A number without a unit may be a ratio.
    """
    low, high, step = ends
    if not low.dimension.is_ratio:
        for written, amount in zip((node.first, node.last, node.step), ends, strict=True):
            if written is None or amount is None or (amount.value or 0) % 1 == 0:
                continue
            if written is node.step or isinstance(written, ast.Number | ast.Quantity):
                evaluator.context.report(_explain_not_whole(written, amount))
                return ends
        low = replace(low, value=Fraction(ceil(low.value or 0)), text="")
        high = replace(high, value=Fraction(floor(high.value or 0)), text="")
    whole = all((end.value or 0) % 1 == 0 and "%" not in end.text for end in (low, high))
    if step is None and whole:
        step = replace(low, value=Fraction(1), text="1")
    return Ends(low, high, step)


def _explain_not_whole(written: ast.Expression, amount: Amount) -> CheckError:
    """Return the mistake of an end or a step that is no whole number."""
    value = amount.value or Fraction(0)
    near = (
        format_value(Fraction(end), amount.dimension) for end in (floor(value), ceil(value)) if end
    )
    return make_error(
        "E0206",
        f"a search in {describe_dimension(amount.dimension).removeprefix('a number of ')} takes "
        "whole numbers, "
        f"found `{written.span.text}`",
        written.span,
        help=f"write {' or '.join(f'`{number}`' for number in near)}",
    )


def _end(node: ast.Expression, scope: Scope, evaluator: Evaluator) -> Amount | None:
    value = evaluator.require_plain(node, scope)
    if isinstance(value, Amount):
        return value
    if not isinstance(value, Poison):
        what = f"expected a number, found {value.what}"
        unfinished = value.explain_unfinished(node.span)
        evaluator.context.report(unfinished or make_error("E0204", what, node.span))
    return None


def _suggest_upwards(node: ast.Range, ends: Ends, parameter: str) -> str:
    """Return how a range can go up from above 0; a `parameter` says where it ends."""
    low, high = ends.low.value or Fraction(0), ends.high.value or Fraction(0)
    if parameter:
        # a lowest load that is a share of the highest moves with it
        least = format_value(low, ends.low.dimension) if 0 < high <= low else "0"
        return f"give `{parameter}` more than {least}"
    if 0 < low == high:
        return "write a `point` to measure at one load, or a range"
    if 0 < high < low:
        return f"write `{node.last.span.text} .. {node.first.span.text}`"
    if ends.high.dimension.is_ratio and high > 1:
        return "begin above 0, such as at 1"
    return f"begin above 0, such as at a hundredth of `{node.last.span.text}`"


def _verify_range(node: ast.Range, ends: Ends, evaluator: Evaluator) -> None:
    """Report bounds that are upside down, and a step that leads from neither to the other."""
    low, high = ends.low.value or Fraction(0), ends.high.value or Fraction(0)
    if not 0 < low < high:
        case = evaluator.context.case
        parameter = "" if case is None else case.find_parameter_at(node.last.span)
        what, help_text = (
            "a search starts above 0 and goes up",
            _suggest_upwards(node, ends, parameter),
        )
        evaluator.context.report(make_error("E0514", what, node.span, help=help_text))
        return
    if ends.step is None or node.step is None:
        return
    step, range_ = ends.step.value or Fraction(0), high - low
    shown = format_value(range_, ends.high.dimension)
    if step <= 0:
        message, help_text = "the step of a search must be more than 0", "write a greater step"
    elif step > range_:
        message = f"this step is larger than the range, which is {shown}"
        help_text = "write a smaller step"
    elif range_ % step:
        last = format_value(high - range_ % step, ends.high.dimension)
        message = f"no step of this range ends at `{node.last.span.text}`"
        help_text = f"the last step ends at {last}: end there, or choose another step"
    else:
        return
    evaluator.context.report(make_error("E0514", message, node.step.span, help=help_text))


class SearchReader:
    """Reads one search: its fields, then its goals, which inherit them."""

    def __init__(
        self, node: ast.Search, ends: Ends, binds: Sequence[ast.Bind], scope: Scope, of: Evaluator
    ) -> None:
        """Take the node, its range, and those of its bindings that are fields."""
        self._node = node
        self._ends = ends
        self._binds = binds
        self._scope = scope
        self._evaluator = of
        self._context = of.context
        self._kind = build_search_kind(of.context.catalogue)
        self._methods = of.context.catalogue.select_role("method")

    def read_search(self) -> Search | None:
        """Return the search; None after a mistake, which is reported."""
        before, node, ends = self._context.mistakes, self._node, self._ends
        record = self._build_record(self._kind, self._list_known_binds(), node.body)
        around = record.evaluate_arguments(self._evaluator)[0]
        method = self._methods[around.get("method", METHOD)]
        chooser = self._build_chooser(method, record, around)
        for statement in node.body.statements:
            if not isinstance(statement, ast.Bind | ast.Goal):
                self._context.report(explain_misplaced(statement, HERE))
        goals = [self._run_guarded(goal, record, around, method) for goal in list_goals(node)]
        if not goals:
            self._context.report(
                make_error(
                    "E0514",
                    f"the search for `{node.name.text}` has no goal",
                    node.name.span,
                    help="add `goal ndr { loss = 0 }`",
                )
            )
        if "method" in around or "method" not in record.given:
            self._verify_method(method, record)
        made = tuple(goal for goal in goals if goal is not None)
        if self._context.mistakes > before or len(made) < len(goals) or not ends.known:
            return None
        return Search(
            node.name.text,
            ends.low.value or Fraction(0),
            ends.high.value or Fraction(0),
            ends.high.dimension,
            method.name,
            chooser,
            made,
            node.span,
            None if ends.step is None else ends.step.value,
            layer=ends.high.layer,
            high_span=node.values.last.span if isinstance(node.values, ast.Range) else None,
        )

    def _build_chooser(self, method: Kind, record: Record, around: dict[str, Any]) -> Any:
        """Return what a method makes of its fields; None after a mistake, which is reported."""
        lacking = [
            parameter
            for name, parameter in method.parameters.items()
            if parameter.default is REQUIRED and name not in record.given
        ]
        for parameter in lacking:
            self._context.report(explain_missing(method, parameter, record.span))
        given = {name: around[name] for name in method.parameters.keys() & around.keys()}
        if lacking or len(given) < len(method.parameters.keys() & record.given.keys()):
            return None
        try:
            return method.build(**given)
        except ValueError as cause:
            self._context.report(record.find_mistakes(cause))
            return None

    def _build_record(self, kind: Kind, binds: Sequence[ast.Bind], body: ast.Body) -> Record:
        own = ast.Body(statements=tuple(binds), span=body.span)
        return Record(kind, {}, body.span, self._evaluator).copy(own, self._scope, self._evaluator)

    def _list_known_binds(self) -> list[ast.Bind]:
        """Return the fields, without a method that other tools have; it is reported."""
        kept = []
        for bind in self._binds:
            value = bind.value
            known = isinstance(value, ast.Path) and value.name.text == RFC_2544
            if bind.names[0].text != "method" or not known:
                kept.append(bind)
                continue
            self._context.report(
                make_error(
                    "E0214",
                    f"`method` cannot be `{RFC_2544}`",
                    value.span,
                    note="RFC 2544 does not say how the next load is chosen",
                    help="write `binary` to halve the range, or `step` to go down from the top",
                )
            )
        return kept

    def _verify_method(self, method: Kind, record: Record) -> None:
        """Report a method without the range that it needs, and fields of other methods."""
        given = record.given
        if method.build.needs_step and self._ends.step is None:
            values = self._node.values.span
            self._context.report(
                make_error(
                    "E0514",
                    f"the method `{method.name}` needs a range with a step",
                    given["method"].value.span,
                    secondary=(values, "this range has none"),
                    help=f"write `in {' '.join(values.text.split())} step …`",
                )
            )
        for other in self._methods.values():
            for name in other.parameters.keys() & given.keys() - method.parameters.keys():
                self._context.report(
                    make_error(
                        "E0514",
                        f"the method `{method.name}` has no `{name}`",
                        given[name].name.span,
                        help=f"leave it out, or write `method = {other.name}`",
                    )
                )

    def _run_guarded(
        self, node: ast.Goal, record: Record, around: dict[str, Any], method: Kind
    ) -> Goal | None:
        try:
            return self._read_goal(node, record, around, method)
        except CheckError as mistake:
            self._context.report(mistake)
            return None

    def _read_goal(
        self, node: ast.Goal, record: Record, around: dict[str, Any], method: Kind
    ) -> Goal | None:
        meets = list_meets(node)
        binds = [statement for statement in node.body.statements if isinstance(statement, ast.Bind)]
        for statement in node.body.statements:
            if not isinstance(statement, ast.Bind):
                self._context.report(explain_misplaced(statement, "a goal"))
        kind = OF_CONDITION if meets else GOAL
        mine = self._build_record(kind, [bind for bind in binds if bind not in meets], node.body)
        own = mine.evaluate_arguments(self._evaluator)[0]
        of, width = method.build, _ATTRIBUTES["width"].default
        defaults = dict[str, Any](
            trial=of.trial_ps, total=of.total_ps, exceed=of.exceed, width=width
        )
        if self._ends.step is not None:
            defaults["width"] = self._ends.step
        given = {**around, **own}
        items = given.get("trial")
        counted = items.value if isinstance(items, Amount) else None
        if counted is not None:  # how long it takes follows from the flows
            given["trial"] = LONGEST_PS
        varies = self._is_varying(
            node, mine, record, once=of.total_ps == of.trial_ps, counted=counted is not None
        )
        if "trial" in given and "total" not in given:
            defaults["total"] = max(defaults["total"], given["trial"])
            if of.total_ps == of.trial_ps:  # one trial for each load
                defaults["total"] = given["trial"]
        found = {**defaults, **given}
        if "loss" not in own and not meets:
            return None
        _verify_once(meets, mine)
        places = {name: bind.value.span for name, bind in {**record.given, **mine.given}.items()}
        if found["total"] < found["trial"]:
            self._context.report(
                _explain_longer_than_all(node, found["trial"], places, self._context.case)
            )
        place = places.get("width")
        width, absolute = self._read_width(found["width"], place)
        left = tuple(name for name in _ATTRIBUTES if name not in given)
        times = (int(found["trial"]), int(found["total"]))
        ratios = (Fraction(own.get("loss", 0)), *times, Fraction(found["exceed"]), width)
        spans = (place, places.get("trial"), places.get("loss"))
        condition = flatten_text(meets[0].value.span.text) if meets else ""
        return Goal(node.name.text, *ratios, left, absolute, varies, counted, *spans, condition)

    def _read_width(self, width: Fraction | Amount, place: Span | None) -> tuple[Fraction, bool]:
        """Return a width, and whether it is a difference; raises CheckError.

        A number without a unit is a share of the load, unless loads are such numbers themselves.
        """
        if not isinstance(width, Amount):  # the default, also for what is not known in a template
            return width, False
        if place is None:  # a step
            return width.value or Fraction(0), True
        high, amount = self._ends.high, width.value or Fraction(0)
        is_load = amount >= 1 if high.dimension.is_ratio else amount > 1
        if width.dimension.is_ratio and not is_load:
            share = replace(_ATTRIBUTES["width"], domain=SHARE)
            return Fraction(convert(width, share, self._kind, place)), False
        if width.dimension != high.dimension:
            raise make_error(
                "E0202",
                f"`width` is a share or {describe_dimension(high.dimension)}, not "
                f"{describe_dimension(width.dimension)}",
                place,
                help="write a share such as `1%`, or a difference of two loads",
            )
        verify_layers(high, width, self._node.values.span, place)
        most = (high.value or Fraction(0)) - (self._ends.low.value or Fraction(0))
        if self._ends.known and not 0 < amount <= most:
            shown = format_value(most, high.dimension)
            raise make_error(
                "E0205",
                f"`width` must be more than 0 and at most the range, which is {shown}",
                place,
                help="write a share such as `1%`, or a smaller difference",
            )
        step = None if self._ends.step is None else self._ends.step.value
        if step is not None and amount < step:
            shown = format_value(step, high.dimension)
            raise make_error(
                "E0205",
                f"`width` is less than the step of the range, which is {shown}",
                place,
                help="leave `width` out: it is one step then",
            )
        return amount, True

    def _is_varying(
        self, node: ast.Goal, mine: Record, record: Record, *, once: bool, counted: bool
    ) -> bool:
        """Return whether the length of a trial depends on the load; report where it cannot.

        It does if it is `counted` in items.
        """
        variable, varying = self._node.name.text, False
        for here in (record, mine):
            for name, field in here.given.items():
                binding = here.find_binding(name)
                by_items = counted and name == "trial"
                if not by_items and (binding is None or variable not in binding.varies):
                    continue
                alone = name == "trial" and here is record and once
                varying |= alone
                if not alone:
                    self._context.report(
                        make_error(
                            "E0514",
                            f"how long a trial of `{field.value.span.text}` lasts cannot depend on "
                            f"`{variable}` here"
                            if by_items
                            else f"`{name}` cannot depend on `{variable}` here",
                            field.value.span,
                            note="the length of trials can, of a search by `binary` or `step`",
                            help=f"write a value without `{variable}`"
                            if name != "trial"
                            else f"{'write a time, or ' if by_items else 'write '}"
                            "`trial` beside the goals, and `method = binary`",
                        )
                    )
        if varying and "total" in {**record.given, **mine.given}:
            self._context.report(
                make_error(
                    "E0514",
                    f"`{node.name.text}` has one trial for each load, as long as the load says",
                    node.span,
                    help="leave `total` out",
                )
            )
        return varying


def list_goals(node: ast.Search) -> Sequence[ast.Goal]:
    """Return the goals of a search."""
    return [statement for statement in node.body.statements if isinstance(statement, ast.Goal)]


def list_meets(node: ast.Goal) -> Sequence[ast.Bind]:
    """Return where a goal says what a good trial meets, in place of a loss: once at most."""
    binds = [statement for statement in node.body.statements if isinstance(statement, ast.Bind)]
    return [bind for bind in binds if bind.names[0].text == MEETS]

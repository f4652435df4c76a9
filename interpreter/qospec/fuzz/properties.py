"""Properties: their values drawn, their expectations judged."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from qospec.check.test.properties import label_criterion, write_value
from qospec.dataclass import NamedTuple
from qospec.diagnostics import Diagnostic
from qospec.fuzz.excerpt import Edit, extract_declaration, quote_around
from qospec.fuzz.numbers import draw_numbers
from qospec.fuzz.target import MISTAKE, Outcome, Smaller, Violation, describe_broken
from qospec.judge.verdict import judge
from qospec.model.expression import Constant
from qospec.model.suite import Statement
from qospec.run.functions import FUNCTIONS
from qospec.shrink.rounding import list_simpler
from qospec.syntax import ast
from qospec.units import PS_PER_S, TIME, format_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from qospec.fuzz.aims import Aim
    from qospec.fuzz.target import Draw
    from qospec.model.checked import Examiner
    from qospec.model.drawn import Asserted, Drawn, DrawnValue, Examined, Functions
    from qospec.model.suite import Property
    from qospec.source import Span

LONGEST_GAP = Fraction(1)
"""Between two cells, in seconds."""
PICOSECONDS = -12
DISTANCES = 3
"""How many different ones there are between the cells of an example, at most."""
LEAST_CELLS = (0, 3, 3, 10, 50)
"""How many cells are drawn at least, at random: by itself Hypothesis draws few."""


ChooseValue = Callable[["Drawn"], "DrawnValue"]


class Judged(NamedTuple):
    """What an example showed.

    Attributes:
        refused: The condition that its values do not meet; "" if they meet all.
        violations: What they break.
        aims: As of `Outcome`.
        unjudged: Likewise.
    """

    refused: str
    violations: list[Violation]
    aims: Mapping[str, Aim] | None = None
    unjudged: frozenset[str] = frozenset()


class ValuesTarget(ABC):
    """What is examined by values of `forall`, as `fuzz.target.Target`."""

    noun = ""
    reachable = frozenset[str]()
    is_left_to_hypothesis = True
    hindrance = note = ""

    def __init__(self, name: str, span: Span) -> None:
        self.name = name
        self.span = span

    @abstractmethod
    def judge(self, chosen: ChooseValue) -> Judged:
        """Return what values showed."""

    @abstractmethod
    def write_text(self, violation: Violation, drawn: Sequence[tuple[Drawn, DrawnValue]]) -> str:
        """Return a file on which `qos run` fails, which draws nothing but has these values."""

    def run(self, draw: Draw) -> Outcome:
        """Draw values, and judge what is expected of them."""
        drawn: list[tuple[Drawn, DrawnValue]] = []

        def choose(what: Drawn) -> DrawnValue:
            value: DrawnValue = draw(_choose_strategy(what, tuple(_list_times(drawn))))
            drawn.append((what, value))
            return value

        judged = self.judge(choose)
        if judged.refused:
            return Outcome(refused=judged.refused)
        return Outcome(
            tuple(judged.violations),
            lambda violation: self.write_text(violation, drawn),
            unjudged=judged.unjudged,
            aims=judged.aims,
            simplified=lambda violation: self._simplify(violation, drawn),
        )

    def _simplify(
        self, violation: Violation, drawn: list[tuple[Drawn, DrawnValue]]
    ) -> Iterator[Smaller | None]:
        """Yield smaller and smaller examples, by changes of single values."""
        changed = True
        while changed:
            changed = False
            for place, (what, value) in enumerate(drawn):
                for simpler in _list_simpler(what, value):
                    tried = [*drawn[:place], (what, simpler), *drawn[place + 1 :]]
                    found = self._check_still(violation, tried)
                    if found is None:
                        yield None
                        continue
                    violation, drawn, changed = found, tried, True
                    yield Smaller(violation, partial(self.write_text, violation, drawn))
                    break

    def _check_still(
        self, violation: Violation, tried: Sequence[tuple[Drawn, DrawnValue]]
    ) -> Violation | None:
        """Return how values break the same; None if they do not, or cannot be drawn."""
        left = iter(tried)
        fits = True

        def choose(what: Drawn) -> DrawnValue:
            nonlocal fits
            _, value = next(left)
            if isinstance(value, Fraction) and what.low is not None and what.high is not None:
                fits &= what.low <= value <= what.high
            return value

        judged = self.judge(choose)
        same = (broken for broken in judged.violations if broken.statement == violation.statement)
        return next(same, None) if fits else None


def describe_refusal(word: str, condition: Span) -> str:
    """Return a condition that values do not meet, with its place."""
    return f"{condition.place}: {word} {' '.join(condition.text.split())}"


def describe_mistake(mistake: Diagnostic) -> Violation:
    """Return what is violated by values that cannot be evaluated: why, and in which expression."""
    return Violation(MISTAKE, f"{mistake.message}, in `{quote_around(mistake.span)}`", "mistake")


class PropertyTarget(ValuesTarget):
    """A property."""

    noun = "property"

    def __init__(
        self, subject: Property, examine: Examiner, functions: Functions = FUNCTIONS
    ) -> None:
        """Take a property, what evaluates it, and what carries out its functions."""
        super().__init__(subject.name, subject.span)
        self._examine = examine
        self._functions = functions

    def judge(self, chosen: ChooseValue) -> Judged:
        """Return the condition that values do not meet, or else what they break."""
        examined = self._examine(chosen, self._functions)
        if isinstance(examined, Diagnostic):
            return Judged("", [describe_mistake(examined)])
        refused = "" if examined.refused is None else describe_refusal("where", examined.refused)
        return Judged(refused, list(_list_violations(examined)))

    def write_text(self, violation: Violation, drawn: Sequence[tuple[Drawn, DrawnValue]]) -> str:
        """Return a property that draws nothing but these values."""
        values = {what.name: write_value(what, value) for what, value in drawn}

        def list_edits(node: ast.Declaration) -> Iterator[Edit]:
            yield Edit(node.name.span, f"{node.name.text}_{violation.slug}")
            assert isinstance(node, ast.Property)  # noqa: S101 -- it has the property's name
            needed = _find_needed(node.body.statements, violation)
            for place, statement in enumerate(node.body.statements):
                if place not in needed:
                    yield Edit(statement.span, "")
                elif isinstance(statement, ast.ForAll):
                    yield Edit(statement.values.span, f"[{values[statement.name.text]}]")

        comment = describe_broken(violation.statement, violation.reason)
        return extract_declaration(self.span.source, self.name, comment, list_edits)


def _find_needed(statements: Sequence[ast.Statement], violation: Violation) -> set[int]:
    """Return the places of statements that a violation depends on: its `expect`, what that uses."""
    needed, used, before = set[int](), set[str](), -1
    while len(needed) > before:
        before = len(needed)
        for place, statement in enumerate(statements):
            if isinstance(statement, ast.Criterion):
                needs = violation.statement in (label_criterion(statement), MISTAKE)
            else:
                assert isinstance(statement, ast.ForAll | ast.Let)  # noqa: S101 -- it was checked
                needs = statement.name.text in used or getattr(statement, "where", None) is not None
            if needs:
                needed.add(place)
                used |= statement.list_names_used()
    return needed


def _list_violations(examined: Examined) -> Iterator[Violation]:
    for number, criterion in enumerate(examined.asserted, 1):
        reason = _explain_failure(criterion)
        if reason:
            slug = criterion.label if criterion.label.isidentifier() else f"expect_{number}"
            yield Violation(criterion.label, reason, slug)


def _explain_failure(asserted: Asserted) -> str:
    """Return in words why an expectation does not hold; "" if it does."""
    statement = Statement(
        "expect", asserted.label, asserted.text, asserted.condition, asserted.span
    )
    judged = judge(statement, lambda _: None)
    if judged.verdict == "pass":
        return ""
    measured, bound = judged.measured, judged.bound
    sides = [
        format_value(side.value, side.dimension)
        for side in (measured, bound)
        if side is not None and side.dimension is not None and isinstance(side.value, Fraction)
    ]
    if len(sides) == len((measured, bound)) and judged.comparison:
        return f"{sides[0]}, needed {judged.comparison} {sides[1]}"
    known = isinstance(asserted.condition, Constant)
    return f"`{asserted.text}` is false" if known else f"`{asserted.text}` does not hold"


# ---- what is drawn


def _choose_strategy(what: Drawn, times: tuple[Fraction, ...]) -> st.SearchStrategy[Any]:
    """Return the strategy of a `forall`, given times that have been drawn, in s."""
    if what.choices:
        return st.integers(0, len(what.choices) - 1)
    if what.most_cells:
        return draw_cell_times(what.most_cells, times)
    assert what.low is not None and what.high is not None  # noqa: PT018, S101 -- a range then
    finest = _find_finest(what)
    near = times if what.dimension == TIME else ()
    return draw_numbers(what.low, what.high, finest, near)


def _find_finest(what: Drawn) -> int | None:
    """Return the power of ten that all numbers are multiples of; None if there is none."""
    return 0 if what.whole else PICOSECONDS if what.dimension == TIME else None


def _list_times(drawn: Sequence[tuple[Drawn, DrawnValue]]) -> Iterator[Fraction]:
    """Yield the times that belong to what was drawn: times, and intervals of rates."""
    for what, value in drawn:
        if isinstance(value, Fraction) and value > 0 and what.dimension is not None:
            exponent = what.dimension.exponents[0]
            yield from [value] if what.dimension == TIME else [1 / value] * (exponent == -1)


def draw_cell_times(
    most: int, times: tuple[Fraction, ...] = ()
) -> st.SearchStrategy[tuple[int, ...]]:
    """Return a strategy of the times of cells in ps, which ascend and shrink to few and round ones.

    There are few different distances between cells, so that both bursts and steady streams are
    likely.

    Args:
        most: How many cells there are, at most.
        times: Distances in seconds that matter, such as the interval of a rate; they, how much they
            differ, and those next to them are drawn often.
    """
    beyond = {one - other for one in times for other in times if one > other}
    near = (*times, *sorted(beyond))
    distances = draw_numbers(Fraction(0), LONGEST_GAP, PICOSECONDS, near)
    least = tuple(cell for cell in LEAST_CELLS if cell <= most)
    return _draw_ascending(distances, least, most)


@st.composite
def _draw_ascending(
    draw: st.DrawFn, distances: st.SearchStrategy[Fraction], least: tuple[int, ...], most: int
) -> tuple[int, ...]:
    some = [int(distance * PS_PER_S) for distance in draw(_draw_lists(distances))]
    least_cells = draw(st.sampled_from(least))
    now_ps, made = 0, list[int]()
    for number in draw(_draw_choices(len(some), least_cells, most)):
        now_ps += some[number] if made else 0
        made.append(now_ps)
    begin_ps = int(draw(distances) * PS_PER_S)
    return tuple(begin_ps + offset_ps for offset_ps in made)


def _draw_lists(distances: st.SearchStrategy[Fraction]) -> st.SearchStrategy[list[Fraction]]:
    return st.lists(distances, min_size=1, max_size=DISTANCES)


@lru_cache(maxsize=256)
def _draw_choices(count: int, least: int, most: int) -> st.SearchStrategy[list[int]]:
    """Return a strategy of numbers below a count; making one takes longer than drawing."""
    return st.lists(st.integers(0, count - 1), min_size=least, max_size=most)


def _list_simpler(what: Drawn, value: DrawnValue) -> Iterator[DrawnValue]:
    """Yield simpler values of those that can be drawn, the simplest first."""
    if isinstance(value, tuple):
        yield from _list_simpler_times(value)
    elif isinstance(value, Fraction) and what.low is not None and what.high is not None:
        yield from list_simpler(value, what.low, what.high, _find_finest(what))
    else:
        yield from range(int(value))


def _list_simpler_times(times_ps: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Yield times of fewer cells, those that begin at 0, and those with rounder distances."""
    for place in range(len(times_ps)):
        yield (*times_ps[:place], *times_ps[place + 1 :])
    if times_ps and times_ps[0]:
        yield tuple(at_ps - times_ps[0] for at_ps in times_ps)
    for place in range(1, len(times_ps)):
        gap = Fraction(times_ps[place] - times_ps[place - 1], PS_PER_S)
        for simpler in list_simpler(gap, Fraction(0), LONGEST_GAP, PICOSECONDS):
            more_ps = int((simpler - gap) * PS_PER_S)
            yield (*times_ps[:place], *(later + more_ps for later in times_ps[place:]))

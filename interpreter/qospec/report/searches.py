"""What the searches of a test's cases found: bounds of the load for each goal, and notes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from qospec.dataclass import NamedTuple
from qospec.judge.found import LOWEST_BAD, NONE_BAD
from qospec.report.charts.sample import read_exact
from qospec.report.figures import NO_DATA, align_intervals
from qospec.report.views import format_count
from qospec.units import TIME, format_value

Record = Mapping[str, Any]

STEP = "step"
"""The method whose trials are a curve: its loads are at equal distances."""
NO_LOWER = "no lower bound was found"
NO_BOUND = "no bound is known"
_NUMBER = re.compile(r"\d[\d_.]*")


class Found(NamedTuple):
    """What the searches of a case found for a goal, over all its repeats.

    Attributes:
        lower: Quantity: the least lower bound; None if a repeat has none.
        upper: Quantity: the greatest upper bound; None if a repeat has none.
        complete: Whether the bounds are everywhere as close as required.
        regular: Whether that is so and, wherever both bounds exist, no load above them was good.
        notes: Sentences.
        missing: In which repeats a bound is missing, in words, if another repeat has it; else "".
    """

    lower: Record | None
    upper: Record | None
    complete: bool
    regular: bool
    notes: tuple[str, ...]
    missing: str = ""


class Goal(NamedTuple):
    """A goal in all cases of a test.

    Attributes:
        name: Of the goal.
        label: What a report calls its load, `throughput`; if none does, `ndr.load`.
        variable: What is searched.
        asked: The goal in every repeat of every case; what it asks may depend on the case.
        searches: The search of each of these.
        found: For each case; None if its search was not carried out.
    """

    name: str
    label: str
    variable: str
    asked: Sequence[Record]
    searches: Sequence[Record]
    found: Sequence[Found | None]

    @property
    def defaults(self) -> set[str]:
        """Return what no case has given."""
        return set[str].intersection(*(set(search.get("defaults", ())) for search in self.asked))


def list_searches(case: Record) -> list[Record]:
    """Return the searches that a case carried out."""
    return [phase for phase in case.get("phases", ()) if phase["kind"] == "search"]


def list_points(case: Record) -> list[Record]:
    """Return the operating points that a case carried out, or could not."""
    return [phase for phase in case.get("phases", ()) if phase["kind"] == "point"]


def has_phases(cases: Sequence[Record]) -> bool:
    """Return whether cases have searches or points."""
    return any(case.get("phases") for case in cases)


def list_goals(cases: Sequence[Record]) -> list[Goal]:
    """Return the goals of the cases of a test, in order, with what was found."""
    seen: dict[str, list[list[tuple[Record, Record]]]] = {}
    for number, case in enumerate(cases):
        for search in list_searches(case):
            for goal in search["goals"]:
                its = seen.setdefault(goal["name"], [[] for _ in cases])
                its[number].append((search, goal))
    labels = {
        statement["text"]: statement["label"]
        for case in cases
        for statement in case.get("statements", ())
        if statement["kind"] == "report"
    }
    joined = []
    for name, its in seen.items():
        both = [pair for case in its for pair in case]
        search = both[0][0]
        results = [list_found([goal for _, goal in pairs]) if pairs else None for pairs in its]
        load = f"{name}.{search['variable']}"
        label = labels.get(load, load)
        asked, of = [goal for _, goal in both], [search for search, _ in both]
        joined.append(Goal(name, label, search["variable"], asked, of, results))
    return joined


def find_extremes(its: Sequence[Record], name: str) -> tuple[Record, Record]:
    """Return the least and the greatest quantity of that name of goals or searches."""
    quantities = [case[name] for case in its]
    return min(quantities, key=_write_value), max(quantities, key=_write_value)


def list_found(its: Sequence[Record]) -> Found:
    """Return what was found for a goal in all repeats of a case."""
    both = [goal for goal in its if goal["lower"] and goal["upper"]]
    lowers, uppers = ([goal[side] for goal in its] for side in ("lower", "upper"))
    return Found(
        None if None in lowers else min(lowers, key=_write_value),
        None if None in uppers else max(uppers, key=_write_value),
        all(goal["complete"] for goal in its),
        all(goal["complete"] for goal in its) and all(goal["regular"] for goal in both),
        tuple(_list_notes(its)),
        _describe_missing(its),
    )


def _list_notes(its: Sequence[Record]) -> Iterator[str]:
    """Yield each note once, with the number of repeats unless all have it."""
    having = Counter(note for goal in its for note in dict.fromkeys(goal["notes"]))
    for note, count in having.items():
        yield note if count == len(its) else f"{note} (in {count} of {len(its)} repeats)"


def _describe_missing(its: Sequence[Record]) -> str:
    """Return `no load was bad in 1 of 5 repeats`; "" if all repeats have the same bounds."""
    has = [(goal["lower"] is not None, goal["upper"] is not None) for goal in its]
    if len(set(has)) == 1:
        return ""
    no_lower = LOWEST_BAD if all(goal["complete"] for goal in its) else NO_LOWER
    kinds = {no_lower: (False, True), NONE_BAD: (True, False), NO_BOUND: (False, False)}
    counts = ((words, has.count(pattern)) for words, pattern in kinds.items())
    return ", ".join(
        f"{words} in {count} of {len(its)} repeats" for words, count in counts if count
    )


def _write_value(quantity: Record) -> Fraction:
    return read_exact(quantity) or Fraction(0)


def align_goal(goal: Goal) -> tuple[str, list[str]]:
    """Return the unit of what was found for a goal, and a text of equal length for each case.

    `26.76 .. 26.86`; `>= 95` if no load was bad, `< 1` if none was good, `none` if neither bound
    is known. An asterisk follows where the bounds are not as close as required, where a higher
    load was good, or where a bound is missing in some repeats.
    """
    ends = [(search.lower, search.upper) if search else (None, None) for search in goal.found]
    unit, pairs = align_intervals(ends)
    widest = max((len(end) for pair in pairs if NO_DATA not in pair for end in pair), default=0)
    cells = [
        _write_interval(interval, *(end.rjust(widest) for end in pair))
        for pair, interval in zip(pairs, goal.found, strict=True)
    ]
    width = max(map(len, cells))
    marked = [
        search is not None and bool(search.missing or not search.regular) for search in goal.found
    ]
    return unit, [
        text.rjust(width) + (" *" if mark else "  " * any(marked))
        for text, mark in zip(cells, marked, strict=True)
    ]


def _write_interval(found: Found | None, lower: str, upper: str) -> str:
    if found is None:
        return ""
    if found.lower and found.upper:
        return f"{lower} .. {upper}"
    if found.lower or found.upper:
        return f">= {lower.strip()}" if found.lower else f"< {upper.strip()}"
    return "none"


def describe_found(found: Found) -> str:
    """Return `26.76 Mbit/s to 26.86 Mbit/s`; of an irregular result what is missing."""
    ends = [f"{end['text']}" for end in (found.lower, found.upper) if end]
    if len(ends) > 1:
        wide = "" if found.regular else ", irregular" if found.complete else ", wider than required"
        return f"{' to '.join(ends)}{wide}"
    if not ends:
        return f"irregular, {found.missing or NO_BOUND}"
    words, why = f"at least {ends[0]}", NONE_BAD
    if not found.lower:
        words, why = f"below {ends[0]}", LOWEST_BAD if found.complete else NO_LOWER
    return f"irregular, {words}: {found.missing or why}"


class LossCurve(NamedTuple):
    """What trials of a search by steps lost in the cases of a test: a frame loss curve.

    Attributes:
        names: Of its goals.
        variable: What is searched.
        loads: Quantities: those that were tried in some case, the lowest first.
        losses: For each case, the share that was lost at each load, in all trials of it together;
            None at loads that were not tried.
    """

    names: tuple[str, ...]
    variable: str
    loads: Sequence[Record]
    losses: Sequence[Sequence[Fraction | None]]


def list_loss_curves(cases: Sequence[Record]) -> list[LossCurve]:
    """Return the curves of searches by steps that tried several loads (RFC 2544, 26.3)."""
    found: dict[tuple[str, tuple[str, ...]], list[list[Record]]] = {}
    for number, case in enumerate(cases):
        for search in list_searches(case):
            if search["method"] == STEP:
                key = search["variable"], tuple(goal["name"] for goal in search["goals"])
                found.setdefault(key, [[] for _ in cases])[number].extend(search["trials"])
    curves = [_build_loss_curve(names, variable, its) for (variable, names), its in found.items()]
    return [curve for curve in curves if len(curve.loads) > 1]


def _build_loss_curve(
    names: tuple[str, ...], variable: str, trials: Sequence[Sequence[Record]]
) -> LossCurve:
    loads = {trial["load"]["value"]: trial["load"] for its in trials for trial in its}
    ordered = sorted(loads.values(), key=_write_value)
    losses = []
    for its in trials:
        sent, lost = Counter[str](), Counter[str]()
        for trial in its:
            sent[trial["load"]["value"]] += trial["sent"]
            lost[trial["load"]["value"]] += trial["lost"]
        at = [load["value"] for load in ordered]
        losses.append([Fraction(lost[load], sent[load]) if sent[load] else None for load in at])
    return LossCurve(names, variable, ordered, losses)


def is_load_again(statement: Record, of: Sequence[Goal]) -> bool:
    """Return whether a report only repeats a goal: `report throughput: ndr.load`."""
    loads = {f"{goal.name}.{goal.variable}" for goal in of}
    return statement["kind"] == "report" and statement["text"] in loads


def is_interval_again(statement: Record, of: Sequence[Goal]) -> bool:
    """Return whether a report has only what the interval of a goal shows, under no other name."""
    bounds = {f"{goal.name}.{end}" for goal in of for end in ("lower", "upper")}
    unnamed = statement["label"] == statement["text"] and statement["text"] in bounds
    return is_load_again(statement, of) or (statement["kind"] == "report" and unnamed)


def list_search_notes(cases: Sequence[Record], *, explained: bool = False) -> list[str]:
    """Return what a reader should know of what was found, each once, with its number of cases.

    Notes that differ in their numbers are one: that of the first case and repeat, which it names.

    Args:
        cases: Of one test.
        explained: Whether it is said elsewhere why cases are inconclusive: that points were not run
            is then left out.
    """
    found: dict[tuple[str, str], list[_Note]] = {}
    for note in _iterate_notes(cases, explained=explained):
        found.setdefault((note.name, _NUMBER.sub("#", note.text)), []).append(note)
    return [_join_notes(notes, cases) for notes in found.values()]


def _join_notes(notes: Sequence[_Note], cases: Sequence[Record]) -> str:
    """Return the first of notes that differ in their numbers, and where it and others hold."""
    first, where = notes[0], []
    alike = {note.text for note in notes} == {first.text}
    having = len({note.case for note in notes})
    if first.repeat and not alike:
        where.append(f"in repeat {first.repeat}")
    if len(cases) > 1:
        where.append(f"in {having} of {len(cases)} cases")
    elif first.repeat:
        repeats = len({note.repeat for note in notes})
        where.append(f"in {repeats} of {_count_repeats(cases[first.case])} repeats")
    words = ", and the like ".join(where)
    return f"{first.name}{first.text}" + (f" ({words})" if words else "")


def describe_efforts(cases: Sequence[Record]) -> list[str]:
    """Return what the searches took: `load: 13 trials by mlrsearch, 13 s emulated`."""
    found: dict[tuple[str, str], list[Record]] = {}
    for case in cases:
        for search in list_searches(case):
            found.setdefault((search["variable"], search["method"]), []).append(search)
    return [
        f"{variable}: {format_count(sum(len(search['trials']) for search in its), 'trial')}"
        f"{f' in {len(its)} searches' if len(its) > 1 else ''} by {method}, "
        f"{format_value(sum(_write_value(row['emulated']) for row in its), TIME)} emulated"
        for (variable, method), its in found.items()
    ]


class _Note(NamedTuple):
    """A note on a goal or a point, of the case of that number.

    The `repeat` is that of the point, from 1; 0 if there is one, or if the note is of all of them.
    """

    case: int
    repeat: int
    name: str
    text: str


def _iterate_notes(cases: Sequence[Record], *, explained: bool) -> Iterator[_Note]:
    """Yield each name of a goal or point with a note on it, once for each repeat that has it."""
    for goal in list_goals(cases):
        for number, interval in enumerate(goal.found):
            yield from (
                _Note(number, 0, goal.label, f": {note}")
                for note in (interval.notes if interval else ())
            )
    for number, case in enumerate(cases):
        yield from _list_point_notes(number, case, explained=explained)


def _list_point_notes(number: int, case: Record, *, explained: bool = False) -> Iterator[_Note]:
    repeated = _count_repeats(case) > 1
    for point in list_points(case):
        if point["note"] and (point["ran"] or not explained):
            text = f"{': ' if point['ran'] else ' was not run: '}{point['note']}"
            yield _Note(number, point["repeat"] if repeated else 0, point["name"], text)


def _count_repeats(case: Record) -> int:
    """Return in how many repeats of a case its phases were carried out."""
    return max((phase.get("repeat", 1) for phase in case.get("phases", ())), default=1)


def list_point_notes(case: Record) -> list[str]:
    """Return why points were not run, and how much was lost at others, by repeat."""
    found: dict[str, list[int]] = {}
    for point_note in _list_point_notes(0, case):
        found.setdefault(f"{point_note.name}{point_note.text}", []).append(point_note.repeat)
    return [
        f"{note} (in repeat {', '.join(map(str, repeats))})" if all(repeats) else note
        for note, repeats in found.items()
    ]


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "efforts": describe_efforts,
    "extremes": find_extremes,
    "goals": list_goals,
    "phased": has_phases,
    "points": list_points,
    "search_notes": list_search_notes,
    "searches": list_searches,
}

FILTERS: dict[str, Callable[..., Any]] = {"found_in_words": describe_found}

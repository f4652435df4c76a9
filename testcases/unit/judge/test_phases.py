"""In how many trials a statement is judged, what is averaged, and what a case lacks."""

from dataclasses import replace
from fractions import Fraction

import pytest
import searches

from qospec.catalogue.statistics import GOES_ON
from qospec.judge.phases import PhasesResult, PointResult, SearchResult, SearchTrial, TrialResult
from qospec.judge.repeats import MeanReadings
from qospec.model.expression import Constant, Found, Measured, Operation
from qospec.model.suite import GoalResult, Point, Run, Statement
from qospec.source import Source, Span
from qospec.units import CELL_RATE, CELLS

SPAN = Span(Source("a.qos", "expect\n"), 0, 6)
FOUND, UNFINISHED = GoalResult(Fraction(1), Fraction(2)), GoalResult(None, None, ended=False)
NDR = Found("ndr", "load", CELL_RATE, "ndr.rate")


def search(*goals, drawn=()):
    trials = tuple(SearchTrial(None, TrialResult(drawn=is_drawn)) for is_drawn in drawn)
    return SearchResult(searches.search(), trials, dict(enumerate(goals)), 0)


def point(name, repeat=1, ran=None, *, uses_goals=False, note=""):
    trials = (TrialResult(),) * (repeat if ran is None else ran)
    return PointResult(Point(name, Run(0, 1, repeat), SPAN, uses_goals), ("f",), trials, note)


def lost(name):
    return Measured(name, "f", None, "user", "lost", "", CELLS, f"{name}.f.lost")


def statement(*leaves, kind="expect", confidence=None):
    zero = Constant(Fraction(0), CELLS)
    asked = Operation("and", tuple(Operation("==", (leaf, zero)) for leaf in leaves))
    return Statement(kind, "e", "e", asked, SPAN, confidence)


def of(asked, *repeats, planned=None):
    """Return the repeats in which a statement is judged, and how many there should be."""
    return PhasesResult(None, repeats, planned or len(repeats)).judge_statement(asked)


def counts(asked, *repeats, planned=None):
    judged, due = of(asked, *repeats, planned=planned)
    return len(judged), due


@pytest.mark.parametrize(
    ("phases", "complete"),
    [
        ((search(FOUND, FOUND), point("p")), True),
        ((search(FOUND, UNFINISHED), point("p")), False),
        ((search(FOUND), point("p", ran=0, note="not run")), False),
    ],
)
def test_a_case_is_complete_if_all_of_it_is(phases, complete):
    assert PhasesResult(None, (phases,), 1).complete == complete


def test_without_points_nothing_is_measured():
    assert PhasesResult(None, ((search(FOUND),),), 1).list_readings() == []


@pytest.mark.parametrize(
    ("points", "judged"),
    [
        ((point("p"), point("q")), (1, 1)),
        ((point("p", 2), point("q")), (2, 2)),
        ((point("p", 3, 3), point("q", 3, 1)), (1, 3)),  # the case ended there
        ((point("p", 3), point("q", ran=0, note="not run")), (1, 1)),
    ],
)
def test_a_statement_is_judged_as_often_as_its_points_ran(points, judged):
    assert counts(statement(lost("p"), lost("q")), points) == judged


def test_repeats_that_are_missing_would_have_had_as_many_trials():
    assert counts(statement(lost("p")), planned=3) == (0, 3)
    assert counts(statement(lost("p")), (point("p", 3),), planned=3) == (3, 9)


AT_NDR, ALONE = point("ndr", 3, uses_goals=True), point("alone", 3)
SURE = {"confidence": Fraction(95, 100)}


@pytest.mark.parametrize(
    ("asked", "averaged"),
    [
        (statement(lost("ndr"), **SURE), True),
        (statement(lost("ndr"), kind="report"), True),
        (statement(lost("ndr")), False),
        (statement(lost("ndr"), lost("alone"), **SURE), True),
        (statement(lost("alone"), **SURE), False),  # its trials share nothing that was found
        (statement(lost("alone"), NDR, **SURE), True),
    ],
)
def test_trials_that_share_what_was_found_are_one_value_over_all_repeats(asked, averaged):
    phases = (AT_NDR, ALONE)
    judged, due = of(asked, phases, phases)
    assert (len(judged), due) == ((2, 2) if averaged else (6, 6))
    assert {isinstance(readings.readings, MeanReadings) for readings in judged} == {averaged}
    assert counts(asked, phases) == (3, 3)


class Reads:
    """A trial in which everything has one value."""

    drawn = False

    def __init__(self, value):
        self._value = value

    def read(self, _leaf):
        return self._value


@pytest.mark.parametrize(
    ("values", "statistic", "mean"),
    [
        ((True, False), GOES_ON, True),
        ((False, True), GOES_ON, True),
        ((False, False), GOES_ON, False),
        ((False, True), "", False),
        ((Fraction(1), Fraction(2)), "", Fraction(3, 2)),
        ((Fraction(1), None), "", None),
    ],
)
def test_the_mean_is_only_a_lower_limit_if_a_value_is(values, statistic, mean):
    """A value is where an outage went on. Nothing else is true of the mean since it is of one."""
    leaf = replace(lost("p"), statistic=statistic)
    assert MeanReadings([Reads(value) for value in values]).read(leaf) == mean


def test_one_drawn_trial_is_enough_for_repeats_to_differ():
    asked = statement(lost("p"))
    for drawn in (True, False):
        ((only,), _) = of(asked, (search(FOUND, drawn=(False, drawn)), point("p")))
        assert only.readings.drawn == drawn

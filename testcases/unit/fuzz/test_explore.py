"""Examples are drawn, and each promise that one breaks is found with the smallest."""

import time
import unittest
from collections import Counter
from functools import partial

import pytest
from hypothesis import strategies as st
from hypothesis.database import InMemoryExampleDatabase

from qospec.engine import kernel
from qospec.fuzz.explore import Block, explore
from qospec.fuzz.target import Outcome, Smaller, Violation
from qospec.source import Source, Span

BLOCK = Block(0, 100, "0")
LEAST = 10**6
"""Of numbers: the first example that Hypothesis draws is the simplest."""


class Lists:
    """Promises of a list that do not all hold."""

    name = "lists"
    noun = "property"
    reachable = frozenset({"long", "longest"})
    is_left_to_hypothesis = True
    span = Span(Source("lists.qos", "lists"), 0, 5)

    def __init__(self, refused: int = 0) -> None:
        self._refused = refused

    def run(self, draw) -> Outcome:
        """Draw a list, and judge it."""
        drawn = draw(st.lists(st.integers(0, 1_000)))
        if len(drawn) < self._refused:
            return Outcome(refused="long enough")
        broken = []
        if sum(drawn) > 10:
            broken.append(Violation("small", f"{sum(drawn)}", "small"))
        if len(drawn) >= 3:
            broken.append(Violation("short", f"{len(drawn)}", "short"))
        reached = frozenset({"long"} if len(drawn) > 3 else ())
        return Outcome(tuple(broken), lambda _: str(drawn), reached=reached)


def test_each_broken_promise_is_found_with_its_smallest_example() -> None:
    explored = explore(Lists(), BLOCK)
    found = {
        finding.statement: (finding.text, finding.reason, finding.shrunk)
        for finding in explored.findings
    }
    assert found == {"small": ("[11]", "11", True), "short": ("[0, 0, 0]", "3", True)}


class Steps(Lists):
    """A number of which a large one breaks a promise, and a multiple of 16 below another."""

    def __init__(self) -> None:
        super().__init__()
        self.broken: list[str] = []

    def run(self, draw) -> Outcome:
        """Draw a number, and judge it."""
        number = draw(st.integers(0, 10**6))
        if number >= 500_000:
            broken = [Violation("modest", "", "modest")]
        else:
            broken = [Violation("uneven", "", "uneven")] * (number % 16 == 0 and number > 0)
        self.broken += [violation.statement for violation in broken]
        return Outcome(tuple(broken), lambda _: str(number))


@pytest.mark.slow
def test_what_gets_smaller_breaks_the_promise_that_was_found_and_no_other() -> None:
    """Half of a large number may break the other promise."""
    first = set()
    for seed in range(6):
        steps = Steps()
        found = explore(steps, BLOCK._replace(seed=str(seed))).findings
        first.add(found[0].statement)
        assert found[0].statement == steps.broken[0]
        smallest = {finding.statement: finding.text for finding in found}
        assert smallest == {"modest": "500000", "uneven": "16"}
    assert "modest" in first


@pytest.mark.slow
def test_equal_seeds_find_the_same_and_others_draw_others() -> None:
    assert explore(Lists(), BLOCK) == explore(Lists(), BLOCK)
    other = BLOCK._replace(seed="1")
    assert explore(Lists(), BLOCK).examples != explore(Lists(), other).examples


@pytest.mark.slow
def test_examples_that_are_refused_are_counted_by_condition() -> None:
    explored = explore(Lists(refused=1_000), BLOCK)
    assert explored.refused == Counter({"long enough": explored.examples})
    assert explored.findings == ()


def test_what_happened_is_counted() -> None:
    assert set(explore(Lists(), BLOCK).reached) == {"long"}


def test_an_example_that_failed_before_is_tried_first() -> None:
    database = InMemoryExampleDatabase()
    first = explore(Lists(), BLOCK, database)
    again = explore(Lists(), BLOCK, database)
    assert {finding.text for finding in again.findings} == {
        finding.text for finding in first.findings
    }
    small = min(again.findings, key=lambda finding: finding.examples)
    assert small.examples < min(finding.examples for finding in first.findings)


def test_examples_of_a_database_that_cannot_be_read_are_left_out() -> None:
    database = InMemoryExampleDatabase()
    explore(Lists(), BLOCK, database)
    for key, values in list(database.data.items()):
        database.data[key] = {b"!\x01" for _ in values}
    try:
        explored = explore(Lists(), BLOCK, database)
    except unittest.SkipTest:  # else this test would be skipped, too
        pytest.fail("a skip of Hypothesis comes through")
    assert len(explored.findings) == 2


def test_a_block_ends_when_its_time_is_up() -> None:
    explored = explore(Lists(), BLOCK._replace(most_s=0))
    assert (explored.examples, explored.findings, explored.ended) == (0, (), True)


def test_the_time_of_compiling_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each example seems to compile for all of its time: none of it is left to be counted."""

    class Compiling(Lists):
        def run(self, draw) -> Outcome:
            draw(st.integers(0, 1_000))
            began_s = time.monotonic()
            time.sleep(0.02)
            compiled_s = kernel.measure_compiling_s() + time.monotonic() - began_s
            monkeypatch.setattr(kernel, "_compiling_s", compiled_s)
            return Outcome()

    explored = explore(Compiling(), BLOCK._replace(examples=20, most_s=0.3))
    assert (explored.examples, explored.ended) == (20, False)


def test_an_interruption_while_shrinking_keeps_the_smallest_so_far() -> None:
    failing = 0

    class Interrupted(Lists):
        def run(self, draw) -> Outcome:
            nonlocal failing
            outcome = super().run(draw)
            failing += bool(outcome.violations)
            if failing == 3:
                raise KeyboardInterrupt
            return outcome

    (found,) = explore(Interrupted(), BLOCK).findings
    assert not found.shrunk


class Own(Lists):
    """The same with a search of its own for smaller examples: one that drops the last number."""

    is_left_to_hypothesis = False

    def run(self, draw) -> Outcome:
        """Draw a list, and judge it."""
        drawn = draw(st.lists(st.integers(0, 1_000), min_size=3, max_size=8))
        broken = [Violation(f"shorter than {n}", "", f"n{n}") for n in (2, 3) if len(drawn) >= n]

        def simplified(violation):
            for length in range(len(drawn) - 1, 0, -1):
                again = length >= int(violation.slug[1:])
                yield Smaller(violation, partial(str, length)) if again else None

        return Outcome(tuple(broken), lambda _: str(len(drawn)), simplified=simplified)


def test_what_makes_itself_small_is_not_shrunk_by_hypothesis() -> None:
    explored = explore(Own(), BLOCK._replace(examples=10))
    assert {finding.statement: finding.text for finding in explored.findings} == {
        "shorter than 2": "2",
        "shorter than 3": "3",
    }, "both are of the first example"
    assert set(explored.hopeless) == {"shorter than 2", "shorter than 3"}


class Pairs(Lists):
    """What keeps all promises, and notes what was drawn."""

    def __init__(self, *, left: bool) -> None:
        super().__init__()
        self.is_left_to_hypothesis = left
        self.pairs: list[tuple[int, int]] = []

    def run(self, draw) -> Outcome:
        """Draw two numbers that are hardly ever equal, unless one is copied."""
        number = st.integers(LEAST, 10**9)
        self.pairs.append((draw(number), draw(number)))
        return Outcome(())


@pytest.mark.parametrize("left", [True, False])
def test_only_what_is_left_to_hypothesis_has_variations_of_examples(left) -> None:
    """In these, one number is a copy of the other."""
    pairs = Pairs(left=left)
    explore(pairs, BLOCK)
    copied = [first for first, second in pairs.pairs if first == second]
    assert bool({*copied} - {LEAST}) == left


def test_an_interruption_of_a_search_of_its_own_keeps_the_smallest_so_far() -> None:
    calls = 0

    def interrupts() -> None:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise KeyboardInterrupt

    (found,) = explore(Own(), BLOCK, on_example=interrupts).findings
    assert not found.shrunk
    assert found.text

"""What is examined: a property, a test with `forall`, or a device."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from qospec.dataclass import NamedTuple, dataclass

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from qospec.fuzz.aims import Aim
    from qospec.source import Span

MISTAKE = "can be evaluated"
"""The promise of a property or a test that each example can be evaluated at all."""
Draw = Callable[["SearchStrategy[Any]"], Any]
"""Draws from a strategy of Hypothesis."""


class Violation(NamedTuple):
    """A promise that an example breaks.

    Attributes:
        statement: Which one, the same for all examples that break it: an example is shrunk to the
            smallest that breaks the same.
        reason: What was found instead, for people.
        slug: A name for it that may be part of names and of files.
        flow: The flow that breaks it, if it is promised of each.
    """

    statement: str
    reason: str
    slug: str
    flow: str = ""


def describe_broken(statement: str, reason: str) -> str:
    """Return in words that an example breaks a promise."""
    if statement == MISTAKE:
        return f"cannot be evaluated with these values: {reason}"
    return f"`{statement}` does not hold: {reason}"


class Smaller(NamedTuple):
    """A smaller example that breaks the same, and its text."""

    violation: Violation
    text: Callable[[], str]


@dataclass(frozen=True)
class Outcome:
    """What one example showed.

    Attributes:
        violations: What it breaks.
        text: Returns the example as a `.qos` file on which `qos run` finds the same violation.
        refused: The condition on what is drawn that it does not meet; "" if it meets all. Then
            it was not run.
        reached: What happened in it, of what `Target.reachable` lists.
        unjudged: Promises that could not be judged, as where nothing was measured to divide by.
        simplified: Yields smaller and smaller examples that break the same, found by changes that
            Hypothesis does not try, and None for each that does not; None if there is no such
            search. What is yielded was run.
        aims: What is to become large, by name; see `fuzz.aims`.
    """

    violations: tuple[Violation, ...] = ()
    text: Callable[[Violation], str] = lambda _: ""
    refused: str = ""
    reached: frozenset[str] = frozenset()
    unjudged: frozenset[str] = frozenset()
    aims: Mapping[str, Aim] | None = None
    simplified: Callable[[Violation], Iterator[Smaller | None]] | None = None


class Target(Protocol):
    """Something that promises to hold for all that can be drawn."""

    @property
    def name(self) -> str:
        """Return its name, as in `FILE::NAME`."""

    @property
    def span(self) -> Span:
        """Return where it is declared."""

    @property
    def noun(self) -> str:
        """Return what it is: "property", "test" or "device"."""

    @property
    def reachable(self) -> frozenset[str]:
        """Return in words what may happen in an example, so that a report tells what never did."""

    @property
    def hindrance(self) -> str:
        """Return why no example of it can be run, whatever is drawn; "" if some can."""

    @property
    def note(self) -> str:
        """Return what people should know of what examples cannot show; "" if there is nothing."""

    @property
    def is_left_to_hypothesis(self) -> bool:
        """Return whether Hypothesis shrinks an example before `Outcome.simplified` does."""

    def run(self, draw: Draw) -> Outcome:
        """Draw an example, run and judge it."""

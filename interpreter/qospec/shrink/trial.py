"""A draft on trial: checked, planned and run, to see whether the same statement fails."""

from __future__ import annotations

import math
import operator
import re
import time
from contextlib import suppress
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from qospec.catalogue.kinds import discover
from qospec.check import Checked
from qospec.dataclass import NamedTuple
from qospec.diagnostics import Problems
from qospec.judge import evidence
from qospec.judge.verdict import NOT_APPLICABLE, WHEN_FALSE
from qospec.plan.plan import Bounds, plan
from qospec.run.runner import run_alone

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from qospec.document import Document
    from qospec.model.checked import CheckedSuite
    from qospec.plan.plan import CasePlan, Cost

UNUSED = frozenset({"W0620", "W0621", "W0622", "W0623"})
"""Warnings of what a step left behind, which the next one takes away."""

_SUBSCRIPTS = re.compile(r"(\[[\w.]+(\[[0-9]+\])*\])+\Z")
"""Of the label of a criterion in loops: `[2]`, or `[half.f]` in one over the flows of a point."""


class Failure(NamedTuple):
    """What fails, in words that stay the same while the test gets smaller.

    Attributes:
        kind: "expect", "invariant", or "error" of the tester.
        label: Its label without the subscripts of loops, or of an error its message without
            numbers; "" for the only criterion there is.
        text: The statement or message, for people.
        reason: What was found instead, for people.
    """

    kind: str
    label: str
    text: str
    reason: str

    @property
    def shown(self) -> str:
        """Return what people call it."""
        return self.text if self.kind == "error" else self.label or self.text

    @property
    def sentence(self) -> str:
        """Return that it fails, and what was found instead."""
        if self.kind == "error":
            return self.text
        why = f": {self.reason}" if self.reason else ""
        return f"`{self.shown}` does not hold{why}"


class Tried(NamedTuple):
    """What became of a draft that could be run: its document, its warnings, its items."""

    document: Document
    warnings: frozenset[str]
    plan: CasePlan


class Stopped(KeyboardInterrupt):
    """The time is up."""


class Clock:
    """Ends what takes too long, and says how it is going."""

    def __init__(self, until_s: float | None, on_wait: Callable[[], None]) -> None:
        self.until_s = until_s
        self._on_wait = on_wait

    def find_half_time_s(self) -> float:
        """Return when half of the time that is left is over; without a limit, never."""
        if self.until_s is None:
            return math.inf
        now_s = time.monotonic()
        return now_s + (self.until_s - now_s) / 2

    def check(self) -> None:
        """Raise Stopped if the time is up, KeyboardInterrupt if the user has enough."""
        self._on_wait()
        if self.until_s is not None and time.monotonic() >= self.until_s:
            raise Stopped


class Bench:
    """Where drafts are tried: as if each were a file beside the original.

    Attributes:
        tried: How many drafts have been run.
    """

    def __init__(
        self, path: Path, seed: str, clock: Clock, texts: Mapping[Path, str] | None = None
    ) -> None:
        """Take the path of drafts, and texts that stand in place of files that they import."""
        self.tried = 0
        self.bounds = Bounds()
        self.clock = clock
        self._path = path
        self._seed = seed
        self._checked = Checked(None, discover(), texts=texts or {})

    @property
    def checked(self) -> Checked:
        """Return what checks drafts: it knows the files that they import."""
        return self._checked

    def check(self, text: str, problems: Problems) -> CheckedSuite:
        """Return the suite of a draft; mistakes go to `problems`."""
        return self._checked.check(text, self._path, problems)

    def run(self, text: str, most: Cost | None = None) -> Tried | None:
        """Return what became of a draft; None if it has no single case that can be run.

        Nor is one run that would cost more than the most that is asked for.
        """
        self.clock.check()
        problems = Problems()
        suite = self.check(text, problems)
        if problems.errors or sum(len(test.cases) for test in suite.suite.tests) != 1:
            return None
        plans = plan(suite, self._seed, self.bounds, problems)
        if problems.errors or not plans or plans[0].case.skip:
            return None
        if most is not None and any(map(operator.gt, plans[0].cost, most)):
            return None
        warnings = {problem.code for problem in (*problems.all, *evidence.warn_of_evidence(plans))}
        self.tried += 1
        document = run_alone(plans[0], self.bounds, self.clock.check)
        return Tried(document, frozenset(warnings - UNUSED), plans[0])


def list_failures(document: Document) -> list[Failure]:
    """Return what fails in a case, criteria first."""
    found = [Failure("error", _without_numbers(error), error, "") for error in document["errors"]]
    judged = [
        Failure(
            statement["kind"],
            shorten_label(statement),
            statement["text"],
            explain_failure(statement),
        )
        for statement in document["statements"]
        if statement["kind"] in ("expect", "invariant")
        and statement["verdict"] == WHEN_FALSE[statement["kind"]]
    ]
    return sorted(judged, key=lambda failure: failure.kind != "expect") + found


def is_valid(document: Document) -> bool:
    """Return whether all that is required of a test holds."""
    return all(
        statement["verdict"] in ("pass", NOT_APPLICABLE)
        for statement in document["statements"]
        if statement["kind"] == "require"
    )


def find_same_failure(document: Document, wanted: Failure) -> Failure | None:
    """Return how the same fails in a case; None if it does not, or if the test is not valid."""
    if not is_valid(document) or (document["errors"] and wanted.kind != "error"):
        return None
    return next((failure for failure in list_failures(document) if is_same(failure, wanted)), None)


def has_passed(document: Document, wanted: Failure) -> bool:
    """Return whether what was wanted to fail holds in a case, in full."""
    if document["errors"] or not is_valid(document):
        return False
    judged = list(_list_wanted(document, wanted))
    return bool(judged) and all(statement["verdict"] == "pass" for statement in judged)


def find_side(document: Document, wanted: Failure) -> int | None:
    """Return whether what was measured is below (-1), at (0) or above (1) its bound, if known."""
    for statement in _list_wanted(document, wanted):
        if statement["measured"] and statement["bound"]:
            with suppress(ValueError):  # of what is no number
                measured, bound = (
                    Fraction(statement[key]["value"]) for key in ("measured", "bound")
                )
                return (measured > bound) - (measured < bound)
    return None


def _list_wanted(document: Document, wanted: Failure) -> Iterator[dict[str, Any]]:
    for statement in document["statements"]:
        if statement["kind"] == wanted.kind and wanted.label in ("", shorten_label(statement)):
            yield statement


def is_same(one: Failure, other: Failure) -> bool:
    """Return whether two failures are of the same statement."""
    return one.kind == other.kind and other.label in ("", one.label)


def shorten_label(statement: Mapping[str, Any]) -> str:
    """Return a statement's label, without subscripts, and of an invariant without its node."""
    label: str = statement["label"]
    if statement["kind"] == "invariant":
        label = label.partition(": ")[2]
    return _SUBSCRIPTS.sub("", label)


def explain_failure(statement: Mapping[str, Any]) -> str:
    """Return in words what was measured instead."""
    measured, bound = statement["measured"], statement["bound"]
    if not measured or not bound:
        return ""
    width = statement["tolerance"]
    within = f"within {width['text']} of " if width else f"{statement['comparison']} "
    return f"{measured['text']}, needed {within}{bound['text']}"


def _without_numbers(message: str) -> str:
    return re.sub(r"[0-9_]+", "n", message)

"""A failing case of any test, made small."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.check.records.keys import move_keys
from qospec.dataclass import NamedTuple, dataclass
from qospec.diagnostics import Problems
from qospec.formatting import format_text
from qospec.secret import redact
from qospec.shrink import start
from qospec.shrink.draft import Draft
from qospec.shrink.layout import lay_out
from qospec.shrink.modules import Modules, read_draft
from qospec.shrink.shrinker import Shrinker
from qospec.shrink.trial import Bench, find_same_failure
from qospec.shrink.values import Values
from qospec.source import Source
from qospec.units import PS_PER_S, TIME, format_value

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from qospec.check.modules.loader import Unit
    from qospec.plan.plan import CasePlan
    from qospec.shrink.trial import Clock, Failure, Tried

ENDING = "_shrunk"
"""Of the name of a test: no two tests of a folder may have the same."""


class Subject(NamedTuple):
    """What is to become small.

    Attributes:
        unit: The file that it is in.
        path: Where drafts of it would be.
        test: The name of the test or property.
        parameters: The variables of the case, and their values as its name shows them.
        seed: Of its random draws.
        failure: What fails.
    """

    unit: Unit
    path: Path
    test: str
    parameters: tuple[tuple[str, str], ...]
    seed: str
    failure: Failure


@dataclass(frozen=True)
class Shrunk:
    """What came of it.

    Attributes:
        text: The file.
        size: Its lines, its flows and how long it runs, in words.
        failure: What fails in it.
        mends: Changes of devices with which it passes, in words.
        searched: Whether all were tried.
        tried: How many drafts were run.
        complete: Whether it ended by itself, since nothing smaller fails alike.
        thorough: Whether all that is smaller was tried, also what might fail for another reason.
    """

    text: str
    size: str
    failure: Failure
    mends: tuple[str, ...]
    searched: bool
    tried: int
    complete: bool
    thorough: bool


class CaseShrinker:
    """Makes one case small; what it has so far can be asked for at any time."""

    def __init__(self, subject: Subject, clock: Clock) -> None:
        self._subject = subject
        self._clock = clock
        self._modules = Modules(subject.unit, subject.path.parent)
        self._bench = Bench(subject.path, subject.seed, clock)
        self._shrinker: Shrinker | None = None
        self._complete = False

    def run(self) -> bool:
        """Make it as small as it gets; return whether the case fails as a file of its own.

        Raises what the clock raises; what there is then is the smallest so far.
        """
        found = self._start()
        if found is None:
            return False
        shrinker = Shrinker(*found, self._bench)
        self._shrinker = shrinker
        shrinker.start()
        shrinker.find_mends(
            self._modules,
            lambda path, text: Bench(
                self._subject.path, self._subject.seed, self._clock, {path: text}
            ),
        )
        shrinker.shrink()
        self._complete = True
        return True

    def tidy(self, clock: Clock) -> None:
        """Take away what is left unused where making it small was stopped.

        It stays if that does not fail alike, or if it takes longer than the clock allows.
        """
        if self._shrinker is None or self._complete:
            return
        # The other one may have been left in the middle of something.
        bench = Bench(self._subject.path, self._subject.seed, clock)
        with suppress(KeyboardInterrupt):
            self._shrinker.tidy(bench)
        self._bench.tried += bench.tried

    def get_smallest(self) -> Shrunk | None:
        """Return the smallest so far; None if there is none yet."""
        shrinker = self._shrinker
        if shrinker is None:
            return None
        failure = shrinker.wanted._replace(label=self._subject.failure.label)
        # It is printed and kept, and other keys are as good: times do not depend on them.
        text = redact(self._lay_out(shrinker.draft, failure.sentence))
        mends = tuple(cure.shown for cure in shrinker.cures)
        size = describe_size(len(text.splitlines()), shrinker.plan)
        return Shrunk(
            text,
            size,
            failure,
            mends,
            shrinker.searched,
            self._bench.tried,
            self._complete,
            shrinker.is_thorough,
        )

    def _lay_out(self, draft: Draft, sentence: str) -> str:
        """Return a draft as a file that has no more lines than the one that the case is in.

        If it would, it says nothing of why it fails. One that is written more densely than files
        are laid out is compared as it would be in that layout.
        """
        said, bare = lay_out(draft, sentence), lay_out(draft, "")
        most = count_lines(self._subject.unit.source.text, bare)
        return said if len(said.splitlines()) <= most else bare

    @property
    def doing(self) -> str:
        """Return in words what it does."""
        if self._shrinker is None:
            return "running the case by itself"
        lines = len(self._shrinker.draft.text.splitlines())
        return f"{self._bench.tried:_} tests run, {lines} lines"

    def _start(self) -> tuple[Draft, str, Tried, Failure] | None:
        """Return a draft of the case that fails alike, its test, and what became of it."""
        wanted = self._subject.failure
        sole = wanted._replace(label="") if wanted.kind == "expect" else wanted
        for draft, name in self._starts():
            for candidate in start.separate_criteria(draft, name, wanted):
                tried = self._bench.run(candidate.text)
                failure = tried and find_same_failure(tried.document, sole)
                if tried is not None and failure:
                    return candidate, name, tried, failure._replace(label=sole.label)
        return None

    def _starts(self) -> Iterator[tuple[Draft, str]]:
        """Yield drafts of the case, and the name of its test in each.

        By itself and with little around it, or else as it was. Random draws depend on the name of
        the case, so that it may have to stay.
        """
        test, values = self._subject.test, dict(self._subject.parameters)
        whole, path = read_draft(self._subject.unit), self._subject.path
        # Files of keys are named relative to the one that names them.
        whole = (
            Draft.read(move_keys(whole.text, self._subject.unit.path.parent, path.parent)) or whole
        )
        brought = start.merge_bases(self._modules.bring_in(whole), test)
        evaluated = Values(self._bench.checked)
        for name, swept in ((f"{test}{ENDING}", False), (test, False), (test, True)):
            for draft in (brought, whole):
                fixed = start.narrow_to_case(draft, test, values, swept=swept)
                if fixed is not None:
                    named = start.rename_test(fixed, test, name)
                    yield start.without_loops(named, evaluated, name), name
                    yield named, name


def count_lines(case: str, shrunk: str) -> int:
    """Return how many lines the file of a case has to compare with what came of it.

    If it has fewer, it is written more densely: then it is counted in the one layout.
    """
    count = len(case.splitlines())
    if len(shrunk.splitlines()) <= count:
        return count
    return len((format_text(Source("", case), Problems()) or case).splitlines())


def describe_size(lines: int, plan: CasePlan) -> str:
    """Return in words how large a case of so many lines is: `21 lines, 1 flow, 12 ms`."""
    flows = len(plan.case.flows)
    parts = [f"{lines:_} line{'s' * (lines != 1)}"]
    if flows:
        length = format_value(Fraction(plan.cost.emulated_ps, PS_PER_S), TIME)
        parts += [f"{flows} flow{'s' * (flows != 1)}", length]
    return ", ".join(parts)

"""Drives Hypothesis: examples of one target are drawn and run, and those that fail are shrunk."""

from __future__ import annotations

import unittest
from collections import Counter
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from random import Random  # noqa: TID251 -- of what Hypothesis draws
from typing import TYPE_CHECKING

from hypothesis import Phase, Verbosity, find, reject, settings, target
from hypothesis import strategies as st
from hypothesis.database import InMemoryExampleDatabase, choices_to_bytes
from hypothesis.errors import Flaky, NoSuchExample, Unsatisfiable
from hypothesis.internal.conjecture import engine, providers

from qospec.dataclass import NamedTuple
from qospec.engine import kernel
from qospec.fuzz.aims import select_closest
from qospec.fuzz.finding import Finding
from qospec.fuzz.target import Smaller
from qospec.internals import find_internal, substitute_internal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hypothesis.database import ExampleDatabase

    from qospec.fuzz.aims import Aim
    from qospec.fuzz.target import Outcome, Target, Violation


MANY = 20
"""Examples from which on it says something that all of them break a promise."""
FEWEST_AIMED = 80
"""A block of fewer examples is too short to aim at anything."""
_KEY = b"examples"


class Block(NamedTuple):
    """A number of examples of a target, independent of those of other blocks.

    Attributes:
        number: Of the block; with the seed and the target's name it decides what is drawn.
        examples: How many are drawn, at most.
        seed: Of the search.
        most_s: How long it may take, without compiling kernels; None: as long as it takes.
    """

    number: int
    examples: int
    seed: str
    most_s: float | None = None


class Explored(NamedTuple):
    """What a block found.

    Attributes:
        examples: How many examples were run, those while shrinking included.
        refused: By condition, how many examples did not meet it.
        reached: As of `Outcome`, in how many examples.
        findings: The smallest example of each promise that was broken.
        ended: Whether it was stopped before all examples were run.
        hopeless: Promises that each of many examples breaks, drawn anew after the finding.
        unjudged: As of `Outcome`, in how many examples.
        closest: As of `Outcome.aims`, the most in any example.
    """

    examples: int
    refused: Counter[str]
    reached: Counter[str]
    findings: tuple[Finding, ...]
    ended: bool = False
    hopeless: tuple[str, ...] = ()
    unjudged: Counter[str] = Counter()  # noqa: RUF012 -- never changed
    closest: tuple[tuple[str, Aim], ...] = ()


class _TimeUp(KeyboardInterrupt):
    """Ends a block; Hypothesis lets it pass."""


def explore(
    subject: Target,
    block: Block,
    database: ExampleDatabase | None = None,
    on_example: Callable[[], None] = lambda: None,
) -> Explored:
    """Run the examples of a block.

    Each promise that an example breaks is found in turn: once the smallest example of the first is
    known, the search is repeated for the others.

    Args:
        subject: What is examined.
        block: Which examples are drawn.
        database: Holds examples that failed before; they are tried first, and new ones added.
        on_example: Called after each; an exception that it raises ends the block.
    """
    key = subject.name.encode()
    known = [] if database is None else sorted(database.fetch(key))
    hunt = _Hunt(subject, block, known, on_example)
    while hunt.find_next():
        pass
    if database is not None:  # where there is a seed, Hypothesis itself keeps nothing
        for example in [] if hunt.interrupted else known:
            database.delete(key, example)
        for example in hunt.failed:
            database.save(key, example)
    return Explored(
        hunt.examples,
        hunt.refused,
        hunt.reached,
        tuple(hunt.findings),
        hunt.interrupted,
        hunt.list_hopeless(),
        hunt.unjudged,
        tuple(hunt.closest.items()),
    )


class _Hunt:
    """The search for one broken promise after another."""

    def __init__(
        self,
        subject: Target,
        block: Block,
        known: list[bytes],
        on_example: Callable[[], None],
    ) -> None:
        self.examples = 0
        self.refused = Counter[str]()
        self.reached = Counter[str]()
        self.unjudged = Counter[str]()
        self.closest: dict[str, Aim] = {}
        self.findings: list[Finding] = []
        self.failed: list[bytes] = []
        self.interrupted = False
        self._subject = subject
        self._block = block
        self._known = known
        self._on_example = on_example
        self._until_s = None if block.most_s is None else kernel.read_working_s() + block.most_s
        self._wanted = ""
        self._best: Smaller | None = None
        self._choices = b""
        self._judged = 0
        self._broken = Counter[str]()
        self._aim = ""
        self._drawn = 0
        self._also: list[tuple[Violation, Outcome]] = []
        self._simplified: Callable[[Violation], Iterator[Smaller | None]] | None = None

    def find_next(self) -> bool:
        """Look for a promise that is not known to be broken; return whether one was found."""
        self._wanted, self._best, self.interrupted = "", None, False
        self._judged, self._broken = 0, Counter[str]()
        try:
            if self._also:
                self._want(*self._also.pop(0))
            else:
                self._search_examples()
        except KeyboardInterrupt as stop:
            self.interrupted = True
            if not isinstance(stop, _TimeUp) and not self._wanted:
                raise
        return self._keep_best() and not self.interrupted

    def _search_examples(self) -> None:
        anew = nullcontext() if self._subject.is_left_to_hypothesis else _draw_anew()
        with _draws_that_depend_on_the_seed_only(), anew:
            if self._known:
                known = self._as_database()
                self._look(self._block.examples, (Phase.reuse,), database=known)
            if not self._wanted:
                self._draw_and_aim()

    def _draw_and_aim(self) -> None:
        """Draw half of the examples at random, and drive others to something not reached by these.

        To one thing only, another in each block: to climb for each takes more examples than a block
        has, and for all of them together leads nowhere where one comes at the cost of another. A
        small block is all random. Where Hypothesis does not shrink, the examples up to a finding
        are not drawn again for the next.
        """
        whole = self._block.examples
        aimed = whole // 2 if whole >= FEWEST_AIMED else 0
        again = self._subject.is_left_to_hypothesis or not self.findings
        left = whole if again else whole - self._drawn
        if self.findings and not self._drawn:  # perhaps nothing can keep it
            left = max(left, MANY)
        which = "" if again else f" {len(self.findings)}"
        self._aim = ""
        if left > aimed:
            self._look(left - aimed, (Phase.generate,), draws=f"random{which}")
        if not self._wanted and aimed:
            far = sorted(name for name, aim in self.closest.items() if aim.share < 1)
            self._aim = far[self._block.number % len(far)] if far else ""
            aiming = (Phase.target,) if far else ()
            self._look(min(left, aimed), (Phase.generate, *aiming), draws=f"aimed{which}")

    def list_hopeless(self) -> tuple[str, ...]:
        """Return the promises that no example kept in the last search, if it had many."""
        if self._judged < MANY:
            return ()
        return tuple(promise for promise, count in self._broken.items() if count == self._judged)

    def _look(
        self,
        most: int,
        phases: tuple[Phase, ...],
        *,
        database: ExampleDatabase | None = None,
        draws: str = "",
    ) -> None:
        """Run examples, at most so many, and shrink the first that fails.

        What is drawn depends on the name of these `draws`, unless it is "".
        """
        how = settings(
            max_examples=most,
            database=database,
            deadline=None,
            derandomize=False,
            print_blob=False,
            phases=(*phases, Phase.shrink) if self._subject.is_left_to_hypothesis else phases,
            verbosity=Verbosity.quiet,
        )
        named = repr((self._block.seed, self._subject.name, self._block.number, draws))
        # It skips a search of examples of a database if it can read none of them.
        with suppress(NoSuchExample, Unsatisfiable, Flaky, unittest.SkipTest):
            find(
                st.data(),
                self._breaks_promise,
                settings=how,
                random=Random(named) if draws else None,  # noqa: S311 -- no secret
                database_key=_KEY,
            )

    def _as_database(self) -> ExampleDatabase:
        """Return the examples that failed before. Hypothesis removes those that no longer do."""
        database = InMemoryExampleDatabase()
        for example in self._known:
            database.save(_KEY, example)
        return database

    def _keep_best(self) -> bool:
        """Keep the smallest example as a finding; return whether there is one."""
        if self._best is None:
            return False
        if not self.interrupted:
            self._simplify()
        violation, text = self._best
        found = Finding(
            self._subject.name,
            self._subject.noun,
            self._subject.span.place,
            violation.statement,
            violation.reason,
            violation.slug,
            text(),
            self.examples,
            not self.interrupted,
        )
        self.findings.append(found)
        self.failed.append(self._choices)
        return True

    def _simplify(self) -> None:
        """Look for an example smaller than the best by changes that Hypothesis does not try."""
        if self._best is None or self._simplified is None:
            return
        try:
            for violation in self._simplified(self._best.violation):
                if violation is not None:
                    self._best = violation
                self.examples += 1
                self._go_on()
        except KeyboardInterrupt:
            self.interrupted = True

    def _go_on(self) -> None:
        """Raise _TimeUp if the time is up."""
        if self._until_s is not None and kernel.read_working_s() >= self._until_s:
            raise _TimeUp
        self._on_example()

    def _breaks_promise(self, data: st.DataObject) -> bool:
        """Run an example; return whether it breaks the promise that is looked at, or a new one."""
        self._go_on()
        outcome = self._subject.run(data.draw)
        self.examples += 1
        if outcome.refused:
            self.refused[outcome.refused] += 1
            reject()
        self.reached.update(outcome.reached)
        self.unjudged.update(outcome.unjudged)
        aims = outcome.aims or {}
        if self._aim in aims:
            target(aims[self._aim].share)
        self.closest = select_closest([*self.closest.items(), *aims.items()])
        self._judged += 1
        self._broken.update({violation.statement for violation in outcome.violations})
        known = {finding.statement for finding in self.findings}
        new = [violation for violation in outcome.violations if violation.statement not in known]
        found = next(
            (violation for violation in new if self._wanted in ("", violation.statement)), None
        )
        if found is None:
            self._drawn += not self._wanted
            return False
        # The last one that Hypothesis runs is the smallest. Where it is interrupted, the last one
        # that failed is, since it looks for smaller ones only.
        self._want(found, outcome)
        self._choices = choices_to_bytes(data.conjecture_data.choices)
        if not self._subject.is_left_to_hypothesis:
            self._also = [(violation, outcome) for violation in new if violation is not found]
        return True

    def _want(self, violation: Violation, outcome: Outcome) -> None:
        """Take an example for the smallest that breaks what is looked for from now on."""
        self._wanted = violation.statement
        self._best = Smaller(violation, partial(outcome.text, violation))
        self._simplified = outcome.simplified


@contextmanager
def _draw_anew() -> Iterator[None]:
    """Keep Hypothesis from trying up to five variations of each example, with parts repeated.

    Those of a scenario are much like it, and each takes as long as a new one.
    """
    runner = find_internal(engine, "ConjectureRunner")
    with substitute_internal(runner, "generate_mutations_from", lambda *_: None):
        yield


@contextmanager
def _draws_that_depend_on_the_seed_only() -> Iterator[None]:
    """Keep Hypothesis from drawing constants that it reads in the source of loaded modules.

    Else what is drawn would depend on which modules a process has loaded.
    """
    provider = find_internal(providers, "HypothesisProvider")
    nothing = find_internal(providers, "Constants")()
    cache = find_internal(find_internal(providers, "CONSTANTS_CACHE"), "cache")
    cache.clear()
    try:
        with substitute_internal(provider, "_local_constants", nothing):
            yield
    finally:
        cache.clear()

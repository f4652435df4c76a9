"""The contract of a back end: what carries a trial out, and what it can carry out.

A back end takes an experiment and returns an observation; what judges, records and reports does not
know which it was. What has no counterpart on it is refused where it is written, ahead of any trial,
and nothing is left out.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from qospec.diagnostics import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Callable

    from qospec.diagnostics import Problems
    from qospec.document import Document
    from qospec.engine.experiment import Experiment
    from qospec.engine.measure.observation import Observation
    from qospec.model.suite import Case
    from qospec.source import Span

EMULATION = "emulate"
"""The name of the back end that is used if none is named."""


class BackendError(Exception):
    """A back end cannot be used, or failed; the message is for the user."""


class Backend(ABC):
    """What carries trials out."""

    @abstractmethod
    def verify(self, case: Case, span: Span, problems: Problems) -> None:
        """Report what a case asks for and this cannot carry out.

        `span` is where the case's test is declared, for what has no place of its own.
        """

    def verify_here(self, case: Case, span: Span, problems: Problems) -> None:  # noqa: B027
        """Report what a case asks for and this machine cannot carry out, ahead of a run."""

    @abstractmethod
    def describe(self) -> Document:
        """Return what it is, for the record: plain values, the same at each call.

        Raises:
            BackendError: This machine does not have what it needs.
        """

    def measure(self) -> Document:
        """Return what is measured ahead of a run, for the record: not the same at each call.

        Raises:
            BackendError: It cannot be measured.
        """
        return {}

    @abstractmethod
    def carry_out(
        self, experiment: Experiment, on_progress: Callable[[int, int], None]
    ) -> Observation:
        """Return what one trial observes; `on_progress` is as of `emulation.run`.

        Raises:
            BackendError: It failed.
        """


PASSING = ("precision",)
"""What of a description is measured anew in each process, or for each run."""


def is_same_backend(one: Document | None, other: Document | None) -> bool:
    """Return whether what was described twice carries trials out alike, whatever was measured."""
    kept = (
        {key: its for key, its in (of or {}).items() if key not in PASSING} for of in (one, other)
    )
    return next(kept) == next(kept)


def refuse(problems: Problems, span: Span | None, test: Span, message: str, remedy: str) -> None:
    """Report what has no counterpart, at `span` or, if that is unknown, at its test."""
    problems.add(Diagnostic("E0702", message, span or test, help=remedy))

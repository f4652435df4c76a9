"""The contract of an export: a case, as another program sends and measures it.

An export says all of a case or says what it leaves out. What is sent and cannot be said is an
error, since a trial of the rest would be another trial; what is measured and cannot be said is a
warning, since the trial is the same.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from qospec.diagnostics import Diagnostic

if TYPE_CHECKING:
    from qospec.diagnostics import Problems
    from qospec.model.suite import Case
    from qospec.source import Span

Document = dict[str, Any]
"""What YAML and JSON can hold."""


class Exporter(ABC):
    """A format of a program that sends and measures in place of the emulation."""

    @abstractmethod
    def describe(self, case: Case, span: Span, problems: Problems) -> Document:
        """Return one trial of a case; it is whole if no error was added to `problems`.

        `span` is where the case's test is declared, for what has no place of its own.
        """


def refuse(problems: Problems, span: Span, message: str, remedy: str) -> None:
    """Report what is sent and cannot be said."""
    problems.add(Diagnostic("E0701", message, span, help=remedy))


def leave_out(problems: Problems, span: Span, message: str, remedy: str = "") -> None:
    """Report what is measured and cannot be said."""
    problems.add(Diagnostic("W0701", message, span, help=remedy))

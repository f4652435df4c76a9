"""The contract of a back end: what carries a trial out, and what it can carry out.

A back end takes an experiment and returns an observation; what judges, records and reports does not
know which it was. What has no counterpart on it is refused where it is written, ahead of any trial,
and nothing is left out.
"""

from __future__ import annotations

import shlex
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, Self

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


class ProgramError(BackendError):
    """A program of the user's own did not do what it should; the message is for the user.

    Attributes:
        flow: The name of its flow, or of a member of that.
    """

    def __init__(self, message: str, flow: str) -> None:
        """Take a message, and the flow that says where the program is declared."""
        super().__init__(message)
        self.flow = flow

    def __reduce__(self) -> tuple[type[ProgramError], tuple[str, str]]:
        return type(self), (str(self), self.flow)


class Backend(ABC):
    """What carries trials out."""

    schemes: ClassVar[tuple[str, ...]] = ()
    """The schemes of its addresses, if it is used at one: `find_backend` makes it of that."""
    is_device: ClassVar[bool] = False
    """Whether it sends to a real device: trials are carried out one at a time, and what is proved
    of elements is not held against them."""
    repeats: ClassVar[bool] = True
    """Whether a trial that is carried out again comes out the same. If not, no result of a run
    stands for another."""
    runs_programs: ClassVar[bool] = False
    """Whether programs of the user's own can run in hosts there."""

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

    def estimate_time_s(self, trials: int, trials_ps: int) -> float:
        """Return how long so many trials take at least, which last `trials_ps` together.

        That is nothing where time is emulated.
        """
        del trials, trials_ps
        return 0.0

    def adapt(self, case: Case) -> Self:
        """Return what carries out the trials of a case: itself, if an experiment says it all."""
        del case
        return self

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


def find_backend(written: str) -> Backend | None:
    """Return the back end of a name, or of an address by its scheme; None if there is none.

    Raises:
        BackendError: The address is not one of that back end.
    """
    from qospec.catalogue.kinds import discover

    kinds = discover().select_role("backend")
    scheme, separator, _ = written.partition("://")
    made: Backend | None = None
    if not separator:
        made = kinds[written].build() if written in kinds else None
    for kind in kinds.values() if separator else ():
        if scheme in kind.build.schemes:
            made = kind.build(written)
    return made


def refuse(problems: Problems, span: Span | None, test: Span, message: str, remedy: str) -> None:
    """Report what has no counterpart, at `span` or, if that is unknown, at its test."""
    problems.add(Diagnostic("E0702", message, span or test, help=remedy))


def verify_programs(
    backend: Backend, case: Case, test: Span, problems: Problems, *, allowed: bool
) -> None:
    """Report the programs of a case that cannot run, or that the user has not allowed to."""
    from qospec.catalogue.kinds import read_declaration

    own_name = read_declaration(type(backend)).name
    for flow in case.flows:
        if not flow.traffic.is_program:
            continue
        command = shlex.join(flow.traffic.command.words)
        place = flow.places.get("command", flow.span)
        if not backend.runs_programs:
            message = (
                f"`{flow.name}` is what a program sends, and `{own_name}` runs none: `{command}`"
            )
            remedy = "`qos run --on kernel-vt --allow-programs` runs it in a host of its own"
            refuse(problems, place, test, message, remedy)
        elif not allowed:
            message = f"`{flow.name}` would run a program of this file: `{command}`"
            remedy = "if it may run, add `--allow-programs` to the command; no file can say that"
            refuse(problems, place, test, message, remedy)

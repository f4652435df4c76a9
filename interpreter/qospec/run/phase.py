"""A phase of a case as it runs: which trials it needs, and what came of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from qospec.judge.verdict import is_invalidated

if TYPE_CHECKING:
    from qospec.judge.phases import PhaseResult, TrialResult
    from qospec.plan.plan import CasePlan


class PhaseRun(ABC):
    """A phase as it runs. A part is what tells one of its trials from another; see `JobName`.

    Attributes:
        ended: Whether it needs nothing more.
        invalid: Whether it ended the whole case.
        error: Of the tester; "" if there was none.
    """

    def __init__(self, plan: CasePlan, *, keep_going: bool) -> None:
        """Take the plan of the case, and whether that goes on after a failed `require`."""
        self.ended = False
        self.invalid = False
        self.error = ""
        self._plan = plan
        self._keep_going = keep_going
        self._known: dict[Any, TrialResult] = {}
        self._given: set[Any] = set()

    @property
    @abstractmethod
    def result(self) -> PhaseResult:
        """Return what it has come to so far."""

    @abstractmethod
    def estimate_share(self) -> float:
        """Return about which share of it is done."""

    @abstractmethod
    def _choose_next(self, *, ahead: bool) -> Any:
        """Return a trial that was not handed out; None if there is none for now."""

    @abstractmethod
    def _follow(self) -> None:
        """Go on as far as the results reach."""

    def hand_out_part(self, *, ahead: bool) -> Any:
        """Return a trial that is handed out from now on; None if there is none for now."""
        part = None if self.ended else self._choose_next(ahead=ahead)
        if part is not None:
            self._given.add(part)
        return part

    def cut(self) -> None:
        """End it where it is, with the whole case."""
        if not self.ended:
            self._end(invalid=True)

    def take(self, part: Any, result: TrialResult) -> None:
        """Take the result of a trial."""
        self._known[part] = result
        if not self.ended:
            self._follow()

    def drops(self, part: Any) -> bool:
        """Return whether a trial that was handed out is not needed; it may be handed out again."""
        if not self.ended and self._may_need(part):
            return False
        self._given.discard(part)
        return True

    def _may_need(self, part: Any) -> bool:  # noqa: ARG002
        """Return whether a trial may be needed, as far as is known."""
        return True

    def _is_invalidating(self, result: TrialResult) -> bool:
        """Return whether a trial ends the case: something that is required of it failed."""
        judged = (
            (statement, result.judgements[statement.label])
            for statement in self._plan.case.statements
            if statement.label in result.judgements
        )
        return not self._keep_going and is_invalidated(judged)

    def _end(self, error: str = "", *, invalid: bool = False) -> None:
        self.ended, self.invalid, self.error = True, invalid or bool(error), error

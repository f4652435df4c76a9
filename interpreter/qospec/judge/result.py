"""The result of a case: the readings and judgements of each repeat."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple, dataclass

if TYPE_CHECKING:
    from qospec.judge.readings import Readings
    from qospec.judge.repeats import RepeatReadings
    from qospec.judge.verdict import Judgement


class Judged(NamedTuple):
    """One statement in one repeat; the readings are None if they were not kept."""

    readings: RepeatReadings | None
    judgement: Judgement


@dataclass(frozen=True)
class Repeat:
    """The readings and judgements of one repeat, one judgement of each statement."""

    readings: Readings
    judgements: tuple[Judgement, ...]


@dataclass(frozen=True)
class Result:
    """The repeats of a case that were run, and the errors of the tester itself."""

    repeats: tuple[Repeat, ...]
    errors: tuple[str, ...] = ()

    def list_judged(self, number: int) -> list[Judged]:
        """Return the statement of that number in each repeat."""
        return [Judged(repeat.readings, repeat.judgements[number]) for repeat in self.repeats]

"""The result of a case: the readings and judgements of each repeat."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.dataclass import dataclass

if TYPE_CHECKING:
    from qospec.judge.readings import Readings
    from qospec.judge.verdict import Judgement


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

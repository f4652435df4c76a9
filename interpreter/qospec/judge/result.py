"""The result of a case: what each of its repeats gave."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.dataclass import dataclass

if TYPE_CHECKING:
    from qospec.judge.readings import Readings
    from qospec.judge.verdict import Judgement


@dataclass(frozen=True)
class Repeat:
    """What one repeat gave."""

    readings: Readings
    judgements: tuple[Judgement, ...]


@dataclass(frozen=True)
class Result:
    """What a case gave: its repeats, and what went wrong on our side."""

    repeats: tuple[Repeat, ...]
    errors: tuple[str, ...] = ()

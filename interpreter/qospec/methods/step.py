"""From the top down."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from qospec.catalogue.kinds import Domain, method
from qospec.dataclass import dataclass
from qospec.search.classification import Classification
from qospec.search.method import Method

if TYPE_CHECKING:
    from collections.abc import Iterator
    from fractions import Fraction

    from qospec.model.suite import Search
    from qospec.search.progress import Progress
    from qospec.search.scale import Scale

Confirm = Annotated[int, Domain("integer", 1, 1_000)]


@method(source="RFC 2544, 26.3 (frame loss rate)")
@dataclass(frozen=True)
class Step(Method):
    """Try the loads of the range from the highest down, until some in succession are good.

    The loads below are not tried. The trials are the curve of loss over load.
    """

    needs_step: ClassVar[bool] = True

    confirm: Confirm = 2
    """How many loads in succession must be good."""

    def count_most_loads(self, search: Search, scale: Scale) -> int:
        return len(_list_steps(search)) + 1

    def choose_next_load(self, progress: Progress, goal: int) -> Fraction | None:
        good = 0
        for load in _step_down(progress.search):
            here = progress.find_load(goal, load)
            if here is None or here.classification is Classification.UNDECIDED:
                return load
            good = good + 1 if here.classification is Classification.LOWER else 0
            if good == self.confirm:
                break
        return None


def _find_step(search: Search) -> Fraction:
    """Return the step of a search, which has one by `needs_step`; without it, a ValueError."""
    if search.step is None:
        raise ValueError("no step")
    return search.step


def _list_steps(search: Search) -> range:
    """Return the numbers of the steps from the lowest load, without the highest load."""
    return range(-(-(search.high - search.low) // _find_step(search)))


def _step_down(search: Search) -> Iterator[Fraction]:
    yield search.high
    for number in reversed(_list_steps(search)):
        yield search.low + number * _find_step(search)

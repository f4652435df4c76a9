"""What a search drives towards: delays and backlogs up to their proved bounds, full queues."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple
from qospec.units import format_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from qospec.document import Document
    from qospec.judge.readings import Readings


class Aim(NamedTuple):
    """How close an example came to what is possible.

    Attributes:
        share: Of what is possible; above 1 only if a proof is wrong.
        of: What that is, in words.
        possible: How much that is, to prefer examples in which much is.
    """

    share: float
    of: str
    possible: float = 0.0

    @property
    def words(self) -> str:
        """Return it as `93 % of its proved bound of 1.2 ms`; below 100 % if anything is missing."""
        return f"{int(100 * self.share)} % of {self.of}"


def list_aims(readings: Readings, rooms: Mapping[str, float]) -> Iterator[tuple[str, Aim]]:
    """Yield by name how close a trial of a device came: delays, the backlog and room of queues.

    Queues have the names that they have in the device, and those of equal ports the same.

    Args:
        readings: Of the trial.
        rooms: By path of a queue, about how many items it may hold.
    """
    for bounds in readings.list_bounds():
        # Where nothing can wait, all delays are the bound, and that says nothing.
        if bounds.most and bounds.measured is not None and bounds.most != bounds.least:
            bound = format_value(bounds.most, bounds.dimension)
            aim = Aim(float(bounds.measured / bounds.most), _name_proved(bound), float(bounds.most))
            yield _strip_device(_name_aim(bounds.what)), aim
    for path, most in readings.occupancies.items():
        if path in rooms:
            yield _strip_device(f"fill of {path}"), Aim(min(1.0, most / rooms[path]), "its limit")


def list_document_aims(document: Document) -> Iterator[tuple[str, Aim]]:
    """Yield the same of a case's document, in which bounds are."""
    for bound in document.get("bounds", ()):
        if bound["share"] is not None:
            share = float(Fraction(bound["share"]["value"]))
            yield _name_aim(bound["what"]), Aim(share, _name_proved(bound["most"]["text"]))


def select_closest(found: Iterable[tuple[str, Aim]]) -> dict[str, Aim]:
    """Return the closest of each name."""
    best: dict[str, Aim] = {}
    for name, aim in found:
        if name not in best or aim[::2] > best[name][::2]:
            best[name] = aim
    return best


def _name_aim(what: str) -> str:
    queue = what.partition("items in ")[2]
    return f"backlog of {queue}" if queue else "delay"


def _strip_device(name: str) -> str:
    """Return `backlog of out.queue` for that of `dut.out[1].queue`."""
    return re.sub(r" of [^.]+\.", " of ", re.sub(r"\[[0-9]+\]", "", name))


def _name_proved(bound: str) -> str:
    return f"its proved bound of {bound}"

"""A merge of several inputs into one output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from qospec.catalogue.kinds import Domain, element
from qospec.dataclass import dataclass
from qospec.engine.element import Element, Step
from qospec.engine.items.merge import merged

if TYPE_CHECKING:
    from qospec.engine.items.batch import Batch


@element(source="ITU-T I.321 (cell multiplexing)")
@dataclass(frozen=True)
class Merge(Element):
    """Merge the cells or packets of several inputs into one order: by time, then by input.

    Merging takes no time and has no rate: several items may leave in the same ps. Where they have
    to wait, place a queue behind it.
    """

    keeps_spacing = True

    ways: Annotated[int, Domain("integer", 1, 2**16)]
    """The number of inputs."""

    @property
    def inputs(self) -> tuple[str, ...]:
        return tuple(f"in[{number}]" for number in range(self.ways))

    def process(self, state: None, arrivals: tuple[Batch, ...], until_ps: int) -> Step:
        return Step((merged(arrivals),), (until_ps,))

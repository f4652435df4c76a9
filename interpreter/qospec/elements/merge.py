"""A merge of several inputs into one output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from qospec.catalogue.kinds import Domain, element
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.element import Element, Step
from qospec.engine.event.transition import DONE, Transition, send
from qospec.engine.items.merge import merged
from qospec.engine.kernel import kernel

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole
    from qospec.engine.element import Setting
    from qospec.engine.items.batch import Batch


@element(source="ITU-T I.321 (cell multiplexing)", renamed={"ways": "ports"})
@dataclass(frozen=True)
class Merge(Element):
    """Merge the cells or packets of several inputs: by time, then by input.

    It takes no time and has no rate: several may leave in the same ps, to wait in a queue.
    """

    keeps_spacing = True

    ports: Annotated[int, Domain("integer", 1, 2**16)]
    """Number of inputs."""

    @property
    def inputs(self) -> tuple[str, ...]:
        return tuple(f"in[{number}]" for number in range(self.ports))

    def transition(self, setting: Setting) -> Transition:
        return Transition(np.zeros(0, np.int64), _arrive)

    def process(self, state: None, arrivals: tuple[Batch, ...], until_ps: int) -> Step:
        return Step((merged(arrivals),), (until_ps,))


@kernel
def _arrive(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:
    """Send an item on at once; see `engine.event.transition`."""
    send(out, 0, item, now_ps)
    return DONE

"""Several ways become one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from qospec.catalogue.kinds import Domain, element
from qospec.dataclass import dataclass
from qospec.engine.element import Step
from qospec.engine.items.merge import merged

if TYPE_CHECKING:
    from qospec.engine.element import Setting
    from qospec.engine.items.batch import Batch
    from qospec.engine.line.clock import Clock


@element(source="ITU-T I.321 (cell multiplexing)")
@dataclass(frozen=True)
class Merge:
    """Bring the cells or packets of several inputs into one order: by time, then by input.

    It takes no time and has no rate: several may leave in the same ps. What they wait for is a
    queue.
    """

    ways: Annotated[int, Domain("integer", 1, 2**16)]
    """How many inputs."""

    @property
    def inputs(self) -> tuple[str, ...]:
        return tuple(f"in[{number}]" for number in range(self.ways))

    @property
    def outputs(self) -> tuple[str, ...]:
        return ("out",)

    def lookahead_ps(self, clock: Clock | None) -> int:
        return 0

    def start(self, setting: Setting) -> None:
        return None

    def process(self, state: None, arrivals: tuple[Batch, ...], until_ps: int) -> Step:
        return Step((merged(arrivals),), (until_ps,))

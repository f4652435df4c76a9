"""What a flow sends on its first link, as the planner hands it to the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    from qospec.engine.connections import Contract
    from qospec.engine.encapsulation import Encapsulation
    from qospec.engine.sizes import Sizes


class Stream(NamedTuple):
    """Packets of one flow.

    Attributes:
        contract: What stands for a contract: the rate that is planned.
        source: The arrival process, by name and arguments.
        sizes: Of IP packets.
        marks: Of all of them.
        asked: What a classifier may ask for that no element changes, by name.
        encapsulation: That of the first link.
        transport_bytes: Headers in each packet, besides the 20 bytes of IPv4's.
    """

    contract: Contract
    source: tuple[str, Mapping[str, object]]
    sizes: Sizes
    marks: int
    asked: Mapping[str, Fraction | str]
    encapsulation: Encapsulation
    transport_bytes: int

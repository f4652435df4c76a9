"""What the two ends of an ESP security association agree on: the parameters of both elements."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, cast

from qospec.catalogue.kinds import Boolean, Domain
from qospec.dataclass import dataclass
from qospec.engine.security.end import SecurityEnd
from qospec.engine.security.seal import LARGEST_INDEX, LEAST_INDEX
from qospec.protocol.esp import ENCRYPTIONS, FAMILIES, INTEGRITIES, MODES, Esp, Family, Mode

EncryptionName = Annotated[str, Domain("choice", choices=tuple(ENCRYPTIONS))]
IntegrityName = Annotated[str | None, Domain("choice", choices=tuple(INTEGRITIES))]
ModeName = Annotated[str, Domain("choice", choices=MODES)]
FamilyName = Annotated[str, Domain("choice", choices=FAMILIES)]
Index = Annotated[int, Domain("integer", LEAST_INDEX, LARGEST_INDEX)]

SUCCESSORS = 4_095
"""How often an association can be replaced: a limit of the emulation, in which the indices of its
successors are the next ones, so that both ends know them."""


@dataclass(frozen=True)
class Association(SecurityEnd):
    """One end of a security association."""

    encryption: EncryptionName
    """The transform that encrypts; those with `gcm` authenticate, too."""
    integrity: IntegrityName = None
    """The transform that authenticates, for an encryption that does not."""
    mode: ModeName = "tunnel"
    """Whether the whole packet is protected, or what its own header carries."""
    family: FamilyName = "ipv4"
    """The version of IP of the outer header; in transport mode, of the packet's own."""
    in_udp: Boolean = False
    """Whether it travels in UDP, through devices that translate addresses (NAT-T)."""
    spi: Index = 256
    """The security parameters index, by which its receiver knows an association."""

    def __post_init__(self) -> None:
        _ = self.esp

    @property
    def is_replaced(self) -> bool:
        """Return whether other associations follow it, each with the next index."""
        return False

    @property
    def indices(self) -> range:
        """Return the indices of it and of those that may follow it."""
        count = 1 + SUCCESSORS * self.is_replaced
        return range(self.spi, min(self.spi + count, LARGEST_INDEX + 1))

    @cached_property
    def esp(self) -> Esp:
        """Return what it makes of packets."""
        return Esp(
            ENCRYPTIONS[self.encryption],
            INTEGRITIES[self.integrity] if self.integrity else None,
            cast("Mode", self.mode),
            cast("Family", self.family),
            self.in_udp,
        )

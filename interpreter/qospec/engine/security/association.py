"""What the two ends of an ESP security association agree on: the parameters of both elements."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, cast

from qospec.catalogue.kinds import Boolean, Domain, UnfitError
from qospec.dataclass import dataclass
from qospec.engine.security.end import SecretKey, SecurityEnd, check_length
from qospec.engine.security.seal import LARGEST_INDEX, LEAST_INDEX
from qospec.protocol.esp import ENCRYPTIONS, FAMILIES, INTEGRITIES, MODES, Esp, Family, Mode
from qospec.secret import Secret

EncryptionName = Annotated[str, Domain("choice", choices=tuple(ENCRYPTIONS))]
IntegrityName = Annotated[str, Domain("choice", choices=("none", *INTEGRITIES))]
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
    integrity: IntegrityName = "none"
    """The transform that authenticates, for an encryption that does not."""
    mode: ModeName = "tunnel"
    """Whether the whole packet is protected, or what its own header carries."""
    family: FamilyName = "ipv4"
    """The version of IP of the outer header; in transport mode, of the packet's own."""
    in_udp: Boolean = False
    """Whether it travels in UDP, through devices that translate addresses (NAT-T)."""
    spi: Index = 256
    """The security parameters index, by which its receiver knows an association."""
    key: SecretKey = None
    """The key of the encryption, with the salt behind it, the same at both ends; by default one is
    drawn, and for successors of the association always."""
    integrity_key: SecretKey = None
    """That of the integrity, likewise."""

    def __post_init__(self) -> None:
        try:
            encryption, integrity = self.esp.encryption, self.esp.integrity
        except ValueError as cause:
            authenticates = ENCRYPTIONS[self.encryption].icv_bytes
            fitting = "none" if authenticates else "hmac_sha2_256_128"
            help_text = f"write `integrity = {fitting}`"
            raise UnfitError(f"encryption: {cause}", help_text) from cause
        length = encryption.key_bytes + encryption.salt_bytes
        check_length("key", self.key, encryption.name, length, encryption.salt_bytes)
        if integrity is not None:
            name = "integrity_key"
            check_length(name, self.integrity_key, integrity.name, integrity.key_bytes)
        elif self.integrity_key is not None:
            raise ValueError(f"integrity_key: {encryption.name} is used without an integrity")
        if self.is_replaced and len(self.indices) == 1:
            raise ValueError(
                f"spi: {self.spi} is the largest, and leaves none for the association that replaces"
                " it: choose a smaller one"
            )

    @property
    def keys(self) -> tuple[Secret | None, Secret | None]:
        """Return the keys that are given, of encryption and integrity."""
        return self.key, self.integrity_key

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
            INTEGRITIES.get(self.integrity),
            cast("Mode", self.mode),
            cast("Family", self.family),
            self.in_udp,
        )

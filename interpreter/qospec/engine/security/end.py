"""The base of elements that encrypt or decrypt, by which others find both ends of a path."""

from __future__ import annotations

from typing import Annotated, ClassVar

from qospec.catalogue.kinds import Domain, UnfitError
from qospec.engine.element import Element
from qospec.secret import Secret

SecretKey = Annotated[Secret | None, Domain("key")]


def check_length(
    field: str, key: Secret | None, transform: str, length: int, salt_bytes: int = 0
) -> None:
    """Raise UnfitError if a key has another length than its transform takes."""
    if key is None or key.is_withheld or key.length == length:
        return
    salt = f", of which the last {salt_bytes} are the salt" if salt_bytes else ""
    what = f"that in `{key.file}`" if key.file else "this"
    raise UnfitError(
        f"{field}: {transform} takes {length} bytes{salt}; {what} has {key.length}",
        f"write {2 * length} hexadecimal digits; without `{field}` a key is drawn",
    )


class SecurityEnd(Element):
    """One end of a protected path; a seal is what the sending one has noted of an item."""

    encrypts: ClassVar[bool] = False
    """Whether it is the sending end; what makes bytes looks for those ahead of a link, or of the
    receiving one."""

    @property
    def keys(self) -> tuple[Secret | None, ...]:
        """Return the keys that are given to it; None for one that is drawn."""
        return ()

    def find_key_owner(self, vc: int) -> int:
        """Return the VC whose key a VC has, from 0: itself, unless VCs share one."""
        return vc

    def number_key(self, jump: int) -> int:  # noqa: ARG002
        """Return which key of a VC is used after so many jumps of its state vector, from 0."""
        return 0

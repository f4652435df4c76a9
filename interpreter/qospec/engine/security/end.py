"""The base of elements that encrypt or decrypt, by which others find both ends of a path."""

from __future__ import annotations

from typing import ClassVar

from qospec.engine.element import Element


class SecurityEnd(Element):
    """One end of a protected path; a seal is what the sending one has noted of an item."""

    encrypts: ClassVar[bool] = False
    """Whether it is the sending end; what makes bytes looks for those ahead of a link, or of the
    receiving one."""

    def key_number(self, jump: int) -> int:  # noqa: ARG002
        """Return which key of a VC is used after so many jumps of its state vector, from 0."""
        return 0

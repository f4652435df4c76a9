"""What all nodes of the tree are."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, dataclass_transform

from qospec.dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qospec.source import Span


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(field,))
@dataclass(frozen=True, kw_only=True)
class Node:
    """Anything with a place."""

    span: Span = field(compare=False, repr=False)

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True, kw_only=True)(cls)

    def children(self) -> Iterator[Node]:
        """Yield the nodes directly below this one, as its fields have them."""
        for value in self.__dict__.values():
            for each in value if isinstance(value, tuple) else (value,):
                if isinstance(each, Node):
                    yield each


class Documented(Node):
    """What a `##` comment may stand above (or, for a parameter or binding, behind)."""

    doc: str = field(default="", compare=False)

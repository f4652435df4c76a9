"""Equal texts of documents, and equal objects of texts alone such as quantities, held once.

Without it, the cases of a run or record take five times as much memory. So nobody may change them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qospec.document import Document

MAX_KEPT = 100_000
"""Texts, and objects, that are known again."""


class SharedValues:
    """What is known of documents that were seen before."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._objects: dict[tuple[tuple[str, str], ...], Document] = {}

    def share(self, value: Any) -> Any:
        """Return a value of a document that holds what others hold, too."""
        if isinstance(value, dict):
            return self.build_object([(name, self.share(of)) for name, of in value.items()])
        if isinstance(value, list | tuple):
            return [self.share(item) for item in value]
        return self._texts.setdefault(value, value) if isinstance(value, str) else value

    def build_object(self, pairs: Sequence[tuple[str, Any]]) -> Document:
        """Return an object with these members."""
        found = dict(pairs)
        plain = set(map(type, found.values())) == {str}
        if plain and (known := self._objects.get(tuple(pairs))) is not None:
            return known
        for memory in (self._texts, self._objects):
            if len(memory) > MAX_KEPT:
                memory.clear()
        once = self._texts.setdefault
        found = {
            once(name, name): once(value, value) if isinstance(value, str) else value
            for name, value in pairs
        }
        if plain:
            self._objects[tuple(found.items())] = found
        return found

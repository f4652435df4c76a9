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
        self._nothing: tuple[Document, list[Any]] = {}, []

    def share_values(self, document: Document) -> Document:
        """Return a document that holds what others hold, too; what it holds twice is held once."""
        shared: Document = self._share_value(document, {})
        return shared

    def _share_value(self, value: Any, seen: dict[int, Any]) -> Any:
        """Return a shared value; `seen` are those of what was seen in its document, by identity."""
        if isinstance(value, str):
            return self._texts.setdefault(value, value)
        if not isinstance(value, dict | list | tuple):
            return value
        if (known := seen.get(id(value))) is not None:
            return known
        if isinstance(value, dict):
            found: Any = self._find_plain(value)
            if found is None:
                pairs = [(name, self._share_value(of, seen)) for name, of in value.items()]
                found = self.build_object(pairs)
        else:
            found = [self._share_value(item, seen) for item in value] or self._nothing[1]
        seen[id(value)] = found
        return found

    def _find_plain(self, value: Document) -> Document | None:
        """Return an object of the same texts that is known; None of any other."""
        try:
            return self._objects.get(tuple(value.items()))
        except TypeError:  # it holds lists or objects
            return None

    def build_object(self, pairs: Sequence[tuple[str, Any]]) -> Document:
        """Return an object with these members."""
        found = dict(pairs)
        if not found:
            return self._nothing[0]
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

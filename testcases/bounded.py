"""Arrays that refuse an index before their first element or behind their last.

Compiled code reads and writes there without notice, and Python counts an index below 0 from the
end. So kernels are run as Python on such arrays, to show that none has such an index.
"""

from typing import Any

import numpy as np


class Bounded(np.ndarray):
    """An array that refuses such indices."""

    def __getitem__(self, key: Any) -> Any:
        self._verify(key)
        return super().__getitem__(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._verify(key)
        super().__setitem__(key, value)

    def _verify(self, key: Any) -> None:
        keys = key if isinstance(key, tuple) else (key,)
        for cut, length in zip(keys, self.shape, strict=False):
            if isinstance(cut, slice):
                start, stop = cut.start or 0, length if cut.stop is None else cut.stop
                inside = 0 <= start <= stop <= length
            else:
                inside = 0 <= cut < length
            if not inside:
                raise IndexError(f"{key} is beyond an array of shape {self.shape}")


def bounded(value: Any) -> Any:
    """Return an argument of a kernel with bounded arrays, which share their elements."""
    if isinstance(value, np.ndarray):
        return value.view(Bounded)
    if isinstance(value, tuple):
        parts = map(bounded, value)
        return value._make(parts) if hasattr(value, "_make") else tuple(parts)
    return [bounded(item) for item in value] if isinstance(value, list) else value

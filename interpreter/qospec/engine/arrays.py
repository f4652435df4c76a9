"""Lazy access to NumPy: it is imported when an array is first made.

The checker reads declarations of elements and needs no arrays: `from qospec.engine.arrays import
np` costs nothing until NumPy is used. Kernels take arrays and scalars as arguments and use nothing
of `np`, so the compiler never sees this proxy.
"""

import importlib
from typing import TYPE_CHECKING, Any

__all__ = ["Bits", "Doubles", "Indices", "Marks", "Rows", "Sizes", "Times", "Truths", "Whole", "np"]

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Times = NDArray[np.int64]
    """Picoseconds since the trial began."""
    Indices = NDArray[np.int32]
    """Connections, by index."""
    Rows = NDArray[np.uint32]
    """The same, or numbers of items: half as wide as int64, where there are many."""
    Sizes = NDArray[np.int32]
    """Bytes."""
    Marks = NDArray[np.uint8]
    """Small codes: cell loss priority, outcome, or number of an output."""
    Bits = NDArray[np.uint32]
    """The marks of items; see `protocol.marks`."""
    Whole = NDArray[np.int64]
    """Counters and state."""
    Truths = NDArray[np.bool_]
    """A mask of the cells of a batch."""
    Doubles = NDArray[np.float64]
    """Random times before they are rounded to whole ps, and the bits of a delay's logarithm."""
else:

    class _Numpy:
        def __getattr__(self, name: str) -> Any:
            value = getattr(importlib.import_module("numpy"), name)
            setattr(self, name, value)
            return value

    np = _Numpy()
    Times = Indices = Rows = Sizes = Marks = Whole = Truths = Doubles = Bits = None

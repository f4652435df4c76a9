"""The one door to NumPy, opened when an array is first made.

Declarations of elements are read by the checker, which needs no arrays: `from qospec.engine.arrays
import np` costs nothing until something of NumPy is used. Kernels take arrays and scalars as
arguments and use nothing of `np`, so the compiler never meets this stand-in.
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
    """The same, unsigned, for kernels: an index that never counts from the end needs no check."""
    Sizes = NDArray[np.int32]
    """Bytes."""
    Marks = NDArray[np.uint8]
    """Small codes: cell loss priority, fate, or an output's number."""
    Bits = NDArray[np.uint16]
    """What items are marked with; see `protocol.marks`."""
    Whole = NDArray[np.int64]
    """Counters and state."""
    Truths = NDArray[np.bool_]
    """Which cells of a batch."""
    Doubles = NDArray[np.float64]
    """Used for their bits only: no time and no fate is decided in floating point."""
else:

    class _Numpy:
        def __getattr__(self, name: str) -> Any:
            value = getattr(importlib.import_module("numpy"), name)
            setattr(self, name, value)
            return value

    np = _Numpy()
    Times = Indices = Rows = Sizes = Marks = Whole = Truths = Doubles = Bits = None

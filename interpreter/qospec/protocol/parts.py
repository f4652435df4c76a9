"""The parts of a flow, each of which is measured by itself: the planes of its cells, or exchanges.

A flow itself is its user cells, or its packets. Of packets that endpoints exchange, it is the
requests, and besides there are their answers, and whole exchanges.
"""

from __future__ import annotations

from typing import Literal

Part = Literal["user", "oam", "rm", "answers", "exchanges"]

OF_EXCHANGES: tuple[Part, ...] = ("answers", "exchanges")
"""The parts of a flow between endpoints, besides the flow itself."""

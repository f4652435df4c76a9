"""ATM: the cell, the virtual path, and the service categories.

Sources: ITU-T I.361, 2 (the cell); ATM Forum TM 4.1, 2.1 (the categories).
"""

from __future__ import annotations

from typing import Literal, get_args

CELL_BYTES = 53
CELL_PAYLOAD_BYTES = 48
HIGHEST_VIRTUAL_PATH = 4_095
"""At a network-network interface; 12 bits."""

ServiceCategory = Literal["cbr", "vbr_rt", "vbr_nrt", "abr", "ubr"]
SERVICE_CATEGORIES: tuple[ServiceCategory, ...] = get_args(ServiceCategory)

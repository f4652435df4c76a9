"""ATM: the cell, the virtual path, the service categories, and the planes of a connection.

Sources: ITU-T I.361, 2 (the cell); ATM Forum TM 4.1, 2.1 (the categories); ITU-T I.610, 6 (OAM
cells) and I.371, 5.2 (resource management cells).
"""

from __future__ import annotations

from typing import Literal, get_args

CELL_BYTES = 53
CELL_PAYLOAD_BYTES = 48
HIGHEST_VIRTUAL_PATH = 4_095
"""At a network-network interface; 12 bits."""

ServiceCategory = Literal["cbr", "vbr_rt", "vbr_nrt", "ubr"]
SERVICE_CATEGORIES: tuple[str, ...] = get_args(ServiceCategory)

Plane = Literal["user", "oam", "rm", "misinserted", "fragments", "copies"]
PLANES: tuple[Plane, ...] = get_args(Plane)
"""The cells that share a connection: of its user, OAM cells, cells of resource management (RM), and
cells of other users that came to be among its own (I.356, 5: misinserted). Of packets, the user's,
fragments of these but the first of each, and copies.

Sources send items of the first plane; elements of the network insert those of the others.
"""

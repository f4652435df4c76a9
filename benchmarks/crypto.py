"""Bytes encrypted: ESP with AES-GCM over Imix, and cells of 4,000 connections with a key each.

The peers do the least that such bytes need. For ESP that is one call of AES-GCM per packet, with
everything ready for it. For cells it is the bulk cipher: one key for all connections, so that one
call makes the keystream of all cells in their order on the line, and one more adds it. The roof is
one stream of AES in counter mode over as many bytes, which nobody with several keys can reach.

W1 is run with and without bytes, in turns: its cells are encrypted ahead of the seven hops and
decrypted behind them, and compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import figures
import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from figures import Figure, MismatchError
from w1 import experiment as w1_experiment

from qospec.ciphers.cells import CellCipher
from qospec.ciphers.esp import Association, Rows
from qospec.ciphers.key import Key
from qospec.ciphers.octets import iterate_rows
from qospec.elements.cell_decrypt import CellDecrypt
from qospec.elements.cell_encrypt import CellEncrypt
from qospec.engine.experiment import END, Node, Wire
from qospec.engine.graph import emulation
from qospec.payload.comparison import Comparison
from qospec.protocol.esp import ENCRYPTIONS, Esp

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from qospec.engine.measure.observation import Observation

IMIX = {40: 7, 576: 4, 1_500: 1}
"""Bytes of an IP packet, and how many of twelve have them."""
PACKETS = 12 * 1_024
CONNECTIONS, CELLS = 4_000, 2**19
KEY = bytes(range(16))
W1_SECONDS = 4
W1_REPEATS = 3
TINY = {"PACKETS": 12, "CONNECTIONS": 100, "CELLS": 2**10, "W1_SECONDS": 1, "W1_REPEATS": 1}
W1_MOST = 40
"""How many times as long W1 may take with bytes."""


class Packets:
    """A batch of Imix in an order that was drawn, as it comes to an encryptor."""

    def __init__(self) -> None:
        draws = np.random.default_rng(0)
        self.esp = Esp(ENCRYPTIONS["aes_128_gcm"])
        self.association = Association(self.esp, 256, Key(KEY + bytes(4)), ends=bytes(8))
        sizes = draws.permutation(np.repeat(list(IMIX), [n * PACKETS // 12 for n in IMIX.values()]))
        self.places = [np.flatnonzero(sizes == size) for size in IMIX]
        self.packets = [
            draws.integers(0, 256, (len(places), size), dtype=np.uint8)
            for size, places in zip(IMIX, self.places, strict=True)
        ]
        for rows in self.packets:
            rows[:, 0] = 0x45
        self.cipher = AESGCM(KEY)
        self.calls = [
            [
                iterate_rows(draws.integers(0, 256, (len(rows), width), dtype=np.uint8))
                for width in (12, self.esp.count_ciphertext_bytes(rows.shape[1]), 8)
            ]
            for rows in self.packets
        ]

    def seal(self) -> list[NDArray[np.uint8]]:
        """Return the packets sealed, with the next sequence numbers."""
        numbers = self.association.numbering.last + np.arange(1, PACKETS + 1)
        batches = zip(self.places, self.packets, strict=True)
        return self.association.seal(*(Rows(numbers[places], rows) for places, rows in batches))

    def call(self) -> None:
        """Encrypt as many bytes by one call each."""
        for arguments in self.calls:
            list(map(self.cipher.encrypt, *arguments))

    def check(self) -> None:
        """Check that what was sealed is what is opened."""
        for sealed, packets in zip(self.seal(), self.packets, strict=True):
            opened = self.association.open(sealed)
            if opened.faults.any() or (opened.packets[:, : packets.shape[1]] != packets).any():
                raise MismatchError("crypto: a packet is not what was sealed")


class Cells:
    """A batch of cells of connections that were drawn, and so mixed as on a line."""

    def __init__(self) -> None:
        draws = np.random.default_rng(0)
        self.keys = [Key.draw(16, ("crypto", str(number))) for number in range(CONNECTIONS)]
        self.cipher = CellCipher(self.keys)
        self.connection = draws.integers(0, CONNECTIONS, CELLS)
        self.payloads = draws.integers(0, 256, (CELLS, 48), dtype=np.uint8)
        counts = np.bincount(self.connection, minlength=CONNECTIONS)
        order = np.argsort(self.connection, kind="stable")
        firsts = np.repeat(np.cumsum(counts) - counts, counts)
        self.positions = np.empty(CELLS, np.int64)
        self.positions[order] = np.arange(CELLS) - firsts
        self.steps = counts[self.connection]
        self.blocks = Cipher(AES(KEY), modes.ECB()).encryptor()  # noqa: S305  of counters
        self.stream = Cipher(AES(KEY), modes.CTR(bytes(16))).encryptor()
        self.numbers = np.arange(3 * CELLS, dtype=np.uint64)
        self.counters = np.zeros((3 * CELLS, 2), np.uint64)
        self.room = bytearray(self.payloads.nbytes + 15)

    def seal(self) -> NDArray[np.uint8]:
        """Return the cells encrypted, each connection's at its next positions."""
        sealed = self.cipher.xor(self.connection, self.positions, self.payloads)
        self.positions += self.steps
        return sealed

    def in_bulk(self) -> NDArray[np.uint64]:
        """Return the cells encrypted with one key for all."""
        np.add(self.numbers, 1, out=self.numbers)
        self.counters[:, 1] = self.numbers
        self.counters[:, 1].byteswap(inplace=True)
        self.blocks.update_into(self.counters.reshape(-1).view(np.uint8).data, self.room)
        keystream = np.frombuffer(self.room, np.uint64, 6 * CELLS).reshape(CELLS, 6)
        return keystream ^ self.payloads.view(np.uint64)

    def as_stream(self) -> None:
        """Encrypt as many bytes as one stream."""
        self.stream.update_into(self.payloads.reshape(-1).data, self.room)

    def check(self) -> None:
        """Check a few connections against one stream each."""
        sealed = CellCipher(self.keys).xor(self.connection, self.positions, self.payloads)
        for connection in range(0, CONNECTIONS, 500):
            mine = self.connection == connection
            stream = Cipher(AES(self.keys[connection].reveal()), modes.CTR(bytes(16))).encryptor()
            if stream.update(self.payloads[mine].tobytes()) != sealed[mine].tobytes():
                raise MismatchError("crypto: a cell is not part of its connection's stream")


class W1:
    """W1 as it is, and with its cells encrypted over the hops, with bytes."""

    def __init__(self) -> None:
        self.plain = w1_experiment(W1_SECONDS)
        tester, *hops = self.plain.nodes
        nodes = tester, Node("encrypt", CellEncrypt()), *hops, Node("decrypt", CellDecrypt())
        wires = [Wire(n, 0, n + 1 if n + 1 < len(nodes) else END) for n in range(len(nodes))]
        self.encrypted = self.plain._replace(nodes=nodes, wires=tuple(wires))

    def without(self) -> Observation:
        """Run it as it is."""
        return emulation.run(self.plain)

    def with_bytes(self) -> tuple[Observation, Comparison]:
        """Run it with bytes."""
        comparison = Comparison(self.encrypted, ())
        return emulation.run(self.encrypted, observer=comparison), comparison

    def check(self) -> None:
        """Check that both have the same delays, and that all cells are as they were sent."""
        seen, comparison = self.with_bytes()
        if (seen.delays != self.without().delays).any():
            raise MismatchError("crypto: bytes change delays")
        if comparison.errored.any():
            raise MismatchError("crypto: a cell arrived with other bytes")


def measure() -> list[Figure]:
    """Return all figures."""
    packets, cells, behind = Packets(), Cells(), W1()
    packets.check()
    cells.check()
    behind.check()
    sealed, called = (
        PACKETS / seconds / 1e6 for seconds in figures.medians(packets.seal, packets.call)
    )
    own, bulk, roof = (
        CELLS / seconds / 1e6
        for seconds in figures.medians(cells.seal, cells.in_bulk, cells.as_stream)
    )
    bare, whole = figures.medians(behind.without, behind.with_bytes, repeats=W1_REPEATS)
    many = "M cells/s"
    return [
        Figure(
            "crypto.esp_gcm",
            sealed,
            "M packets/s",
            called,
            "calls alone",
            sealed / called,
            ">= 1 M packets/s, ratio 0.75",
        ),
        Figure("crypto.cells", own, many, bulk, "bulk", own / bulk, ">= 15 M cells/s, ratio 0.3"),
        Figure("crypto.cells_roof", own, many, roof, "one stream", own / roof),
        Figure(
            "crypto.w1_bytes",
            whole,
            "s of CPU",
            bare,
            "without",
            whole / bare,
            f"ratio <= {W1_MOST}",
        ),
    ]

"""Receipts: which records the runs of this user have made, and from what.

Whoever writes into a folder of records can seal anything, so results are kept only from records
whose receipt is where nobody else can write. A receipt that cannot be written, or was removed, has
the cases run again.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from qospec.cache import find_private_folder
from qospec.dataclass import NamedTuple
from qospec.document import write_json
from qospec.record.seal import compute_checksum

if TYPE_CHECKING:
    from pathlib import Path

    from qospec.document import Document
    from qospec.record.store import Record

MOST = 10_000
"""How many are kept; then the older half is removed."""
VARIABLES = ("QOS_CHECK", "QOS_CHUNK", "QOS_KERNELS")
"""Of the environment: who sets one wants results to be computed so, to see that they are alike."""


class Receipt(NamedTuple):
    """What a record was made from.

    Attributes:
        maker: The digest of all else that results follow from: program, versions, seed, policy;
            and of the variables that say how they were computed.
        sources: The SHA-256 of each file that was read, by its name in the record.
    """

    maker: str
    sources: dict[str, str]


def make_receipt(provenance: Document, program: str) -> Receipt:
    """Return the receipt of a record of this provenance, which a program of this digest makes.

    What was set is in the files, and what an inconclusive case exits with is in no result.
    """
    maker = {name: value for name, value in provenance.items() if name != "sources"}
    maker |= {"policy": provenance["policy"]["a failed require"], "program": program}
    maker |= {name: os.environ.get(name, "") for name in VARIABLES}
    sources = {source["name"]: source["sha256"] for source in provenance["sources"]}
    return Receipt(compute_checksum(write_json(maker).encode()), sources)


def write_receipt(record: Record, receipt: Receipt) -> None:
    """Keep the receipt of a record whose run has ended, if there is a private folder."""
    folder = find_private_folder("receipts")
    identity = record.find_identity()
    if folder is None or not identity:
        return
    name = _name_receipt(identity, receipt.maker)
    temporary = folder / f"{name}.{os.getpid()}"
    with suppress(OSError):
        temporary.write_text(write_json(receipt._asdict()), encoding="utf-8")
        temporary.replace(folder / name)
        _remove_old(folder)


def read_receipt(record: Record, maker: str) -> Receipt | None:
    """Return the receipt of a record; None of one that no run of this user with `maker` has made.

    Raises:
        RecordError: The seal of the record cannot be read.
    """
    folder = find_private_folder("receipts")
    identity = record.find_identity()
    if folder is None or not identity:
        return None
    try:
        path = folder / _name_receipt(identity, maker)
        return Receipt(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def _name_receipt(identity: str, maker: str) -> str:
    """Return the name of a file: short runs within a second may differ by their makers only."""
    return f"{identity}-{maker}"


def _remove_old(folder: Path) -> None:
    paths = list(folder.iterdir())
    if len(paths) > MOST:
        paths.sort(key=lambda path: path.stat().st_mtime_ns)
        for path in paths[: len(paths) // 2]:
            path.unlink(missing_ok=True)

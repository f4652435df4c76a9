"""Files of data that fields name: captures, which are read where they are sent, and others."""

from __future__ import annotations

import functools
import hashlib
from typing import TYPE_CHECKING

from qospec.catalogue.kinds import MOST_CAPTURE_BYTES, CaptureFile, DataFile
from qospec.check.evaluate.context import CheckError, make_error
from qospec.check.evaluate.values import Text
from qospec.check.modules import files

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from qospec.check.evaluate.values import Value
    from qospec.document import Document
    from qospec.model.suite import Case
    from qospec.source import Span


def read_capture(value: Value, name: str, span: Span) -> CaptureFile:
    """Return the file of a field; raises CheckError."""
    file = find_data(value, (name, "capture", "site.pcapng"), MOST_CAPTURE_BYTES, span)
    return CaptureFile(file.name, file.path, file.digest)


def find_data(value: Value, names: tuple[str, str, str], most_bytes: int, span: Span) -> DataFile:
    """Return a file that a field names; raises CheckError.

    Args:
        value: The field's value.
        names: The field, what the file is, and an example of its name.
        most_bytes: How long it may be.
        span: Of the value.
    """
    name, kind, example = names
    if not isinstance(value, Text):
        raise make_error(
            "E0204",
            f"`{name}` is the name of a {kind}, not {value.what}",
            span,
            help=f'write it as a text: `{name} = "{example}"`',
        )
    what = f"the {kind} `{value.text}`"
    with files.explain_unread(what, span):
        path = files.find_named(value.text, value.home, what, span)
        known = path.stat()
        if known.st_size > most_bytes:
            raise _explain_long(what, kind, most_bytes, span)
        digest = _compute_digest(path, (known.st_mtime_ns, known.st_size))
    return DataFile(value.text, str(path), digest)


def _explain_long(what: str, kind: str, most_bytes: int, span: Span) -> CheckError:
    most = f"{most_bytes // 2**30} GiB" if most_bytes >= 2**30 else f"{most_bytes // 2**20} MiB"
    packets = "keep the headers, nothing else is read: `editcap -s 96 IN OUT`"
    return make_error(
        "E0214",
        f"{what} is too long: more than {most}",
        span,
        help=packets if kind == "capture" else "keep fewer lines, or several files",
    )


def list_data(case: Case) -> Iterator[DataFile]:
    """Yield the files that say what the flows of a case send, and how links do."""
    for network in case.networks.values():
        read = (getattr(instance.element, "file", None) for instance in network.elements)
        yield from (file for file in read if isinstance(file, DataFile))
    for flow in case.flows:
        later = (change.flow for change in flow.changes)
        for sent in (flow, *later):
            files_named = (
                getattr(sent.traffic, "file", None),
                getattr(sent.arrivals, "file", None),
            )
            yield from (file for file in files_named if isinstance(file, DataFile))


def find_replaced(case: Case, provenance: Document) -> str:
    """Return a file that a case reads and that is not what a record was made of; "" if none."""
    kept = {source["sha256"] for source in provenance["sources"]}
    return next((file.name for file in list_data(case) if file.digest not in kept), "")


@functools.lru_cache(maxsize=64)
def _compute_digest(path: Path, _known: tuple[int, int]) -> str:
    """Return the SHA-256 of a file, which is read once as long as it is not changed."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

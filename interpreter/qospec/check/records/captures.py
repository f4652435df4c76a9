"""Captures: the names of files with packets, which are read where they are sent."""

from __future__ import annotations

import functools
import hashlib
from typing import TYPE_CHECKING

from qospec.catalogue.kinds import MOST_CAPTURE_BYTES, CaptureFile
from qospec.check.evaluate.context import make_error
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
    if not isinstance(value, Text):
        raise make_error(
            "E0204",
            f"`{name}` is the name of a capture, not {value.what}",
            span,
            help=f'write it as a text: `{name} = "site.pcapng"`',
        )
    what = f"the capture `{value.text}`"
    with files.explain_unread(what, span):
        path = files.find_named(value.text, value.home, what, span)
        known = path.stat()
        if known.st_size > MOST_CAPTURE_BYTES:
            raise make_error(
                "E0214",
                f"{what} is too long: more than {MOST_CAPTURE_BYTES // 2**30} GiB",
                span,
                help="keep the headers, nothing else is read: `editcap -s 96 IN OUT`",
            )
        digest = _compute_digest(path, (known.st_mtime_ns, known.st_size))
    return CaptureFile(value.text, str(path), digest)


def list_captures(case: Case) -> Iterator[CaptureFile]:
    """Yield the files whose packets a case sends."""
    for flow in case.flows:
        file = getattr(flow.traffic, "file", None)
        if isinstance(file, CaptureFile):
            yield file


def find_replaced(case: Case, provenance: Document) -> str:
    """Return a capture that a case sends and that is not what a record was made of; "" if none."""
    kept = {source["sha256"] for source in provenance["sources"]}
    return next((file.name for file in list_captures(case) if file.digest not in kept), "")


@functools.lru_cache(maxsize=64)
def _compute_digest(path: Path, _known: tuple[int, int]) -> str:
    """Return the SHA-256 of a file, which is read once as long as it is not changed."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

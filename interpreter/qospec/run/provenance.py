"""The provenance of an outcome: all that it depends on."""

from __future__ import annotations

import importlib.metadata
import platform
from typing import TYPE_CHECKING

from qospec.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qospec.document import Document
    from qospec.model.suite import Suite


def describe_provenance(
    suite: Suite,
    *,
    seed: str,
    most_items: int,
    keep_going: bool = False,
    settings: Sequence[str] = (),
    backend: Document | None = None,
) -> Document:
    """Return all that the outcome depends on: versions, seed, and each file's text without keys.

    Args:
        suite: What is run.
        seed: The root of all random streams.
        most_items: How many items a trial may have.
        keep_going: Whether repeats go on after a failed `require`.
        settings: The values that were set, each `name=value`.
        backend: What carries trials out, as of `Backend.describe`; nothing for the emulation.
    """
    return {
        "qospec": VERSION,
        "python": platform.python_version(),
        "numpy": importlib.metadata.version("numpy"),
        "numba": importlib.metadata.version("numba"),
        "seed": seed,
        **({"backend": backend} if backend else {}),
        "limits": {"cells per trial": most_items},
        "policy": {
            "inconclusive": "exit code 3",
            "a failed require": "goes on" if keep_going else "ends its case",
            **({"set": ", ".join(settings)} if settings else {}),
        },
        "sources": describe_sources(suite),
    }


def describe_sources(suite: Suite) -> list[Document]:
    """Return each file that was read, with its text without keys; a capture's is left out."""
    return [
        {
            "name": source.recorded_name,
            "sha256": source.sha256,
            **({} if source.digest else {"text": source.shown}),
        }
        for source in suite.sources
    ]

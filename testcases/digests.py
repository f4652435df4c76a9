"""Digests of the results of the shipped suites' cases at the default seed, one per line.

They guard changes that should change no result: a case fails if one bit of its document differs.
Run as a program, reads the document of a run from standard input and stores its digests.
"""

import argparse
import hashlib
import json
import sys
from pathlib import Path

from qospec.document import Document

DIGESTS = Path(__file__).with_suffix(".txt")


def digest(case: Document) -> str:
    """Return the digest of a case's document, less what is no result of it.

    That is the command that runs it again, what is proved, which is compared with the results, and
    where packets waited, which explains them.
    """
    kept = {key: value for key, value in case.items() if key not in ("again", "bounds", "waits")}
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()[:16]


def stored() -> dict[str, str]:
    """Return the digests as they were last stored, by the names of cases."""
    lines = DIGESTS.read_text(encoding="utf-8").splitlines()
    return {name: value for value, name in (line.split(" ", 1) for line in lines)}


if __name__ == "__main__":
    argparse.ArgumentParser(description="Store the digests of a run.").parse_args()
    run = json.load(sys.stdin)
    named = sorted((case["name"], digest(case)) for case in run["cases"])
    DIGESTS.write_text("".join(f"{value} {name}\n" for name, value in named), encoding="utf-8")

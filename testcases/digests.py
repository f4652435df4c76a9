"""Digests of the results of the shipped suites' cases at the default seed, one per line.

They guard changes that should change no result: a case fails if one bit of its document differs.
They also say which cases a file has, so that tests are collected without checking any.
Run as a program, reads the document of a run from standard input and stores its digests.
"""

import argparse
import hashlib
import json
import sys
from pathlib import Path

from qospec.document import Document

DIGESTS = Path(__file__).with_suffix(".txt")
SUITES = "testcases/suites/"


def digest(case: Document) -> str:
    """Return the digest of a case's document, less what is no result of it.

    That is the command that runs it again, what is proved, which is compared with the results, and
    where packets waited, which explains them.
    """
    kept = {key: value for key, value in case.items() if key not in ("again", "bounds", "waits")}
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()[:16]


def stored() -> dict[str, dict[str, str]]:
    """Return the digests as they were last stored, by file of the suites and name of the case."""
    found: dict[str, dict[str, str]] = {}
    for line in DIGESTS.read_text(encoding="utf-8").splitlines():
        value, file, name = line.split(" ", 2)
        found.setdefault(file, {})[name] = value
    return found


if __name__ == "__main__":
    argparse.ArgumentParser(description="Store the digests of a run.").parse_args()
    run = json.load(sys.stdin)
    places = {test["name"]: test["place"] for test in run["tests"]}
    files = {name: place.rsplit(":", 2)[0].removeprefix(SUITES) for name, place in places.items()}
    named = sorted((files[case["test"]], case["name"], digest(case)) for case in run["cases"])
    lines = (f"{value} {file} {name}\n" for file, name, value in named)
    DIGESTS.write_text("".join(lines), encoding="utf-8")

"""Seals a record again that a test has changed, as a stranger would who knows of the seal."""

from hashlib import sha256
from pathlib import Path


def seal(folder: Path) -> None:
    """Write the checksums of all files of a record, in the form of `sha256sum`."""
    kinds = ("*.json", "*.json.gz", "cases/*.json", "report.*")
    files = sorted(file for kind in kinds for file in folder.glob(kind))
    lines = (
        f"{sha256(file.read_bytes()).hexdigest()}  {file.relative_to(folder)}\n"
        for file in files
        if file.is_file()
    )
    (folder / "SHA256SUMS").write_text("".join(lines), encoding="utf-8")

"""A counter-example: what is printed of it, and the file that is kept."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from qospec.check.records.keys import move_keys
from qospec.dataclass import dataclass
from qospec.writing import WriteError, explain_failure, write_whole

if TYPE_CHECKING:
    from qospec.document import Document


@dataclass(frozen=True)
class Finding:
    """The smallest example that breaks a promise.

    Attributes:
        target: The name of the property, test or device.
        noun: Which of these it is.
        place: Where that is declared.
        statement: The promise, as of `Violation`.
        reason: What was found instead.
        slug: As of `Violation`.
        text: The example, as a `.qos` file.
        examples: How many examples were run until it was found, those while it was shrunk included.
        shrunk: Whether no smaller one was found; false if the search was interrupted.
    """

    target: str
    noun: str
    place: str
    statement: str
    reason: str
    slug: str
    text: str
    examples: int
    shrunk: bool = True

    def save(self, start: str) -> Path:
        """Write the file, in place of one of an earlier search; raises WriteError.

        Args:
            start: What its path begins with, such as `fuzz/`.
        """
        path = Path(f"{start}{self.target}_{self.slug}.qos")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            message = f"cannot make the folder `{path.parent}`: {explain_failure(error)}"
            raise WriteError(message) from error
        home = Path(self.place.rsplit(":", 2)[0]).parent
        write_whole(path, move_keys(self.text, home, path.parent))
        return path

    def to_document(self, path: Path | None) -> Document:
        """Return it as a document for programs; `path` is None if it could not be saved."""
        return {
            "target": self.target,
            "kind": self.noun,
            "place": self.place,
            "statement": self.statement,
            "reason": self.reason,
            "examples": self.examples,
            "shrunk": self.shrunk,
            "file": None if path is None else path.as_posix(),
            "text": self.text,
        }

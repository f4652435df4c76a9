"""What the parser passes over: comments and blank lines, by the tokens between which they stand."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, NamedTuple

from qospec.dataclass import dataclass

if TYPE_CHECKING:
    from qospec.syntax.tokens import Tokens


class Comment(NamedTuple):
    """A comment on a line of its own; `text` begins with `#`. `parted`: a blank line is above."""

    text: str
    parted: bool


@dataclass
class Trivia:
    """Comments and blank lines, by the index of a token.

    Attributes:
        above: The comments on lines of their own between the token before and this one.
        parted: The tokens directly above which a blank line stands, below the comments.
        behind: The comment behind a token on its line.
    """

    above: dict[int, tuple[Comment, ...]] = field(default_factory=dict)
    parted: set[int] = field(default_factory=set)
    behind: dict[int, str] = field(default_factory=dict)

    def parted_above(self, at: int) -> bool:
        """Return whether a blank line is above a token and the comments that belong to it."""
        comments = self.above.get(at)
        return comments[0].parted if comments else at in self.parted

    def comments(self) -> list[str]:
        """Return all comments, in order."""
        found: list[str] = []
        for at in sorted({*self.above, *self.behind}):
            found.extend(comment.text for comment in self.above.get(at, ()))
            found.extend(self.behind[at] for _ in range(at in self.behind))
        return found


def trivia_of(tokens: Tokens) -> Trivia:
    """Return what stands between the tokens of a text without mistakes."""
    trivia, text, end = Trivia(), tokens.source.text, 0
    for at, start in enumerate(tokens.starts):
        gap = text[end:start]
        if "\n" in gap or "#" in gap:
            _read(trivia, at, gap)
        end = tokens.ends[at]
    return trivia


def _read(trivia: Trivia, at: int, gap: str) -> None:
    """Read what stands between a token and the one before it."""
    behind, *lines = gap.split("\n")
    if at == 0:
        behind, lines = "", [behind.removeprefix("\ufeff"), *lines]
    elif behind.strip():
        trivia.behind[at - 1] = behind.strip()
    comments, parted = [], False
    for line in lines[:-1]:
        if line.strip():
            comments.append(Comment(line.strip(), parted))
        parted = not line.strip()
    if lines and lines[-1].strip():  # the last line of a file, without its end
        comments.append(Comment(lines[-1].strip(), parted))
        parted = False
    if comments:
        trivia.above[at] = tuple(comments)
    if parted:
        trivia.parted.add(at)

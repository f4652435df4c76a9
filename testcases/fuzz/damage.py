"""Ways to damage a text: a few words, a subtree, a few bytes, or the whole."""

from __future__ import annotations

import functools
import re
from dataclasses import fields
from typing import TYPE_CHECKING

from qospec.diagnostics import Problems
from qospec.source import Source
from qospec.syntax import ast
from qospec.syntax.parser import parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from random import Random

PIECE = re.compile(r"\w+|[ \t]+|\n|[^\w\s]+")
NUMBER = re.compile(r"\d[\d_]*(?:\.\d+)?")
AFTER_COLON = re.compile(r": |- |\n *")
LONGEST = 40_000
"""Characters that a text is repeated to: what is not linear takes too long already."""
NUMBERS = (
    "0", "1", "-1", "2", "31", "255", "65_536", "4_294_967_296", "9" * 25, "9" * 299, "9" * 4_000,
    "1_000_000_000", "0.000_000_000_000_000_001", "0.1", "1/3", "1.5", "10" * 500 + ".5", "1e9",
)  # fmt: skip
ODD = (
    "\0", "\ufeff", "\u200b", "\u202e", "\r", "\r\n", "\x0b", "\x0c", "\x85", "\u2028", "\ud7ff",
    "\x7f", "\x1b[31m", "é", "µ", "μ", "\u0430", "\uff21", "\u0663", "²", "½", "日本", "\U0001f600",
    "“", "\u2212", "→", "\uff1b",
)  # fmt: skip
YAML = (
    "&a ", "*a ", "&a [*a, *a] ", "!!python/object:os.system ", "!tag ", "!!binary ", "| \n", "{",
    "\t", "? ", "- ", "---\n", "...\n", "%YAML 1.1\n", "<<: *a\n", ">-\n", "[", "'", '"', "null ",
    "~ ", "yes ", "0o17 ", "2001-01-01 ", ".inf ", "# x\n", "## doc\n",
    "&a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\n",
)  # fmt: skip
VALUES = (
    ast.Number, ast.Quantity, ast.Text, ast.Boolean, ast.Unary, ast.Binary, ast.Compare,
    ast.Conditional, ast.ListLiteral, ast.MapLiteral, ast.MixLiteral, ast.Path, ast.Call,
    ast.Record, ast.Range, ast.Layered,
)  # fmt: skip


class Damage:
    """Damages texts, with words and subtrees of other texts."""

    def __init__(self, random: Random, texts: Sequence[str]) -> None:
        self._random = random
        self._texts = texts
        self._words = sorted({piece for text in texts for piece in PIECE.findall(text)})

    @property
    def _nodes(self) -> dict[type, list[ast.Node]]:
        return _nodes_of(tuple(self._texts))

    def ways(self, *, yaml: bool) -> list[Callable[[str], str]]:
        """Return ways to damage a text; first those after which it can likely still be parsed."""
        return [
            *[self.yaml if yaml else self.subtrees] * 6, self.numbers, self.words, self.words,
            self.splice, self.characters, self.truncate, self.nest, self.repeat, self.lines,
        ]  # fmt: skip

    def words(self, text: str) -> str:
        """Delete, double, exchange or replace some words."""
        pieces, random = PIECE.findall(text) or [""], self._random
        for _ in range(random.randint(1, 5)):
            at, other = random.randrange(len(pieces)), random.randrange(len(pieces))
            kind = random.randrange(4)
            if kind == 0:
                pieces[at] = ""
            elif kind == 1:
                pieces[at] *= 2
            elif kind == 2:
                pieces[at], pieces[other] = pieces[other], pieces[at]
            else:
                pieces[at] = random.choice(self._words)
        return "".join(pieces)

    def subtrees(self, text: str) -> str:
        """Put other subtrees of the same type, or other values, into the text's tree."""
        random = self._random
        for _ in range(random.randint(1, 3)):
            tree = _tree(text)
            if tree is None:
                return text
            own = list(nodes(tree))
            old = random.choice(own)
            kind = type(old)
            if isinstance(old, ast.Expression) and random.random() < 0.2:
                kind = random.choice([node for node in self._nodes if issubclass(node, VALUES)])
            alike = [node for node in own if type(node) is kind and node.span.text != old.span.text]
            others = self._nodes.get(kind, [old])
            new = random.choice(alike if alike and random.random() < 0.7 else others).span.text
            text = text[: old.span.start] + new + text[old.span.end :]
        return text

    def numbers(self, text: str) -> str:
        """Replace some numbers by strange ones."""
        found = list(NUMBER.finditer(text))
        for match in sorted(
            self._random.sample(found, min(len(found), 2)), key=lambda m: -m.start()
        ):
            new = self._random.choice(NUMBERS)
            text = text[: match.start()] + new + text[match.end() :]
        return text

    def characters(self, text: str) -> str:
        """Put strange characters somewhere."""
        for _ in range(self._random.randint(1, 4)):
            at = self._random.randint(0, len(text))
            cut = self._random.choice((0, 1))
            text = text[:at] + self._random.choice(ODD) + text[at + cut :]
        return text

    def lines(self, text: str) -> str:
        """Use the line ends of other systems, or delete or exchange some lines."""
        kind = self._random.randrange(4)
        if kind == 0:
            return text.replace("\n", "\r\n")
        if kind == 1:
            return text.replace("\n", "\r")
        lines = text.split("\n")
        at, other = self._random.randrange(len(lines)), self._random.randrange(len(lines))
        lines[at], lines[other] = lines[other], lines[at] if kind == 2 else ""
        return "\n".join(lines)

    def splice(self, text: str) -> str:
        """Return the beginning of one text and the end of another."""
        other = self._random.choice(self._texts)
        return (
            text[: self._random.randint(0, len(text))]
            + other[self._random.randint(0, len(other)) :]
        )

    def yaml(self, text: str) -> str:
        """Insert features of YAML: anchors and aliases, tags, other styles, tabs."""
        for _ in range(self._random.randint(1, 3)):
            found = list(AFTER_COLON.finditer(text))
            at = self._random.choice(found).end() if found else 0
            text = text[:at] + self._random.choice(YAML) + text[at:]
        return text

    def truncate(self, text: str) -> str:
        """Return the beginning of a text."""
        return text[: self._random.randint(0, len(text))]

    def nest(self, text: str) -> str:
        """Put brackets around something, or opening ones somewhere."""
        at, other = sorted(self._random.randint(0, len(text)) for _ in range(2))
        deep = self._random.choice((1, 5, 31, 33, 200, 5_000))
        left, right = self._random.choice(
            (("(", ")"), ("[", "]"), ("{", "}"), ("x(", ")"), ("-", ""), ("not ", ""), ("a.", ""))
        )
        return text[:at] + left * deep + text[at:other] + right * deep + text[other:]

    def repeat(self, text: str) -> str:
        """Repeat some of the text very often, to find nonlinear time."""
        at = self._random.randint(0, len(text))
        some = text[at : at + self._random.choice((1, 3, 10, 80, 400))]
        times = self._random.choice((2, 30, 1_000, LONGEST // (len(some) or 1)))
        return text[:at] + some * min(times, LONGEST // (len(some) or 1)) + text[at:]


def spoilt_bytes(random: Random, data: bytes) -> bytes:
    """Flip, delete or add some bytes, whatever they mean."""
    spoilt = bytearray(data)
    for _ in range(random.randint(1, 6)):
        at = random.randint(0, len(spoilt))
        spoilt[at : at + random.choice((0, 1, 3))] = random.randbytes(random.choice((0, 1, 2)))
    return bytes(spoilt)


def nodes(node: object) -> Iterator[ast.Node]:
    """Yield a node and all below it."""
    if isinstance(node, tuple):
        for item in node:
            yield from nodes(item)
    elif isinstance(node, ast.Node):
        yield node
        for field in fields(node):
            yield from nodes(getattr(node, field.name))


@functools.cache
def _nodes_of(texts: tuple[str, ...]) -> dict[type, list[ast.Node]]:
    """Return the nodes of texts by type; to parse all takes seconds, so it is done when needed."""
    found: dict[type, list[ast.Node]] = {}
    for tree in map(_tree, texts):
        for node in nodes(tree):
            found.setdefault(type(node), []).append(node)
    return found


def _tree(text: str) -> ast.File | None:
    problems = Problems()
    tree = parse(Source("", text), problems)
    return None if problems.errors else tree

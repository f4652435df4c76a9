"""Every remedy is followed, and leads out of the error.

What a help shows is put where a reader would put it: in place of what is marked, of what resembles
it most beside that, or as a line of its own. What it says in words is done (`said`), and what it
leaves to the author is written as an author did (`authored`). Then this error is gone from there,
and what comes instead, if anything, is another one. In a file each form of a help is followed once.
"""

import difflib
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import pytest
from night import is_night
from testcases.language.authored import ANSWERED, ANSWERS, EXPECTATION, list_misleading
from testcases.language.said import MOST_TRIED, READERS
from testcases.language.test_language import diagnosed, refused_ones

from qospec.diagnostics import Diagnostic
from qospec.repair import apply_fixes, find_edits
from qospec.source import Span
from qospec.syntax.grammar import load_keywords

SHOWN = re.compile(r"(?:write|add|say which:|as in|such as|is|\bor|: |^) ?(`[^`…]+`|\"[^\"…]+\")")
"""What a help shows to be written; what has a `…` is to be completed."""
WORDS = frozenset(word for table in load_keywords().values() for word in table)
"""Words of the language, which a help may name without showing how to write them."""
BOUND = re.compile(
    r"(?:write|send packets of) at (?:least|most) ([0-9][\w.%]*(?: [A-Za-z/]+)?(?: @ip)?)"
)
NUMBER = re.compile(r"^write ([0-9][\w.,/]*(?: [\w/]+)?)$")
TOKEN = re.compile(r"\w+|[^\w\s]")
OWN = re.compile(r"`[^`]*`|\"[^\"]*\"|[0-9][\w.,/%]*")
"""What of a help is of the error it goes with."""
MOST_ALIKE = 6
ONE_IN = 1 if is_night() else 4
"""Of so many files one is searched for what its helps say in words; at night each is."""


class Followed(NamedTuple):
    """A text with a remedy followed, and what was written there: where, and how much of it."""

    text: str
    start: int = 0
    length: int = 0


class Remedy(NamedTuple):
    """What one help shows, of a diagnostic of a file."""

    path: Path
    told: tuple[Diagnostic, ...]
    diagnostic: Diagnostic
    shown: str
    """What to write; "" for the fix that goes with the help."""


def main_of(path: Path) -> Path:
    return path / "main.qos" if path.is_dir() else path


def shown_by(diagnostic: Diagnostic) -> list[str]:
    help_ = diagnostic.help
    codes = [code.strip("`") for code in SHOWN.findall(help_)]
    numbers = [match[1] for match in (BOUND.search(help_), NUMBER.match(help_)) if match]
    written = [code for code in codes if re.search(r"\w", code) and code not in WORDS]
    return list(dict.fromkeys([*written, *numbers]))


def form_of(diagnostic: Diagnostic) -> str:
    """Return the code and the help of a diagnostic, without what is its own."""
    return f"{diagnostic.code} {OWN.sub('_', diagnostic.help)}"


def remedied(path: Path) -> tuple[tuple[Diagnostic, ...], list[Diagnostic]]:
    """Return what is told of a file, and of that what has a remedy, of each form the first."""
    main = main_of(path)
    told = tuple(diagnosed(main))
    own = [diagnostic for diagnostic in told if Path(diagnostic.span.source.name).name == main.name]
    return told, list(
        {
            form_of(diagnostic): diagnostic for diagnostic in reversed(own) if diagnostic.help
        }.values()
    )[::-1]


def done(diagnostic: Diagnostic) -> list[Iterator[str]]:
    """Return, for each thing that a help says in words, the texts in which it is done."""
    if diagnostic.fix or form_of(diagnostic) in ANSWERED:
        return []
    found = ((reader, pattern.finditer(diagnostic.help)) for pattern, reader in READERS)
    return [reader(diagnostic, match) for reader, matches in found for match in matches]


def leads_out(remedy: Remedy, texts: Iterator[str], folder: Path) -> bool:
    """Return whether one of the texts leads out of the error of a remedy."""
    own = remedy.diagnostic.span.source.text
    tried = (text for text in islice(texts, MOST_TRIED) if text != own)
    return any(leads_on(remedy, Followed(text), folder) for text in tried)


def regions(text: str, start: int, end: int, shown: str) -> list[tuple[int, int]]:
    """Return the parts of the lines of a span that resemble what is shown, the most alike first."""
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", end - 1 if end > start else end)
    line = EXPECTATION.sub("", text[first : last if last >= 0 else len(text)])
    tokens = [(match.start() + first, match.end() + first) for match in TOKEN.finditer(line)]
    parts = [(a, b) for a, _ in tokens for _, b in tokens if a < b]
    around = [(a, b) for a, b in parts if a <= end and b >= start]
    matcher = difflib.SequenceMatcher(b=shown, autojunk=False)

    def likeness(part: tuple[int, int]) -> tuple[float, int]:
        matcher.set_seq1(text[slice(*part)])
        return matcher.ratio(), part[0] - part[1]

    best = sorted(around, key=likeness, reverse=True)[:MOST_ALIKE]
    return [*best, *sorted(parts, key=likeness, reverse=True)[:2]]


def followed(remedy: Remedy) -> Iterator[Followed]:
    """Yield the file with the remedy followed, in each way that a reader may try."""
    diagnostic, shown = remedy.diagnostic, remedy.shown
    text = diagnostic.span.source.text
    if not shown:
        yield Followed(apply_fixes(text, [find_edits(diagnostic)])[0])
        return
    yield replaced(text, diagnostic.span.start, diagnostic.span.end, shown)._replace(length=0)
    yield from in_its_own_place(text, diagnostic.span, shown)
    yield from in_place_of_what_is_alike(text, diagnostic, shown)
    yield from inserted(text, diagnostic.span, shown)


def replaced(text: str, start: int, end: int, shown: str, before: str = "") -> Followed:
    written = text[:start] + before + shown + text[end:]
    return Followed(written, start + len(before), len(shown))


def in_its_own_place(text: str, span: Span, shown: str) -> Iterator[Followed]:
    """Yield where only what is shown can belong: braces behind a medium, an import, a claim."""
    lines = [(match.start(), match.end()) for match in re.finditer(r".+", text)]
    (here,) = (line for line in lines if line[0] <= span.start <= line[1])
    if shown.startswith("{"):
        for medium in re.finditer(r"\bvia [\w.]+", text):
            yield replaced(text, medium.end(), medium.end(), shown, " ")
    if shown.startswith("import "):
        yield replaced(text, *here, shown)._replace(length=0)
        yield replaced(text, lines[0][1], lines[0][1], shown, "\n")
    if shown.startswith("as "):
        line = EXPECTATION.sub("", text[slice(*here)])
        end = here[0] + len(line.partition(" when ")[0])
        yield replaced(text, end, end, shown, " ")


def in_place_of_what_is_alike(text: str, diagnostic: Diagnostic, shown: str) -> Iterator[Followed]:
    """Yield it in place of a path or a condition, or of what resembles it beside a mark."""
    span = diagnostic.span
    for path in re.finditer(r"[\w.\[\]\"/]+", text):
        if path.start() <= span.start < path.end():
            yield replaced(text, path.start(), path.end(), shown)._replace(length=0)
    if statement := re.match(r"(?:expect|require|invariant) (?:\w+: )?", span.text):
        yield replaced(text, span.start + statement.end(), span.end, shown)._replace(length=0)
    for place in (span, *(label.span for label in diagnostic.secondary)):
        if place.source is span.source:
            for number, (start, end) in enumerate(regions(text, place.start, place.end, shown)):
                one = replaced(text, start, end, shown)
                yield one if number in range(2, MOST_ALIKE) else one._replace(length=0)


def inserted(text: str, span: Span, shown: str) -> Iterator[Followed]:
    """Yield it as a line of its own, or as one more of what is between braces."""
    above = text.rfind("\n", 0, span.start) + 1
    for place in (above, text.find("\n", span.end) + 1, *ends_of_blocks(text, span.end)):
        yield Followed(text[:place] + shown + "\n" + text[place:])
    for opened in re.finditer(r"[\w)]+ \{", text):
        for behind in (f" {shown}, ", f"\n{shown}\n"):
            yield Followed(text[: opened.end()] + behind + text[opened.end() :])
    for closed in re.finditer(r",? *\}", text[span.start :]):
        place = span.start + closed.start()
        yield Followed(text[:place] + f", {shown}" + text[place:])


def ends_of_blocks(text: str, start: int) -> list[int]:
    """Return where the blocks around a place end."""
    return [start + match.start() + 1 for match in re.finditer(r"\n *\}", text[start:])][:2]


def leads_on(remedy: Remedy, one: Followed, folder: Path) -> bool:
    """Return whether an error is gone, what was written can be read, and is not wrong itself.

    Another error may come elsewhere; or where what is marked was replaced, as the help says.
    """
    path = folder / remedy.path.name
    if remedy.path.is_dir():
        shutil.copytree(remedy.path, path, dirs_exist_ok=True)
    main_of(path).write_text(one.text, encoding="utf-8")
    own, grown = remedy.diagnostic, len(one.text) - len(remedy.diagnostic.span.source.text)
    places = {own.span.start, own.span.start + grown}
    before = Counter((problem.code, problem.message) for problem in remedy.told)
    found = diagnosed(main_of(path))
    after = Counter((problem.code, problem.message) for problem in found)
    fresh = [problem for problem in found if (problem.code, problem.message) in after - before]
    remains = any(
        (problem.code, problem.message) == (own.code, own.message) and problem.span.start in places
        for problem in found
    )
    return not remains and not any(
        (problem.code.startswith("E00") and problem.code != own.code)
        or (
            one.length
            and one.start < problem.span.end
            and problem.span.start < one.start + one.length
        )
        for problem in fresh
    )


REFUSED = [path for path in refused_ones() if main_of(path).suffix == ".qos"]


@pytest.mark.parametrize("path", REFUSED, ids=lambda path: path.stem)
def test_each_remedy_leads_out_of_its_error(path: Path, tmp_path: Path) -> None:
    told, helped = remedied(path)
    misled: list[tuple[str, ...]] = []
    unread = []
    for problem in helped:
        shown, said = shown_by(problem), done(problem)
        for code in [""] if problem.fix else shown:
            remedy = Remedy(path, told, problem, code)
            if not any(leads_on(remedy, one, tmp_path) for one in followed(remedy)):
                misled.append((problem.code, problem.help, code))
        remedy = Remedy(path, told, problem, problem.help)
        misled += [
            (problem.code, problem.help, "")
            for texts in (said if REFUSED.index(path) % ONE_IN == 0 else ())
            if not leads_out(remedy, texts, tmp_path)
        ]
        if not (problem.fix or shown or said or form_of(problem) in ANSWERED):
            unread.append(form_of(problem))
    for form, answer in ANSWERS.get(path.stem, {}).items():
        asked = [problem for problem in told if form_of(problem) == form]
        misled += [(form, way) for way in list_misleading(answer, path, told, asked, tmp_path)]
    assert misled == []
    assert unread == [], "followed by nothing: write in followed.yaml how authors follow it"


def test_authors_follow_helps_of_refused_files() -> None:
    assert ANSWERS.keys() <= {path.stem for path in REFUSED}

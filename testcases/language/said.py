"""What a help says in words, done: left out, renamed, chosen, counted at a layer, made larger.

Each reader knows a way of speaking. It yields the texts that a reader of the help may write, the
likeliest first, and tries nothing that the help does not say.
"""

import re
from collections.abc import Callable, Iterator

from qospec.diagnostics import Diagnostic

Place = tuple[int, int]
Texts = Iterator[str]
MOST_TRIED = 120
"""So many texts of one help at most."""

QUANTITY = re.compile(
    r"(?<![\w.])(-?\d[\d_]*(?:\.\d+)?)( ?(?:[A-Za-zµ]+(?:/[A-Za-z]+)?|%))?( @\w+)?"
)
NAME = re.compile(r"[A-Za-z_]\w*")
CODE = re.compile(r"`([^`]+)`")
LAYERS = ("ip", "frame", "line", "cell", "payload")
FILLS = (
    *("1", "2", "100", "1 ms", "20 ms", "1 s", "1_000 cell/s", "100 pkt/s", "1 Mbit/s @line"),
    *("1 Mbit/s @ip", "1 Mbit/s @cell", "100 B", "100 B @ip", "10%", "100 pkt", "100 cell"),
    *("g711", "0 .. 3", "pkt.dscp == 46", '"because"', "fifo", "[1, 2]", "true"),
)
"""What a `…` may stand for."""
OF_A_SORT = {
    "a cell rate": ("1_000 cell/s",),
    "a number of cells": ("1 cell",),
    "a number of packets": ("1 pkt",),
    "a number of frames": ("1 frame",),
    "a time": ("1 s",),
    "a number": ("1",),
    "a whole number": ("1", "2"),
    "a percentage": ("10%",),
    "a value": FILLS,
    "its value": FILLS,
    "the number itself": ("1", "10 ms", "1_000 cell/s"),
}


def around(diagnostic: Diagnostic) -> list[Place]:
    """Return the marked place, what is marked beside it, and the lines of both, without repeats."""
    text, source = diagnostic.span.source.text, diagnostic.span.source
    spans = [diagnostic.span, *(label.span for label in diagnostic.secondary)]
    marked = [(span.start, span.end) for span in spans if span.source is source]
    lines = [line_of(text, *place) for place in marked]
    return list(dict.fromkeys([*marked, *lines, (0, len(text))]))


def line_of(text: str, start: int, end: int) -> Place:
    last = text.find("\n", max(start, end - 1))
    return text.rfind("\n", 0, start) + 1, last if last >= 0 else len(text)


def cut(text: str, start: int, end: int, written: str = "") -> str:
    return text[:start] + written + text[end:]


def matches_of(pattern: re.Pattern[str], diagnostic: Diagnostic) -> Iterator[re.Match[str]]:
    """Yield what matches, the nearest places first."""
    seen = set()
    for start, end in around(diagnostic):
        for match in pattern.finditer(diagnostic.span.source.text, start, end):
            if match.span() not in seen:
                seen.add(match.span())
                yield match


def without(text: str, start: int, end: int) -> Iterator[str]:
    """Yield a text without a part of it: with a separator, as a field, as a line, as a block."""
    yield cut(text, start, end)
    before, behind = re.compile(r",?\s*$"), re.compile(r"\s*,?")
    found = before.search(text, 0, start)
    yield cut(text, found.start() if found else start, end)
    ahead = behind.match(text, end)
    yield cut(text, start, ahead.end() if ahead else end)
    for field in re.finditer(r",?\s*\b\w+ = [^,}\n]*(?:\{[^}]*\})?", text):
        if field.start() <= start <= field.end():
            yield cut(text, *field.span())
            yield cut(text, *field.span(), "\n")
    first, last = line_of(text, start, end)
    yield cut(text, first, last + 1)
    depth = 0
    for place in range(first, len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if depth == 0 and text[place] in "}\n":
            yield cut(text, first, place + 1)
            return


def left_out(diagnostic: Diagnostic, match: re.Match[str]) -> Texts:
    text = diagnostic.span.source.text
    named = [code for code in CODE.findall(match[0]) if code != diagnostic.span.text]
    for code in named:
        likely = re.compile(re.escape(code).replace("…", r"[^\n,}]*?") + r"(?=[\s,})]|$)")
        for found in matches_of(likely, diagnostic):
            yield from without(text, *found.span())
        for found in matches_of(re.compile(rf"\b{re.escape(code)}\s*=\s*[^\n,}}]*"), diagnostic):
            yield from without(text, *found.span())
    if not named:
        for place in around(diagnostic)[:-1]:
            yield from without(text, *place)
        for found in matches_of(re.compile(r"\{[^{}]*\}"), diagnostic):
            yield cut(text, *found.span())


def renamed(diagnostic: Diagnostic, match: re.Match[str]) -> Texts:
    text = diagnostic.span.source.text
    written = (CODE.findall(match[0]) or ["another_one"])[0]
    for found in matches_of(NAME, diagnostic):
        yield cut(text, *found.span(), written)


def chosen(diagnostic: Diagnostic, match: re.Match[str]) -> Texts:
    text, help_ = diagnostic.span.source.text, diagnostic.help
    listed = re.search(r"`qos (\w+)`", match[0])
    words = [
        *CODE.findall(help_),
        *re.findall(r"[\w.]+", " ".join(diagnostic.notes)),
        *NAME.findall(text),
    ]
    if listed:
        words = [*names_listed(listed[1]), *words]
    places = [place for place in around(diagnostic)[:1] if place[0] < place[1]]
    tokens = [found.span() for found in NAME.finditer(diagnostic.span.text)]
    shifted = [(a + diagnostic.span.start, b + diagnostic.span.start) for a, b in tokens]
    for place in dict.fromkeys([*places, *reversed(shifted), *shifted]):
        for word in dict.fromkeys(words):
            yield cut(text, *place, word)


def names_listed(what: str) -> tuple[str, ...]:
    """Return some of the names that a command lists."""
    few = {"metrics": ("lost", "delay.mean", "received"), "traffic": ("packets", "cbr", "echo")}
    return few.get(what, ())


def layered(diagnostic: Diagnostic, match: re.Match[str]) -> Texts:
    text = diagnostic.span.source.text
    asked = (
        re.findall(r"@(\w+)", match[0])
        or re.findall(r"@(\w+)", " ".join(diagnostic.notes))
        or LAYERS
    )
    bare = "without a layer" in match[0] or "leave out" in match[0]
    start, end = around(diagnostic)[0]
    for layer in asked:
        counted = QUANTITY.sub(rf"\1\2 @{layer}", text[start:end])
        yield cut(text, start, end, counted)
    for found in matches_of(QUANTITY, diagnostic):
        for layer in asked:
            yield cut(text, *found.span(), f"{found[1]}{found[2] or ''} @{layer}")
        if bare and found[3]:
            yield cut(text, *found.span(), f"{found[1]}{found[2] or ''}")


def bounded(diagnostic: Diagnostic, match: re.Match[str]) -> Texts:
    """Write the very value that is said."""
    text, value = diagnostic.span.source.text, match["value"]
    for found in matches_of(QUANTITY, diagnostic):
        yield cut(text, *found.span(), value + (found[3] or "" if "@" not in value else ""))
        yield cut(text, *found.span(), value)
        if found[2] and found[2].strip() == "%":
            yield cut(text, *found.span(), value)


def scaled(diagnostic: Diagnostic, match: re.Match[str]) -> Texts:
    text = diagnostic.span.source.text
    less = re.search(
        r"less|lower|smaller|shorter|fewer|earlier|within|loosen|rounder|relax", match[0]
    )
    factors = (0.5, 0.1, 0.001, 0) if less else (2, 10, 1_000, 100_000)
    for factor in factors:
        for found in matches_of(QUANTITY, diagnostic):
            number = float(found[1].replace("_", "")) * factor
            written = f"{number:.6f}".rstrip("0").rstrip(".")
            yield cut(text, *found.span(), written + (found[2] or "") + (found[3] or ""))


def of_a_sort(diagnostic: Diagnostic, match: re.Match[str]) -> Texts:
    text = diagnostic.span.source.text
    for value in OF_A_SORT[match["sort"]]:
        yield cut(text, diagnostic.span.start, diagnostic.span.end, value)
        for found in matches_of(QUANTITY, diagnostic):
            yield cut(text, *found.span(), value)
        yield cut(text, diagnostic.span.end, diagnostic.span.end, f" {value}")


def moved(diagnostic: Diagnostic, _match: re.Match[str]) -> Texts:
    text = diagnostic.span.source.text
    for place in around(diagnostic)[:2]:
        first, last = line_of(text, *place)
        line, rest = text[first : last + 1], cut(text, first, last + 1)
        starts = [0, *(found.end() for found in re.finditer("\n", rest))]
        for start in sorted(starts, key=lambda start: abs(start - first)):
            if start != first:
                yield cut(rest, start, start, line)
    marked = diagnostic.span.text
    for found in matches_of(re.compile(r"[{}]|(?<=\n)\s*(?=\w)"), diagnostic):
        rest = cut(text, diagnostic.span.start, diagnostic.span.end)
        if found.end() <= len(rest):
            yield cut(rest, found.end(), found.end(), f" {marked} ")


def completed(diagnostic: Diagnostic, match: re.Match[str]) -> Texts:
    """Write a code whose `…` stands for what the author means."""
    text, span = diagnostic.span.source.text, diagnostic.span
    for value in FILLS:
        code = match[1].replace("…", value)
        yield cut(text, span.start, span.end, code)
        name = code.split(" = ")[0]
        if " = " in code:
            for found in matches_of(re.compile(rf"\b{re.escape(name)} = [^,\n}}]*"), diagnostic):
                yield cut(text, *found.span(), code)
        opened = text.find("{", span.start)
        if opened >= 0:
            yield cut(text, opened + 1, opened + 1, f" {code}, ")
            yield cut(text, opened + 1, opened + 1, f"\n{code}\n")
        _, last = line_of(text, span.start, span.end)
        yield cut(text, span.end, span.end, f", {code}")
        yield cut(text, span.end, span.end, f" {{ {code} }}")
        yield cut(text, span.end, span.end, f"({code})")
        yield cut(text, last, last, f"\n{code}")
        yield cut(text, span.end - 1, span.end - 1, f", {code}")
        for closed in re.finditer(r"\)|\n? *\}", text[span.start :]):
            place = span.start + closed.start()
            yield cut(text, place, place, f", {code}")
            yield cut(text, place, place, f"\n{code}")


def typed(diagnostic: Diagnostic, match: re.Match[str]) -> Texts:
    """Write a sign, or begin a line, somewhere near."""
    text, (_, line, *_) = diagnostic.span.source.text, [*around(diagnostic), (0, 0)]
    sign = match.groupdict().get("sign") or "\n"
    for place in (diagnostic.span.start, diagnostic.span.end, *range(line[1], line[0], -1)):
        yield cut(text, place, place, sign)
    for found in re.finditer("\n", text):
        yield cut(text, found.start(), found.start(), sign)
    yield text + sign


def worded(diagnostic: Diagnostic, match: re.Match[str]) -> Texts:
    """Write a word or sign of the language in place of what is marked, or of what is near."""
    text, span, word = diagnostic.span.source.text, diagnostic.span, match["word"]
    yield cut(text, span.start, span.end, word)
    yield cut(text, span.start, span.end, f" {word} ")
    for found in matches_of(re.compile(r"\w+|[^\w\s]+"), diagnostic):
        yield cut(text, *found.span(), word)
    yield cut(text, span.end, span.end, f" {word} ")


def made_equal(diagnostic: Diagnostic, match: re.Match[str]) -> Texts:
    """Give a field its first value, or its last one, everywhere; or leave it out everywhere."""
    text = diagnostic.span.source.text
    names = CODE.findall(match[0]) or ["key"]
    for name in names:
        field = re.compile(rf"\b{re.escape(name)} = [^,}}\n]*")
        values = field.findall(text)
        for value in (values[:1], values[-1:]):
            if value:
                yield field.sub(value[0], text)
    for name in names:
        yield re.sub(rf",?\s*\b{re.escape(name)} = [^,}}\n]*", "", text)


def put_ahead(diagnostic: Diagnostic, match: re.Match[str]) -> Texts:
    """Declare an element ahead of the marked one, and lead there what leads to that."""
    text, span = diagnostic.span.source.text, diagnostic.span
    begins, name = line_of(text, span.start, span.end)[0], text[span.start : span.end]
    behind = re.sub(rf"-> {re.escape(name)}\b", f"-> ahead -> {name}", text[begins:])
    yield f"{text[:begins]}  ahead = {match['kind']}\n{behind}"


def declared(diagnostic: Diagnostic, match: re.Match[str]) -> Texts:
    """Give a declaration another type, or a port another kind."""
    text, sort = diagnostic.span.source.text, match["sort"]
    for found in matches_of(re.compile(r": ([A-Za-z]+)"), diagnostic):
        yield cut(text, *found.span(1), sort)


AMOUNT = r"(?P<value>(?!0 )-?[\d_]+(?:\.\d+)?(?: ?[A-Za-zµ%]+(?:/[A-Za-z]+)?)?(?: @\w+)?)"
Reader = Callable[[Diagnostic, re.Match[str]], Texts]
READERS: tuple[tuple[re.Pattern[str], Reader], ...] = tuple(
    (re.compile(pattern), reader)
    for pattern, reader in (
        (
            r"\bleave (?:(?:it|the [a-z]+|`[^`]+`|one of [\w ]+) out|out (?:`[^`]+`|what [\w ]+))",
            left_out,
        ),
        (r"\bleave the `\w+` out|\btake (?:the )?`\w+` away|\bask for no `\w+`", left_out),
        (r"^write `(?P<word>[a-z]+|--|==)`$", worded),
        (r"\bgive both (?:ends )?(?:the same|one)\b.*", made_equal),
        (r"\bdeclare (?:it|the port) (?:as )?`(?:: )?(?P<sort>\w+)`", declared),
        (r"^put an? `(?P<kind>\w+)` ahead of it$", put_ahead),
        (r"\bdelete it|\bremove (?:the braces|it from|`[^`]+`)|\bkeep one of them", left_out),
        (r"\bgive [\w ]*(?:another|a different) (?:name|label)|choose another name", renamed),
        (r"\bcall it `_\w+`", renamed),
        (r"\bchoose one of them|\bchoose another (?!name)|\bwrite one of them", chosen),
        (
            r"\bone that `qos \w+` lists|\bname (?:a|another|other) |\bname other|\buse another",
            chosen,
        ),
        (r"\bcount [^`]*(?:`?@\w+`?|layers?\b|these)|\bgive (?:the|them)[^`]*`?@\w+`?", layered),
        (r"\bleave out `@\w+`", layered),
        (
            r"\b(?:at (?:least|most)|up to|above|ends at) `?" + AMOUNT,
            bounded,
        ),
        (
            r"\b(?:(?:short|long|small|larg|earli|lat|low|few)er|less|relax|loosen)\b",
            scaled,
        ),
        (
            r"\b(?:write|compare with|add) (?P<sort>"
            + "|".join(sorted(OF_A_SORT, key=len)[::-1])
            + r")\b",
            of_a_sort,
        ),
        (
            r"\bmove (?:it|`[^`]+`) |\bmove it up|\bwrite `[^`]+` before|between the same braces",
            moved,
        ),
        (r"\b(?:add|name one:|beside that:|write it here:) `([^`]*…[^`]*)`", completed),
        (r"\bwrite `(?P<sign>[^\w`…])`|\bbegin a new line", typed),
        (r"\bclose it with `(?P<sign>[^\w`])`", typed),
    )
)

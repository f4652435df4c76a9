"""What became better or worse between two runs, criterion by criterion.

With equal seeds and versions of NumPy, the repeats of both runs have the same random draws, so each
is compared with its own counterpart, exactly. Otherwise a difference counts only if all values of
one run are beyond all of the other, and there are so many that chance alone does so in at most 5 %
of cases: that is the permutation test of Mann and Whitney (Ann. Math. Statist. 18 (1947), 50) at
its extreme.
"""

from __future__ import annotations

from collections import Counter
from difflib import unified_diff
from fractions import Fraction
from math import comb
from typing import TYPE_CHECKING, Any

from qospec.dataclass import NamedTuple
from qospec.record.quantity import read_number
from qospec.report.views import choose_title, name_backend
from qospec.report.words import describe_measured

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from qospec.document import Document

BETTER, WORSE, SAME, OPEN = "better", "worse", "same", "cannot tell"
WORDS = (WORSE, OPEN, BETTER, SAME)
"""What two runs of a criterion come to, in the order in which they call for a look."""
CHANCE = Fraction(5, 100)
"""How often runs that do not differ may be told apart."""

MOST_LINES = 200
"""Of what changed in a file."""
SIGNS = {"<": -1, "<=": -1, ">": 1, ">=": 1}
"""By a comparison, which way is better: 1 if more is."""


class Compared(NamedTuple):
    """A statement in two runs.

    Attributes:
        case: The name of its case.
        label: Its label; "" if the case as a whole is missing in one of the runs.
        word: One of `WORDS`.
        before: What it came to in the first run.
        after: In the second one.
        why: What decides, or why nothing does.
    """

    case: str
    label: str
    word: str
    before: str
    after: str
    why: str


class Comparison(NamedTuple):
    """All statements of two runs that either has, and whether their draws are the same."""

    rows: tuple[Compared, ...]
    paired: bool

    def count_words(self) -> dict[str, int]:
        """Return how many statements come to each word."""
        found = Counter(row.word for row in self.rows)
        return {word: found[word] for word in WORDS}

    @property
    def sentence(self) -> str:
        """Return these counts in words: `1 worse, 3 same`."""
        counts = [f"{count:_} {word}" for word, count in self.count_words().items() if count]
        return ", ".join(counts) or "nothing to compare"

    @property
    def how(self) -> str:
        """Return in words how repeats were compared."""
        return "each repeat with its counterpart" if self.paired else "seeds or versions differ"


def compare_outcomes(before: Document, after: Document) -> Comparison:
    """Return what became of each statement of a run in another one; cases are joined by name."""
    paired = before["seed"] == after["seed"] and all(
        before["provenance"][name] == after["provenance"][name] for name in ("numpy", "qospec")
    )
    same_files = _read_files(before) == _read_files(after)
    earlier = {case["name"]: case for case in before["cases"]}
    later = {case["name"]: case for case in after["cases"]}
    rows: list[Compared] = []
    for name in dict.fromkeys((*earlier, *later)):
        if name in earlier and name in later:
            alike = {"paired": paired, "same_files": same_files}
            rows += _compare_cases(earlier[name], later[name], **alike)
        else:
            first, second = (case.get(name) for case in (earlier, later))
            rows.append(_describe_missing(name, first, second))
    return Comparison(tuple(rows), paired)


def describe_backends(before: Document, after: Document) -> str:
    """Return in a sentence what each run was measured by; "" if that is the same."""
    first, second = name_backend(before), name_backend(after)
    if first == second:
        return ""
    said = [f"on {name}" if name else "by the emulation" for name in (first, second)]
    return f"the first was measured {said[0]}, the second {said[1]}"


def list_changed_files(before: Document, after: Document) -> Iterator[Document]:
    """Yield each file of two runs that differs: its `name`, `what` became of it, and its `lines`.

    These are those of a unified diff, as many as a page shows; `left_out` counts the others. Of a
    capture there are none.
    """
    earlier, later = (
        {source["name"]: source for source in outcome["provenance"].get("sources", ())}
        for outcome in (before, after)
    )
    for name in dict.fromkeys((*earlier, *later)):
        one, other = earlier.get(name), later.get(name)
        if one is None or other is None:
            yield {"name": name, "what": f"only {'before' if one else 'after'}", "lines": []}
        elif one["sha256"] != other["sha256"]:
            was, now = (source.get("text", "").splitlines() for source in (one, other))
            lines = [*unified_diff(was, now, "before", "after", lineterm="")]
            left_out = max(0, len(lines) - MOST_LINES)
            shown = {"lines": lines[:MOST_LINES], "left_out": left_out}
            yield {"name": name, "what": "changed", **shown}


def describe_comparison(found: Comparison, before: Document, after: Document) -> Document:
    """Return what the page of a comparison shows; of each run that is its frame, no cases."""
    places = {row.case: place for place, row in enumerate(reversed(found.rows))}
    counts = found.count_words()
    there = [word for word in WORDS if counts[word]]
    return {
        "qospec": after["qospec"],
        "name": choose_title(after),
        "word": there[0] if there else OPEN,
        "sentence": found.sentence,
        "how": found.how,
        "backends": describe_backends(before, after),
        "counts": counts,
        "before": _describe_run(before),
        "after": _describe_run(after),
        "files": [*list_changed_files(before, after)],
        "statements": [{**row._asdict(), "place": -places[row.case]} for row in found.rows],
    }


def _describe_run(outcome: Document) -> Document:
    provenance = outcome["provenance"]
    return {
        **{name: outcome[name] for name in ("verdict", "state", "seed", "qospec")},
        "cases": len(outcome["cases"]),
        "numpy": provenance["numpy"],
        "set": provenance.get("policy", {}).get("set", ""),
    }


def _read_files(outcome: Document) -> tuple[str, dict[str, str]]:
    """Return what was set on the command line, and the checksums of the files."""
    provenance = outcome["provenance"]
    sources = {source["name"]: source["sha256"] for source in provenance.get("sources", ())}
    return provenance.get("policy", {}).get("set", ""), sources


def _describe_missing(
    name: str, before: Mapping[str, Any] | None, after: Mapping[str, Any] | None
) -> Compared:
    there = "only the first has it" if after is None else "only the second has it"
    first, second = ("" if case is None else case["verdict"] for case in (before, after))
    return Compared(name, "", OPEN, first, second, there)


def _compare_cases(
    before: Mapping[str, Any], after: Mapping[str, Any], *, paired: bool, same_files: bool
) -> Iterator[Compared]:
    earlier, later = (_list_statements(case) for case in (before, after))
    for key in dict.fromkeys((*earlier, *later)):
        one, other = earlier.get(key), later.get(key)
        if one is None or other is None:
            there = "only the second has it" if one is None else "only the first has it"
            first, second = (_describe(statement) for statement in (one, other))
            yield Compared(before["name"], key[1], OPEN, first, second, there)
            continue
        values = _read_values(one, before), _read_values(other, after)
        another = "" if same_files else _describe_another_criterion(one, other)
        word, why = _judge(one, other, values, another, paired=paired)
        yield Compared(before["name"], key[1], word, _describe(one), _describe(other), why)
    if not (earlier or later):
        same = before["verdict"] == after["verdict"]
        word, why = (SAME, "") if same else (OPEN, "it has no statement")
        yield Compared(before["name"], "", word, before["verdict"], after["verdict"], why)


def _list_statements(case: Mapping[str, Any]) -> dict[tuple[str, str, int], Mapping[str, Any]]:
    """Return the statements by kind, label, and which of several with the same label it is."""
    found: dict[tuple[str, str, int], Mapping[str, Any]] = {}
    seen: Counter[tuple[str, str]] = Counter()
    for statement in case["statements"]:
        key = statement["kind"], statement["label"]
        found[*key, seen[key]] = statement
        seen[key] += 1
    return found


def _describe(statement: Mapping[str, Any] | None) -> str:
    if statement is None:
        return ""
    verdict = f"{statement['verdict']}, " if statement["kind"] != "report" else ""
    return f"{verdict}{describe_measured(statement)}"


def _describe_another_criterion(one: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """Return in which way two runs of a statement have different criteria; "" if they do not.

    In the same files a bound differs only where it is measured, and the criterion is the same.
    """
    first, second = (
        [
            [side["comparison"], side["bound"], side["tolerance"]]
            for side in (statement, *statement.get("terms", ()))
        ]
        for statement in (one, other)
    )
    if first == second:
        return ""
    (_, was, _), (_, now, _) = first[0], second[0]
    if was is None or now is None or was == now:
        return "its criterion is another one"
    return f"its bound was {was['text']} and is {now['text']}"


def _read_values(statement: Mapping[str, Any], case: Mapping[str, Any]) -> list[Fraction]:
    """Return what a statement measured in each repeat, or what it shows, if it is one value."""
    measures = statement.get("measures")
    if measures is not None:
        metric = ".".join(filter(None, (measures["metric"], measures["statistic"])))
        found = [repeat.get(measures["flow"], {}).get(metric) for repeat in case["repeats"]]
        numbers = [read_number(value["value"]) for value in found if value is not None]
        known = [number for number in numbers if number is not None]
        if known and len(known) == len(case["repeats"]):
            return known
    shown = statement["measured"]
    number = read_number(shown["value"]) if shown and shown["unit"] else None
    return [] if number is None else [number]


def _judge(
    one: Mapping[str, Any],
    other: Mapping[str, Any],
    values: tuple[Sequence[Fraction], Sequence[Fraction]],
    another: str,
    *,
    paired: bool,
) -> tuple[str, str]:
    """Return what two runs of a statement come to, and why.

    That they are judged by `another` criterion, as this says, tells nothing of what was measured.
    """
    verdicts = one["verdict"], other["verdict"]
    if set(verdicts) == {"pass", "fail"} and not another:
        return (BETTER if verdicts[1] == "pass" else WORSE), "its verdict"
    if verdicts[0] != verdicts[1]:
        return OPEN, another or f"it was {verdicts[0]} and is {verdicts[1]}"
    if not all(values):
        alike = one["measured"] == other["measured"]
        return (SAME, "") if alike else (OPEN, "what it measures is not a number in both")
    sign, why = (_compare_pairs if paired else _compare_samples)(*values)
    if not sign:
        return (SAME if sign == 0 else OPEN), why
    better = _find_better_sign(one, *values)
    if better is None:
        return OPEN, f"{why}; no criterion says which way is better".removeprefix("; ")
    return (BETTER if sign == better else WORSE), why


def _compare_pairs(before: Sequence[Fraction], after: Sequence[Fraction]) -> tuple[int | None, str]:
    """Return whether the values of repeats with the same draws rose (1) or fell (-1), and why.

    0 if they are the same; None if that is open.
    """
    if len(before) != len(after):
        return None, f"{len(before)} repeats have no counterparts in {len(after)}"
    signs = {(b > a) - (b < a) for a, b in zip(before, after, strict=True)}
    if signs >= {1, -1}:
        return None, "some repeats rose, some fell"
    sign = sum(signs)
    if not sign or len(before) == 1:
        return sign, ""
    where = "some repeats" if 0 in signs else f"all {len(before)} repeats"
    return sign, f"{'rose' if sign > 0 else 'fell'} in {where}"


def _compare_samples(
    before: Sequence[Fraction], after: Sequence[Fraction]
) -> tuple[int | None, str]:
    """Return the same of repeats with different draws."""
    if len({*before, *after}) == 1:
        return 0, ""
    sign = (min(after) > max(before)) - (max(after) < min(before))
    if not sign:
        return None, "repeats of different draws overlap"
    if Fraction(2, comb(len(before) + len(after), len(before))) > CHANCE:
        return None, f"{len(before)} and {len(after)} repeats of different draws are too few"
    return sign, f"all {len(after)} repeats are beyond all {len(before)}"


def _find_better_sign(
    statement: Mapping[str, Any], before: Sequence[Fraction], after: Sequence[Fraction]
) -> int | None:
    """Return 1 if more is better, -1 if less is; None if a statement does not say."""
    comparison, bound = statement["comparison"], statement["bound"]
    if comparison in SIGNS:
        return SIGNS[comparison]
    target = read_number(bound["value"]) if bound and bound["unit"] else None
    if comparison not in ("==", "within") or target is None:
        return None
    earlier, later = (sum(side, Fraction(0)) / len(side) for side in (before, after))
    closer = abs(earlier - target) - abs(later - target)
    rises = later > earlier
    return None if not closer else 1 if rises == (closer > 0) else -1

"""What authors write who follow helps that leave something to them, and what that leads to.

A help such as "put an `aal_reassemble` on their path" cannot be done without knowing what is meant.
`followed.yaml` has an author's edit for each way that such a help names; here it is made.
"""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import yaml
from testcases.language.test_language import diagnosed

from qospec.diagnostics import Diagnostic

EXPECTATION = re.compile(r"\s*# (?:error|warning)\b.*")
Edits = Mapping[str, str]
"""Texts that a file has once, and what is written in place of each."""


class Answer(NamedTuple):
    """How authors follow a help in a file."""

    ways: Sequence[Edits]
    then: Collection[str] = ()
    """The codes of all that is told of the ways instead."""
    beside: Mapping[str, str] = {}
    """The files that are written beside that one: their names and texts."""


_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""Where there is libyaml, by it: else the file takes a third of a second of each collection."""

ANSWERS: Mapping[str, Mapping[str, Answer]] = {
    file: {form: Answer(**answer) for form, answer in answers.items()}
    for file, answers in yaml.load(
        Path(__file__).with_name("followed.yaml").read_text(encoding="utf-8"),
        _LOADER,  # noqa: S506 -- a safe one in both cases
    ).items()
}
"""The answers of each file of `reject`, by the codes and forms of the helps."""
ANSWERED = frozenset(form for answers in ANSWERS.values() for form in answers)


def edited(text: str, edits: Edits) -> str:
    for old, new in edits.items():
        assert text.count(old) == 1, f"written {text.count(old)} times: {old}"
        text = text.replace(old, new)
    return text


def list_misleading(
    answer: Answer,
    path: Path,
    told: Sequence[Diagnostic],
    asked: Sequence[Diagnostic],
    folder: Path,
) -> list[str]:
    """Return what is wrong with a help: a way that leaves it there, or leads to what is not said.

    Args:
        answer: How authors follow the help.
        path: The file that shows it.
        told: All that is told of that file.
        asked: That with this help.
        folder: Where the edited file is checked.
    """
    before, own = count_told(told), count_told(asked).keys()
    misleading: list[str] = []
    expected: set[str] = set()
    for name, text in answer.beside.items():
        (folder / name).write_text(text, encoding="utf-8")
    for edits in answer.ways:
        written = folder / path.name
        text = EXPECTATION.sub("", path.read_text(encoding="utf-8"))
        written.write_text(edited(text, edits), encoding="utf-8")
        after = count_told(diagnosed(written))
        fresh = {code for code, _ in after - before}
        expected |= fresh
        if own.isdisjoint(before - after) or fresh - {*answer.then}:
            misleading.append(f"{edits}: {sorted(after - before)}")
    return [*misleading, *(f"{code} is not told" for code in {*answer.then} - expected)]


def count_told(problems: Sequence[Diagnostic]) -> Counter[tuple[str, str]]:
    return Counter((problem.code, problem.message) for problem in problems)

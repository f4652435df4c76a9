"""The table of other tools' words agrees with the language, and docs/words.md with the table."""

import re
from functools import cache
from pathlib import Path

from qospec.catalogue.kinds import discover
from qospec.catalogue.words import load_words
from qospec.diagnostics import Problems
from qospec.reference.explanation import explain_name, list_names

ROOT = Path(__file__).parents[2]
WORDS = load_words()


@cache
def read_names() -> frozenset[str]:
    """Return all names of the language, not at collection: it takes a second."""
    return frozenset(list_names(discover()))


def test_what_a_word_is_called_here_is_a_name_of_the_language() -> None:
    here = {name for row in WORDS.called.values() for name in row.here}
    assert here - read_names() == {"p50"}, "a quantile is named by its share"


def test_a_metric_is_what_it_is_here_whatever_others_call_so() -> None:
    """Other names have places of their own: the field `window` of a goal is no receive window."""
    metrics = discover().select_role("metric").values()
    names = {name for kind in metrics for name in (kind.name, *kind.aliases)}
    assert "loss" in WORDS.called.keys() & names
    for name in WORDS.called.keys() & names:
        sorts = {entry["sort"] for entry in explain_name(name, discover(), Problems())}
        assert "metric" in sorts
        assert "word of other tools" not in sorts, name


def test_what_is_not_modelled_is_no_name_of_the_language() -> None:
    assert WORDS.not_modelled.keys() & read_names() == set()


def test_a_word_at_a_link_is_a_parameter_of_the_library() -> None:
    text = (ROOT / "stdlib" / "links.qos").read_text(encoding="utf-8")
    declared = re.search(r"^device impaired\((.*?)\)", text, re.DOTALL | re.MULTILINE)
    assert declared is not None
    assert set(WORDS.of_links.values()) <= set(re.findall(r"(\w+):", declared[1]))
    assert WORDS.of_links.keys() & discover().find("element", "line").parameters.keys() == set()


def test_the_page_has_the_same_words() -> None:
    rows = [
        f"| `{word}` | {row.of} | {', '.join(f'`{name}`' for name in row.here)} |"
        for word, row in sorted(WORDS.called.items())
    ]
    rows += [
        f"| `{word}` | {row.of} | {row.how} |" for word, row in sorted(WORDS.otherwise.items())
    ]
    rows += [f"| `{word}` | `{here}` |" for word, here in sorted(WORDS.of_links.items())]
    absent: dict[str, list[str]] = {}
    for word, meaning in WORDS.not_modelled.items():
        absent.setdefault(meaning, []).append(f"`{word}`")
    rows += [f"| {meaning} | {', '.join(sorted(absent[meaning]))} |" for meaning in sorted(absent)]
    text = (ROOT / "docs" / "words.md").read_text(encoding="utf-8")
    assert [line for line in text.splitlines() if line.startswith("|") and "`" in line] == rows

"""The table of other tools' words agrees with the language, and docs/words.md with the table."""

from pathlib import Path

from qospec.catalogue.kinds import discover
from qospec.catalogue.words import load_words
from qospec.reference.explanation import list_names

ROOT = Path(__file__).parents[2]
WORDS = load_words()
NAMES = set(list_names(discover()))


def test_what_a_word_is_called_here_is_a_name_of_the_language() -> None:
    here = {name for row in WORDS.called.values() for name in row.here}
    assert here - NAMES == {"p50"}, "a quantile is named by its share"


def test_what_is_not_modelled_is_no_name_of_the_language() -> None:
    assert WORDS.not_modelled.keys() & NAMES == set()


def test_the_page_has_the_same_words() -> None:
    rows = [
        f"| `{word}` | {row.of} | {', '.join(f'`{name}`' for name in row.here)} |"
        for word, row in sorted(WORDS.called.items())
    ]
    absent: dict[str, list[str]] = {}
    for word, meaning in WORDS.not_modelled.items():
        absent.setdefault(meaning, []).append(f"`{word}`")
    rows += [f"| {meaning} | {', '.join(sorted(absent[meaning]))} |" for meaning in sorted(absent)]
    text = (ROOT / "docs" / "words.md").read_text(encoding="utf-8")
    assert [line for line in text.splitlines() if line.startswith("|") and "`" in line] == rows

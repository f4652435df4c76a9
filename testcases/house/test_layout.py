"""Shipped `.qos` files and examples are formatted, except those that show mistakes."""

import re
from pathlib import Path

import pytest

from qospec.diagnostics import Problems
from qospec.formatting import format_text
from qospec.source import Source

ROOT = Path(__file__).parents[2]
FOLDERS = (
    "stdlib",
    "docs/examples",
    "testcases/suites",
    "testcases/wrong_devices",
    "testcases/language/accept",
)
FILES = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.qos"))

SYNTAX = "[E00"
"""What an example that cannot be read says of itself: a mistake whose code begins so."""

BLOCK = re.compile(r"^```qos\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TEXTS = [ROOT / "README.md", *sorted((ROOT / "spec").glob("*.md")), *(ROOT / "docs").rglob("*.md")]
EXAMPLES = [
    pytest.param(match[1], id=f"{path.name}:{text.count(chr(10), 0, match.start())}")
    for path in TEXTS
    for text in [path.read_text(encoding="utf-8")]
    for match in BLOCK.finditer(text)
]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_file_is_formatted(path: Path) -> None:
    text = path.read_bytes().decode("utf-8")
    assert format_text(Source(path.name, text), Problems()) == text, f"run `qos fmt {path}`"


@pytest.mark.parametrize("text", EXAMPLES)
def test_an_example_is_formatted_unless_it_shows_a_mistake_of_syntax(text: str) -> None:
    expected = None if SYNTAX in text else text
    assert format_text(Source("example.qos", text), Problems()) == expected


def test_there_are_files_and_examples() -> None:
    assert {path.relative_to(ROOT).parts[0] for path in FILES} == {"docs", "stdlib", "testcases"}
    assert EXAMPLES

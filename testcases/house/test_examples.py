"""The jobs in docs/examples: each passes, without a warning, and their page lists it."""

import re
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[2] / "docs" / "examples").glob("*.qos"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_passes(path, read_cases, run_cases):
    names = [suite.tests[0].cases[0].name for suite in read_cases(path)]
    verdicts = {case["name"]: case["verdict"] for case in run_cases(path, names)}
    assert verdicts == dict.fromkeys(names, "pass")


def test_the_page_lists_each_example_with_its_question():
    page = EXAMPLES[0].with_name("README.md").read_text(encoding="utf-8")
    questions = {
        path.name: re.findall(r"^# (.+\?)$", path.read_text(encoding="utf-8"), re.MULTILINE)
        for path in EXAMPLES
    }
    listed = re.findall(r"^\| \[(\w+\.qos)\]\(\1\) \| (.+) \|$", page, re.MULTILINE)
    assert {name: [asked] for name, asked in listed} == questions
    assert len(EXAMPLES) >= 12

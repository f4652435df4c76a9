"""Which examples run on what, as docs/examples/README.md says."""

import re
from pathlib import Path

import pytest

from qospec.backend import find_backend
from qospec.catalogue.kinds import discover
from qospec.check import check
from qospec.diagnostics import Problems

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"


def is_carried_out(path: Path, name: str) -> bool:
    """Return whether a back end refuses nothing of a file."""
    problems = Problems()
    suite = check([path], discover(), problems).suite
    backend = find_backend(name)
    assert backend is not None
    for test in suite.tests:
        for case in test.cases:
            backend.verify(case, test.span, problems)
    return not problems.errors


@pytest.mark.parametrize(
    ("name", "words"),
    [("kernel-vt", "On a kernel"), ("otg", "generator](../generators.md) carries")],
)
def test_the_page_names_the_examples_that_a_back_end_carries_out(name: str, words: str) -> None:
    text = " ".join((EXAMPLES / "README.md").read_text(encoding="utf-8").split())
    (sentence,) = (part for part in re.split(r"[.;] ", text) if words in part)
    named = set(re.findall(r"`(\w+)`", sentence))
    files = sorted(EXAMPLES.glob("*.qos"))
    assert named == {path.stem for path in files if is_carried_out(path, name)}

"""The pages of `spec/errors.md`."""

import re

import pytest

from qospec.reference.error_pages import list_titles, read_page
from qospec.resources import SPEC

HEADINGS = re.findall(r"^### ([EW]\d{4}):", (SPEC / "errors.md").read_text("utf-8"), re.MULTILINE)


def test_every_section_is_a_page() -> None:
    assert list(list_titles()) == HEADINGS
    assert len(HEADINGS) > 50


@pytest.mark.parametrize("code", HEADINGS)
def test_a_page_is_whole_and_ends_before_the_next(code: str) -> None:
    text = read_page(code)
    assert text
    assert text.count("```") % 2 == 0
    assert not re.search(r"^#{2,3} `?[EW]\d\d", text, re.MULTILINE)


def test_a_comment_in_an_example_ends_no_page() -> None:
    assert "A text stands between" in read_page("E0008")


def test_an_unknown_code_has_none() -> None:
    assert read_page("E9999") == ""

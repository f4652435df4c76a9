"""Small texts, formatted."""

from collections.abc import Callable
from textwrap import dedent

import pytest

from qospec.diagnostics import Problems
from qospec.formatting import format_text
from qospec.source import Source


@pytest.fixture
def whole() -> Callable[[str], str]:
    """Return the layout of a whole file; it must be stable."""

    def whole(text: str) -> str:
        problems = Problems()
        once = format_text(Source("a.qos", text), problems)
        assert once is not None, problems.all
        assert format_text(Source("a.qos", once), Problems()) == once
        return once

    return whole


@pytest.fixture
def laid_out(whole: Callable[[str], str]) -> Callable[[str], str]:
    """Return the layout of declarations, without the first line."""

    def laid_out(text: str) -> str:
        return whole(f"qos 1\n\n{dedent(text)}").removeprefix("qos 1\n\n")

    return laid_out


@pytest.fixture
def in_test(laid_out: Callable[[str], str]) -> Callable[[str], str]:
    """Return the layout of statements in a test, without the test."""

    def in_test(text: str) -> str:
        lines = laid_out(f"test t on n {{\n{dedent(text)}\n}}").splitlines(keepends=True)
        assert lines[0] == "test t on n {\n"
        assert lines[-1] == "}\n"
        return dedent("".join(lines[1:-1]))

    return in_test

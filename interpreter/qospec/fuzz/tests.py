"""Tests with `forall`: their values drawn, their cases planned, run and judged as by `qos run`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qospec.check.test.properties import write_value
from qospec.diagnostics import Diagnostic, Problems
from qospec.fuzz.aims import list_document_aims, select_closest
from qospec.fuzz.excerpt import Edit, extract_declaration
from qospec.fuzz.properties import Judged, ValuesTarget, describe_mistake, describe_refusal
from qospec.fuzz.target import Violation, describe_broken
from qospec.plan.plan import Bounds, plan
from qospec.run.runner import run_alone
from qospec.source import Span
from qospec.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qospec.fuzz.properties import ChooseValue
    from qospec.model.checked import DrawnTestMaker
    from qospec.model.drawn import Drawn, DrawnValue
    from qospec.model.suite import DrawnTest, Test

SEED = "0"
"""Of the trials: that of `qos run` unless another is asked for."""
FAILED = ("fail", "error")


class TestTarget(ValuesTarget):
    """A test as `fuzz.target.Target`."""

    __test__ = False  # not one of pytest's
    noun = "test"

    def __init__(self, subject: DrawnTest, make: DrawnTestMaker) -> None:
        """Take a test that draws, and what makes it of values."""
        super().__init__(subject.name, subject.span)
        self._make = make

    @property
    def _example(self) -> str:
        """Return the name of an example: its random draws depend on it."""
        return f"{self.name}_found"

    def judge(self, chosen: ChooseValue) -> Judged:
        """Return the condition that values do not meet, or else what they break."""
        made = self._make(self._example, chosen)
        if isinstance(made, Span):
            return Judged(describe_refusal("where", made), [])
        if isinstance(made, Diagnostic):
            return Judged("", [describe_mistake(made)])
        problems = Problems()
        plans = plan(made, SEED, Bounds(), problems)
        if problems.errors:
            return Judged("", [describe_mistake(problems.errors[0])])
        (test,) = made.suite.tests
        return _judge_documents(test, [run_alone(case, Bounds(), lambda: None) for case in plans])

    def write_text(self, violation: Violation, drawn: Sequence[tuple[Drawn, DrawnValue]]) -> str:
        """Return a test that draws nothing but has these values."""
        values = {what.name: write_value(what, value) for what, value in drawn}

        def list_edits(node: ast.Declaration) -> Iterator[Edit]:
            yield Edit(node.name.span, self._example)
            assert isinstance(node, ast.Test)  # noqa: S101 -- it has the test's name
            for statement in node.statements:
                if isinstance(statement, ast.ForAll):
                    kind = f": {statement.annotation.text}" if statement.annotation else ""
                    value = values[statement.name.text]
                    yield Edit(statement.span, f"let {statement.name.text}{kind} = {value}")

        comment = describe_broken(violation.statement, violation.reason)
        return extract_declaration(self.span.source, self.name, comment, list_edits)


def _judge_documents(test: Test, documents: Sequence[dict[str, Any]]) -> Judged:
    """Return the `require` by which a case is not valid, or else what cases break."""
    found: dict[str, Violation] = {}
    unjudged = set[str]()
    for case, document in zip(test.cases, documents, strict=True):
        for error in document["errors"]:
            violation = _build_violation(error)
            found.setdefault(violation.slug, violation)
        judged = zip(case.statements, document["statements"], strict=False)
        for number, (statement, result) in enumerate(judged, 1):
            if statement.kind == "require" and result["verdict"] != "pass":
                return Judged(describe_refusal("require", statement.span), [])
            if result["verdict"] in FAILED:
                label = result["label"]
                slug = label if label.isidentifier() else f"statement_{number}"
                found.setdefault(label, Violation(label, _explain_failure(result), slug))
            elif statement.kind != "report" and result["verdict"] == "inconclusive":
                unjudged.add(result["label"])
    aims = select_closest(aim for document in documents for aim in list_document_aims(document))
    return Judged("", list(found.values()), aims, frozenset(unjudged))


def _build_violation(message: str) -> Violation:
    """Return what an error breaks: that nothing exceeds a proved bound, or that a test runs."""
    if message.startswith("BoundError:"):
        return Violation("bound", message, "bound")
    return Violation("runs without an error", message, "error")


def _explain_failure(statement: dict[str, Any]) -> str:
    measured, bound = statement["measured"], statement["bound"]
    if measured is None or bound is None:
        return f"`{statement['text']}` does not hold"
    return f"{measured['text']}, needed {statement['comparison']} {bound['text']}"

"""Kinds of the catalogue as values, and the reserved words that are not built yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from qospec.check.evaluate.context import make_error
from qospec.check.evaluate.values import Pattern, Value
from qospec.check.records import record
from qospec.dataclass import dataclass

if TYPE_CHECKING:
    from qospec.catalogue.kinds import Kind
    from qospec.check.evaluate.context import CheckError
    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.check.evaluate.scope import Scope
    from qospec.source import Span
    from qospec.syntax import ast

RESERVED = frozenset(
    [
        "shaped",
        "trace",
        "esp",
        "esp_open",
        "deliver",
        "crossbar",
        "frame",
    ]
)
"""Words of the language that the interpreter does not support yet."""


def explain_not_built(word: str, span: Span, help_text: str = "leave it out for now") -> CheckError:
    """Return the mistake of using a word that is reserved but not built yet."""
    return make_error(
        "E0190",
        f"`{word}` is part of the language but not built yet",
        span,
        note="no part of a test is silently skipped",
        help=help_text,
    )


@dataclass(frozen=True)
class KindValue(Pattern):
    """A kind of the catalogue: a record of it is written `kind { field = value }`."""

    what: ClassVar[str] = "a kind"
    kind: Kind

    @property
    def name(self) -> str:
        """Return its name."""
        return self.kind.name

    def call(self, call: ast.Call, scope: Scope, evaluator: Evaluator) -> Value:
        """Return a record: arguments are its fields, by name or in order."""
        return record.from_arguments(self.kind, call, scope, evaluator)

    def copy(self, body: ast.Body, scope: Scope, evaluator: Evaluator) -> Value:
        """Return a record of this kind."""
        return record.Record(self.kind, {}, body.span, evaluator).copy(body, scope, evaluator)

    def explain_unfinished(self, span: Span) -> CheckError:
        """Return the mistake of a kind where a number stands: nothing of that name is declared."""
        return make_error(
            "E0204",
            "a number is needed here, not a kind",
            span,
            help="write a number, or a name of one that `let` declares",
        )

"""What is built in: the kinds of the catalogue, `host`, and the words that are not built yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from qospec.catalogue import RECORDS
from qospec.check import counts, records
from qospec.check.context import Refused, wrong
from qospec.check.nodes import HostPlan
from qospec.check.values import Value
from qospec.dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qospec.catalogue import Catalogue, Kind
    from qospec.check.expressions import Evaluator
    from qospec.check.scope import Scope
    from qospec.source import Span
    from qospec.syntax import ast

LATER = frozenset(
    [
        "abr",
        "frames",
        "tcp",
        "calls",
        "shaped",
        "pcap",
        "trace",
        "esp",
        "esp_open",
        "deliver",
        "crossbar",
        "frame",
    ]
)
"""Words of the language that the interpreter cannot carry out yet."""


def not_built(word: str, span: Span, remedy: str = "leave it out for now") -> Refused:
    """Return the refusal of a word that is known and cannot be carried out."""
    return wrong(
        "E0190",
        f"`{word}` is part of the language but not built yet",
        span,
        note="nothing is ignored: a test that leaves something out is worse than none",
        remedy=remedy,
    )


def built_in(name: ast.Name, catalogue: Catalogue) -> Value | None:
    """Return what a name stands for that no file declares; refuse what is not built yet."""
    for role in RECORDS:
        kind = catalogue.find(role, name.text)
        if kind is not None:
            return KindValue(kind)
    if name.text == "host":
        return HostKind()
    if name.text in LATER:
        raise not_built(name.text, name.span)
    return None


def names(catalogue: Catalogue) -> Iterator[str]:
    """Yield all names that are built in."""
    yield "host"
    for role in RECORDS:
        yield from catalogue.of(role)


@dataclass(frozen=True)
class KindValue(Value):
    """A kind of the catalogue: a record of it is written `kind { field = value }`."""

    what: ClassVar[str] = "a kind"
    kind: Kind

    def call(self, call: ast.Call, scope: Scope, evaluator: Evaluator) -> Value:
        """Return a record: arguments are its fields, by name or in order."""
        return records.from_arguments(self.kind, call, scope, evaluator)

    def copy(self, body: ast.Body, scope: Scope, evaluator: Evaluator) -> Value:
        """Return a record of this kind."""
        return records.Record(self.kind, {}, body.span, evaluator).copy(body, scope, evaluator)


@dataclass(frozen=True)
class HostKind(Value):
    """`host`: a port of the tester."""

    what: ClassVar[str] = "`host`"

    def item(self, key: Value, span: Span) -> Value:  # noqa: ARG002
        """Refuse what others write for an array."""
        remedy = f"write `host(count = {span.text})` for an array"
        raise wrong("E0215", "`host` cannot be indexed", span, remedy=remedy)

    def call(self, call: ast.Call, scope: Scope, evaluator: Evaluator) -> Value:
        """Return hosts: `count` of them, `slotted` or not."""
        counts.once(call.arguments)
        count, known, slotted = None, True, True
        for argument in call.arguments:
            name = argument.name.text if argument.name else ""
            if name == "count":
                count, known = counts.count_of(argument.value, scope, evaluator)
            elif name == "slotted":
                slotted = evaluator.truth(argument.value, scope) is not False
            else:
                raise wrong(
                    "E0104",
                    f"`host` has no parameter `{name}`"
                    if name
                    else "`host` takes named values only",
                    argument.span,
                    note="parameters of host: count slotted",
                )
        return HostPlan(count, known, slotted)

    def copy(self, body: ast.Body, scope: Scope, evaluator: Evaluator) -> Value:  # noqa: ARG002
        """Refuse fields: they are given between parentheses."""
        raise wrong(
            "E0104",
            "a host's fields are given between parentheses",
            body.span,
            remedy="write `host(slotted = false)`",
        )

"""The fields of a kind by every spelling, and mistakes of misspelt or missing ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import Domain, Parameter, discover
from qospec.catalogue.words import explain_word, find_impairment, list_translations, translate
from qospec.check.evaluate.context import CheckError, make_error
from qospec.diagnostics import NEAR, Edit, correct_spelling

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qospec.catalogue.kinds import Kind
    from qospec.source import Span
    from qospec.syntax import ast

ARTICLES = {
    "traffic": "a kind of traffic",
    "element": "an element",
    "arrivals": "an arrival process",
    "dropping": "a drop policy",
    "congestion": "a congestion control",
    "metric": "a metric",
}
"""By role, the name of its kinds in messages."""

SOURCE = Parameter("source", Domain("arrivals"), None)
"""A field of every kind of traffic with sources: what is emitted, apart from what is declared."""


def has_source(kind: Kind) -> bool:
    """Return whether it is a kind of traffic of which a source may say when it is sent."""
    return kind.role == "traffic" and kind.build.takes_source


_QUEUES = frozenset({"queue", "queue_size", "queue_limit", "buffer", "limit"})
"""What emulators call the length of the queue ahead of a link."""
_PARTS = {"be": "burst"}
"""What others give apart, and the field that is the sum: Cisco's Bc and Be."""
_MULTIPLES = {"tos": "which is a quarter of it: 46 of 184"}
"""What others give as a multiple of the field: the whole octet, of whose bits six are the DSCP."""
_BESIDE = {"measure": "trial", "trial": "measure"}
"""What a kind calls a field that another kind calls otherwise."""


def find_parameter(kind: Kind, name: str) -> Parameter | None:
    """Return the field of that name or abbreviation."""
    if name == SOURCE.name and has_source(kind):
        return SOURCE
    return kind.find_parameter(name)


def list_spellings(kind: Kind) -> dict[str, Parameter]:
    """Return the fields of a kind by their names and abbreviations."""
    known = {
        spelling: parameter
        for parameter in kind.parameters.values()
        for spelling in (parameter.name, parameter.alias)
        if spelling
    }
    if has_source(kind):
        known[SOURCE.name] = SOURCE
    return known


def guess_meant(kind: Kind, name: str) -> str:
    """Return the spelling that an unknown name seems to mean; "" if there is none."""
    if name in kind.renamed:
        return kind.renamed[name]
    known = list_spellings(kind)
    elsewhere = translate(name, known) or _BESIDE.get(name, "")
    if elsewhere in known:
        return elsewhere
    if _explain_foreign(kind, name):
        return ""
    from difflib import get_close_matches

    return next(iter(get_close_matches(name, known, n=1, cutoff=NEAR)), "")


def _explain_foreign(kind: Kind, name: str) -> str:
    """Return what is said here for a word of others; "" if it is one of this language.

    It is if a kind of the same role has such a field, unless what others mean is a kind itself.
    """
    alike = discover().select_role(kind.role)
    meant = list_translations(name)
    is_of_others = not meant or any(word in alike for word in meant)
    if is_of_others or not any(name in list_spellings(its) for its in alike.values()):
        return explain_word(name)
    return ""


def explain_unknown_field(
    kind: Kind, name: ast.Name, beside: Iterable[ast.Name] = ()
) -> CheckError:
    """Return the mistake of an unknown field, with those that the kind has.

    `beside` are the names given with it, which are not what was meant.
    """
    known = list_spellings(kind)
    near = guess_meant(kind, name.text)
    renamed = name.text in kind.renamed and name.span.text == name.text
    fix = (Edit(name.span, near),) if renamed else correct_spelling(name.span, name.text, known)
    given = {known[name.text].name for name in beside if name.text in known}
    if name.text in _PARTS:
        others = (translate(other.text, known) for other in beside if other.text not in _PARTS)
        given |= {known[spelling].name for spelling in others if spelling}
    help_text = f"write `{near}`" if near else ""
    if kind.duty == "line" and (meant_of_link := find_impairment(name.text)):
        help_text = f"put `links.impaired({meant_of_link} = …)` of `std.links` between two links"
    if kind.duty == "line" and name.text.lower() in _QUEUES:
        help_text = "a line has no queue: put a `fifo` ahead of it, in a `device`"
    if name.text in _MULTIPLES and near:
        help_text = f"write `{near}`, {_MULTIPLES[name.text]}"
    if near and known[near].name in given:
        help_text = f"`{near}` is given too; remove `{name.text}`"
        if _PARTS.get(name.text) == near:
            help_text = f"add it to `{near}`, which is both together; remove `{name.text}`"
    if fix and known[fix[0].text].name in given:
        fix = ()
    meant = near
    if near and known[near].alias == near:
        meant = f"{near}` ({known[near].name.replace('_', ' ')})"
    label = f"did you mean `{meant}`?".replace(")`?", ")?") if near else ""
    if renamed:
        label = f"renamed to `{near}`"
    listed = " ".join(
        dict.fromkeys(parameter.alias or parameter.name for parameter in known.values())
    )
    note = f"fields of {kind.name}: {listed}" if listed else f"{kind.name} has no fields"
    return make_error(
        "E0104",
        f"`{kind.name}` has no field `{name.text}`",
        name.span,
        label=label,
        note=note if near else _explain_foreign(kind, name.text) or note,
        help=help_text,
        fix=fix,
    )


def explain_missing(kind: Kind, parameter: Parameter, span: Span) -> CheckError:
    """Return the mistake of leaving out a required field."""
    name = parameter.alias or parameter.name
    meaning = f" ({parameter.name.replace('_', ' ')})" if name != parameter.name else ""
    return make_error(
        "E0105",
        f"`{kind.name}` needs `{name}`{meaning}",
        span,
        help=f"add `{name} = …`",
    )

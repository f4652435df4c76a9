"""The collections that `qos elements`, `qos units` and so on list, as text.

A list has two or three columns; a single entry is shown in full.
"""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

from qospec.check.device.observables import STATISTICS, UTILISATION
from qospec.dataclass import dataclass
from qospec.diagnostics import suggest_name
from qospec.reference.kinds import describe_kind
from qospec.reference.library import describe_devices, describe_media, load_library
from qospec.reference.values import describe_unit, describe_units

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from qospec.catalogue.kinds import Catalogue, Role
    from qospec.document import Document


@dataclass(frozen=True)
class Collection:
    """A collection of documents.

    Attributes:
        name: Of the collection and of its command.
        singular: The name of one entry, for messages.
        documents: Returns all entries.
    """

    name: str
    singular: str
    documents: Callable[[Catalogue], list[Document]]

    def find(self, name: str, catalogue: Catalogue) -> Document | None:
        """Return the entry with a name: in full, after its last dots, or an alias."""
        known = self.documents(catalogue)
        found = next((parameter for parameter in known if name in list_spellings(parameter)), None)
        return found or (describe_unit(name) if self is UNITS else None)

    def find_nearest(self, name: str, catalogue: Catalogue) -> str:
        """Return the spelling that may have been meant, or nothing."""
        known = [
            spelling
            for document in self.documents(catalogue)
            for spelling in list_spellings(document)
        ]
        return suggest_name(name, known)


def list_spellings(document: Document) -> list[str]:
    """Return the names of an entry, the longest first."""
    parts = document["name"].split(".")
    ends = [".".join(parts[place:]) for place in range(len(parts))]
    return [*ends, *document.get("aliases", ())]


def _describe_kinds(role: Role) -> Callable[[Catalogue], list[Document]]:
    return lambda catalogue: [
        describe_kind(kind) for _, kind in sorted(catalogue.select_role(role).items())
    ]


def _describe_measured(catalogue: Catalogue) -> list[Document]:
    """Return the metrics of flows, and those of an element: `occupancy` and `utilisation`."""
    waiting: Document = {
        "name": "occupancy",
        "aliases": [],
        "role": "metric",
        "summary": "Count what waits in a queue, a shaper or a processor, over the time measured.",
        "description": "It is measured of an element in its device, not of a flow:"
        " `dut.queue.occupancy.max`.\nThe mean is over time.",
        "source": "none: a count",
        "fields": [],
        "dimension": "a count of cells or a count of packets",
        "example": "1 cell",
        "statistics": list(STATISTICS),
        "exact": True,
        "measured": "of an element in its device",
    }
    busy: Document = waiting | {
        "name": UTILISATION,
        "summary": "Divide the time in which a processor works on packets by the time measured.",
        "description": "It is measured of an element in its device, not of a flow:"
        " `dut.cpu.utilisation`.\nInterruptions of a packet's work are included, others are not.",
        "source": "none: a share of time",
        "dimension": "a ratio",
        "example": "85%",
        "statistics": [],
        "exact": False,
    }
    found = [*_describe_kinds("metric")(catalogue), waiting, busy]
    return sorted(found, key=lambda entry: str(entry["name"]))


DEVICES = Collection(
    "devices", "device", lambda catalogue: describe_devices(load_library(catalogue))
)
ELEMENTS = Collection("elements", "element", _describe_kinds("element"))
TRAFFIC = Collection("traffic", "kind of traffic", _describe_kinds("traffic"))
ARRIVALS = Collection("arrivals", "arrival process", _describe_kinds("arrivals"))
POLICIES = Collection("policies", "drop policy", _describe_kinds("dropping"))
CONTROLS = Collection("controls", "congestion control", _describe_kinds("congestion"))
METRICS = Collection("metrics", "metric", _describe_measured)
METHODS = Collection("methods", "search method", _describe_kinds("method"))
UNITS = Collection("units", "unit", lambda _: describe_units())
MEDIA = Collection("media", "medium", lambda catalogue: describe_media(load_library(catalogue)))

COLLECTIONS = (
    *(DEVICES, ELEMENTS, TRAFFIC, ARRIVALS, POLICIES, CONTROLS, METRICS, METHODS, UNITS, MEDIA),
)


_FENCED = re.compile(r"^```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_GAP = "  "
_NARROWEST = 24
_SECTIONS = (
    *("fields", "parameters", "ports", "values", "elements", "wires"),
    *("hosts", "devices", "links", "declares", "modules"),
)
_BEFORE_FIELDS = ("cases", "networks", "phases", "flows")


def align_columns(rows: Sequence[Sequence[str]], width: int, margin: str = "") -> Iterator[str]:
    """Yield rows as lines with aligned columns; the last column is wrapped to the width."""
    if not rows:
        return
    before = [max(len(row[place]) for row in rows) for place in range(len(rows[0]) - 1)]
    indent = len(margin) + sum(size + len(_GAP) for size in before)
    room = max(width - indent, _NARROWEST)
    for row in rows:
        head = margin + "".join(
            cell.ljust(size) + _GAP for cell, size in zip(row[:-1], before, strict=True)
        )
        first, *rest = textwrap.wrap(row[-1], room) or [""]
        yield (head + first).rstrip()
        yield from (" " * indent + line for line in rest)


def list_overview(documents: Iterable[Document], width: int) -> str:
    """Return one line for each entry: its name and what it is."""
    return "\n".join(align_columns([_make_row(document) for document in documents], width))


def _make_row(document: Document) -> tuple[str, ...]:
    if "is" in document:
        written = document["written"]
        instead = f", written {written}" if written != document["name"] else ""
        return document["name"], document["is"], document["dimension"] + instead
    also = document.get("aliases") or ()
    name = document["name"] + (f" ({', '.join(also)})" if also else "")
    if document.get("kind") == "line":
        return name, document["fields"][0]["value"], document["summary"]
    return name, document["summary"]


def describe_in_full(document: Document, width: int) -> str:
    """Return an entry in full."""
    return "\n".join(_write_full(document, width))


def _write_full(document: Document, width: int) -> Iterator[str]:
    if "is" in document:
        yield f"{document['name']}  {document['dimension']}"
        yield from align_columns(list(_list_unit_rows(document)), width, "  ")
        return
    also = f" ({', '.join(document['aliases'])})" if document.get("aliases") else ""
    yield f"{document['name']}{also}"
    yield from _wrap_paragraphs(document["summary"], width)
    if document["description"]:
        yield ""
        yield from _wrap_paragraphs(document["description"], width)
    facts = list(_list_facts(document))
    yield from [""] if facts else []
    yield from align_columns(facts, width, "  ")
    for title in _BEFORE_FIELDS:
        if document.get(title):
            yield from ("", f"  {title}")
            entries = _list_phases(document[title]) if title == "phases" else document[title]
            yield from _write_entries(entries, width)
    if "origins" in document:
        yield from ("", f"  {_choose_title(document)}")
        yield from align_columns(
            [_write_origin(origin) for origin in document["origins"]], width, "    "
        )
    for title in _SECTIONS:
        if document.get(title):
            yield from ("", f"  {title}")
            yield from _write_entries(document[title], width)
    if document.get("requires"):
        yield from ("", "  requires of its arguments")
        yield from align_columns(
            [("-", require) for require in document["requires"]], width, "    "
        )
    if document.get("deviations"):
        yield from ("", "  deviations")
        rows = [
            ("-", f"{deviation['what']}: {deviation['why']}")
            for deviation in document["deviations"]
        ]
        yield from align_columns(rows, width, "    ")


def _list_phases(phases: Sequence[Document]) -> list[Document]:
    """Return phases as entries, each ahead of its goals."""
    entries: list[Document] = []
    for phase in phases:
        entries.append({"name": f"{phase['kind']} {phase['name']}", "type": phase["type"]})
        entries += [
            {"name": f"  goal {goal['name']}", "type": goal["type"]} for goal in phase["goals"]
        ]
    return entries


def _choose_title(document: Document) -> str:
    """Return the title of fields: of which case they are, and at which load."""
    title = "fields of the first case" if len(document.get("cases", ())) > 1 else "fields"
    values = [f"{argument['name']} = {argument['value']}" for argument in document.get("at", ())]
    if not values:
        return title
    first = document["phases"][0]
    highest = "the highest load" if first["kind"] == "search" else "the load"
    return f"{title}, at {highest} of `{first['name']}`: {', '.join(values)}"


def _list_unit_rows(document: Document) -> Iterator[tuple[str, str]]:
    yield "is", document["is"]
    if document["written"] != document["name"]:
        yield "written", document["written"]
    yield "example", document["example"]
    if document["compound"]:
        yield "also", f"with one `/`, as in {document['written']}/s"


def _wrap_paragraphs(text: str, width: int) -> Iterator[str]:
    """Yield prose wrapped and fenced blocks unchanged, with blank lines between them."""
    parts = [
        code
        for place, part in enumerate(_FENCED.split(text))
        for code in ([part] if place % 2 else part.split("\n\n"))
        if code.strip()
    ]
    fenced = set(_FENCED.findall(text))
    for number, part in enumerate(parts):
        if number:
            yield ""
        if part in fenced:
            yield from (f"      {line}".rstrip() for line in part.rstrip().split("\n"))
        else:
            words = " ".join(part.split())
            yield from textwrap.wrap(words, width, initial_indent="  ", subsequent_indent="  ")


def _list_facts(document: Document) -> Iterator[tuple[str, str]]:
    if document.get("source"):
        yield "source", document["source"]
    if document.get("place"):
        yield "declared", document["place"]
    if "chain" in document:
        copies = [f"{entry['name']} ({entry['place']})" for entry in document["chain"][1:]]
        made = [f"a copy of {copy}" for copy in copies]
        yield "kind", ", ".join([document["kind"], *made])
    bases = [f"{base['name']} ({base['place']})" for base in document.get("bases", ())]
    lists = (("built on", bases), ("follows", document.get("follows", ())))
    yield from ((name, "; ".join(texts)) for name, texts in lists if texts)
    if document.get("dimension"):
        exact = "exact" if document["exact"] else "measured: compare it using `within`, `<` or `>`"
        yield "is", f"{document['dimension']}, {exact}"
    if document.get("measured"):
        yield "measured", document["measured"]
    if document.get("statistics"):
        yield "statistics", " ".join(document["statistics"])
    if document.get("packet_statistics"):
        yield "of packets", " ".join(document["packet_statistics"])
    if document.get("series"):
        yield "every …", " ".join(document["series"])
    if document.get("open"):
        yield "fields", "any, with names of your choice"


def _write_entries(entries: Sequence[Document], width: int) -> Iterator[str]:
    name_width = max(len(entry["name"]) for entry in entries)
    margin = " " * (4 + name_width + len(_GAP))
    for entry in entries:
        head = ", ".join(part for part in _list_traits(entry) if part)
        yield from align_columns([(entry["name"].ljust(name_width), head)], width, "    ")
        for line in entry.get("description", "").split("\n\n"):
            words = " ".join(line.split())
            yield from textwrap.wrap(
                words, max(width, len(margin) + _NARROWEST), initial_indent=margin,
                subsequent_indent=margin,
            )  # fmt: skip


def _list_traits(entry: Document) -> Iterator[str]:
    """Yield the traits of a field, a port, an element … on its first line."""
    yield entry.get("meaning", "")
    yield entry.get("type", "")
    if "carries" in entry:
        yield f"{entry['count']} of {entry['carries']}" if entry["count"] else entry["carries"]
    if entry.get("least") or entry.get("most"):
        yield " ".join(part for part in _write_bounds(entry) if part)
    if entry.get("default"):
        known = entry.get("value", "")
        is_ = f" = {known}" if known and known != entry["default"] else ""
        yield f"default {entry['default']}{is_}"
    elif "value" in entry and "type" not in entry:
        yield entry["value"]
    elif entry.get("required", "default" in entry and "choices" not in entry):
        yield "required"
    if entry.get("example") and not (entry["default"] or entry["choices"]):
        yield f"as in `{entry['example']}`"
    yield from entry.get("loops", ())


def _write_origin(field: Document) -> tuple[str, str, str]:
    """Return a field, its value, and where the value comes from."""
    if field["required"]:
        return field["name"], "missing", field["description"]
    if field["default"]:
        whence = f"default: {field['description']}" if field["description"] else "default"
        return field["name"], field["value"] or "-", whence
    parts = [field["place"]]
    parts += [f"`{field['written']}`"] if field["written"] else []
    parts += [
        f"instead of `{place['written']}` of {place['of']}, {place['place']}"
        for place in field["instead_of"]
    ]
    return field["name"], field["value"], "; ".join(parts)


def _write_bounds(entry: Document) -> Iterator[str]:
    yield f"from {entry['least']}" if entry["least"] else ""
    yield f"to {entry['most']}" if entry["most"] else ""

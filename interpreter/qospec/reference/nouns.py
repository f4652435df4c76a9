"""What can be asked for by the name of its sort: `elements`, `devices`, `units` and the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.check.device.observables import STATISTICS
from qospec.dataclass import dataclass
from qospec.diagnostics import did_you_mean
from qospec.reference.kinds import kind_document
from qospec.reference.library import device_documents, library, medium_documents
from qospec.reference.units import unit_document, unit_documents

if TYPE_CHECKING:
    from collections.abc import Callable

    from qospec.catalogue.kinds import Catalogue, Role
    from qospec.document import Document


@dataclass(frozen=True)
class Noun:
    """One sort of things.

    Attributes:
        name: Of all of them, as the command is called.
        one: Of one of them, for messages.
        documents: Returns all of them.
    """

    name: str
    one: str
    documents: Callable[[Catalogue], list[Document]]

    def find(self, name: str, catalogue: Catalogue) -> Document | None:
        """Return the one of a name: in full, its end behind a dot, or another spelling of it."""
        known = self.documents(catalogue)
        found = next((each for each in known if name in spellings(each)), None)
        return found or (unit_document(name) if self is UNITS else None)

    def nearest(self, name: str, catalogue: Catalogue) -> str:
        """Return the spelling that may have been meant, or nothing."""
        known = [spelling for each in self.documents(catalogue) for spelling in spellings(each)]
        return did_you_mean(name, known)


def spellings(document: Document) -> list[str]:
    """Return the names that a thing can be asked for by, the longest first."""
    parts = document["name"].split(".")
    ends = [".".join(parts[place:]) for place in range(len(parts))]
    return [*ends, *document.get("aliases", ())]


def _kinds(role: Role) -> Callable[[Catalogue], list[Document]]:
    return lambda catalogue: [kind_document(kind) for _, kind in sorted(catalogue.of(role).items())]


def _measured(catalogue: Catalogue) -> list[Document]:
    """Return the metrics of flows, and what is measured of an element in place."""
    waiting: Document = {
        "name": "occupancy",
        "aliases": [],
        "role": "metric",
        "summary": "Count what waits in a queue, a shaper or a processor, over the time measured.",
        "description": "It is asked of an element in its device and of no flow:"
        " `dut.queue.occupancy.max`.\nThe mean is over time.",
        "source": "none: a count",
        "fields": [],
        "dimension": "a count of cells or a count of packets",
        "example": "1 cell",
        "statistics": list(STATISTICS),
        "exact": True,
    }
    return sorted([*_kinds("metric")(catalogue), waiting], key=lambda each: str(each["name"]))


DEVICES = Noun("devices", "device", lambda catalogue: device_documents(library(catalogue)))
ELEMENTS = Noun("elements", "element", _kinds("element"))
TRAFFIC = Noun("traffic", "kind of traffic", _kinds("traffic"))
ARRIVALS = Noun("arrivals", "arrival process", _kinds("arrivals"))
POLICIES = Noun("policies", "drop policy", _kinds("dropping"))
METRICS = Noun("metrics", "metric", _measured)
UNITS = Noun("units", "unit", lambda _: unit_documents())
MEDIA = Noun("media", "medium", lambda catalogue: medium_documents(library(catalogue)))

NOUNS = (DEVICES, ELEMENTS, TRAFFIC, ARRIVALS, POLICIES, METRICS, UNITS, MEDIA)

"""The fields of kinds as JSON Schema: what an editor offers below `is: vbr_rt`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qospec.catalogue.kinds import RECORDS
from qospec.reference.kinds import kind_document

if TYPE_CHECKING:
    from qospec.catalogue.kinds import Catalogue, Kind
    from qospec.document import Document

Schema = dict[str, Any]


def kinds_of_records(catalogue: Catalogue) -> Schema:
    """Return the fields of each kind, and the rule that chooses among them by `is`."""
    kinds = [kind for role in RECORDS for _, kind in sorted(catalogue.of(role).items())]
    fields = {f"fields of {kind.name}": fields_schema(kind) for kind in kinds}
    rules = [
        {
            "if": {"properties": {"is": {"const": kind.name}}, "required": ["is", "with"]},
            "then": {"properties": {"with": {"$ref": f"#/$defs/fields of {kind.name}"}}},
        }
        for kind in kinds
    ]
    offered = [{"const": kind.name, "description": kind.summary} for kind in kinds]
    is_ = {"anyOf": [*offered, {"$ref": "#/$defs/value"}]}
    lines = {f"changes of {kind.name}": changes(kind) for kind in kinds if kind.duty == "line"}
    return {"record": {"properties": {"is": is_}, "allOf": rules}, **fields, **lines}


def fields_schema(kind: Kind) -> Schema:
    """Return the fields of a kind, each by its name and by its abbreviation."""
    documents = kind_document(kind)["fields"]
    needed = [_named(each) for each in documents if each["required"]]
    made: Schema = {
        "type": "object",
        "description": kind.summary,
        "properties": {name: _field(each) for each in documents for name in _spellings(each)},
        "additionalProperties": {"$ref": "#/$defs/thing"} if kind.open_fields else False,
    }
    return {**made, "allOf": needed} if needed else made


def changes(kind: Kind) -> Schema:
    """Return the fields of a copy of a kind: all may be left out."""
    return {name: part for name, part in fields_schema(kind).items() if name != "allOf"}


def _named(field: Document) -> Schema:
    """Return the rule that a field is there, under one of its names."""
    return {"anyOf": [{"required": [name]} for name in _spellings(field)]}


def _spellings(field: Document) -> list[str]:
    meaning = field["meaning"].replace(" ", "_")
    return [field["name"], *([meaning] if meaning else [])]


def _field(field: Document) -> Schema:
    bounds = [f"from {field['least']}"] if field["least"] else []
    bounds += [f"to {field['most']}"] if field["most"] else []
    said = [field["meaning"], field["type"], " ".join(bounds)]
    traits = ", ".join(part for part in said if part)
    made: Schema = {"description": f"{field['description']} ({traits})"}
    if field["choices"]:
        made["anyOf"] = [{"enum": field["choices"]}, {"$ref": "#/$defs/thing"}]
    else:
        made["$ref"] = "#/$defs/thing"
        made["examples"] = [field["example"]]
    if field["default"]:
        made["default"] = field["default"]
    return made

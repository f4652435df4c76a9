"""The JSON Schema of the YAML twin, for editors and generators.

It is made from the shapes of the twin, the keywords and the catalogue, so it knows whatever they
know. It says how a file is built and which fields a kind has; units, names and wiring are left to
`qos check`. Every scalar of the twin is text; an editor may read `4` or `true` as what it looks
like, so a value may be that too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from qospec.catalogue.kinds import RECORDS
from qospec.check.test.point import POINT
from qospec.check.test.restarts import AT
from qospec.check.test.run_settings import RUN
from qospec.check.test.search import GOAL, MEETS, build_search_kind
from qospec.reference.kinds import describe_kind
from qospec.syntax import ast
from qospec.syntax.grammar import load_keywords
from qospec.yaml_twin.shapes import BIND, BLOCK, FILE, Grouping, Role

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qospec.catalogue.kinds import Catalogue, Kind
    from qospec.document import Document
    from qospec.yaml_twin.shapes import Part, Shape

Schema = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
EDITION = "1"
_FIELDS: dict[type, Kind] = {ast.Run: RUN, ast.Goal: GOAL}
_CONDITION = {"type": "string", "description": "What a good trial meets, in place of a loss."}
"""Blocks that have fields as kinds have; what must be given may depend on other statements."""

VALUES = ["string", "number", "boolean"]
"""What a value may look like to an editor."""

_NAME = "[A-Za-z_][A-Za-z0-9_]*"
_NAMES = f"{_NAME}( *, *{_NAME})*"
_TYPE = rf"{_NAME}( *@ *{_NAME})?"
_PORT = rf"{_NAME}(\[.+\])?"

_TEXTS = {
    Role.NAME: f"^{_NAME}$",
    Role.NAMES: rf"^({_NAMES}|\( *{_NAMES} *\))$",
    Role.PORTS: f"^{_PORT}( *, *{_PORT})*$",
    Role.VARIABLE: f"^{_NAME}( *: *{_NAME})?$",
    Role.TURNS: rf"^{_NAME} +in\s",
    Role.WIRE: "->",
    Role.LINK: r"--(.|\n)*\svia\s",
    Role.ENDS: "--",
    Role.IMPORT: rf"^{_NAME}(\.{_NAME})*( +as +{_NAME})?( *,|$)",
}
"""The pattern of a text by its role, if there is one."""

_PARTS = {
    "parameters": "what a use of it may choose: a type for each name, as in `Time = 10 us`",
    "is": "the value, or what is copied",
    "with": "the fields that are changed in a copy",
    "type": "the type of the value",
    "between": "the two ends of a link, as in `a -- b`",
    "because": "why the case is left out",
    "title": "where the published numbers stand",
}
"""What the keys are for that are no words of the language."""


def build_schema(catalogue: Catalogue) -> Schema:
    """Return the schema, of the draft 2020-12; its top is a file."""
    file = {"$ref": "#/$defs/file"}
    whole = {"allOf": [file, {"required": ["qos"]}]}
    return {
        "$schema": DIALECT,
        "title": "A .qos specification as YAML, edition 1",
        "description": "Made by `qos schema`.",
        **_choose_by_type(
            mapping=whole,
            items={"minItems": 1, "prefixItems": [whole], "items": _let_lines(file)},
        ),
        "$defs": {
            "file": _build_file(),
            "value": {"type": VALUES},
            "block": _choose_by_type(
                mapping={"$ref": "#/$defs/statements"},
                items={"items": _let_lines({"$ref": "#/$defs/statements"})},
            ),
            "statements": _build_statements(()),
            "parameters": {
                "type": "object",
                "propertyNames": {"pattern": _TEXTS[Role.NAME]},
                "additionalProperties": {
                    "type": "string",
                    "pattern": rf"^({_TYPE}|\[ *{_TYPE} *\])",
                },
            },
            "thing": _build_item(BIND, {}),
            **_build_definitions(
                {ast.Search: build_search_kind(catalogue), ast.Point: POINT, ast.At: AT}
            ),
            **build_kinds(catalogue),
        },
    }


Beside = Mapping[type, "Kind"]
"""The fields that blocks have beside their statements."""


def _build_definitions(beside: Beside) -> Schema:
    """Return the schema below each keyword of a file and of a block."""
    shapes = {shape.key: shape for shape in (*FILE, *BLOCK)}
    return {f"below {key}": _build_below(shape, beside) for key, shape in shapes.items()}


def _build_file() -> Schema:
    return {
        "type": "object",
        "properties": {
            "qos": {"enum": [EDITION, int(EDITION)], "description": _read_meaning("qos")},
            "import": {
                "type": "array",
                "items": _choose_by_type(
                    items={"items": _build_text(Role.IMPORT)},
                    text=_build_text(Role.IMPORT),
                ),
                "description": _read_meaning("import"),
            },
            **{shape.key: _refer(shape) for shape in FILE},
        },
        "additionalProperties": False,
    }


def _build_statement(shape: Shape) -> Schema:
    """Return the schema below a keyword in a block; some keywords may be fields there too."""
    if shape.key not in load_keywords()["field"]:
        return _refer(shape)
    forms = [{"$ref": f"#/$defs/below {shape.key}"}, {"$ref": "#/$defs/thing"}]
    return {"anyOf": forms, "description": _read_meaning(shape.key)}


def _refer(shape: Shape) -> Schema:
    return {"$ref": f"#/$defs/below {shape.key}", "description": _read_meaning(shape.key)}


def _build_below(shape: Shape, beside: Beside) -> Schema:
    thing = _build_item(shape, beside)
    if shape.node in _FIELDS:
        fields = build_changes(_FIELDS[shape.node])
        if shape.node is ast.Goal:
            fields["properties"] |= {MEETS: _CONDITION}
        thing = _choose_by_type(mapping=fields, items={"items": {}})
    if shape.grouping is Grouping.ALONE:
        return thing
    named = {
        "type": "object",
        "propertyNames": {"pattern": _TEXTS.get(shape.name, r"\S")},
        "additionalProperties": thing,
    }
    if shape.grouping is Grouping.NAMED:
        return named
    if shape.grouping is Grouping.LISTED:
        return {"type": "array", "items": thing}
    one = _choose_by_type(mapping={**named, "minProperties": 1, "maxProperties": 1}, text=thing)
    return _choose_by_type(mapping=named, items={"items": one})


def _build_item(shape: Shape, beside: Beside) -> Schema:
    """Return one thing of a shape: a mapping of its parts, or the text that may stand for it."""
    mapping = items = text = None
    if shape.block:
        mapping = _build_statements(shape.parts)
        further = _build_statements(shape.parts, needed=False)
        items = {"items": _let_lines(further)}
        if shape.node in beside:
            for schema in (mapping, further):
                schema["properties"] |= build_fields(beside[shape.node])["properties"]
    elif shape.parts:
        mapping = _build_mapping(shape.parts)
    if shape.short is not None:
        text = _build_text(shape.short.role)
    return _choose_by_type(mapping=mapping, items=items, text=text)


def _let_lines(mapping: Schema) -> Schema:
    """Return an item of a list of statements: a mapping, or lines of the text form."""
    return _choose_by_type(mapping=mapping, text={"type": "string"})


def _choose_by_type(
    *, mapping: Schema | None = None, items: Schema | None = None, text: Schema | None = None
) -> Schema:
    """Return a choice of mapping, list and text by type, so that an error is about one of them."""
    cases = (("object", mapping), ("array", items), ("text", text))
    given = {name: form for name, form in cases if form is not None}
    types = [name for name in given if name != "text"] + (VALUES if text else [])
    rules = [
        {"if": {"type": VALUES if name == "text" else name}, "then": form}
        for name, form in given.items()
    ]
    return {"type": types, "allOf": rules}


def _build_mapping(parts: Sequence[Part]) -> Schema:
    keys = {part.key for part in parts}
    made: Schema = {
        "type": "object",
        "properties": {part.key: _build_part(part) for part in parts},
        "required": [part.key for part in parts if part.required],
        "additionalProperties": False,
    }
    if {"is", "with"} <= keys:
        made["allOf"] = [{"$ref": "#/$defs/record"}]
    if {"between", "with"} <= keys:
        made["properties"]["with"] = {"$ref": "#/$defs/changes of line"}
    return made


def _build_statements(parts: Sequence[Part], *, needed: bool = True) -> Schema:
    """Return the statements of a block, with the parts of what it belongs to beside them."""
    words = {word for table, words in load_keywords().items() for word in words if table != "field"}
    own = {part.key for part in parts} | {shape.key for shape in BLOCK}
    reserved = "|".join(sorted(words - set(load_keywords()["field"]) | own))
    return {
        "type": "object",
        "properties": {
            **{shape.key: _build_statement(shape) for shape in BLOCK},
            **{part.key: _build_part(part) for part in parts},
        },
        "required": [part.key for part in parts if part.required and needed],
        "patternProperties": {f"^(?!({reserved})$){_NAMES}$": {"$ref": "#/$defs/thing"}},
        "additionalProperties": False,
    }


def _build_part(part: Part) -> Schema:
    if part.role is Role.PARAMETERS:
        made: Schema = {"$ref": "#/$defs/parameters"}
    elif part.role is Role.BODY:
        made = _build_block()
    else:
        made = _build_text(part.role)
    return {**made, "description": _read_meaning(part.key)}


def _build_block() -> Schema:
    return {"$ref": "#/$defs/block"}


def _build_text(role: Role) -> Schema:
    pattern = _TEXTS.get(role)
    if pattern is None:
        return {"$ref": "#/$defs/value"}
    return {"type": "string", "pattern": pattern}


def _read_meaning(key: str) -> str:
    tables = [words for table, words in load_keywords().items() if table != "field"]
    known = {word: meaning for words in tables for word, meaning in words.items()}
    return known.get(key) or _PARTS.get(key, "carries what is sent from one element to the next")


def build_kinds(catalogue: Catalogue) -> Schema:
    """Return the fields of each kind, and the rule that chooses among them by `is`."""
    kinds = [kind for role in RECORDS for _, kind in sorted(catalogue.select_role(role).items())]
    fields = {f"fields of {kind.name}": build_fields(kind) for kind in kinds}
    rules = [
        {
            "if": {"properties": {"is": {"const": kind.name}}, "required": ["is", "with"]},
            "then": {"properties": {"with": {"$ref": f"#/$defs/fields of {kind.name}"}}},
        }
        for kind in kinds
    ]
    offered = [{"const": kind.name, "description": kind.summary} for kind in kinds]
    is_ = {"anyOf": [*offered, {"$ref": "#/$defs/value"}]}
    lines = {
        f"changes of {kind.name}": build_changes(kind) for kind in kinds if kind.duty == "line"
    }
    return {"record": {"properties": {"is": is_}, "allOf": rules}, **fields, **lines}


def build_fields(kind: Kind) -> Schema:
    """Return the fields of a kind, each by its name and by its abbreviation."""
    documents = describe_kind(kind)["fields"]
    needed = [_require_named(document) for document in documents if document["required"]]
    made: Schema = {
        "type": "object",
        "description": kind.summary,
        "properties": {
            name: _build_field(document)
            for document in documents
            for name in _list_spellings(document)
        },
        "additionalProperties": {"$ref": "#/$defs/thing"} if kind.open_fields else False,
    }
    return {**made, "allOf": needed} if needed else made


def build_changes(kind: Kind) -> Schema:
    """Return the fields of a copy of a kind: all may be left out."""
    return {name: part for name, part in build_fields(kind).items() if name != "allOf"}


def _require_named(field: Document) -> Schema:
    """Return the rule that a field is there, under one of its names."""
    return {"anyOf": [{"required": [name]} for name in _list_spellings(field)]}


def _list_spellings(field: Document) -> list[str]:
    meaning = field["meaning"].replace(" ", "_")
    return [field["name"], *([meaning] if meaning else [])]


def _build_field(field: Document) -> Schema:
    bounds = [f"from {field['least']}"] if field["least"] else []
    bounds += [f"to {field['most']}"] if field["most"] else []
    parts = [field["meaning"], field["type"], " ".join(bounds)]
    traits = ", ".join(part for part in parts if part)
    made: Schema = {"description": f"{field['description']} ({traits})"}
    if field["choices"]:
        made["anyOf"] = [{"enum": field["choices"]}, {"$ref": "#/$defs/thing"}]
    else:
        made["$ref"] = "#/$defs/thing"
        made["examples"] = [field["example"]]
    if field["default"]:
        made["default"] = field["default"]
    return made

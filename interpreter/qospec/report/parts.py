"""What the networks of a record are made of: each line, node and element once."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from qospec.report.views import list_tests

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from qospec.document import Document

    Record = Mapping[str, Any]

_INDEX = re.compile(r"\[(\d+)\]")


def list_parts(document: Record) -> dict[str, list[Document]]:
    """Return the `lines` and the `devices` of all networks; what has equal parameters is one.

    A line has the fields of the record, and `tests`, the names of those that it is in, none if it
    is in all. A device has its `name`, its `nodes`, which are like lines, and its `elements`, each
    with `nodes`, the names of those that have it, none if all of this device do.
    """
    tests = [test for test in list_tests(document) if test.get("networks")]
    every = list(dict.fromkeys(test["name"] for test in tests))
    lines: dict[str, Document] = {}
    devices: dict[str, dict[str, dict[str, Document]]] = {}
    for test in tests:
        for network in test["networks"].values():
            for line in network["lines"]:
                _add(lines, line, "links", test["name"], "tests")
            for node in network["nodes"]:
                own = devices.setdefault(node["device"], {"nodes": {}, "elements": {}})
                whole = {field: node[field] for field in ("names", "given", "defaults")}
                _add(own["nodes"], whole, "names", test["name"], "tests")
                for element in node["elements"]:
                    for name in node["names"]:
                        _add(own["elements"], element, "names", name, "nodes")
    return {
        "lines": _without_all(lines, "tests", every),
        "devices": [
            {
                "name": name,
                "nodes": _without_all(own["nodes"], "tests", every),
                "elements": _without_all(own["elements"], "nodes", _list_names(own["nodes"])),
            }
            for name, own in devices.items()
        ],
    }


def _add(found: dict[str, Document], part: Record, own: str, place: str, where: str) -> None:
    """Add a part to the one with its parameters, if there is one, and where it is."""
    array = {_INDEX.sub("[]", name) for name in part[own]} if where == "nodes" else ()
    whole = found.setdefault(str({**part, own: array}), {**part, own: [], where: []})
    for field, names in ((own, part[own]), (where, [place])):
        whole[field] += [name for name in names if name not in whole[field]]


def _list_names(nodes: Mapping[str, Document]) -> list[str]:
    return [name for node in nodes.values() for name in node["names"]]


def _without_all(parts: Mapping[str, Document], where: str, every: Sequence[str]) -> list[Document]:
    """Return the parts; of those that are everywhere it is not said where."""
    return [
        {**part, where: [] if set(every) <= set(part[where]) else part[where]}
        for part in parts.values()
    ]


def name_members(names: Sequence[str]) -> str:
    """Return names in one line, members of arrays together: `enc_a, left[0..3].p`."""
    arrays: dict[str, list[str]] = {}
    for name in names:
        arrays.setdefault(_INDEX.sub("[]", name), []).append(name)
    return ", ".join(_fold_array(its) for its in arrays.values())


def name_links(links: Sequence[Sequence[str]]) -> str:
    """Return links in one line, those between arrays together: `a[0..3] – left.p[0..3]`."""
    arrays: dict[tuple[str, ...], list[Sequence[str]]] = {}
    for ends in links:
        arrays.setdefault(tuple(_INDEX.sub("[]", end) for end in ends), []).append(ends)
    return ", ".join(
        " – ".join(_fold_array(list(dict.fromkeys(its))) for its in zip(*pairs, strict=True))
        for pairs in arrays.values()
    )


def _fold_array(names: Sequence[str]) -> str:
    """Return the members of an array: `a[0..3].p`; if two indices vary, the first and the last."""
    if len(names) == 1:
        return names[0]
    indices = list(zip(*(map(int, _INDEX.findall(name)) for name in names), strict=True))
    varying = [place for place, its in enumerate(indices) if len(set(its)) > 1]
    if len(varying) != 1:
        return f"{names[0]} .. {names[-1]}"
    runs = write_runs(indices[varying[0]])
    parts = _INDEX.split(names[0])  # texts and indices in turn
    parts[2 * varying[0] + 1] = runs
    return "".join(f"[{part}]" if place % 2 else part for place, part in enumerate(parts))


def write_runs(indices: Sequence[int]) -> str:
    """Return indices as `0..2,4`."""
    runs: list[list[int]] = []
    for index in sorted(indices):
        if runs and index == runs[-1][1] + 1:
            runs[-1][1] = index
        else:
            runs.append([index, index])
    return ",".join(f"{a}..{b}" if b > a + 1 else f"{a},{b}" if b > a else f"{a}" for a, b in runs)


FUNCTIONS = {"members": name_members, "link_names": name_links, "network_parts": list_parts}

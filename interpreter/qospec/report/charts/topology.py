"""The drawing of a topology: layers from left to right, equivalent members of an array as one box.

Links have no direction, but authors write them from the sender's side; that order gives the layers.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from qospec.report.parts import write_runs

Links = Sequence[Sequence[str]]
Lines = Sequence[Mapping[str, Any]]
Edge = tuple[str, str]

_MEMBER = re.compile(r"(?P<array>.+)\[(?P<index>\d+)\]\Z")

CHARACTER, PADDING, BOX_HEIGHT, ROW, GAP, MARGIN = 7.2, 12, 30, 46, 52, 4
SMALL_CHARACTER, BESIDE = 6.0, 6
"""Of the text at a line: the width of a character, and its distance from a box."""
ABOVE, BELOW, LEADING = -5, 13, 13
"""Of a text: where it stands above a line, and below it, and the distance of two on one side."""
MOST_TEXTS = 2
"""Of how many rates that differ a line of several links is labelled."""
MOST_REPEATED = 3
"""How many lines that are all alike have each its text; of more, it is said once."""


def draw_topology(links: Links, lines: Lines = ()) -> dict[str, Any]:
    """Return the coordinates of boxes and lines, in pixels.

    `width`, `height`; `boxes` with `x`, `y` (of the corner), `width`, `height`, `label`, `end`
    (whether it has one neighbour); `lines` with `points` (x and y, from left to right) and
    `labels`: its rate and its delay, as `lines` of the record say, each a `text` at `x`, `y`, which
    is the `start` or the `end` of it (`anchor`). Where they would overlap there are none. `each` is
    what all of many lines are, which then do not say it.
    """
    edges, labels, boxes = _fold_links(links)
    edges = _order_edges(edges)
    layers = _assign_layers(edges, labels)
    ways = _route_edges(edges, layers)
    rows = _order_rows(ways, layers)
    common = _describe_each(lines, len(links)) if len(edges) > MOST_REPEATED else ""
    texts = _write_texts(edges, boxes, () if common else lines)
    return {**_place_boxes(ways, texts, rows, labels), "each": common}


# ---- arrays


def _fold_links(links: Links) -> tuple[dict[Edge, int], dict[str, str], dict[str, str]]:
    """Return the links between boxes with their number, each box's label, and each member's box.

    Two members of an array are one box if they see the same: the coarsest such division, found by
    refining the division by arrays until it is stable.
    """
    names = list(dict.fromkeys(name for link in links for name in link))
    alone: set[str] = set()
    while True:
        group = _refine_turns(names, links, alone)
        inner = {a for a, b in links if group[a] == group[b]}
        inner |= {name for name in names if group[name] in {group[a] for a in inner}}
        if inner <= alone:
            break
        alone |= inner
    members: dict[int, list[str]] = {}
    for name in names:
        members.setdefault(group[name], []).append(name)
    labels = {its[0]: _write_label(its) for its in members.values()}
    first = {name: members[group[name]][0] for name in names}
    edges: dict[Edge, int] = {}
    for a, b in ((first[a], first[b]) for a, b in links):
        edge = (b, a) if (b, a) in edges else (a, b)
        edges[edge] = edges.get(edge, 0) + 1
    return edges, labels, first


def _describe_each(lines: Lines, count: int) -> str:
    """Return the rate and the delay of all lines; "" if they differ, or not all are known."""
    if sum(len(line["links"]) for line in lines) < count:
        return ""
    kinds = {(line["rate"].replace(" @line", ""), line["delay"]) for line in lines}
    (rate, delay), *others = sorted(kinds) or [("", "0 s")]
    return "" if others else rate + f", {delay}" * (delay != "0 s")


def _write_texts(
    edges: Mapping[Edge, int], boxes: Mapping[str, str], lines: Lines
) -> dict[Edge, list[str]]:
    """Return what stands at each line: how many links it is and their rate, and their delay."""
    rates: dict[frozenset[str], Counter[str]] = {}
    delays: dict[frozenset[str], dict[str, None]] = {}
    for line in lines:
        for ends in line["links"]:
            nodes = [end.rpartition(".")[0] or end for end in ends]
            both = frozenset(boxes.get(node, node) for node in nodes)
            rates.setdefault(both, Counter())[line["rate"].replace(" @line", "")] += 1
            delays.setdefault(both, {})[line["delay"]] = None
    texts = {}
    for edge, count in edges.items():
        its, late = rates.get(frozenset(edge), Counter()), delays.get(frozenset(edge), {})
        many = max(count, its.total())
        shown = [", ".join(its) if len(its) <= MOST_TEXTS else ""]
        shown[0] = f"{many} × {shown[0]}".rstrip() if many > 1 else shown[0]
        if len(late) <= MOST_TEXTS and set(late) != {"0 s"}:
            shown.append(", ".join(late))
        texts[edge] = [text for text in shown if text]
    return texts


def _refine_turns(names: Sequence[str], links: Links, alone: set[str]) -> dict[str, int]:
    group = _number_keys({name: name if name in alone else _find_array(name)[0] for name in names})
    while True:
        seen: dict[str, Counter[int]] = {name: Counter() for name in names}
        for a, b in links:
            seen[a][group[b]] += 1
            seen[b][group[a]] += 1
        finer = _number_keys({n: (group[n], tuple(sorted(seen[n].items()))) for n in names})
        if len(set(finer.values())) == len(set(group.values())):
            return group
        group = finer


def _number_keys(keys: Mapping[str, object]) -> dict[str, int]:
    numbers: dict[object, int] = {}
    return {name: numbers.setdefault(key, len(numbers)) for name, key in keys.items()}


def _find_array(name: str) -> tuple[str, int]:
    member = _MEMBER.match(name)
    return (f"{member['array']}[]", int(member["index"])) if member else (name, 0)


def _write_label(members: Sequence[str]) -> str:
    """Return `a[0..3]` for four members of an array."""
    if len(members) == 1:
        return members[0]
    runs = write_runs([_find_array(name)[1] for name in members])
    return f"{_find_array(members[0])[0][:-1]}{runs}]"


# ---- layers


def _order_edges(edges: Mapping[Edge, int]) -> dict[Edge, int]:
    """Return the edges with ends that were written first but belong to the right turned round.

    A box with one neighbour goes to the right of it if other things stand to the left already.
    """
    degree = Counter(name for edge in edges for name in edge)
    turned: dict[Edge, int] = {}
    for (a, b), count in edges.items():
        others = [x for x, y in edges if y == b and x != a]
        inner = any(degree[x] > 1 for x in others)
        late = bool(others) and others[0] in [x for x, _ in turned] and not _has_next(b, edges)
        turn = degree[a] == 1 and degree[b] > 1 and (inner or late)
        turned[(b, a) if turn else (a, b)] = count
    return turned


def _has_next(name: str, edges: Iterable[Edge]) -> bool:
    return any(a == name for a, _ in edges)


def _assign_layers(edges: Mapping[Edge, int], labels: Iterable[str]) -> dict[str, int]:
    """Return each box's layer: one more than that of the last box before it.

    A cycle is cut where it closes.
    """
    before: dict[str, list[str]] = {name: [] for name in labels}
    after: dict[str, list[str]] = {name: [] for name in before}
    for a, b in edges:
        if a != b and not _is_reached(b, a, after):
            before[b].append(a)
            after[a].append(b)
    layers = dict.fromkeys(before, 0)
    changed = True
    while changed:
        deeper = {n: 1 + max((layers[b] for b in its), default=-1) for n, its in before.items()}
        changed = deeper != layers
        layers = deeper
    for name, later in after.items():
        if later and not before[name]:
            layers[name] = min(layers[other] for other in later) - 1
    return layers


def _is_reached(start: str, goal: str, after: Mapping[str, Sequence[str]]) -> bool:
    waiting, seen = [start], set()
    while waiting:
        name = waiting.pop()
        if name == goal:
            return True
        if name not in seen:
            seen.add(name)
            waiting.extend(after[name])
    return False


# ---- places


def _route_edges(edges: Iterable[Edge], layers: Mapping[str, int]) -> dict[Edge, list[str]]:
    """Return the points of each edge from left to right: its ends, and one per layer between."""
    ways = {}
    for a, b in edges:
        left, right = (a, b) if layers[a] <= layers[b] else (b, a)
        between = [f"{a} -> {b} {n}" for n in range(layers[left] + 1, layers[right])]
        ways[a, b] = [left, *between, right]
    return ways


def _order_rows(ways: Mapping[Edge, Sequence[str]], layers: Mapping[str, int]) -> list[list[str]]:
    """Return the boxes of each layer from top to bottom, by the mean position of neighbours."""
    rows: list[list[str]] = [[] for _ in range(1 + max(layers.values(), default=-1))]
    near: dict[str, list[str]] = {name: [] for name in layers}
    for name, number in layers.items():
        rows[number].append(name)
    for way in ways.values():
        for number, name in enumerate(way[1:-1], layers[way[0]] + 1):
            rows[number].append(name)
        for a, b in itertools.pairwise(way):
            near.setdefault(a, []).append(b)
            near.setdefault(b, []).append(a)
    for sweep in range(8):
        for number in range(1, len(rows)):
            at = number if sweep % 2 == 0 else len(rows) - 1 - number
            fixed = at - 1 if sweep % 2 == 0 else at + 1
            rows[at] = _sort_row(rows[at], rows[fixed], near)
    return rows


def _sort_row(
    row: Sequence[str], fixed: Sequence[str], near: Mapping[str, Sequence[str]]
) -> list[str]:
    """Return a layer in the order of its boxes' neighbours in the layer that is fixed."""
    where = {name: _find_height(place, fixed) for place, name in enumerate(fixed)}
    means = {
        name: _compute_mean([where[other] for other in near[name] if other in where])
        for name in row
    }
    return sorted(row, key=means.__getitem__)


def _find_height(place: int, row: Sequence[str]) -> float:
    return place - (len(row) - 1) / 2


def _compute_mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _place_boxes(
    ways: Mapping[Edge, Sequence[str]],
    texts: Mapping[Edge, Sequence[str]],
    rows: Sequence[Sequence[str]],
    labels: Mapping[str, str],
) -> dict[str, Any]:
    degree = Counter(name for edge in texts for name in edge)
    gaps = _measure_gaps(ways, texts, rows, degree)
    middle = MARGIN + max((len(row) for row in rows), default=0) * ROW / 2
    boxes: dict[str, dict[str, Any]] = {}
    x = float(MARGIN)
    for row, gap in zip(rows, gaps, strict=True):
        widths = [len(labels.get(name, "")) * CHARACTER + 2 * PADDING for name in row]
        for place, name in enumerate(row):
            y = middle + _find_height(place, row) * ROW - BOX_HEIGHT / 2
            box = {"x": x, "y": y, "width": max(widths), "height": BOX_HEIGHT}
            text = {"label": labels.get(name), "end": degree[name] == 1}
            boxes[name] = {k: round(v, 1) for k, v in box.items()} | text
        x += max(widths) + gap
    taken: list[tuple[float, float]] = []
    return {
        "width": round(max(x - gaps[-1], 0.0) + MARGIN if rows else 2 * MARGIN, 1),
        "height": round(2 * middle, 1),
        "boxes": [box for box in boxes.values() if box["label"]],
        "lines": [_draw_line(way, boxes, degree, texts[e], taken) for e, way in ways.items()],
    }


def _measure_gaps(
    ways: Mapping[Edge, Sequence[str]],
    texts: Mapping[Edge, Sequence[str]],
    rows: Sequence[Sequence[str]],
    degree: Mapping[str, int],
) -> list[float]:
    """Return how far each layer is from the next: as far as what stands between them is wide."""
    number = {name: place for place, row in enumerate(rows) for name in row}
    gaps = [float(GAP)] * len(rows)
    for edge, way in ways.items():
        width = max((len(text) * SMALL_CHARACTER + 3 * BESIDE for text in texts[edge]), default=0.0)
        at = number[way[0]] if _is_at_start(way, degree) else max(number[way[-1]] - 1, 0)
        gaps[at] = max(gaps[at], width)
    return gaps


def _is_at_start(way: Sequence[str], degree: Mapping[str, int]) -> bool:
    """Return whether the end of a line with fewer lines is its start: there its text has room."""
    return degree[way[0]] <= degree[way[-1]]


def _choose_lifts(count: int, fall: float) -> list[int]:
    """Return how far below a line its texts stand: on the side that it bends away from.

    Args:
        count: One or two.
        fall: How far below this end the line goes on.
    """
    if fall > 0:
        return [ABOVE - LEADING, ABOVE][-count:]
    return [BELOW, BELOW + LEADING][:count] if fall < 0 else [ABOVE, BELOW][:count]


def _draw_line(
    way: Sequence[str],
    boxes: Mapping[str, Mapping[str, Any]],
    degree: Mapping[str, int],
    texts: Sequence[str],
    taken: list[tuple[float, float]],
) -> dict[str, Any]:
    """Return a line with its texts, at an end that is not `taken` yet."""
    points = []
    for place, name in enumerate(way):
        box = boxes[name]
        y = round(box["y"] + box["height"] / 2, 1)
        if place > 0:
            points.append((box["x"], y))
        if place < len(way) - 1:
            points.append((round(box["x"] + box["width"], 1), y))
    ends = [(points[0], "start"), (points[-1], "end")] if points else []
    for end, anchor in ends if _is_at_start(way, degree) else reversed(ends):
        if texts and end not in taken:
            taken.append(end)
            x = round(end[0] + (BESIDE if anchor == "start" else -BESIDE), 1)
            beyond = points[1] if anchor == "start" else points[-2]
            lifts = _choose_lifts(len(texts), beyond[1] - end[1])
            labels = [
                {"text": text, "x": x, "y": round(end[1] + lift, 1), "anchor": anchor}
                for text, lift in zip(texts, lifts, strict=True)
            ]
            return {"points": points, "labels": labels}
    return {"points": points, "labels": []}

"""Built-in names that are neither keywords nor kinds: layers, functions, fields, statistics.

The names come from the tables of the checker; here are only their meanings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.statistics import QUANTILE, offers, parse_packet_number
from qospec.check.device.ports import SIDES
from qospec.check.device.wiring import ENDINGS
from qospec.check.evaluate import streams
from qospec.check.evaluate.functions import FUNCTIONS
from qospec.check.evaluate.measurements import CAUSES, DISCARDED
from qospec.model.claims import CLAIMS
from qospec.protocol.encapsulation import LAYERS
from qospec.protocol.streams import PARTS
from qospec.reference.kinds import describe_field
from qospec.reference.members import describe_members, list_kinds_with_fields
from qospec.reference.members import list_names as member_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qospec.catalogue.kinds import Catalogue, Kind
    from qospec.document import Document

MEANINGS: dict[str, str] = {
    "discard": "the end of a wire: items that reach it are discarded on purpose and count as lost",
    "terminate": "the end of a wire: items that reach it have arrived",
    "rx": "the side of a port where items enter, as in `west.rx -> queue`",
    "tx": "the side of a port where items leave, as in `queue -> east.tx`",
    "oam": "the OAM cells of a flow, as in `user.oam.delay.p99`",
    "misinserted": "the cells of others that a fault put among those of a flow, as in"
    " `user.misinserted.received`",
    "cells": "the cells of a flow's packets but the last of each, as in `user.cells.lost`",
    "fragments": "the fragments of a flow's packets but the first of each, as in"
    " `user.fragments.lost`",
    "copies": "the copies of a flow's packets that a fault made, as in `user.copies.lost`",
    "notices": "the messages to a flow's source that a packet was too large for its path, as in"
    " `copy.notices.received`",
    "answers": "the answers to the requests of a flow, as in `ask.answers.loss`",
    "exchanges": "the whole exchanges of a flow, a request with its answer, as in"
    " `ask.exchanges.delay.p99`",
    "frames": "the frames of a flow of cells that form some, as in `user.frames.loss`",
    "host": "a port of the tester, as in `a, b = host` or `a = host(count = 4, slotted = false)`;"
    " its faults are `clock = 20 ppm`, `resolution = 0.5 us`, `overhead = 1 us`, `lowest_rate`"
    " and `aal5_connections`",
    "flows": "the list of all flows of a test, as in `for f in flows { report f.delay.p99 }`",
    "test_flows": "the list of the flows of a point that depend on a variable of the phase, as in"
    " `for f in half.test_flows { report f.delay.p99 }`; the others send the same in each phase",
    "line": "all bits on the line, its own overhead included",
    "frame": "the bits of frames",
    "ip": "the bits of IP packets, headers included",
    "payload": "the payload bits of a cell or packet: 48 bytes of a cell",
    "cell": "the bits of cells: 53 bytes each",
    "min": "the smallest of several values",
    "max": "the largest of several values",
    "abs": "the absolute value",
    "ceil": "the smallest whole number that is not below one",
    "floor": "the largest whole number that is not above one",
    "round": "the nearest whole number, of two the one farther from 0",
    "worst": "the worst of the same measurement of each member of a group: the smallest if more is"
    " better, as of `received`, else the largest",
    "exponential": "a random time with this mean, as in `exponential(16 ms)`, or a random size"
    " within limits, as in `exponential(500 B, min = 40 B, max = 1_500 B) @ip`",
}
"""By name."""

BUILT_IN = (*ENDINGS, *SIDES, "host", "flows", "test_flows", *PARTS)
"""Names with one meaning in every file."""
STATISTICS = {
    "mean": "the mean of all cells or packets",
    "min": "the smallest value of all cells or packets",
    "max": "the largest value of all cells or packets",
    "std": "the standard deviation of all cells or packets",
    "bound": "the most that is possible, as network calculus proves it; no data if it proves none",
    "above": "the share of delays above a bound, as a ratio, as in `user.delay.above(1 ms)`",
    "at": "the same of what passes a place inside the network, as in"
    " `user.throughput.at(router.east.tx)`: a side of a port, or an output of an element",
    "sample_std": "the standard deviation of a sample, over n - 1",
}
CONCEPTS = {
    "template": "a test with parameters or without a topology, which is only run through the tests"
    " that are built on it: `test t = rfc2544.throughput(line = 100 Mbit/s @line) on bench { … }`"
    " (spec/6-procedures.md)",
    "phase": "a search or a point: phases are carried out in the order in which they are written,"
    " each with values of its own for its variables (spec/6-procedures.md)",
    "quantile": "the value that this share of cells or packets does not exceed: 99 % for"
    " `user.delay.p99`, 99.9 % for `p99_9`; with a confidence it is judged by order statistics"
    " (spec/7-verdicts.md)",
    "percentile": "a quantile named by a percentage: `user.delay.p99`",
    "confidence": "how sure a criterion has to be: `user.delay.mean < 1 ms with 95% confidence` is"
    " judged by a confidence interval over all repeats; where nothing is random, by the value of"
    " each repeat (spec/7-verdicts.md)",
    "interval": "the range that contains a value with the given confidence; the criterion passes if"
    " all of it is on the good side of the bound, fails if all of it is on the bad side, and is"
    " inconclusive otherwise",
}
TEST_FIELDS = {
    "covers": 'what a test covers, such as requirements: `covers = ["REQ-17"]`; a criterion names'
    ' what its claim is of itself: `as exact of "O45"`',
    "not_reproduced": "what a test does not reproduce of a publication, and why:"
    ' `not_reproduced = ["figure 3: no legible curve"]`',
    "follows": 'the procedure of a standard that a test carries out: `follows = "RFC 2544, 26.1"`',
    "deviations": "what a test does in another way than the procedure that it follows, and why:"
    ' `deviations = ["a trial lasts 1 s: nothing is random"]`',
}
VERDICTS = {
    "pass": "every criterion holds, and was measured",
    "fail": "an `expect` does not hold: the device does not meet it",
    "inconclusive": "undecided: a `require` does not hold, there is no data, or too little for the"
    " confidence that is required",
    "error": "the tester failed, or an invariant of a device does not hold",
    "measured": "a case that only reports and has no criteria",
    "not applicable": "a statement that does not apply to a case, by its `when` or by what is known"
    " before the run; it has no verdict and never counts as a pass",
}
TABLES: dict[str, dict[str, str]] = {
    "field of a test": TEST_FIELDS,
    "verdict": VERDICTS,
    "built in": {name: MEANINGS[name] for name in BUILT_IN},
    "function": {name: MEANINGS[name] for name in FUNCTIONS},
    "function of properties": {
        function.name: f"`{function.name}({', '.join(function.parameters)})`: {function.summary}"
        for function in streams.FUNCTIONS.values()
    },
    "statistic": STATISTICS,
    "concept": CONCEPTS,
    "claim": {name: f"after `as`: {claim.meaning}" for name, claim in CLAIMS.items()},
}
"""The meanings of names, by kind."""


def describe_builtins(what: str, catalogue: Catalogue) -> Iterator[Document]:
    """Yield the meanings of a name, one for each of its uses."""
    bare = what.removeprefix("@")
    if bare in LAYERS:
        yield _make_document("layer", f"@{bare}", MEANINGS[bare])
    for kind, known in TABLES.items():
        if what in known:
            yield _make_document(kind, what, known[what])
    if QUANTILE.fullmatch(what):
        share = what[1:].replace("_", ".")
        yield _make_document(
            "statistic", what, f"the quantile that {share} % of the cells or packets do not exceed"
        )
    number = parse_packet_number(what)
    if number is not None:
        yield _make_document("statistic", what, f"the value of the flow's packet number {number}")
    yield from _describe_fields(what, catalogue)
    yield from describe_members(what, catalogue)
    thing, _, below = what.partition(".")
    metric = catalogue.find("metric", thing)
    if metric is not None and "." not in below and below and _offers(metric, below, catalogue):
        for builtin in describe_builtins(below, catalogue):
            if builtin["sort"] in ("statistic", "cause"):
                yield {**builtin, "sort": "statistic", "name": what}


def list_names(catalogue: Catalogue) -> Iterator[str]:
    """Yield all these names except quantiles, of which there are too many."""
    yield from (
        *LAYERS,
        *FUNCTIONS,
        *streams.FUNCTIONS,
        *BUILT_IN,
        *STATISTICS,
        *CONCEPTS,
        *CLAIMS,
        *TEST_FIELDS,
        *VERDICTS,
    )
    yield from member_names(catalogue)
    for _, kind in list_kinds_with_fields(catalogue):
        for parameter in kind.parameters.values():
            yield from (parameter.alias or parameter.name, parameter.name)


def _offers(metric: Kind, name: str, catalogue: Catalogue) -> bool:
    """Return whether a metric offers a statistic, of cells or of packets."""
    offered = {
        statistic for carries in metric.carries for statistic in metric.list_statistics(carries)
    }
    causes = (*catalogue.causes, DISCARDED) if CAUSES in offered else ()
    return name in causes or offers(tuple(offered), name)


def _describe_fields(what: str, catalogue: Catalogue) -> Iterator[Document]:
    """Yield a field once, with all kinds that declare it the same way."""
    found: dict[tuple[str, str], list[str]] = {}
    for name, kind in list_kinds_with_fields(catalogue):
        for parameter in kind.parameters.values():
            if what and what in (parameter.name, parameter.alias):
                field = describe_field(parameter, kind)
                meaning = field["meaning"] or parameter.name.replace("_", " ")
                text = f"{meaning}, {field['type']}: {field['description']}".rstrip(": ")
                found.setdefault((field["name"], text), []).append(name)
    for (name, text), having in found.items():
        yield _make_document("field", name, f"a field of {', '.join(having)}; {text}")


def _make_document(kind: str, name: str, summary: str) -> Document:
    return {"sort": kind, "name": name, "summary": summary, "description": ""}

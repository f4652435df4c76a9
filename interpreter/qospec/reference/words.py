"""What stands in every file and is no keyword and no kind: layers, functions, fields, quantiles.

The names come from the tables of the checker; here stands only what is said of each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.statistics import QUANTILE, offers, packet_of
from qospec.check.device.ports import SIDES
from qospec.check.device.wiring import ENDINGS
from qospec.check.evaluate.functions import FUNCTIONS
from qospec.check.test.measurements import CAUSES, DISCARDED
from qospec.model.suite import CLAIMS
from qospec.protocol.encapsulation import LAYERS
from qospec.reference.asked import asked, kinds
from qospec.reference.asked import names as asked_names
from qospec.reference.kinds import field_document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qospec.catalogue.kinds import Catalogue, Kind
    from qospec.document import Document

SAID: dict[str, str] = {
    "discard": "where a wire ends: what comes there is thrown away on purpose, and counts as lost",
    "terminate": "where a wire ends: what comes there has arrived",
    "rx": "the side of a port where items come in, as in `west.rx -> queue`",
    "tx": "the side of a port where items leave, as in `queue -> east.tx`",
    "oam": "the OAM cells of a flow, as in `user.oam.delay.p99`",
    "host": "a port of the tester, as in `a, b = host` or `a = host(count = 4, slotted = false)`",
    "flows": "the list of all flows of a test, as in `for f in flows { report f.delay.p99 }`",
    "line": "all bits of the line, with its own overhead",
    "frame": "the bits of frames",
    "ip": "the bits of IP packets, headers included",
    "payload": "the bits that a cell or packet carries: 48 bytes of a cell",
    "cell": "the bits of cells: 53 bytes each",
    "min": "the least of several values",
    "max": "the greatest of several values",
    "abs": "a value without its sign",
    "worst": "of each member of a group the same measurement, and of these the worst: of what had"
    " better be more, such as `received`, the least, else the greatest",
    "exponential": "a time that is drawn with this mean, as in `exponential(16 ms)`, or a size"
    " within limits, as in `exponential(500 B, min = 40 B, max = 1_500 B) @ip`",
}
"""By name."""

BUILT_IN = (*ENDINGS, *SIDES, "host", "flows", "oam")
"""Names that stand for one thing in every file."""
STATISTICS = {
    "mean": "the mean of all cells or packets",
    "min": "the least of all cells or packets",
    "max": "the greatest of all cells or packets",
    "std": "the standard deviation of all cells or packets",
    "above": "the share of the delays above a bound, a ratio, as in `user.delay.above(1 ms)`",
    "sample_std": "the standard deviation over n - 1, as of a sample",
}
CONCEPTS = {
    "quantile": "what so many of the cells or packets do not exceed: 99 % of them `user.delay.p99`,"
    " 99.9 % `p99_9`; with a confidence it is judged by order statistics (spec/7-verdicts.md)",
    "percentile": "a quantile that is named by a percentage: `user.delay.p99`",
    "confidence": "how sure a criterion has to be: `user.delay.mean < 1 ms with 95% confidence` is"
    " judged of all repeats at once, by an interval; where nothing is drawn at random, by the value"
    " that each repeat has (spec/7-verdicts.md)",
    "interval": "between what a value lies with a confidence; all of it on the good side of a bound"
    " is a pass, all of it on the bad side a fail, else the criterion is inconclusive",
}
OF_A_TEST = {
    "covers": 'what a test answers to, such as requirements: `covers = ["REQ-17"]`',
    "not_reproduced": "what of a publication a test does not show, and why:"
    ' `not_reproduced = ["figure 3: no legible curve"]`',
}
VERDICTS = {
    "pass": "all that is asked holds, and it was measured",
    "fail": "an `expect` does not hold: the device is not good",
    "inconclusive": "nothing was decided: a `require` does not hold, there is no data, or too"
    " little for the confidence that is asked for",
    "error": "the tester did not do its work, or an invariant of a device does not hold",
    "measured": "a case that only reports: nothing is asked of it",
    "not applicable": "a statement that says nothing in a case, by its `when` or by what is known"
    " before the run; it has no verdict, and never counts as a pass",
}
TABLES: dict[str, dict[str, str]] = {
    "field of a test": OF_A_TEST,
    "verdict": VERDICTS,
    "built in": {name: SAID[name] for name in BUILT_IN},
    "function": {name: SAID[name] for name in FUNCTIONS},
    "statistic": STATISTICS,
    "concept": CONCEPTS,
    "claim": {name: f"behind `as`: {meaning}" for name, meaning in CLAIMS.items()},
}
"""What is said of names, by their sort."""


def words(what: str, catalogue: Catalogue) -> Iterator[Document]:
    """Yield what a name stands for, once for each of its uses."""
    bare = what.removeprefix("@")
    if bare in LAYERS:
        yield _word("layer", f"@{bare}", SAID[bare])
    for sort, known in TABLES.items():
        if what in known:
            yield _word(sort, what, known[what])
    if QUANTILE.fullmatch(what):
        share = what[1:].replace("_", ".")
        yield _word(
            "statistic", what, f"the quantile that {share} % of the cells or packets do not exceed"
        )
    number = packet_of(what)
    if number is not None:
        yield _word("statistic", what, f"the value of packet {number} of those that a flow sends")
    yield from _fields(what, catalogue)
    yield from asked(what, catalogue)
    thing, _, below = what.partition(".")
    metric = catalogue.find("metric", thing)
    if metric is not None and "." not in below and below and _offers(metric, below, catalogue):
        for each in words(below, catalogue):
            if each["sort"] in ("statistic", "cause"):
                yield {**each, "sort": "statistic", "name": what}


def names(catalogue: Catalogue) -> Iterator[str]:
    """Yield all these names, but for the quantiles, of which there are too many."""
    yield from (
        *LAYERS,
        *FUNCTIONS,
        *BUILT_IN,
        *STATISTICS,
        *CONCEPTS,
        *CLAIMS,
        *OF_A_TEST,
        *VERDICTS,
    )
    yield from asked_names(catalogue)
    for _, kind in kinds(catalogue):
        for each in kind.parameters.values():
            yield from (each.alias or each.name, each.name)


def _offers(metric: Kind, name: str, catalogue: Catalogue) -> bool:
    """Return whether a metric offers a statistic, of cells or of packets."""
    offered = {each for carries in metric.carries for each in metric.statistics(carries)}
    causes = (*catalogue.causes, DISCARDED) if CAUSES in offered else ()
    return name in causes or offers(tuple(offered), name)


def _fields(what: str, catalogue: Catalogue) -> Iterator[Document]:
    """Yield a field once, with all kinds that have it and say the same of it."""
    found: dict[tuple[str, str], list[str]] = {}
    for name, kind in kinds(catalogue):
        for each in kind.parameters.values():
            if what and what in (each.name, each.alias):
                said = field_document(each, kind)
                meaning = said["meaning"] or each.name.replace("_", " ")
                text = f"{meaning}, {said['type']}: {said['description']}".rstrip(": ")
                found.setdefault((said["name"], text), []).append(name)
    for (name, text), having in found.items():
        yield _word("field", name, f"a field of {', '.join(having)}; {text}")


def _word(sort: str, name: str, summary: str) -> Document:
    return {"sort": sort, "name": name, "summary": summary, "description": ""}

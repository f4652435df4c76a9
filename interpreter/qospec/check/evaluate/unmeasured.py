"""What is not measured of a flow or at a place: the mistakes, and what was meant instead."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from qospec.catalogue.statistics import PATTERNS, offers
from qospec.catalogue.words import explain_word, list_translations, translate
from qospec.check.evaluate.context import make_error
from qospec.check.evaluate.scope import suggest_listing
from qospec.diagnostics import suggest_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qospec.catalogue.kinds import Catalogue, Kind
    from qospec.check.evaluate.context import CheckError
    from qospec.source import Span
    from qospec.syntax import ast

FRAME_LAYERS = ("line", "frame")
"""Statistics of packets that need a line."""

OF_EXCHANGES = {
    **dict.fromkeys(("response", "responses", "reply", "replies"), "answers"),
    **dict.fromkeys(("ack", "acks", "acknowledgements", "acknowledgments"), "answers"),
    "goodput": "exchanges.throughput",
    **dict.fromkeys(("transaction", "transactions", "round_trips"), "exchanges"),
    **dict.fromkeys(("rtt", "round_trip", "round_trip_time", "response_time"), "exchanges.delay"),
}
"""Words of other tools for the parts of a flow between endpoints, and what they are called here."""
REQUESTS = ("request", "requests", "queries")
"""What others call the flow itself."""
FRAMES = ("frame", "frames")
"""A part of a flow of `frames` alone."""


# ---- metrics


TOLD_OF = {
    "connections": ("of connections of `tcp` alone", "measure it of a flow of `tcp` itself"),
    "calls": ("only where `source = calls { … }`", "let the flow have a `source = calls { … }`"),
}
"""By what metrics are told: of what they are measured, and how to have it."""


_AS_A_SHARE = re.compile(r" *[<>=!]=? *[0-9][0-9_.]* ?%")
"""What is behind a metric that is compared with a share."""


def explain_unknown_metric(
    path: str, known: Sequence[Kind], parts: Sequence[str], name: ast.Name, kind: Kind | None
) -> CheckError:
    """Return the mistake of an unknown metric, or an unknown part, of the flow at a path.

    What is `known` can be measured of it; if the name is that of a `kind`, this one cannot.
    """
    spellings = [spelling for kind in known for spelling in (kind.name, *kind.aliases)]
    word = name.text.lower()
    meant = OF_EXCHANGES.get(word, "")
    if path.endswith(".exchanges"):
        meant = meant.partition("exchanges.")[2]
    elif "exchanges" not in parts:
        meant = ""
    meant = meant or translate(word, (*spellings, *parts))
    absent = "" if meant else explain_word(word)
    shares = _list_shares(known) if _AS_A_SHARE.match(name.span.source.text, name.span.end) else []
    near = meant or ("" if absent or kind else suggest_name(name.text, shares))
    likely = (word for word in (*spellings, *parts) if _may_be_meant(word, name.text))
    near = near or ("" if absent or kind else suggest_name(name.text, likely))
    told_of, help_text = TOLD_OF[kind.build.told_by] if kind else ("", suggest_listing("metrics"))
    if word in REQUESTS and "answers" in parts:
        near, help_text = "", f"the flow itself is its requests: write `{path}`"
    elif OF_EXCHANGES.get(word) == "exchanges.delay" and not meant:
        near, help_text = "", f"let `{path}` be an `echo`, and measure `{path}.exchanges.delay`"
    elif word in FRAMES and parts and "frames" not in parts:
        near, help_text = "", _explain_no_frames(path, has_packets="cells" in parts)
    shown = (min((kind.name, *kind.aliases[:1]), key=len) for kind in known)
    note = f"metrics: {' '.join(sorted(shown))}"
    note = f"{note}; parts of `{path}`: {' '.join(parts)}" if parts else note
    what = f"is measured {told_of}" if kind else "is not a metric"
    return make_error(
        "E0501",
        f"`{name.text}` {what}",
        name.span,
        note=absent or note,
        near=near,
        help=help_text,
    )


def _may_be_meant(metric: str, written: str) -> bool:
    """Return whether a name may be a metric's, misspelt: not if only one of its words is the same.

    `delay_variation` is no `delay_reading`: what follows `delay` is another word.
    """
    words, of_metric = written.lower().split("_"), metric.split("_")
    rest = "_".join(word for word in words if word not in of_metric)
    other = "_".join(word for word in of_metric if word not in words)
    return not rest or not other or other == metric or bool(suggest_name(rest, [other]))


def _list_shares(known: Sequence[Kind]) -> list[str]:
    shares = (kind for kind in known if kind.build.dimension == "ratio")
    return [spelling for kind in shares for spelling in (kind.name, *kind.aliases)]


def _explain_no_frames(path: str, *, has_packets: bool) -> str:
    """Return what to measure of the flow at a path in place of frames."""
    if has_packets:
        return f"each of its packets is a frame on a link: write `{path}` for these"
    return f"only traffic `frames {{ … }}` has frames of cells: write `{path}` for the cells"


def explain_not_measured(
    carries: str, name: ast.Name, catalogue: Catalogue, frames: str = ""
) -> CheckError:
    """Return the mistake of a metric of packets that is asked of cells, or the reverse.

    It may have been meant of the `frames` of the flow, at that path.
    """
    usual = {
        n: kind for n, kind in catalogue.select_role("metric").items() if carries in kind.carries
    }
    near = translate(name.text, {word for e in usual.values() for word in (e.name, *e.aliases)})
    return make_error(
        "E0501",
        f"`{name.text}` is not measured of {carries}s",
        name.span,
        note=f"metrics of {carries}s: " + " ".join(sorted(usual)),
        near=near,
        help=f"measure its frames: `{frames}.{name.text}`" if frames and not near else "",
    )


def explain_not_rated(name: ast.Name, why: str, field: str) -> CheckError:
    """Return the mistake of a rating of what are no calls, or of calls in an unknown quality.

    The `field` of their traffic would rate the latter; "" of the former.
    """
    message = f"`{name.text}` is not measured of this flow"
    help_text = f"give its traffic `{field}`" if field else ""
    return make_error("E0501", message, name.span, note=why, help=help_text)


def list_measured_at_places(catalogue: Catalogue) -> list[str]:
    """Return the names of what is measured at places."""
    kinds = catalogue.select_role("metric").values()
    return sorted(kind.name for kind in kinds if "place" in kind.build.measured_at)


def explain_not_at_place(asked: str, span: Span, catalogue: Catalogue) -> CheckError:
    """Return the mistake of a metric that is measured only of flows."""
    known = list_measured_at_places(catalogue)
    near = suggest_name(asked, known)
    return make_error(
        "E0501",
        f"`{asked}` is not measured at a place",
        span,
        note=f"measured at a place: {' '.join(known)}",
        near=near,
    )


# ---- statistics


def describe_offered(metric: str, statistics: tuple[str, ...]) -> str:
    """Return the statistics of a metric in words."""
    named = [statistic for statistic in statistics if statistic and statistic not in PATTERNS]
    plural = [PATTERNS[statistic].plural for statistic in statistics if statistic in PATTERNS]
    plural += ["shares such as above(1 ms)"] if "p*" in statistics else []
    families = [*([" ".join(named)] if named else []), *plural]
    return f"statistics of {metric}: {', and '.join(families)}"


def explain_unframed(
    metric: str, statistics: tuple[str, ...], asked: str, span: Span
) -> CheckError:
    """Return the mistake of bits of frames where there are none."""
    return make_error(
        "E0503",
        f"packets have no frames here, so `{metric}` has no statistic `{asked}`",
        span,
        note=describe_offered(metric, statistics),
        help="measure it at a port: `x.east.tx`",
    )


def explain_no_cells(flow: str, longest: int, places: slice, name: ast.Name) -> CheckError:
    """Return the mistake of places, from 0, that no frame of the flow at a path has.

    Its `longest` frame has so many cells; 0 if that is not known.
    """
    if places.stop <= places.start:
        message = f"`{name.text}` ends before it begins, so it is of no cell"
        help_text = f"write the first place first: `cells_{places.stop}_{places.start + 1}`"
        return make_error("E0503", message, name.span, help=help_text)
    has = "1 cell" if longest == 1 else f"{longest} cells"
    return make_error(
        "E0503",
        f"no frame of `{flow}` has a cell {places.start + 1}",
        name.span,
        note=f"its longest has {has}",
        help=f"write a place from 1 to {longest}, such as `cell_{longest}`, or send longer frames",
    )


def explain_no_shares(
    metric: str, carries: str, name: ast.Name, catalogue: Catalogue
) -> CheckError:
    """Return the mistake of a share of a metric that has none."""
    its = (kind for kind in catalogue.select_role("metric").values() if carries in kind.carries)
    shares = (kind for kind in its if "p*" in kind.list_statistics(carries))
    shown = sorted(min((share.name, *share.aliases[:1]), key=len) for share in shares)
    return make_error(
        "E0503",
        f"`{metric}` has no statistic `{name.text}`",
        name.span,
        note=f"shares above a bound are of {' '.join(shown)}",
    )


def explain_unknown_statistic(
    metric: str, flow: str, statistics: tuple[str, ...], name: ast.Name
) -> CheckError:
    """Return the mistake of an unknown statistic of a metric, of the flow at a path."""
    message = f"`{metric}` has no statistic `{name.text}`"
    if not statistics:
        help_text = f"write `{flow}.{metric}`: it is one number"
        return make_error("E0503", message, name.span, help=help_text)
    named = [statistic for statistic in statistics if statistic and statistic not in PATTERNS]
    meant = (word for word in list_translations(name.text) if offers(statistics, word))
    shown = [example for of in statistics if of in PATTERNS for example in PATTERNS[of].shown]
    near = next(meant, "") or suggest_name(name.text, [*named, *shown])
    help_text = ""
    for statistic in statistics:
        # Not every number is a quantile, and not every one is that of a packet.
        if statistic in PATTERNS and PATTERNS[statistic].nearly.match(name.text):
            help_text = PATTERNS[statistic].help
    return make_error(
        "E0503",
        message,
        name.span,
        note=describe_offered(metric, statistics),
        near=near,
        help=help_text,
    )

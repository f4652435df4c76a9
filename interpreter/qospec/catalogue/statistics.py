"""Statistics with a number in their name: quantiles `p99_9`, single packets `packet_3`, and shares.

Of the time in a state of a machine there are single stays, `stay_3`.

`delay.above(1 ms)` is named by its bound in ps, `above_1000000000`.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache

from qospec.dataclass import NamedTuple

GOES_ON = "goes_on"
"""In place of a statistic, for the judge: whether the value is only a lower limit."""
PRECISION = "precision"
"""In place of a statistic, for the judge: how far off times are; None if they are exact."""
WITHIN = f"{PRECISION}."
"""Ahead of a statistic, for the judge: the value's bounds, as `Bounds`; None if it is exact."""
QUANTILE = re.compile(r"p(?!0+(?:_0+)?\Z)(\d{1,2})(?:_(\d{1,6}))?")
ABOVE = re.compile(r"above_(\d+)")
PACKET = re.compile(r"packet_(10000|[1-9]\d{0,3})")
STAY = re.compile(r"stay_(10000|[1-9]\d{0,3})")
MARK = re.compile(r"dscp_(?:6[0-3]|[1-5]?\d)|(?:priority|traffic_class|precedence)_[0-7]")
CELL = re.compile(r"cell_([1-9]\d{0,3})|cells_([1-9]\d{0,3})_([1-9]\d{0,3})")

KNOWN = 1_024
"""How many names are read once: those of a report are asked of each flow of each trial."""
KINDS_OF_CAUSES = {"policed": ("policed_pcr", "policed_scr")}
"""Causes of loss that have a name together."""
CAUSE_WORDS = {
    "policed_pcr": "policed: above PCR with CDVT",
    "policed_scr": "policed: above SCR with MBS",
}
"""Causes that reports show in words, by the traffic parameters that a cell exceeded."""
_NAMES_OF_KINDS = {kind: name for name, kinds in KINDS_OF_CAUSES.items() for kind in kinds}


def name_cause(cause: str) -> str:
    """Return the name that a cause of loss has together with others of its kind, or its own."""
    return _NAMES_OF_KINDS.get(cause, cause)


def describe_cause(cause: str) -> str:
    """Return a cause of loss as reports show it."""
    return CAUSE_WORDS.get(cause, cause)


def is_of_cause(cause: str, name: str) -> bool:
    """Return whether a name stands for a cause of loss, alone or with others of its kind."""
    return name in (cause, name_cause(cause))


class Pattern(NamedTuple):
    """Names of one form, of which a metric offers all.

    Attributes:
        form: What such a name looks like.
        plural: What they are, with examples.
        shown: Those that a report shows of every distribution.
        help: How such a name is written.
        nearly: What those names begin with that may have been meant so.
        needs: What a trial must record for them, as `needs` of a metric.
    """

    form: re.Pattern[str]
    plural: str
    shown: tuple[str, ...]
    help: str
    nearly: re.Pattern[str]
    needs: frozenset[str]


PATTERNS = {
    "p*": Pattern(
        QUANTILE,
        "quantiles such as p50 p99 p99_9",
        ("p50", "p99", "p99_9"),
        "write a quantile above 0 and below 100 with six decimals at most, as `p99_9` for 99.9 %",
        re.compile(r"[pP]\d|percentile|quantile"),
        frozenset({"histogram"}),
    ),
    "packet_*": Pattern(
        PACKET,
        "single packets such as packet_3",
        (),
        "write the packet's number from 1 up to 10000, as `packet_3` for the third that is sent",
        re.compile(r"packet|n?\d"),
        frozenset({"variation"}),
    ),
    "stay_*": Pattern(
        STAY,
        "single stays such as stay_3",
        (),
        "write `stay_3` for the third that began; numbers are 1 to 10000",
        re.compile(r"stay|call|n?\d"),
        frozenset(),
    ),
    "mark_*": Pattern(
        MARK,
        "marks such as dscp_46 priority_5",
        (),
        "write a mark and its value, as `dscp_46` for packets that arrive with DSCP 46",
        re.compile(r"dscp|priority|traffic_class|precedence|marks?|by"),
        frozenset({"marks"}),
    ),
    "cell_*": Pattern(
        CELL,
        "cells by their place in a frame such as cell_1 cells_2_191",
        (),
        "write the places of cells in their frames, from 1, as `cell_1` or `cells_2_191`",
        re.compile(r"cells?|\d"),
        frozenset({"positions"}),
    ),
}
"""By the placeholder in the statistics that a metric declares."""
OF_FRAMES = "cell_*"
"""The placeholder of what is known only of cells that form frames."""


@lru_cache(KNOWN)
def offers(statistics: tuple[str, ...], name: str) -> bool:
    """Return whether a name is among the statistics that a metric declares."""
    if name in PATTERNS:
        return False
    return name in statistics or any(
        PATTERNS[statistic].form.fullmatch(name)
        for statistic in statistics
        if statistic in PATTERNS
    )


@lru_cache(KNOWN)
def parse_share(quantile: str) -> Fraction | None:
    """Return the share that a quantile is named for, 999/1000 for `p99_9`; None for other names."""
    named = re.fullmatch(r"p(\d+)(?:_(\d+))?", quantile)
    if named is None:
        return None
    whole, digits = named[1], named[2] or ""
    share = Fraction(int(whole + digits), 100 * 10 ** len(digits))
    return share if share <= 1 else None


@lru_cache(KNOWN)
def parse_packet_number(name: str) -> int | None:
    """Return the number, from 1, of the packet that a statistic is named for; None for others."""
    named = PACKET.fullmatch(name)
    return int(named[1]) if named else None


def parse_stay_number(name: str) -> int | None:
    """Return the number, from 1, of the stay that a statistic is named for; None for others."""
    named = STAY.fullmatch(name)
    return int(named[1]) if named else None


def is_of_single_stays(observed: str) -> bool:
    """Return whether what is observed of a state needs each stay, and not only their sum."""
    statistic = observed.rpartition(".")[2]
    return STAY.fullmatch(statistic) is not None or QUANTILE.fullmatch(statistic) is not None


def parse_mark(name: str) -> tuple[str, int] | None:
    """Return the mark and its value that a statistic is named for; None for others."""
    if MARK.fullmatch(name) is None:
        return None
    mark, _, value = name.rpartition("_")
    return mark, int(value)


@lru_cache(KNOWN)
def parse_cells(name: str) -> slice | None:
    """Return the places in a frame, from 0, that a statistic is named for; None for others."""
    named = CELL.fullmatch(name)
    if named is None:
        return None
    single, first, last = named.groups()
    return slice(int(single or first) - 1, int(single or last))


def name_share_above(bound_ps: int) -> str:
    """Return what the share of what exceeds a bound is called."""
    return f"above_{bound_ps}"


def parse_bound(name: str) -> int | None:
    """Return the bound in ps that a share is named for; None for other names."""
    named = ABOVE.fullmatch(name)
    return int(named[1]) if named else None


def is_from_histogram(name: str) -> bool:
    """Return whether a statistic comes from a histogram, which knows a delay to 1/1024 of it."""
    return QUANTILE.fullmatch(name) is not None or parse_bound(name) is not None

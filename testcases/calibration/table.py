"""Prints as Markdown how often criteria and searches are wrong, and what searches cost.

The truth about the queues and the devices is known: `make calibration`.
"""

import argparse
import itertools
import math
import sys
from fractions import Fraction

from asked import Row
from bursts import ROWS as BURSTS
from bursts import count as count_bursts
from costs import MODELS, cost
from hints import count as count_hints
from knees import KNEES, SEARCHES
from knees import count as count_searches
from means import REPEATS, TESTS, counts
from trials import count, most_wrong

SURE, SURER = Fraction(95, 100), Fraction(99, 100)

QUANTILES = tuple(
    Row(load, 0, cells, repeats, statistic, sure)
    for load, cells, repeats, statistic, sure in (
        (0.5, 1_000, 5, "p99", SURE),
        (0.8, 1_000, 5, "p90", SURE),
        (0.8, 1_000, 20, "p99", SURE),
        (0.8, 9_000, 5, "p99", SURE),
        (0.8, 9_000, 5, "p99", SURER),
        (0.9, 1_000, 5, "p90", SURE),
        (0.9, 1_000, 10, "p90", SURE),
        (0.9, 1_000, 10, "p90", SURER),
        (0.9, 9_000, 5, "p99", SURE),
        (0.9, 9_000, 20, "p99", SURE),
        (0.9, 9_000, 20, "p99_9", SURE),
        (0.9, 40_000, 5, "p99_9", SURE),
        (0.95, 4_000, 10, "p90", SURE),
    )
)

RATIOS = tuple(
    Row(load, room, cells, repeats, "loss", sure)
    for load, room, cells, repeats, sure in (
        (0.8, 8, 1_000, 5, SURE),
        (0.8, 12, 5_000, 5, SURE),
        (0.8, 12, 5_000, 20, SURE),
        (0.9, 20, 5_000, 5, SURE),
        (0.9, 20, 5_000, 20, SURE),
        (0.9, 20, 5_000, 20, SURER),
        (0.9, 30, 20_000, 5, SURE),
    )
)

LATE_ONES = tuple(
    Row(load, 0, 2_200, repeats, f"late {quantile}", SURE)
    for load, repeats, quantile in (
        (0.5, 5, "p99_9"),
        (0.5, 5, "p99_8"),
        (0.5, 7, "p99_8"),
        (0.5, 20, "p99_8"),
        (0.8, 5, "p99_5"),
        (0.8, 20, "p99_5"),
    )
)

DRAWN_NUMBERS = tuple(
    Row(load, room, cells, repeats, asked, SURE, "on-off")
    for asked in ("lost", "loss")
    for load, room, cells, repeats in (
        (0.5, 5, 500, 5),
        (0.5, 5, 500, 20),
        (0.5, 20, 500, 10),
        (0.5, 5, 2_000, 10),
        (0.5, 30, 2_000, 20),
        (0.3, 5, 150, 20),
        (0.3, 12, 1_000, 10),
    )
)

MEANS = tuple(
    Row(load, 0, cells, repeats, "mean", SURE)
    for load, cells, repeats in (
        (0.8, 1_000, 5),
        (0.9, 1_000, 5),
        (0.9, 9_000, 5),
        (0.9, 9_000, 20),
    )
)


ABOVE = tuple(
    Row(load, 0, cells, repeats, f"above {quantile}", SURE)
    for load, cells, repeats, quantile in (
        (0.85, 1_000, 10, "p90"),
        (0.85, 9_000, 5, "p99"),
        (0.9, 9_000, 20, "p99"),
    )
)

VARIATIONS = tuple(
    Row(load, 0, cells, repeats, f"pdv {quantile}", SURE)
    for load, cells, repeats, quantile in ((0.9, 1_000, 10, "p90"), (0.8, 9_000, 5, "p99"))
)

JOINED = tuple(
    Row(load, 0, cells, repeats, asked, SURE)
    for load, cells, repeats, asked in (
        (0.5, 1_000, 10, "p99 - p90"),
        (0.8, 9_000, 10, "p99 - p90"),
        (0.9, 4_000, 20, "p90 - p80"),
        (0.8, 1_000, 5, "abs(mean)"),
        (0.9, 1_000, 10, "abs(mean)"),
        (0.8, 1_000, 10, "abs(p90)"),
    )
)

OTHER_QUEUES = tuple(
    Row(load, 0, cells, repeats, asked, SURE, queue)
    for queue, load, cells, repeats, asked in (
        ("M/M/1", 0.8, 1_000, 5, "mean"),
        ("M/M/1", 0.9, 4_000, 10, "mean"),
        ("M/M/1", 0.8, 1_000, 10, "p90"),
        ("on-off", 0.3, 2_000, 5, "mean"),
        ("on-off", 0.5, 2_000, 5, "mean"),
        ("on-off", 0.5, 9_000, 10, "mean"),
        ("on-off", 0.3, 2_000, 10, "p90"),
        ("on-off", 0.5, 4_000, 10, "p90"),
        ("batches", 0.8, 2_000, 5, "mean"),
        ("batches", 0.9, 4_000, 10, "mean"),
    )
)


HINTS = tuple(
    (Row(load, room, 1_000, repeats, asked, SURE), Fraction(nearness))
    for load, room, repeats, asked, nearness in (
        (0.8, 0, 5, "mean", "1.3"),
        (0.8, 0, 10, "mean", "1.1"),
        (0.8, 0, 5, "p90", "1.3"),
        (0.5, 0, 5, "p99", "1.3"),
        (0.8, 8, 5, "loss", "1.5"),
        (0.8, 12, 10, "loss", "3"),
        (0.8, 16, 5, "loss", "40"),
    )
)
"""With the share of the true value that is asked for."""
HELD = Fraction(8, 10)


def main() -> int:
    """Print the tables, row by row as they are counted; return 1 if a bound is broken, else 0."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=1_000)
    parser.add_argument("--only", choices=("queues", "means", "bursts", "hints", "searches"))
    asked = parser.parse_args()
    tables = {
        "queues": print_queues,
        "means": print_means,
        "bursts": print_bursts,
        "hints": print_hints,
        "searches": print_searches,
    }
    broken = [
        name for name, table in tables.items() if asked.only in (None, name) and table(asked.trials)
    ]
    if broken:
        print(f"wrong more often than they may be: {', '.join(broken)}", file=sys.stderr)
    return int(bool(broken))


def print_queues(trials: int) -> bool:
    """Print a line for each row of queues; return whether one is wrong too often."""
    broken = False
    print(
        "| queue | load | room | cells | repeats | criterion | confidence"
        " | wrong below | wrong above | decided | trials |"
    )
    print("|---" * 11 + "|")
    tables = (
        QUANTILES,
        RATIOS,
        LATE_ONES,
        DRAWN_NUMBERS,
        MEANS,
        ABOVE,
        VARIATIONS,
        JOINED,
        OTHER_QUEUES,
    )
    for row in itertools.chain(*tables):
        found = count(row, trials)
        print(
            f"| {row.queue} | {row.load} | {row.room or 'any'} | {row.cells:_} | {row.repeats}"
            f" | {row.asked} | {float(row.confidence):.0%}"
            f" | {found.false_below} | {found.false_above} | {found.decided} | {trials} |",
            flush=True,
        )
        most = most_wrong(trials, row.confidence)
        broken |= max(found.false_below, found.false_above) > most
    return broken


def print_means(trials: int) -> bool:
    """Print a line for each network and metric; return whether one is wrong too often."""
    broken = False
    print("\n| network | metric | repeats | above the mean | below the mean | of | share | ± |")
    print("|---" * 8 + "|")
    for test in TESTS:
        for found in counts(test, max(REPEATS) * trials, trials):
            worst = max(found.wrong_above, found.wrong_below)
            share = worst / found.cases
            error = math.sqrt(max(share, 1 / found.cases) * (1 - share) / found.cases)
            print(
                f"| {found.test} | {found.metric} | {found.repeats} | {found.wrong_above}"
                f" | {found.wrong_below} | {found.cases} | {share:.1%} | {error:.1%} |",
                flush=True,
            )
            broken |= worst > most_wrong(found.cases, SURE)
    return broken


def print_bursts(trials: int) -> bool:
    """Print a line for each network with rare bursts; return whether one is wrong too often.

    Where so few repeats may all be without a burst, as is said of a confidence, these do not count.
    """
    broken = False
    print(
        "\n| a burst in one repeat of | lengths | trace in delays | repeats | wrong | of"
        " | wrong without a burst | that is excluded |"
    )
    print("|---" * 8 + "|")
    for row in BURSTS:
        found = count_bursts(row, trials)
        print(
            f"| {row.one_in} | {'exponential' if row.varying else 'equal'}"
            f" | {'yes' if row.traced else 'no'} | {row.repeats} | {found.wrong} | {trials}"
            f" | {found.unseen} | {'yes' if row.excluded else 'no'} |",
            flush=True,
        )
        wrong = found.wrong + row.excluded * found.unseen
        broken |= wrong > most_wrong(trials, SURE)
    return broken


def print_hints(trials: int) -> bool:
    """Print a line for each criterion; return whether fewer hints hold than are said to."""
    broken = False
    print(
        "\n| queue | load | room | criterion | repeats | asked for | undecided | ranges"
        " | fewer did | the most did not | hold |"
    )
    print("|---" * 11 + "|")
    for row, nearness in HINTS:
        found = count_hints(row, nearness, trials)
        wrong = found.too_few + found.too_many
        held = 1 - wrong / found.ranges if found.ranges else 1
        print(
            f"| {row.queue} | {row.load} | {row.room or 'any'} | {row.asked} | {row.repeats}"
            f" | {float(nearness):g} times it | {found.cases} | {found.ranges} | {found.too_few}"
            f" | {found.too_many} | {held:.0%} |",
            flush=True,
        )
        broken |= wrong > most_wrong(found.ranges, HELD)
    return broken


def print_costs() -> None:
    """Print a line for each model of a device."""
    print("\n| device | trials for NDR | for NDR and PDR | times | for NDR by bisection |")
    print("|---" * 5 + "|")
    for name in MODELS:
        ndr, both, bisected = cost(name)
        print(
            f"| {name} | {ndr:.0f} | {both:.0f} | {both / ndr:.2f} | {bisected:.0f} |", flush=True
        )


def print_searches(searches: int) -> bool:
    """Print a line for each sort of device and method, and what searches cost: held to nothing."""
    print(
        "\n| 10 % to 90 % of trials bad | method | trials at a load | load below the bounds"
        " | load above the bounds | 1 in 20 farther than | trials | searches |"
    )
    print("|---" * 8 + "|")
    for knee, (method, aim) in itertools.product(KNEES, SEARCHES):
        found = count_searches(knee, method, aim, searches)
        print(
            f"| {knee} | {method} | {aim.total_ps // aim.trial_ps} | {found.above} | {found.below}"
            f" | {found.farthest:.2%} | {found.trials:.0f} | {searches} |",
            flush=True,
        )
    print_costs()
    return False


if __name__ == "__main__":
    sys.exit(main())

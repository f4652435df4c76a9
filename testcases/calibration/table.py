"""Prints as Markdown how often criteria and searches are wrong, and what searches cost.

The truth about the queues and the devices is known: `make calibration`.
"""

import argparse
import itertools
from fractions import Fraction

from asked import Row
from costs import MODELS, cost
from knees import KNEES, SEARCHES
from knees import count as count_searches
from trials import count

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


def main() -> None:
    """Print a line for each row, as it is counted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=1_000)
    trials = parser.parse_args().trials
    print(
        "| queue | load | room | cells | repeats | criterion | confidence"
        " | wrong below | wrong above | decided | trials |"
    )
    print("|---" * 11 + "|")
    tables = (QUANTILES, RATIOS, DRAWN_NUMBERS, MEANS, ABOVE, VARIATIONS, JOINED, OTHER_QUEUES)
    for row in itertools.chain(*tables):
        found = count(row, trials)
        print(
            f"| {row.queue} | {row.load} | {row.room or 'any'} | {row.cells:_} | {row.repeats}"
            f" | {row.asked} | {float(row.confidence):.0%}"
            f" | {found.false_below} | {found.false_above} | {found.decided} | {trials} |",
            flush=True,
        )
    print_searches(trials)
    print_costs()


def print_costs() -> None:
    """Print a line for each model of a device."""
    print("\n| device | trials for NDR | for NDR and PDR | times | for NDR by bisection |")
    print("|---" * 5 + "|")
    for name in MODELS:
        ndr, both, bisected = cost(name)
        print(
            f"| {name} | {ndr:.0f} | {both:.0f} | {both / ndr:.2f} | {bisected:.0f} |", flush=True
        )


def print_searches(searches: int) -> None:
    """Print a line for each sort of device and method."""
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


if __name__ == "__main__":
    main()

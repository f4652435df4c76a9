"""Prints how often criteria with confidence are wrong about known queues: `make calibration`."""

import argparse
import itertools
from fractions import Fraction

from trials import Row, count

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
    Row(load, room, cells, repeats, "", sure)
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

MEANS = tuple(
    Row(load, 0, cells, repeats, "mean", SURE)
    for load, cells, repeats in (
        (0.8, 1_000, 5),
        (0.9, 1_000, 5),
        (0.9, 9_000, 5),
        (0.9, 9_000, 20),
    )
)


def main() -> None:
    """Print a line for each row, as it is counted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=1_000)
    trials = parser.parse_args().trials
    print("load  room   cells  repeats  criterion  confidence  wrong below, above  decided  trials")
    for row in itertools.chain(QUANTILES, RATIOS, MEANS):
        found = count(row, trials)
        print(
            f"{row.load:<4}  {row.room or 'any':>4}  {row.cells:>6_}  {row.repeats:>7}"
            f"  {row.statistic or 'loss':<9}  {float(row.confidence):>10.0%}"
            f"  {found.false_below:>11}, {found.false_above:>5}  {found.decided:>7}  {trials:>6}",
            flush=True,
        )


if __name__ == "__main__":
    main()

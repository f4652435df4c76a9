"""`qos plan`: what a run would do, and how much of it; runs nothing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from qospec.cli import loading, options

if TYPE_CHECKING:
    from qospec.run.plan import CasePlan


@click.command()
@options.paths
@options.match
@options.seed
@options.max_cells
@options.as_json
def plan(**asked: Any) -> None:
    """Say what a run would do, and how much of it; run nothing."""
    request = loading.Request(**asked)
    _, plans = loading.planned(request)
    rows = [_row(each) for each in plans]
    if request.as_json:
        click.echo(json.dumps({"schema": 1, "seed": request.seed, "cases": rows}, indent=1))
        return
    for row in rows:
        trials = loading.counted(row["trials"], "trial")
        emulated = f"{row['seconds']:g} s emulated in all"
        click.echo(f"{row['name']}: {trials}, at most {row['cells']:_} cells each, {emulated}")
    trials = loading.counted(sum(row["trials"] for row in rows), "trial")
    click.echo(f"{loading.counted(len(rows), 'case')}, {trials}, seed {request.seed}")


def _row(plan: CasePlan) -> dict[str, Any]:
    length_ps = plan.case.run.warmup_ps + plan.case.run.measure_ps
    return {
        "name": plan.case.name,
        "trials": plan.trials,
        "cells": plan.cells,
        "seconds": plan.trials * length_ps / 10**12,
    }

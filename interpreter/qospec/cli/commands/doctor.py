"""`qos doctor`: what this machine can do, and what to install."""

from __future__ import annotations

import sys

import click

from qospec.cli import exits, options, output

SIGNS = {"present": "✓", "absent": "–", "missing": "✗"}


@click.command()
@options.as_json
def doctor(*, as_json: bool) -> None:
    """Say what this machine has of what qospec uses, and how to get the rest.

    Exits with 0 if a specification can be run, and with 4 if something is missing for that. What is
    absent is used by some commands only.
    """
    from qospec.doctor import Machine, examine, is_ready

    findings = examine(Machine())
    ready = is_ready(findings)
    if as_json:
        found = [finding._asdict() for finding in findings]
        output.say_json({"schema": 1, "ready": ready, "findings": found})
    else:
        for finding in findings:
            output.say(f"{SIGNS[finding.state]} {finding.name}: {finding.found}")
            if finding.remedy:
                output.say(f"    to do: {finding.remedy}")
    sys.exit(exits.PASSED if ready else exits.ERROR)

"""The commands of `qos`: a file for each, or for two that belong together."""

from __future__ import annotations

from qospec.cli.commands import listing
from qospec.cli.commands.check import check
from qospec.cli.commands.convert import convert
from qospec.cli.commands.doc import doc
from qospec.cli.commands.explain import explain, schema
from qospec.cli.commands.fmt import fmt
from qospec.cli.commands.fuzz import fuzz
from qospec.cli.commands.pcap import pcap
from qospec.cli.commands.plan import plan
from qospec.cli.commands.report import merge, report
from qospec.cli.commands.run import run, warm
from qospec.cli.commands.shrink import shrink

COMMANDS = (
    check,
    fmt,
    convert,
    plan,
    run,
    merge,
    fuzz,
    shrink,
    warm,
    report,
    pcap,
    explain,
    schema,
    doc,
    *listing.COMMANDS,
)

"""`qos init`: a project that passes: a device, a suite, and a file for a build server."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import click

from qospec.cli import exits, options
from qospec.cli.output import say

PROJECT = """[project]
name = {name}
edition = 1
paths = ["tests"]
"""

DEVICE = """qos 1

## The router at the edge of a site: calls go first, and everything else waits in one queue.
device edge_router(buffer: Packets = 100 pkt) {
  port site, uplink: packet
  sort = classify { calls = pkt.dscp == 46, data = otherwise }
  calls = fifo { limit = 20 pkt }
  data = fifo { limit = buffer }
  out = strict { order = [calls, data] }
  down = fifo { limit = buffer }

  site.rx -> sort
  sort.calls -> calls -> out.calls
  sort.data -> data -> out.data
  out -> uplink.tx
  uplink.rx -> down -> site.tx
}
"""

SUITE = """qos 1
import std.media, std.traffic.calls, devices.edge_router

## What the line to the provider carries; `qos run --set uplink='2 Mbit/s @line'` tries another.
let uplink = 10 Mbit/s @line

topology site {
  office, provider = host
  router = edge_router.edge_router
  link office -- router.site via media.gigabit_ethernet
  link router.uplink -- provider via media.ethernet { rate = uplink }
}

## Calls are good, however much else the site sends.
test calls_survive on site {
  sweep load in [50%, 90%, 120%]
  flow call = calls.g711(calls = 5) from office to provider
  flow files = packets { rate = load * uplink, size = 1_500 B @ip } from office to provider
  run { measure = 2 s, overload = true }
  expect whole: call.lost == 0 pkt
  expect prompt: call.delay.max < 5 ms
  expect good: call.mos.min >= 4
}
"""

WORKFLOW = """# Runs the tests at each push. On another forge, the same commands do.
name: qos
on: [push, pull_request]
jobs:
  qos:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "3.12"
      # If pip's index does not have qospec, name a wheel or a clone of it here.
      - run: pip install qospec
      - run: qos check
      - run: qos run --jobs auto --report junit
      - uses: actions/upload-artifact@v4
        if: always()
        with:
          name: records
          path: records
"""

FILES = {
    "qos.toml": PROJECT,
    "devices/edge_router.qos": DEVICE,
    "tests/calls.qos": SUITE,
    ".github/workflows/qos.yml": WORKFLOW,
    ".gitignore": "/records/\n/fuzz/\n/.qos-fuzz/\n",
}


@click.command()
@click.argument("folder", type=str, metavar="NAME", callback=options.refuse_empty)
def init(folder: str) -> None:
    """Make a project in the new folder NAME: a device, a test that passes, a CI workflow."""
    from qospec.writing import WriteError, explain_failure, is_unicode, write_whole

    root = Path(folder)
    name = root.resolve().name
    if not is_unicode(name):
        exits.end_for_user("a project has a name, and this is not UTF-8")
    try:
        if root.exists() and (
            not root.is_dir() or {path.name for path in root.iterdir()} - {".git"}
        ):
            what = "is not empty" if root.is_dir() else "is a file"
            exits.end_for_user(f"`{folder}` {what}: name a folder that does not exist yet")
        for file, text in FILES.items():
            (root / file).parent.mkdir(parents=True, exist_ok=True)
            write_whole(root / file, text.replace("{name}", json.dumps(name, ensure_ascii=False)))
            say(str(root / file))
    except (OSError, WriteError) as error:
        exits.end_for_environment(f"cannot make `{folder}`: {explain_failure(error)}")
    way = "" if root.resolve() == Path.cwd() else f"cd {shlex.quote(folder)} && "
    say(f"next: {way}qos run")

"""What exists: `qos elements` and its siblings, and that they load nothing heavy."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from invoking import qos

from qospec.catalogue.kinds import discover
from qospec.cli.commands.listing import HELP
from qospec.reference.listing import COLLECTIONS

HEAVY = {"numpy", "numba", "jinja2", "rich", "lark", "cryptography", "hypothesis"}
DRIVER = """
import json, sys
from qospec.cli import main
try:
    main()
finally:
    print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""


def test_there_is_a_command_for_each_noun() -> None:
    assert list(HELP) == [noun.name for noun in COLLECTIONS]


@pytest.mark.parametrize("noun", COLLECTIONS, ids=lambda noun: noun.name)
def test_everything_is_listed(noun) -> None:
    known = noun.documents(discover())
    listed = qos(noun.name)
    assert listed.exit_code == 0
    assert known
    assert all(kind["name"] in listed.stdout for kind in known)


@pytest.mark.parametrize("noun", COLLECTIONS, ids=lambda noun: noun.name)
def test_the_document_holds_what_the_list_shows(noun) -> None:
    document = json.loads(qos(noun.name, "--json").stdout)
    assert document["schema"] == 1
    assert document[noun.name] == noun.documents(discover())


@pytest.mark.parametrize(
    ("command", "name", "pieces"),
    [
        ("elements", "gcra", ["ITU-T I.371, Annex A", "one of joint separate exempt"]),
        ("traffic", "vbr_rt", ["pcr", "peak cell rate", "required", "as in `30_000 cell/s`"]),
        ("policies", "red", ["Floyd", "The average from which some items are dropped."]),
        ("controls", "cubic", ["RFC 9438", "70 % of the window after a loss"]),
        ("arrivals", "burst", ["every", "Time from the start of a burst"]),
        ("metrics", "ctd", ["transfer_delay (delay, ctd)", "mean min max std p* bound"]),
        ("units", "kbit/s", ["1000 bit/s", "a bit rate"]),
        ("units", "bps", ["written  bit/s"]),
        ("media", "stm1", ["149.76 Mbit/s @cell", "std/media.qos:"]),
        ("devices", "encryptor", ["17.26 us", "EANTC 2006: two OAM cells per minute", "black"]),
        ("devices", "std.devices.sitline.encryptor", ["resynchronisation"]),
    ],
)
def test_one_is_shown_in_full(command: str, name: str, pieces: list[str]) -> None:
    shown = qos(command, name)
    assert shown.exit_code == 0
    assert [piece for piece in pieces if piece not in shown.stdout] == []


def test_one_as_a_document_is_a_list_of_one() -> None:
    (found,) = json.loads(qos("elements", "fifo", "--json").stdout)["elements"]
    assert found["name"] == "fifo"
    limit, drop = found["fields"]
    assert limit["required"]
    assert limit["description"] == "How much may wait: cells, packets or bytes."
    assert drop["example"].startswith("red {")


@pytest.mark.parametrize(
    ("command", "name", "words"),
    [
        ("elements", "gcraa", "no element is named `gcraa`: did you mean `gcra`?"),
        ("units", "parsec", "no unit is named `parsec`: `qos units` lists them all"),
        ("media", "stm11", "did you mean `stm1`?"),
    ],
)
def test_an_unknown_name_is_refused(command: str, name: str, words: str) -> None:
    result = qos(command, name)
    assert result.exit_code == 2
    assert words in result.stderr
    assert result.stdout == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments", [["elements", "gcra"], ["devices"], ["explain", "E0203"], ["schema"]]
)
def test_nothing_heavy_is_loaded(arguments: list[str]) -> None:
    command = [sys.executable, "-c", DRIVER, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert HEAVY.isdisjoint(json.loads(done.stderr))


@pytest.mark.slow
def test_a_reader_that_stops_reading_is_not_complained_of() -> None:
    qos_ = Path(sys.executable).with_name("qos")
    command = f"set -o pipefail; {qos_} units --json | head -c 1 >&2"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert done.stderr == "{"

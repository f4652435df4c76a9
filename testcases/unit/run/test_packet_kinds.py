"""What testers of packet networks ask first: each kind as small as it can be, with its value.

The values in `packet_kinds/kinds.qos` are those of arithmetic, as each of its tests says.
"""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from qospec import cli

KINDS = Path(__file__).parent / "packet_kinds"
NAMES = re.findall(r"^test (\w+)", (KINDS / "kinds.qos").read_text(encoding="utf-8"), re.MULTILINE)


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Return the cases of all of them, run at once."""
    folder = tmp_path_factory.mktemp("kinds")
    for path in KINDS.iterdir():
        shutil.copy(path, folder)
    words = ["run", str(folder / "kinds.qos"), "--json", "--record", str(folder / "records")]
    found: list[dict[str, Any]] = json.loads(CliRunner().invoke(cli.qos, words).stdout)["cases"]
    return found


@pytest.mark.parametrize("name", NAMES)
def test_a_kind_has_the_value_of_arithmetic(cases: list[dict[str, Any]], name: str) -> None:
    mine = [case for case in cases if re.split(r"::|:", case["name"])[0] == name]
    assert mine
    assert {case["name"]: case["verdict"] for case in mine} == {
        case["name"]: "pass" for case in mine
    }, [statement for case in mine for statement in case["statements"]]

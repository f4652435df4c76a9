"""A stdout that cannot be written is said in a sentence, and is no mistake of ours."""

import subprocess
import sys

import pytest

from qospec.cli import exits
from qospec.resources import STDLIB

MEDIA = STDLIB / "media.qos"
MAIN = "from qospec.cli import main; main()"


@pytest.mark.parametrize(
    "arguments",
    [["--version"], ["doc", str(MEDIA)], ["convert", str(MEDIA), "--to", "yaml"], ["fmt", "-"]],
    ids=lambda arguments: arguments[0],
)
def test_a_stdout_that_only_can_be_read_is_told(arguments: list[str]) -> None:
    with MEDIA.open("rb") as stdout, MEDIA.open("rb") as stdin:
        done = subprocess.run(
            [sys.executable, "-c", MAIN, *arguments],
            stdin=stdin,
            stdout=stdout,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.stderr == "error: cannot write to stdout: bad file descriptor\n"
    assert done.returncode == exits.ERROR

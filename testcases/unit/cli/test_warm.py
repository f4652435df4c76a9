"""`qos warm`: no run waits for what it has compiled."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

MAIN = "from qospec.cli import main\nif __name__ == '__main__': main()"
SPEC = """qos 1
import std.media
topology wire {
  a, b = host
  link a -- b via media.stm1
}
test one on wire {
  sweep rate in [10_000 cell/s, 20_000 cell/s]
  flow f = cbr { pcr = rate, cdvt = 1 ms } from a to b
  run { measure = 1 s }
  expect f.lost == 0
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [pytest.param([], marks=pytest.mark.nightly), ["-j", "2"]])
def test_a_run_finds_what_was_compiled_before(tmp_path: Path, jobs: list[str]) -> None:
    path = tmp_path / "a.qos"
    path.write_text(SPEC, encoding="utf-8")
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    environment.pop("QOS_KERNELS", None)

    def qos(*arguments: str) -> tuple[str, str]:
        command = [sys.executable, "-c", MAIN, *arguments]
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=True, cwd=tmp_path
        )
        return done.stdout, done.stderr

    out, _ = qos("warm", str(path), *jobs)
    together = ", 2 processes together" if jobs else ""
    found = re.fullmatch(rf"2 cases of 1 kind: compiled for ([\d.]+) s{together}\n", out)
    assert float(found[1]) > 0
    out, _ = qos("warm", str(path))
    assert out == "2 cases of 1 kind: compiled for 0.0 s\n"
    out, err = qos("run", str(path))
    assert "compiling" not in err
    assert "2 pass" in out

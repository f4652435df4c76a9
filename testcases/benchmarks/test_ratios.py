"""What counts as a fall of a benchmark's ratio to its peer."""

import importlib.util
import json
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"
SPEC = importlib.util.spec_from_file_location("ratios", FOLDER / "ratios.py")
assert SPEC is not None
assert SPEC.loader is not None
ratios = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(ratios)


@pytest.mark.parametrize(
    ("now", "falls"),
    [
        pytest.param({"one": 0.91, "other": 1.82}, [], id="a tenth less is not reached"),
        pytest.param({"one": 0.89, "other": 3.0}, ["one"], id="one fell, the other rose"),
        pytest.param({"one": 1.0, "other": 1.78}, ["other"], id="a tenth of its own ratio"),
        pytest.param({"one": 1.0}, ["other"], id="one was not measured"),
        pytest.param({"one": 1.0, "other": 2.0, "new": 3.0}, ["new"], id="one is not recorded"),
    ],
)
def test_a_ratio_falls_by_more_than_a_tenth(now, falls):
    assert ratios.find_falls({"one": 1.0, "other": 2.0}, now) == falls


def test_each_benchmark_with_a_peer_is_recorded():
    """Of frames it is cells alone, of AQM a `fifo`, of processes an import; others are in C.

    Of the language server it is a reader of Python in the same process.
    """
    others = {"frames", "aqm", "calls", "capture", "start", "language", "estimate"}
    others.add("language_server")
    peers = {*others, *(path.stem for path in FOLDER.glob("*.c"))}
    recorded = json.loads((FOLDER / "ratios.json").read_text(encoding="utf-8"))
    assert {name.split(".")[0] for name in recorded} == peers
    assert set(ratios.NAMES) == peers
    assert all(ratio > 0 for ratio in recorded.values())

"""The comparison of schedulers leaves none out that keeps its line busy."""

from pathlib import Path

import pytest

from qospec.catalogue.kinds import discover

SUITES = Path(__file__).parents[1] / "suites"
KEEPING_BUSY = SUITES / "comparison" / "routers.qos"
PAUSING = SUITES / "packets" / "bridges.qos"
"""What may leave a free line idle has no share of a full one."""


@pytest.mark.parametrize(("path", "pauses"), [(KEEPING_BUSY, False), (PAUSING, True)])
def test_every_scheduler_is_compared(*, path: Path, pauses: bool) -> None:
    kinds = discover().select_role("element").items()
    schedulers = [
        name
        for name, kind in kinds
        if kind.duty == "scheduler" and kind.build.policy.pauses == pauses
    ]
    text = path.read_text(encoding="utf-8")
    assert schedulers
    assert [name for name in schedulers if f"= {name} {{" not in text] == []

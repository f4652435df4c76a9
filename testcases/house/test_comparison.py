"""The comparison of schedulers leaves none out."""

from pathlib import Path

from qospec.catalogue.kinds import discover

ROUTERS = Path(__file__).parents[1] / "suites" / "comparison" / "routers.qos"


def test_every_scheduler_is_compared() -> None:
    kinds = discover().select_role("element").items()
    schedulers = [name for name, kind in kinds if kind.duty == "scheduler"]
    text = ROUTERS.read_text(encoding="utf-8")
    assert schedulers
    assert [name for name in schedulers if f"= {name} {{" not in text] == []

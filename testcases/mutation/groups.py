"""The modules that are changed, and for each the tests that are to notice it."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from equivalent import PACKAGE


class Group(NamedTuple):
    """Modules that are changed alike.

    Attributes:
        modules: Folders and files of the package.
        tests: Folders of the tests that are to notice.
        kernels: How kernels run. Where they are changed they must run as Python, and nothing else
            is: their elements' parameters and promises are for other tests.
        others: Of these, what is in another group.
    """

    modules: tuple[str, ...]
    tests: tuple[str, ...]
    kernels: str
    others: tuple[str, ...] = ()

    def paths(self, names: Sequence[str] = ()) -> list[Path]:
        """Return the modules with one of these names, in their order; or all."""
        others = _found(self.others)
        found = [path for path in _found(self.modules) if path not in others]
        if not names:
            return found
        return sorted((p for p in found if p.stem in names), key=lambda p: names.index(p.stem))


def _found(patterns: Sequence[str]) -> list[Path]:
    return [path for pattern in patterns for path in sorted(PACKAGE.glob(pattern))]


MODELS = (
    *("unit/elements", "unit/dropping", "unit/engine", "unit/payload", "unit/congestion"),
    "properties/test_elements.py",
)
SCHEDULERS = tuple(
    f"unit/elements/test_{name}.py"
    for name in ("custom", "drr", "scfq", "strict", "wf2q_plus", "wfq", "wrr")
)
METERS = ("engine/meter/*.py",)
METRICS = ("engine/measure/*.py",)
TRAFFIC = ("traffic/*.py", "engine/source/*.py", "engine/endpoint/*.py")
ITEM_BY_ITEM = ("engine/event/*.py", "engine/scheduler/*.py", "engine/machine/*.py")
STATISTICS = tuple(
    f"judge/{name}.py" for name in ("statistics", "means", "quantiles", "losses", "distribution")
)
VERDICTS = (
    "unit/judge",
    "unit/run",
    "unit/record/test_reordering.py",
    "unit/cli/test_templates.py",
)
GROUPS = {
    "elements": Group(
        ("elements/*.py", "congestion/*.py", "engine/**/*.py"),
        MODELS,
        "python",
        (*METERS, *METRICS, *TRAFFIC, *ITEM_BY_ITEM),
    ),
    "events": Group(
        ITEM_BY_ITEM,
        (
            *("unit/engine/event", "unit/engine/scheduler", "unit/engine/machine"),
            *("unit/dropping", "unit/elements/test_machine.py", *SCHEDULERS),
            *("properties/test_drivers.py", "properties/test_machines.py"),
        ),
        "python",
    ),
    "meters": Group(METERS, MODELS, "python"),
    "metrics": Group(METRICS, ("unit/metrics", "unit/engine/measure"), "python"),
    "traffic": Group(TRAFFIC, ("unit/traffic", "unit/engine/source"), "python"),
    "ciphers": Group(("ciphers/*.py",), ("unit/ciphers",), "python"),
    "payload": Group(("payload/*.py",), ("unit/payload", "unit/ciphers"), "python"),
    "statistics": Group(STATISTICS, ("unit/judge",), "compiled"),
    "verdicts": Group(("judge/*.py",), VERDICTS, "compiled", STATISTICS),
}

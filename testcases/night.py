"""What is run at night only, since it repeats on many files what a few have shown."""

from collections.abc import Sequence
from pathlib import Path

from hypothesis import settings

IS_NIGHT = settings().max_examples >= 2_000
ONE_IN = 4


def sample_suites(paths: Sequence[Path]) -> list[Path]:
    """Return files, but of the suites only the first and each fourth after it; at night all."""
    suites = [path for path in paths if "suites" in path.parts]
    left_out = set() if IS_NIGHT else set(suites) - set(suites[::ONE_IN])
    return [path for path in paths if path not in left_out]

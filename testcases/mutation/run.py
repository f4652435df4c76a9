"""Changes the models one operator or number at a time, and lists the changes that no test notices.

First the tests run once, and for each line it is noted which of them execute it. Then each mutant
is tried by the tests that execute its line, the shortest first, until one fails. Changes that no
test can notice are not tried: equivalent.toml names them, and says why. Slow tests are left out.
"""

import argparse
import multiprocessing
import os
from pathlib import Path

import pytest
from groups import GROUPS, Group
from hypothesis import Phase, settings
from mutants import is_any, is_kernel
from session import Session

TESTS = Path(__file__).resolve().parents[1]


def run(group: Group, given: argparse.Namespace) -> None:
    """Try the mutants of a group in a session of pytest."""
    os.environ["QOS_KERNELS"] = group.kernels
    # Few examples, and not the smallest one of a failure: that it fails is enough.
    settings.register_profile(
        "mutation",
        max_examples=20,
        deadline=None,
        derandomize=True,
        database=None,
        phases=(Phase.explicit, Phase.generate),
    )
    options = (
        *("-q", "--capture=sys", "-p", "no:cacheprovider", "-m", "not slow and not untraced"),
        # Hypothesis is imported already, which pytest would warn of.
        *("-W", "ignore:Module already imported", "--hypothesis-profile", "mutation"),
    )
    wanted = is_kernel if group.kernels == "python" else is_any
    session = Session(group.paths(given.module), wanted, processes=given.j, most=given.most)
    tests = [str(TESTS / test) for test in given.tests or group.tests]
    pytest.main([*options, *tests], plugins=[session])


def main() -> None:
    """Try the mutants of the groups that are asked for, each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("groups", nargs="*", help="; ".join(GROUPS))
    parser.add_argument("--module", action="append", default=[], help="only modules of this name")
    parser.add_argument("--tests", action="append", help="other tests than the group's")
    parser.add_argument("--most", type=int, help="of each module so many, evenly chosen (all)")
    parser.add_argument("-j", type=int, default=2, help="processes (2)")
    given = parser.parse_args()
    unknown = sorted(set(given.groups) - GROUPS.keys())
    if unknown:
        parser.error(f"there is no group {', '.join(unknown)}; groups: {' '.join(GROUPS)}")
    for name in given.groups or GROUPS:
        arguments = (GROUPS[name], given)
        child = multiprocessing.get_context("fork").Process(target=run, args=arguments)
        child.start()
        child.join()


if __name__ == "__main__":
    main()

"""`--on emulate` is what `qos run` does without it, to the last byte."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from qospec import cli
from qospec.catalogue.kinds import discover
from qospec.cli import exits
from qospec.diagnostics import Problems
from qospec.engine.arrays import np

EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "diffserv_edge.qos"


@pytest.mark.slow
def test_the_outcome_is_the_same(tmp_path: Path) -> None:
    """The kernel's name would be in the provenance."""
    outcomes = []
    for number, options in enumerate(([], ["--on", "emulate"])):
        folder = tmp_path / str(number)
        arguments = ["run", f"{EXAMPLE}", "-k", "50%", "--record", str(folder), *options]
        done = CliRunner().invoke(cli.qos, arguments)
        assert done.exit_code == exits.PASSED, done.output
        (outcome,) = folder.rglob("outcome.json")
        outcomes.append(outcome.read_bytes())
    assert outcomes[0] == outcomes[1]
    assert b'"backend"' not in outcomes[0]


def test_the_kind_does_what_the_engine_does() -> None:
    from qospec.check import check
    from qospec.engine.graph import emulation
    from qospec.plan.plan import Bounds, plan

    planned = plan(check((EXAMPLE,), discover(), Problems()), "0", Bounds(), Problems())
    experiment = planned[0].networks[""].experiment
    emulate = discover().find("backend", "emulate").build()
    ours = emulate.carry_out(experiment, lambda _now, _stop: None)
    assert np.array_equal(ours.delays, emulation.run(experiment).delays)
    assert emulate.describe() == {"name": "emulate"}

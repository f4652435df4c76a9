"""No delay and no backlog of any network exceeds what network calculus proves of it."""

from typing import Any

import pytest
from drivers import drawn_networks
from hypothesis import HealthCheck, assume, given, settings, target
from hypothesis import strategies as st

from qospec.engine.experiment import Experiment
from qospec.engine.graph import emulation
from qospec.plan.proofs import Proofs, proved

some = settings(
    max_examples=settings().max_examples // 4,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.filter_too_much,
    ],
)


@pytest.mark.slow
@some
@given(data=st.data())
def test_nothing_exceeds_what_is_proved(drawing: Any, data: st.DataObject) -> None:
    experiment = data.draw(drawn_networks(drawing.elements).filter(_is_open))
    proofs = _proofs(experiment)
    seen = emulation.run(experiment)
    shares = [0.0]
    for (first, stop), proof in proofs.delays.items():
        longest_ps = seen.tally(first, stop).delays.max_ps
        if longest_ps is not None and proof.most_ps is not None:
            assert longest_ps <= proof.most_ps, proof.path
            shares.append(longest_ps / proof.most_ps)
    for path, most in seen.occupancies.items():
        assert most.most <= proofs.waiting.get(path, most.most)
    target(max(shares))


def _is_open(experiment: Experiment) -> bool:
    """Return whether no endpoint answers, so that anything can be proved."""
    return not any(node.element.makes for node in experiment.nodes)


def _proofs(experiment: Experiment) -> Proofs:
    try:
        return proved(experiment)
    except ValueError:  # no plan has such packets: encrypted twice, or decrypted otherwise
        assume(condition=False)
        raise

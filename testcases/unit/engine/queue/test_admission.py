"""The table by which queues admit what arrives."""

from fractions import Fraction

import numpy as np

from qospec.catalogue.kinds import Buffer
from qospec.dropping.red import Red
from qospec.dropping.wred import Wred
from qospec.engine.kernel import get_function
from qospec.engine.line.clock import Clock
from qospec.engine.queue import admission, drop_policy
from qospec.engine.random import Draws

HALF, LIMIT = Fraction(1, 2), Buffer(99, "packet")
CLOCK = Clock(Fraction(10**9), slotted=False)


def test_a_table_is_found_again_among_integers():
    """Three columns, of 64 values each, and four queues, of which three share a policy."""
    by_dscp = Wred("dscp", (("10", LIMIT),), (("10", Buffer(100, "packet")),), (("10", HALF),))
    red = Red(Buffer(1, "packet"), Buffer(2, "packet"), HALF, weight=Fraction(1, 4))
    queues = [
        drop_policy.QueueWithPolicy(Buffer(200, "packet"), policy, Draws(("test",)))
        for policy in (by_dscp, red, red, red)
    ]
    table = drop_policy.build_admission_table(queues, CLOCK)
    assert sorted({field.shape for field in table}) == [
        (3, 64),
        (4, 0),
        (4, 11),
        (4, 31),
        (8, 11),
    ]
    state = np.concatenate([[7, 8, 9], admission.as_integers(table), [7]])
    for found, field in zip(get_function(admission.view_table)(state, 3), table, strict=True):
        assert found.tolist() == field.tolist()

"""At which position the receiver of encrypted cells decrypts each."""

import numpy as np

from qospec.engine.security.state_vector import build_positions
from qospec.payload import receivers
from qospec.protocol.streams import number_flow

STREAMS = number_flow(2, ("oam", "fragments"))


def test_only_the_oam_cell_of_a_vc_that_has_a_position_brings_it() -> None:
    state, at = build_positions(STREAMS), np.zeros(9, np.int64)
    user, other, oam = (STREAMS.start(kind) for kind in ("user", "fragments", "oam"))
    cells = [
        (user, 77),  # what a user cell was encrypted with does not count here
        (oam, 0),  # it comes from ahead of the encryptor, and has none
        (user, 0),
        (other, 500),
        (user + 1, 0),
        (oam, 1),  # the least that there is
        (user, 0),
        (oam + 1, 900),
        (user + 1, 0),
    ]
    connection, seal = (np.array(column) for column in zip(*cells, strict=True))
    receivers._follow(connection.astype(np.int32), seal.astype(np.int64), state, at)
    assert at.tolist() == [1, 0, 2, 0, 1, 0, 2, 0, 901]

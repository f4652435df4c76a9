from collections.abc import Callable

import pytest

from qospec.engine.measure.bytes import Volume
from qospec.engine.measure.tally import Tally
from qospec.metrics.bytes import Bytes


@pytest.mark.parametrize(("statistic", "octets"), [("cell", 53), ("payload", 48)])
def test_a_cell_has_53_octets_and_48_of_payload(
    tally: Callable[..., Tally], statistic: str, octets: int
) -> None:
    assert Bytes().measure(tally(carried=1_000), statistic) == 1_000 * octets


def test_packets_have_the_layers_of_their_link(tally: Callable[..., Tally]) -> None:
    seen = tally(carried=2, volume=Volume(line=168, frame=128, ip=92, payload=36))
    sums = {layer: Bytes().measure(seen, layer) for layer in Bytes.packet_statistics}
    assert sums == {"line": 168, "frame": 128, "ip": 92, "payload": 36}
    with pytest.raises(ValueError, match="no statistic `cell`"):
        Bytes().measure(seen, "cell")

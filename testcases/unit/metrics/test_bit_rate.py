from collections.abc import Callable
from fractions import Fraction

import pytest

from qospec.engine.measure.bytes import Volume
from qospec.engine.measure.tally import Tally
from qospec.metrics.bit_rate import BitRate


@pytest.mark.parametrize(("statistic", "octets"), [("cell", 53), ("payload", 48)])
def test_a_cell_has_53_octets_and_48_of_payload(
    tally: Callable[..., Tally], statistic: str, octets: int
) -> None:
    seen = tally(carried=1_000, window_ps=2 * 10**12)
    assert BitRate().measure(seen, statistic) == 500 * octets * 8


def test_a_full_stm_1_is_149_76_mbit_per_second(tally: Callable[..., Tally]) -> None:
    cell_rate = Fraction(149_760_000, 424)
    seen = tally(carried=int(53 * cell_rate), window_ps=53 * 10**12)
    assert BitRate().measure(seen, "cell") == 149_760_000


def test_a_window_without_length_is_no_data(tally: Callable[..., Tally]) -> None:
    assert BitRate().measure(tally(window_ps=0), "cell") is None


def test_another_statistic_is_refused(tally: Callable[..., Tally]) -> None:
    with pytest.raises(ValueError, match="no statistic `frame`"):
        BitRate().measure(tally(), "frame")


def test_packets_are_counted_as_they_were_framed(tally: Callable[..., Tally]) -> None:
    seen = tally(carried=2, volume=Volume(line=168, frame=128, ip=92, payload=36))
    rates = {layer: BitRate().measure(seen, layer) for layer in BitRate.packet_statistics}
    assert rates == {"line": 1_344, "frame": 1_024, "ip": 736, "payload": 288}
    with pytest.raises(ValueError, match="no statistic `cell`"):
        BitRate().measure(seen, "cell")

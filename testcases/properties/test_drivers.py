"""Batches, compiled events, and events by their definition in Python give the same, bit for bit.

So does the event loop if it counts by itself, what items only are counted for.

`make test-nightly` compares them over 20,000 networks.
"""

from typing import Any

from bounded import bounded
from definition import kernels_as_python
from drivers import by_definition, counted, drawn_networks, seen
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

some = settings(
    max_examples=settings().max_examples // 4,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@some
@given(data=st.data())
def test_the_drivers_agree_on_networks(drawing: Any, data: st.DataObject) -> None:
    experiment = data.draw(drawn_networks(drawing.elements))
    batches = seen(experiment, 10**6, by_events=False)
    assert seen(experiment, data.draw(st.sampled_from([1, 7, 40])), by_events=False) == batches
    assert seen(experiment, 10**6, by_events=True) == batches
    assert by_definition(experiment) == batches
    assert counted(experiment) == batches.sums


@some
@given(data=st.data())
def test_the_cut_of_time_changes_nothing_by_events(drawing: Any, data: st.DataObject) -> None:
    experiment = data.draw(drawn_networks(drawing.elements))
    whole = seen(experiment, 10**6, by_events=True)
    assert seen(experiment, data.draw(st.sampled_from([1, 7, 40])), by_events=True) == whole


@settings(some, max_examples=max(1, some.max_examples // 10))
@given(data=st.data())
def test_no_kernel_has_an_index_beyond_an_array(drawing: Any, data: st.DataObject) -> None:
    experiment = data.draw(drawn_networks(drawing.elements))
    with kernels_as_python(bounded):
        seen(experiment, 40, by_events=True)

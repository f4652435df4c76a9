"""From the top down, as the frame loss rate of RFC 2544 is measured."""

import pytest
from searches import carried_out, forwards, goal, loses, search


def stepped(device, *, confirm=2, loss=0):
    asked = search(goal(loss), low=10, high=100, step=10, method="step", confirm=confirm)
    return carried_out(asked, device)


def test_rfc2544_frame_loss_ends_after_two_good_loads():
    """100 %, 90 %, … until there are two successive trials without loss. RFC 2544, 26.3."""
    ended = stepped(forwards(55))
    assert ended.loads == [100, 90, 80, 70, 60, 50, 40]
    assert (ended.found["ndr"].lower, ended.found["ndr"].upper) == (50, 60)
    assert ended.found["ndr"].regular


@pytest.mark.parametrize(("confirm", "last"), [(1, 50), (3, 30), (1000, 10)])
def test_as_many_loads_are_good_in_succession_as_asked(confirm, last):
    ended = stepped(forwards(55), confirm=confirm)
    assert ended.loads[-1] == last
    assert ended.found["ndr"].complete


def test_one_good_load_among_bad_ones_does_not_end_it():
    """And the bad one below counts: the result is the conservative one of RFC 9971."""
    ended = stepped(loses(lambda load: load in (100, 80)))
    assert ended.loads == [100, 90, 80, 70, 60]
    found = ended.found["ndr"]
    assert (found.lower, found.upper, found.inversion) == (70, 80, (80, 90))
    assert (found.complete, found.regular) == (True, False)


def test_the_highest_load_is_tried_even_if_no_step_ends_there():
    asked = search(goal(), low=10, high=95, step=20, method="step")
    assert carried_out(asked, forwards(60)).loads == [95, 90, 70, 50, 30]


def test_goals_share_the_curve():
    asked = search(
        goal(), goal("1/10", name="pdr"), low=10, high=100, step=10, method="step", confirm=2
    )
    ended = carried_out(asked, forwards(55))
    assert ended.loads == [100, 90, 80, 70, 60, 50, 40]
    assert ended.found["pdr"].lower == 60


def test_a_range_without_a_step_has_no_loads():
    with pytest.raises(ValueError, match="no step"):
        carried_out(search(goal(), method="step"), forwards(55))

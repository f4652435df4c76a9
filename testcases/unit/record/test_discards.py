"""Sentences of what was discarded."""

import pytest

from qospec.record.outcome import describe_loss, discard_sentence

LOSS = {"repeat": 1, "flow": "f", "element": "dut.q", "cause": "early", "carries": "cell"}


@pytest.mark.parametrize(
    ("cells", "said"),
    [(1, "1 cell of f: dut.q (early)"), (1_739, "1_739 cells of f: dut.q (early)")],
)
def test_a_loss_of_one_repeat_is_a_sentence(cells, said) -> None:
    assert describe_loss({**LOSS, "cells": cells}) == said


@pytest.mark.parametrize(
    ("least", "most", "said"),
    [
        (1, 1, "1 cell of f per repeat: dut.q (early)"),
        (1, 3, "1 to 3 cells of f per repeat: dut.q (early)"),
        (3, 3, "3 cells of f per repeat: dut.q (early)"),
    ],
)
def test_losses_of_several_are_one(least, most, said) -> None:
    assert discard_sentence({**LOSS, "least": least, "most": most, "when": "per repeat"}) == said

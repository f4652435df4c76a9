"""What a program of the user's own is to the checker and the planner: packets of any size."""

import re
from fractions import Fraction

import pytest

from qospec.catalogue.kinds import Command, Ready, UnfitError
from qospec.engine.random import Draws
from qospec.engine.source.launched import Launched
from qospec.engine.source.sizes import Sizes
from qospec.protocol.encapsulation import Encapsulation
from qospec.protocol.marks import MARKS
from qospec.traffic.constant import Constant
from qospec.traffic.program import Program

ETHERNET = Encapsulation(8, 18, 64, 12, 1_500)
SERVER = Program(command=Command(("iperf3", "-s", "-1"), "/work"), ready=Ready(port=5_201), dscp=46)


def test_nothing_is_known_of_what_it_sends_but_the_largest_packet():
    sent = SERVER.describe_packets(ETHERNET)
    assert sent.sizes == Sizes((20, 1_500), (1, 1))
    assert MARKS["dscp"].read(sent.marks) == 46
    assert sent.contract.peak_cell_rate == 0


def test_the_largest_packet_fits_the_link():
    with pytest.raises(
        UnfitError, match=r"^mtu: on this link a packet has at most 1500 B"
    ) as caught:
        Program(command=SERVER.command, mtu=1_501).describe_packets(ETHERNET)
    assert caught.value.help == "write `mtu = 1500 B @ip`"


def test_a_back_end_is_given_all_that_it_needs():
    process = SERVER.begin(Constant(Fraction(1)))
    assert process == Launched(
        SERVER.command, Ready(port=5_201), "terminate", 0, 10 * 10**12, 1_500, 46
    )
    assert process.compute_mean_rate(1) == process.count_most_items(1, 10**12) == 0


def test_an_emulation_refuses_it_and_says_what_does_not():
    remedy = re.escape("use `qos run --on kernel-vt --allow-programs`")
    with pytest.raises(ValueError, match=remedy):
        SERVER.begin(Constant(Fraction(1))).start(1, "even", Draws(("seed",)))

"""NewReno: packet by packet, and over thousands of losses beside a program by the book."""

import heapq
import itertools
from dataclasses import replace

import pytest
from tcp_path import BULK, MSS, RTT, STEADY, observe

from qospec.congestion.newreno import Newreno


@pytest.mark.parametrize("losses", [1, 2, 3])
def test_newreno_makes_one_loss_good_in_each_round_trip(losses):
    """Of k losses in a window of 16 each is sent again a round trip after the one before."""
    traffic = replace(STEADY, initial_window=16, send_buffer=16 * MSS)
    first = 2 + 16
    _, there, back = observe(traffic, 9 * RTT, there=[first + 4 * k for k in range(losses)])
    again = [at for at, number in there.data if number in [16 + 4 * k for k in range(losses)]]
    repeated = sorted(again)[losses:]
    assert len(repeated) == losses
    gaps = [after - before for before, after in itertools.pairwise(repeated)]
    assert [round(gap / RTT, 1) for gap in gaps] == [1] * (losses - 1)
    whole = next(at for at, number, _, _ in back.seen if number >= 1 + 32 * MSS)
    assert round((whole - repeated[0]) / RTT, 1) == losses - 0.5


class Book:
    """A sender and a receiver by RFC 5681 and RFC 6582, on a path of one round trip and no rate.

    Every `period`-th segment is lost, and an acknowledgement is of `every` segments.
    """

    def __init__(self, period, every):
        self.period, self.every, self.sent, self.ready = period, every, 0, []
        self.window, self.threshold = 8 * MSS, 2 * MSS
        self.acknowledged = self.next = self.duplicates = self.recover = 0
        self.is_recovering = False
        self.expected, self.apart, self.waiting = 0, set(), 0

    def send(self, number, now):
        self.sent += 1
        if self.sent % self.period:
            heapq.heappush(self.ready, (now + 1, self.sent, number))

    def send_all(self, now):
        while (self.next + 1 - self.acknowledged) * MSS <= self.window:
            self.send(self.next, now)
            self.next += 1

    def receive(self, number):
        """Return the number of the acknowledgement, if there is one."""
        is_in_order, had_apart = number == self.expected, bool(self.apart)
        self.apart |= {number} if number >= self.expected else set()
        while self.expected in self.apart:
            self.apart.remove(self.expected)
            self.expected += 1
        self.waiting = self.waiting + 1 if is_in_order and not had_apart else self.every
        if self.waiting < self.every:
            return None
        self.waiting = 0
        return self.expected

    def acknowledge(self, number, now):
        if number > self.acknowledged:
            self.advance(number, now)
        elif number == self.acknowledged < self.next:
            self.duplicates += 1
            if self.is_recovering:
                self.window += MSS
            elif self.duplicates == 3 and number >= self.recover:
                self.threshold = max((self.next - self.acknowledged) * MSS // 2, 2 * MSS)
                self.window = self.threshold + 3 * MSS
                self.is_recovering, self.recover = True, self.next
                self.send(number, now)
        self.send_all(now)

    def advance(self, number, now):
        more, self.acknowledged = number - self.acknowledged, number
        if self.is_recovering and number < self.recover:
            self.window = max(0, self.window - more * MSS) + MSS
            self.send(number, now)
        elif self.is_recovering:
            under_way = (self.next - number) * MSS
            self.window = min(self.threshold, max(under_way, MSS) + MSS)
            self.is_recovering, self.duplicates = False, 0
        else:
            self.duplicates = 0
            self.window += MSS * MSS // self.window if self.window >= self.threshold else MSS

    def run(self, begin, end):
        """Return the segments acknowledged in a round trip, on average, from one on to another."""
        self.send_all(0)
        counted = {}
        while (now := self.ready[0][0]) < end:
            number = self.receive(heapq.heappop(self.ready)[2])
            if number is not None:
                self.acknowledge(number, now)
            counted[now] = self.acknowledged
        times = sorted(now for now in counted if now >= begin)
        return (counted[times[-1]] - counted[times[0]]) / (times[-1] - times[0])


@pytest.mark.slow
@pytest.mark.parametrize(("period", "every", "mean"), [(96, 1, 9.90), (192, 2, 10.61)])
def test_of_regular_losses_the_book_leaves_less_than_the_square_root(period, every, mean):
    """V8: 12 segments in a round trip, by 3 W^2 / 8 = N, are what is left of many.

    With the round trip of the recovery they are 10.4, and with whole segments, and a window that
    grows by less than one in a round trip, as MSS^2 / window is added for each, these.
    """
    assert Book(period, every).run(200, 1_200) == pytest.approx(mean, rel=0.005)
    traffic = replace(
        BULK, algorithm=Newreno(), ack_every=every, send_buffer=10**6, receive_buffer=10**6
    )
    # Two packets open the connection; then every `period`-th is lost, as in the book.
    lost = range(1 + period, 6_000, period)
    _, _, back = observe(traffic, 400 * RTT, there=lost)
    number = {at // RTT: number // MSS for at, number, _, _ in back.seen}
    first, last = 100, 390
    measured = (number[last] - number[first]) / (last - first)
    assert measured == pytest.approx(mean, rel=0.02)

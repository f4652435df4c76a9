"""Queues whose true values are known, with unlimited or limited room.

Times are in units of a mean service.
"""

import math
from decimal import Decimal, localcontext
from typing import NamedTuple, Self

import numpy as np

DIGITS = 200
"""The series of waiting times alternates in sign; so many digits leave enough of the sum."""


def waiting_probability(time: float, load: float) -> float:
    """Return the probability that a customer of M/D/1 waits for at most `time`.

    Source: Erlang 1909; as a finite sum in Franx, Operations Research Letters 29 (2001), 221.
    """
    with localcontext(prec=DIGITS):
        t, rho = Decimal(time), Decimal(load)
        terms = (
            (rho * (k - t)) ** k / math.factorial(k) * (rho * (t - k)).exp()
            for k in range(math.floor(time) + 1)
        )
        return float((1 - rho) * sum(terms, Decimal(0)))


def waiting_quantile(share: float, load: float) -> float:
    """Return the time that `share` of the customers of M/D/1 do not exceed."""
    low, high = 0.0, 1.0
    while waiting_probability(high, load) < share:
        high *= 2
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if waiting_probability(middle, load) < share else (low, middle)
    return high


def waiting_times(
    load: float, customers: int, warmup: int, stream: np.random.Generator
) -> np.ndarray:
    """Return the waiting times of customers of M/D/1, (customers,), after so many others.

    Lindley's equation, solved: a random walk less the least that it has been.
    """
    gaps = stream.exponential(1 / load, warmup + customers)
    walk = np.concatenate(([0.0], np.cumsum(1.0 - gaps[1:])))
    return (walk - np.minimum.accumulate(walk))[warmup:]


class Markovian(NamedTuple):
    """A queue with exponential services, and gaps between customers that do not depend: GI/M/1.

    With a probability `first` a gap is exponential with one rate, else with another. So are those
    of Poisson arrivals, and of an on-off source whose stays in both states are exponential:
    Kuczura, Bell Syst. Tech. J. 52 (1973), 437.
    """

    rates: tuple[float, float]
    first: float

    @classmethod
    def poisson(cls, load: float) -> Self:
        """Return M/M/1."""
        return cls((load, load), 1.0)

    @classmethod
    def on_off(cls, load: float, on: float, off: float) -> Self:
        """Return the queue of a source that sends in the first state only, with such mean stays."""
        peak, stops, begins = load * (on + off) / on, 1 / on, 1 / off
        half = (peak + stops + begins) / 2
        root = math.sqrt(half**2 - peak * begins)
        fast, slow = half + root, half - root
        return cls((fast, slow), (peak - slow) / (fast - slow))

    @property
    def busy(self) -> float:
        """Return the probability that a customer waits: its delay is exponential at 1 less that.

        Source: Gross and Harris, Fundamentals of Queueing Theory (1998), 5.3.2.
        """
        low = 0.5
        for _ in range(10_000):
            one, other = (rate / (rate + 1 - low) for rate in self.rates)
            low = self.first * one + (1 - self.first) * other
        return low

    def delay_quantile(self, share: float) -> float:
        """Return the time that `share` of the customers take at most, service included."""
        return -math.log(1 - share) / (1 - self.busy)

    @property
    def delay(self) -> float:
        """Return the mean time that a customer takes, service included."""
        return 1 / (1 - self.busy)

    def delays(self, customers: int, warmup: int, stream: np.random.Generator) -> np.ndarray:
        """Return how long customers take, (customers,), after so many others."""
        count = warmup + customers
        rates = np.where(stream.random(count) < self.first, *self.rates)
        gaps, services = stream.exponential(1 / rates), stream.exponential(1.0, count)
        walk = np.concatenate(([0.0], np.cumsum(services[:-1] - gaps[1:])))
        return (walk - np.minimum.accumulate(walk) + services)[warmup:]

    def loss_probability(self, room: int) -> float:
        """Return the share that is lost with `room` places, the one in service included: GI/M/1/K.

        What a customer finds is a Markov chain: services that end in an exponential gap have a
        geometric number. Source: Gross and Harris, Fundamentals of Queueing Theory (1998), 5.3.
        """
        ended = np.array([rate / (1 + rate) / (1 + rate) ** np.arange(room) for rate in self.rates])
        ends = np.array([self.first, 1 - self.first]) @ ended
        found = np.zeros((room + 1, room + 1))
        for before in range(room + 1):
            left = min(before + 1, room)
            found[before, 1 : left + 1] = ends[:left][::-1]
            found[before, 0] = 1 - found[before].sum()
        equations = np.vstack((found.T - np.eye(room + 1), np.ones(room + 1)))
        rest = np.append(np.zeros(room + 1), 1.0)
        return float(np.linalg.lstsq(equations, rest, rcond=None)[0][-1])

    def losses(
        self, room: int, time: float, warmup: float, lanes: int, stream: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return by lane the delays of customers, which are lost, and which come in that time.

        Each is (customers, lanes); the time begins after so much other. The delay of one that is
        lost says nothing.
        """
        found, now, here = [], np.zeros(lanes), np.arange(lanes)
        ends, kept = np.zeros((room, lanes)), np.zeros(lanes, int)
        while now.min() < warmup + time:
            rates = np.where(stream.random(lanes) < self.first, *self.rates)
            now = now + stream.exponential(1 / rates)
            place = kept % room
            full = ends[place, here] > now
            end = np.maximum(ends[place - 1, here], now) + stream.exponential(1.0, lanes)
            ends[place, here] = np.where(full, ends[place, here], end)
            kept += ~full
            found.append((end - now, full, (now > warmup) & (now <= warmup + time)))
        times, lost, counted = (np.array(column) for column in zip(*found, strict=True))
        return times, lost, counted


def batch_delay(size: int, load: float) -> float:
    """Return the mean delay, service included, of customers that come in batches: M^[K]/D/1.

    A batch waits as in M/D/1 with services K times as long, and a customer for half of its batch.
    """
    return load * size / (2 * (1 - load)) + (size - 1) / 2 + 1


def batch_delays(
    size: int, load: float, customers: int, warmup: int, stream: np.random.Generator
) -> np.ndarray:
    """Return how long customers of M^[K]/D/1 take, (customers,), after so many others."""
    waits = waiting_times(load, customers // size, warmup // size, stream) * size
    return (waits[:, None] + np.arange(1, size + 1)).ravel()


def loss_probability(room: int, load: float) -> float:
    """Return the loss probability of M/D/1 with `room` places, the one in service included.

    The number that a customer leaves behind is a Markov chain. Source: Gross and Harris,
    Fundamentals of Queueing Theory (1998), 5.1.8 (M/G/1/K).
    """
    arrivals = [math.exp(-load) * load**k / math.factorial(k) for k in range(room + 1)]
    left = np.zeros((room, room))
    for before in range(room):
        rest = max(before - 1, 0)
        for come in range(room - 1 - rest):
            left[before, rest + come] = arrivals[come]
        left[before, room - 1] = 1 - left[before].sum()
    equations = np.vstack((left.T - np.eye(room), np.ones(room)))
    shares = np.linalg.lstsq(equations, np.append(np.zeros(room), 1.0), rcond=None)[0]
    return float(1 - 1 / (shares[0] + load))


def finite_queue(
    room: int, load: float, customers: int, warmup: int, lanes: int, stream: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return by lane the waiting times of M/D/1 with so much room, and which customers are lost.

    Both are (customers, lanes); the time of one that is lost says nothing. A customer finds room
    if the work before it, its own included, is at most `room`.
    """
    times = np.empty((customers, lanes))
    lost = np.empty((customers, lanes), bool)
    work = np.zeros(lanes)
    for number in range(-warmup, customers):
        full = work + 1 > room
        if number >= 0:
            times[number], lost[number] = work, full
        work = np.maximum(work + ~full - stream.exponential(1 / load, lanes), 0)
    return times, lost

"""Reference models in exact fractions: of schedulers, for their tests and those of drop policies,
of endpoints, and of queues that go by how long packets wait.

A model of a scheduler has `inputs`, each with the number of waiting packets (`count`) and the one
to be sent next (`next`). It is notified of arrivals, and of what is sent until when; whenever the
line is free it may `settle`, and chooses the input to serve. An input may be a queue or another
scheduler.
"""

import math
from collections import deque
from collections.abc import Set
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

from qospec.catalogue.kinds import Buffer, Load, read_declaration

FINE = 2**16
"""Parts of a byte in which virtual time knows how far a packet is that is being sent."""


def in_bytes(kind: Any, *given: Any, **named: Any) -> Any:
    """Return an element of a kind; its rates are given in bit/s, its bursts in B, both @ip."""
    counted = {
        "load": lambda rate: Load(Fraction(rate), "ip"),
        "burst": lambda n: Buffer(n, "byte"),
    }
    domains = (parameter.domain.name for parameter in read_declaration(kind).parameters.values())
    fields = zip(domains, given, strict=False)
    return kind(
        *(counted.get(domain, lambda same: same)(value) for domain, value in fields), **named
    )


class First:
    """Strict priority; also the base of models without state."""

    inputs: Any

    def __init__(self, _numbers: Any, _clock: Any) -> None:
        pass

    def waiting(self) -> list[int]:
        return [k for k, queue in enumerate(self.inputs) if queue.count]

    def come(self, k: int, packet: Any, now: int) -> None:
        pass

    def choose(self) -> int:
        return self.waiting()[0]

    def sent(self, k: int, size: int, end: Fraction) -> None:
        pass

    def settle(self) -> None:
        pass


class Turns(First):
    """A turn for each input, of a number of packets."""

    def __init__(self, numbers: Any, _clock: Any) -> None:
        self.numbers, self.current, self.left = numbers, -1, 0

    def cost(self, _size: int) -> int:
        return 1

    def choose(self) -> int:
        while self.left <= 0 or not self.inputs[self.current].count:
            self.current = (self.current + 1) % len(self.inputs)
            self.left = self.numbers[self.current]
        return self.current

    def sent(self, _k: int, size: int, _end: Fraction) -> None:
        self.left -= self.cost(size)

    def settle(self) -> None:
        if not self.inputs[self.current].count:
            self.left = 0


class Bytes(Turns):
    """A turn for each input, of a number of bytes, which the last packet may exceed."""

    def cost(self, size: int) -> int:
        return size


class Deficits(First):
    """Shreedhar and Varghese: a list of backlogged inputs, each with its deficit.

    An input whose only packet was dropped leaves the list at its turn.
    """

    def __init__(self, numbers: Any, _clock: Any) -> None:
        self.quanta, self.active = numbers, []
        self.deficits, self.granted = [0] * len(numbers), False

    def come(self, k: int, _packet: Any, _now: int) -> None:
        if k not in self.active:
            self.active.append(k)
            self.deficits[k] = 0

    def choose(self) -> int:
        while True:
            self.settle()
            k = self.active[0]
            self.deficits[k] += 0 if self.granted else self.quanta[k]
            if self.inputs[k].next().size <= self.deficits[k]:
                self.granted = True
                return k
            self.active.append(self.active.pop(0))
            self.granted = False

    def sent(self, k: int, size: int, _end: Fraction) -> None:
        self.deficits[k] -= size

    def settle(self) -> None:
        while self.active and not self.inputs[self.active[0]].count:
            self.active.pop(0)
            self.granted = False


class Virtual(First):
    """A model that restarts with each busy period; `starts`: when each input may continue."""

    def __init__(self, numbers: Any, clock: Any) -> None:
        self.weights, self.clock = numbers, clock
        self.begin()

    def begin(self) -> None:
        self.virtual, self.starts = Fraction(0), [Fraction(0)] * len(self.weights)

    def settle(self) -> None:
        if not self.waiting():
            self.begin()


class Tags(Virtual):
    """Golestani, by inputs: the tag of the next packet begins where the last one's ended."""

    def come(self, k: int, _packet: Any, _now: int) -> None:
        if self.inputs[k].count == 1:
            self.starts[k] = max(self.starts[k], self.virtual)

    def tag(self, k: int, size: int) -> Fraction:
        return self.starts[k] + Fraction(size, self.weights[k])

    def choose(self) -> int:
        return min(self.waiting(), key=lambda k: (self.tag(k, self.inputs[k].next().size), k))

    def sent(self, k: int, size: int, _end: Fraction) -> None:
        self.virtual = self.starts[k] = self.tag(k, size)


class Paced(Virtual):
    """A model that knows the progress within a packet: that of the line with its frame."""

    def begin(self) -> None:
        super().begin()
        self.work, self.end, self.size = Fraction(0), Fraction(0), 0

    def done(self, now: int) -> Fraction:
        """Return how many bytes have been sent so far in this busy period."""
        left = math.floor(max(0, math.floor(self.end) - now) / self.clock.byte_time_ps * FINE)
        framing = self.clock.encapsulation
        if framing is not None and self.size:
            left = left * self.size // framing.count_line_bytes(self.size)
        return self.work - min(Fraction(left, FINE), self.size)

    def sent(self, _k: int, size: int, end: Fraction) -> None:
        self.work, self.end, self.size = self.work + size, end, size


class Eligible(Paced):
    """Bennett and Zhang: of packets that have started in virtual time, the first to finish."""

    def begin(self) -> None:
        super().begin()
        self.seen = Fraction(0)

    def pass_on(self, work: Fraction, others: Any) -> None:
        self.virtual, self.seen = self.virtual + work - self.seen, work
        starts = [self.starts[k] for k in others if self.inputs[k].count]
        self.virtual = max(self.virtual, min(starts)) if starts else self.virtual

    def come(self, k: int, _packet: Any, now: int) -> None:
        if self.inputs[k].count == 1:
            self.pass_on(self.done(now), [i for i in range(len(self.weights)) if i != k])
            self.starts[k] = max(self.starts[k], self.virtual)

    def choose(self) -> int:
        self.pass_on(self.work, range(len(self.weights)))
        eligible = [k for k in self.waiting() if self.starts[k] <= self.virtual]
        return min(eligible, key=lambda k: (self.end_of(k, self.inputs[k].next().size), k))

    def end_of(self, k: int, size: int) -> Fraction:
        return self.starts[k] + Fraction(size * sum(self.weights), self.weights[k])

    def sent(self, k: int, size: int, end: Fraction) -> None:
        self.starts[k] = self.end_of(k, size)
        super().sent(k, size, end)


class Fluid:
    """Parekh and Gallager 1993, III.B: V grows by work over the sum of the busy inputs' weights.

    `finish` is, per packet, when the fluid server ends it, in virtual time. Where V is kept as a
    whole number of parts, it is rounded down when an input becomes busy while others are.
    """

    def __init__(self, weights: list[int]) -> None:
        self.weights, self.unit = weights, Fraction(1, FINE * math.lcm(*weights))
        self.finish: dict[Any, Fraction] = {}
        self.last = [Fraction(0)] * len(weights)
        self.virtual = self.done = Fraction(0)

    def busy(self) -> list[int]:
        return [k for k, tag in enumerate(self.last) if tag > self.virtual]

    def flow(self, until: Fraction) -> None:
        """Advance until this many bytes are done since the busy period began."""
        while self.busy() and self.done < until:
            together = sum(self.weights[k] for k in self.busy())
            least = min(self.last[k] for k in self.busy())
            work = min(until - self.done, (least - self.virtual) * together)
            self.done += work
            self.virtual += work / Fraction(together)
        self.done = until

    def come(self, k: int, name: Any, size: int, until: Fraction) -> None:
        self.flow(until)
        if self.last[k] <= self.virtual:
            self.virtual = self.virtual // self.unit * self.unit
        self.last[k] = max(self.last[k], self.virtual) + Fraction(size, self.weights[k])
        self.finish[name] = self.last[k]


class Fair(Paced):
    """Parekh and Gallager: in the fluid server, a packet begins on arrival or after the last one.

    Which packet an input has next may change until it is sent, where that is a scheduler; so what
    is kept of each is the virtual time at which it came.
    """

    def begin(self) -> None:
        super().begin()
        self.fluid, self.came = Fluid(self.weights), {}

    def come(self, k: int, packet: Any, now: int) -> None:
        self.fluid.come(k, packet, packet.size, self.done(now))
        self.came[packet] = self.fluid.virtual

    def tag(self, k: int) -> Fraction:
        packet = self.inputs[k].next()
        return max(self.came[packet], self.starts[k]) + Fraction(packet.size, self.weights[k])

    def choose(self) -> int:
        self.tags = {k: self.tag(k) for k in self.waiting()}
        return min(self.tags, key=lambda k: (self.tags[k], k))

    def sent(self, k: int, size: int, end: Fraction) -> None:
        self.starts[k] = self.tags[k]
        super().sent(k, size, end)


BOOKS = {
    "strict": First,
    "wrr": Turns,
    "custom": Bytes,
    "drr": Deficits,
    "scfq": Tags,
    "wfq": Fair,
    "wf2q_plus": Eligible,
}


class Way:
    """A line, and what is lost behind it: the packets of some numbers, in order from 0."""

    def __init__(self, time: Fraction, propagation: int, lost: Set[int]) -> None:
        self.time, self.propagation, self.lost = time, propagation, lost
        self.free, self.sent = Fraction(0), 0
        self.arriving: list[tuple[int, int]] = []

    def send(self, number: int, now: int) -> None:
        start = Fraction(now) if now > math.floor(self.free) else self.free
        self.free = start + self.time
        if self.sent not in self.lost:
            self.arriving.append((math.floor(self.free) + self.propagation, number))
        self.sent += 1

    def next(self) -> float:
        return self.arriving[0][0] if self.arriving else math.inf


class Echo:
    """A client and its server: exchanges by number, until each has ended.

    `ended` holds when each began and ended, None if it was given up, in order of their ends. Times
    of arrival are rounded down, as everywhere.
    """

    def __init__(self, there: Way, back: Way, timeout: int, retries: int, stop: int) -> None:
        self.there, self.back = there, back
        self.timeout, self.retries, self.stop = timeout, retries, stop
        self.waiting: dict[int, tuple[int, int, int]] = {}  # due, tries, begun; by number
        self.ended: list[tuple[int, int | None]] = []

    def ask(self, number: int, now: int, tries: int, begun: int) -> None:
        self.waiting.pop(number, None)
        self.waiting[number] = now + self.timeout, tries, begun  # the last one is due last
        self.there.send(number, now)

    def run(self, window: int) -> None:
        for number in range(window):
            self.ask(number, 0, 0, 0)
        while self.waiting or self.there.arriving or self.back.arriving:
            due = min((waiting[0] for waiting in self.waiting.values()), default=math.inf)
            if self.there.next() <= min(self.back.next(), due):
                now, number = self.there.arriving.pop(0)
                self.back.send(number, now)
            elif self.back.next() <= due:
                now, number = self.back.arriving.pop(0)
                if number in self.waiting:
                    self.end(number, number + window, now, now)
            else:
                number, (now, tries, begun) = next(iter(self.waiting.items()))
                if tries < self.retries:
                    self.ask(number, now, tries + 1, begun)
                else:
                    self.end(number, number + window, now, None)

    def end(self, number: int, following: int, now: int, answered: int | None) -> None:
        _, _, begun = self.waiting.pop(number)
        self.ended.append((begun, answered))
        if now < self.stop:
            self.ask(following, now, 0, now)


class ControlledDelay:
    """RFC 8289, 5.3 to 5.5: `dodequeue`, `control_law` and `dequeue`, with its names.

    Who is `capable` is marked and sent, and the next is due by the count, as if it was dropped:
    that is how Linux does it (`codel_dequeue` in `include/net/codel_impl.h`).
    """

    def __init__(
        self, target: int, interval: int, maxpacket: int, capable: Set[int] = frozenset()
    ) -> None:
        self.capable, self.marked = capable, []
        self.target, self.interval, self.maxpacket = target, interval, maxpacket
        self.queue, self.bytes = deque(), 0
        self.first_above_time = self.drop_next = self.count = self.lastcount = 0
        self.dropping = False
        self.drops, self.waits = [], []

    def dodequeue(self, now: int) -> tuple[Any, bool]:
        ok_to_drop = False
        if not self.queue:
            self.first_above_time = 0
            return None, ok_to_drop
        packet = self.queue.popleft()
        self.bytes -= packet[2]
        if packet[1] < now:
            self.waits.append((packet[1], now))
        if now - packet[1] < self.target or self.bytes <= self.maxpacket:
            self.first_above_time = 0
        elif self.first_above_time == 0:
            self.first_above_time = now + self.interval
        elif now >= self.first_above_time:
            ok_to_drop = True
        return packet, ok_to_drop

    def control_law(self, t: int, count: int) -> int:
        with localcontext(prec=60):
            return t + int(self.interval / Decimal(count).sqrt())  # in whole ps

    def mark(self, packet: Any) -> bool:
        is_capable = packet[0] in self.capable
        self.marked += [packet[0]] * is_capable
        return is_capable

    def dequeue(self, now: int) -> Any:
        packet, ok_to_drop = self.dodequeue(now)
        if self.dropping:
            if not ok_to_drop:
                self.dropping = False
            while now >= self.drop_next and self.dropping:
                self.count += 1
                if self.mark(packet):
                    self.drop_next = self.control_law(self.drop_next, self.count)
                    return packet
                self.drops.append(packet)
                packet, ok_to_drop = self.dodequeue(now)
                if not ok_to_drop:
                    self.dropping = False
                else:
                    self.drop_next = self.control_law(self.drop_next, self.count)
        elif ok_to_drop:
            if not self.mark(packet):
                self.drops.append(packet)
                packet, ok_to_drop = self.dodequeue(now)
            self.dropping = True
            delta = self.count - self.lastcount
            self.count = 1
            if delta > 1 and now - self.drop_next < 16 * self.interval:
                self.count = delta
            self.drop_next = self.control_law(now, self.count)
            self.lastcount = self.count
        return packet

"""The E-model: the transmission rating factor R of a connection, and the opinion that it predicts.

R = Ro - Is - Id - Ie,eff + A. It is worked out in decimals of 28 digits, whose logarithms, powers
and roots no two machines round differently. Source: ITU-T G.107, clause 7 (narrowband).
"""

from __future__ import annotations

from decimal import Context, Decimal, localcontext
from fractions import Fraction
from types import SimpleNamespace

from qospec.dataclass import NamedTuple

Number = int | Fraction

PLACES = 9
"""R and the mean opinion score are rounded to this number of decimals."""
BEST, WORST = 100, 0
"""The limits of R."""

_CONTEXT = Context(prec=28)
_LEAST_ECHO_DELAY_MS = 1
"""Below it Idte is 0."""
_LOW_SIDETONE_DB, _HIGH_SIDETONE_DB = 9, 20
"""Below the one and above the other, sidetone changes how an echo is perceived."""


class Connection(NamedTuple):
    """The parameters of a connection; the defaults are those of G.107, table 2.

    Attributes:
        send_loudness_rating: SLR, in dB.
        receive_loudness_rating: RLR, in dB.
        sidetone_masking_rating: STMR, in dB.
        send_side_d: Ds, of the send side's telephone.
        receive_side_d: Dr, of the receive side's telephone.
        talker_echo_loudness_rating: TELR, in dB.
        weighted_echo_path_loss: WEPL, in dB.
        echo_delay_ms: T, the mean one-way delay of the echo path.
        round_trip_delay_ms: Tr, in the four-wire loop.
        absolute_delay_ms: Ta, from mouth to ear.
        quantizing_distortion_units: qdu.
        equipment_impairment: Ie, of the codec.
        packet_loss_robustness: Bpl, of the codec, in per cent.
        packet_loss_percent: Ppl.
        burst_ratio: BurstR, the mean length of bursts of losses over that of random losses.
        circuit_noise_dbm0p: Nc, at the 0 dBr point.
        noise_floor_dbmp: Nfor, at the receive side.
        send_room_noise_dba: Ps.
        receive_room_noise_dba: Pr.
        advantage: A, what users put up with for the sake of access.
        delay_sensitivity: sT.
        least_perceived_delay_ms: mT.
    """

    send_loudness_rating: Number = 8
    receive_loudness_rating: Number = 2
    sidetone_masking_rating: Number = 15
    send_side_d: Number = 3
    receive_side_d: Number = 3
    talker_echo_loudness_rating: Number = 65
    weighted_echo_path_loss: Number = 110
    echo_delay_ms: Number = 0
    round_trip_delay_ms: Number = 0
    absolute_delay_ms: Number = 0
    quantizing_distortion_units: Number = 1
    equipment_impairment: Number = 0
    packet_loss_robustness: Number = Fraction("4.3")
    packet_loss_percent: Number = 0
    burst_ratio: Number = 1
    circuit_noise_dbm0p: Number = -70
    noise_floor_dbmp: Number = -64
    send_room_noise_dba: Number = 35
    receive_room_noise_dba: Number = 35
    advantage: Number = 0
    delay_sensitivity: Number = 1
    least_perceived_delay_ms: Number = 100

    def verify(self) -> None:
        """Raise ValueError if a parameter is outside of its range.

        Loudness, noise and the like have the ranges that G.107 permits. Delay, loss and bursts,
        which are measured, have those in which the formulas are defined: beyond 500 ms, 20 % and a
        burst ratio of 2 they extrapolate.
        """
        for name, (least, most) in RANGES.items():
            value = getattr(self, name)
            if value < least or (most is not None and value > most):
                upto = f"{least} to {most}" if most is not None else f"at least {least}"
                raise ValueError(f"{name}: expected {upto}, found {value}")
        for name in ("burst_ratio", "delay_sensitivity", "least_perceived_delay_ms"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name}: expected more than 0, found {getattr(self, name)}")


RANGES: dict[str, tuple[Number, Number | None]] = {
    "send_loudness_rating": (0, 18),
    "receive_loudness_rating": (-5, 14),
    "sidetone_masking_rating": (5, 30),
    "send_side_d": (-3, 3),
    "receive_side_d": (-3, 3),
    "talker_echo_loudness_rating": (5, 65),
    "weighted_echo_path_loss": (5, 110),
    "echo_delay_ms": (0, None),
    "round_trip_delay_ms": (0, None),
    "absolute_delay_ms": (0, None),
    "quantizing_distortion_units": (1, 14),
    "equipment_impairment": (0, 95),
    "packet_loss_robustness": (1, 40),
    "packet_loss_percent": (0, 100),
    "circuit_noise_dbm0p": (-80, -40),
    "noise_floor_dbmp": (-80, -40),
    "send_room_noise_dba": (35, 85),
    "receive_room_noise_dba": (35, 85),
    "advantage": (0, 20),
}
"""By parameter, the least and the most of it; None: there is no most."""


class Rating(NamedTuple):
    """R and its parts, as G.107 names them; R may be below 0 or above 100."""

    ro: Fraction
    i_s: Fraction
    idte: Fraction
    idle: Fraction
    idd: Fraction
    ie_eff: Fraction
    r: Fraction


def rate_connection(connection: Connection) -> Rating:
    """Return the rating of a connection.

    Raises:
        ValueError: A parameter is out of its range.
    """
    connection.verify()
    with localcontext(_CONTEXT):
        given = {name: _convert_to_decimal(value) for name, value in connection._asdict().items()}
        parts = _Parts(SimpleNamespace(**given))
        terms = (parts.ro, parts.i_s, parts.idte, parts.idle, parts.idd, parts.ie_eff, parts.r)
        return Rating(*(_convert_to_fraction(term) for term in terms))


def predict_opinion_score(r: Number) -> Fraction:
    """Return the mean opinion score, from 1 to 4.5, that R predicts of a conversation.

    For an R of 0 to 6.5, where the curve of G.107 dips below 1, it is 1. Source: G.107, Annex B.
    """
    if r <= WORST:
        return Fraction(1)
    if r >= BEST:
        return Fraction(9, 2)
    r = Fraction(r)
    score = 1 + Fraction(35, 1000) * r + r * (r - 60) * (100 - r) * Fraction(7, 10**6)
    return max(Fraction(1), round(score, PLACES))


class _Parts:
    """The terms of R, in decimals. Source of each: the clause of G.107 that it names."""

    def __init__(self, given: SimpleNamespace) -> None:
        self._given = given
        self._noise = self._sum_noise_dbm0p()
        self.ro = 15 - _parse_decimal("1.5") * (given.send_loudness_rating + self._noise)
        self._sidetone = self._compute_sidetone_impairment()
        self.i_s = (
            self._compute_loudness_impairment()
            + self._sidetone
            + self._compute_quantizing_impairment()
        )
        self.idte = self._compute_talker_echo_impairment()
        self.idle = self._compute_listener_echo_impairment()
        self.idd = self._delay_impairment()
        self.ie_eff = self._compute_equipment_impairment()
        delays = self.idte + self.idle + self.idd
        self.r = self.ro - self.i_s - delays - self.ie_eff + given.advantage

    def _sum_noise_dbm0p(self) -> Decimal:
        """Return No, the sum of all noise (7.2)."""
        g = self._given
        overall = g.send_loudness_rating + g.receive_loudness_rating
        send_room = (
            g.send_room_noise_dba
            - g.send_loudness_rating
            - g.send_side_d
            - 100
            + _parse_decimal("0.004") * (g.send_room_noise_dba - overall - g.send_side_d - 14) ** 2
        )
        listener_sidetone = g.sidetone_masking_rating + g.receive_side_d
        at_ear = (
            g.receive_room_noise_dba + 10 * (1 + _convert_level(10 - listener_sidetone)).log10()
        )
        receive_room = (
            g.receive_loudness_rating - 121 + at_ear + _parse_decimal("0.008") * (at_ear - 35) ** 2
        )
        floor = g.noise_floor_dbmp + g.receive_loudness_rating
        noises = (
            _convert_level(noise)
            for noise in (g.circuit_noise_dbm0p, send_room, receive_room, floor)
        )
        return 10 * sum(noises, Decimal(0)).log10()

    def _compute_loudness_impairment(self) -> Decimal:
        """Return Iolr, of too low an overall loudness rating (7.3)."""
        g = self._given
        overall = g.send_loudness_rating + g.receive_loudness_rating
        x: Decimal = (
            overall + _parse_decimal("0.2") * (64 + self._noise - g.receive_loudness_rating)
        ) / 8
        return 20 * (_extract_root(1 + x**8, 8) - x)

    def _compute_sidetone_impairment(self) -> Decimal:
        """Return Ist, of sidetone that is not optimal (7.3)."""
        g = self._given
        echo = (-g.echo_delay_ms / 4).exp() * _convert_level(-g.talker_echo_loudness_rating)
        rating = -10 * (_convert_level(-g.sidetone_masking_rating) + echo).log10()
        return (
            12 * _extract_root(1 + ((rating - 13) / 6) ** 8, 8)
            - 28 * _extract_root(1 + ((rating + 1) / _parse_decimal("19.4")) ** 35, 35)
            - 13 * _extract_root(1 + ((rating - 3) / 33) ** 13, 13)
            + 29
        )

    def _compute_quantizing_impairment(self) -> Decimal:
        """Return Iq, of quantizing (7.3)."""
        q = 37 - 15 * self._given.quantizing_distortion_units.log10()
        g = _parse_decimal("1.07") + _parse_decimal("0.258") * q + _parse_decimal("0.0602") * q**2
        y = (self.ro - 100) / 15 + 46 / _parse_decimal("8.4") - g / 9
        z = Decimal(46) / 30 - g / 40
        return 15 * (1 + _convert_level(10 * y) + _convert_level(10 * z)).log10()

    def _compute_talker_echo_impairment(self) -> Decimal:
        """Return Idte, of the talker's echo (7.4)."""
        g = self._given
        t, sidetone = g.echo_delay_ms, g.sidetone_masking_rating
        impairment = Decimal(0)
        if t >= _LEAST_ECHO_DELAY_MS:
            echo = (
                g.talker_echo_loudness_rating
                - 40 * ((1 + t / 10) / (1 + t / 150)).log10()
                + 6 * (_parse_decimal("-0.3") * t**2).exp()
            )
            if sidetone < _LOW_SIDETONE_DB:
                echo += self._sidetone / 2
            without = _parse_decimal("-1.5") * (self._noise - g.receive_loudness_rating)
            worse = without - (80 + _parse_decimal("2.5") * (echo - 14))
            impairment = (worse / 2 + (worse**2 / 4 + 100).sqrt() - 1) * (1 - (-t).exp())
        if sidetone > _HIGH_SIDETONE_DB:
            impairment = (impairment**2 + self._sidetone**2).sqrt()
        return impairment

    def _compute_listener_echo_impairment(self) -> Decimal:
        """Return Idle, of the listener's echo (7.4)."""
        g = self._given
        loss = _parse_decimal("10.5") * (g.weighted_echo_path_loss + 7)
        worse: Decimal = self.ro - loss / _extract_root(g.round_trip_delay_ms + 1, 4)
        return worse / 2 + (worse**2 / 4 + 169).sqrt()

    def _delay_impairment(self) -> Decimal:
        """Return Idd, of a delay that disturbs even without an echo (7.4)."""
        g = self._given
        if g.absolute_delay_ms <= g.least_perceived_delay_ms:
            return Decimal(0)
        x = (g.absolute_delay_ms / g.least_perceived_delay_ms).log10() / Decimal(2).log10()
        power: Decimal = 6 * g.delay_sensitivity
        return 25 * (_smooth(x, power) - 3 * _smooth(x / 3, power) + 2)

    def _compute_equipment_impairment(self) -> Decimal:
        """Return Ie,eff, of the codec and of losses (7.5)."""
        g = self._given
        loss, impairment = g.packet_loss_percent, g.equipment_impairment
        robust = loss / g.burst_ratio + g.packet_loss_robustness
        effective: Decimal = impairment + (95 - impairment) * loss / robust
        return effective


def _parse_decimal(text: str) -> Decimal:
    return Decimal(text)


def _convert_to_decimal(value: Number) -> Decimal:
    value = Fraction(value)
    return Decimal(value.numerator) / value.denominator


def _convert_to_fraction(value: Decimal) -> Fraction:
    return Fraction(value.quantize(Decimal(1).scaleb(-PLACES)))


def _convert_level(level: Decimal) -> Decimal:
    """Return the ratio of powers that a level in dB is."""
    return (level / 10 * Decimal(10).ln()).exp()


def _raise_to_power(base: Decimal, exponent: Decimal) -> Decimal:
    """Return a power of a base above 0. Python's own differs between its two implementations."""
    return (base.ln() * exponent).exp()


def _extract_root(base: Decimal, degree: int) -> Decimal:
    return _raise_to_power(base, 1 / Decimal(degree))


def _smooth(x: Decimal, power: Decimal) -> Decimal:
    """Return the root of 1 + x to the power, of the same degree; x is above 0."""
    return _raise_to_power(1 + _raise_to_power(x, power), 1 / power)

"""The E-model against values that others have printed, and against its formulas in floats."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qospec.voice.codecs import CODECS
from qospec.voice.emodel import Connection, predict_opinion_score, rate_connection

MILLIONTH = Fraction(1, 10**6)


def loaded(codec: str, percent: float | Fraction, burst_ratio: Fraction | int = 1) -> Connection:
    """Return a connection with a codec, of which so many packets are lost."""
    known = CODECS[codec]
    return Connection(
        equipment_impairment=known.equipment_impairment,
        packet_loss_robustness=known.packet_loss_robustness,
        packet_loss_percent=Fraction(percent),
        burst_ratio=burst_ratio,
    )


# ---- printed values


def test_emodel_of_all_defaults_is_93_2() -> None:
    """G.107, 7.7: R = 93.2 with the values of table 2; its parts by the formulas."""
    rating = rate_connection(Connection())
    assert round(rating.r, 1) == Fraction("93.2")
    assert [round(term, 4) for term in rating] == [
        Fraction(term) for term in ("94.7688", "1.4136", "0", "0.149", "0", "0", "93.2062")
    ]


@pytest.mark.parametrize(
    ("delay_ms", "idd"),
    [
        *((0, "0"), (100, "0"), (150, "0.164"), (Fraction("177.3"), "1.172")),
        *((200, "3.044"), (250, "8.917"), (300, "14.761"), (400, "24.070"), (500, "30.636")),
    ],
)
def test_emodel_delay_impairment(delay_ms, idd: str) -> None:
    assert round(rate_connection(Connection(absolute_delay_ms=delay_ms)).idd, 3) == Fraction(idd)


@pytest.mark.parametrize(
    ("codec", "delay_ms"),
    [
        *(("g711", 400), ("g726_32", 322), ("g726_40", 375), ("g728", 322), ("g729", 294)),
        *(("g723_1_5k3", 219), ("g723_1_6k3", 251), ("gsm_efr", 342)),
    ],
)
def test_emodel_of_the_delays_that_leave_traditional_quality(codec: str, delay_ms: int) -> None:
    """De Vleeschauwer, Janssen, Petit and Poppe, Telektronikk 97 (2001) 2/3, table 3.

    Printed are the delays from mouth to ear at which delay and codec use up an impairment of 24
    where echoes are cancelled perfectly; so Ie + Idd is 24 there, within the last digit of Idd.
    """
    rating = rate_connection(Connection(absolute_delay_ms=delay_ms))
    used = CODECS[codec].equipment_impairment + rating.idd
    assert abs(used - 24) < Fraction(15, 100)


@pytest.mark.parametrize(
    ("codec", "percent", "tabulated"),
    [
        *(
            ("g729a", percentage, ie)
            for percentage, ie in ((0.5, 13), (1, 15), (1.5, 17), (2, 19), (3, 23))
        ),
        *(("g729a", percentage, ie) for percentage, ie in ((4, 26), (8, 36), (16, 49))),
        *(
            ("g723_1_6k3", percentage, ie)
            for percentage, ie in ((0.5, 17), (1, 19), (1.5, 22), (2, 24))
        ),
        *(
            ("g723_1_6k3", percentage, ie)
            for percentage, ie in ((3, 27), (4, 32), (8, 41), (16, 55))
        ),
        *(
            ("g711_plc", percentage, ie)
            for percentage, ie in ((1, 5), (2, 7), (3, 10), (5, 15), (7, 20))
        ),
    ],
)
def test_emodel_equipment_impairment_under_loss(codec, percent, tabulated: int) -> None:
    """G.113, Appendix I (2001) tabulates Ie under loss; Bpl was fitted to it, within 1.4."""
    assert abs(rate_connection(loaded(codec, percent)).ie_eff - tabulated) < Fraction(14, 10)


@pytest.mark.parametrize(
    ("r", "score"),
    [
        *(("93.2", "4.4093"), ("90", "4.3390"), ("80", "4.0240"), ("70", "3.5970")),
        *(("60", "3.1000"), ("50", "2.5750"), ("100", "4.5"), ("120", "4.5"), ("-7", "1")),
    ],
)
def test_emodel_mean_opinion_score(r: str, score: str) -> None:
    """G.107, Annex B, table B.1: 4.34, 4.03, 3.60, 3.10 and 2.58 at 90, 80, 70, 60 and 50."""
    assert round(predict_opinion_score(Fraction(r)), 4) == Fraction(score)


def test_emodel_score_never_dips_below_1() -> None:
    """The cubic is 0.989 at 3, and 1 at 6.5153 where it leaves 1 for good."""
    assert predict_opinion_score(3) == predict_opinion_score(Fraction("6.5")) == 1
    assert predict_opinion_score(7) > 1


# ---- how it depends on its parameters


def test_emodel_bursts_are_worse_than_random_losses() -> None:
    """Ie + (95 - Ie) Ppl / (Ppl / BurstR + Bpl), with 11, 19 and 4 %: 84 * 4 / (4 / b + 19)."""
    for burst_ratio in (1, 2, 4):
        exact = 11 + Fraction(84 * 4) / (Fraction(4, burst_ratio) + 19)
        found = rate_connection(loaded("g729a", 4, burst_ratio)).ie_eff
        assert abs(found - exact) < MILLIONTH


def test_emodel_advantage_is_added() -> None:
    assert rate_connection(Connection(advantage=10)).r == rate_connection(Connection()).r + 10


def test_emodel_an_echo_is_heard_from_1_ms_on() -> None:
    assert rate_connection(Connection(echo_delay_ms=Fraction("0.999"))).idte == 0
    assert rate_connection(Connection(echo_delay_ms=100)).idte > 1


def test_emodel_sidetone_masks_an_echo_or_adds_to_it() -> None:
    """G.107, 7.4: below 9 dB half of Ist is added to TERV, above 20 dB Ist is added by squares."""
    plain = Connection(echo_delay_ms=100, talker_echo_loudness_rating=40)
    low, usual, high = (
        rate_connection(plain._replace(sidetone_masking_rating=masking))
        for masking in (8, 15, Fraction("20.001"))
    )
    below = rate_connection(plain._replace(sidetone_masking_rating=20))
    assert low.idte < usual.idte
    assert high.idte > below.idte
    assert usual.ro != low.ro  # less sidetone, less of the room's noise


def test_emodel_delay_matters_less_to_those_who_are_less_sensitive() -> None:
    """G.107 (2015), 7.4, table 1: sT and mT are 1 and 100 ms, 0.55 and 120 ms, 0.4 and 150 ms."""
    classes = ((1, 100), (Fraction("0.55"), 120), (Fraction("0.4"), 150))
    idd = [
        rate_connection(
            Connection(absolute_delay_ms=300, delay_sensitivity=s, least_perceived_delay_ms=least)
        ).idd
        for s, least in classes
    ]
    assert idd == sorted(idd, reverse=True)
    assert idd[0] > 2 * idd[2]


# ---- another implementation


def in_floats(c: Connection) -> float:
    """Return R by the formulas of G.107, clause by clause."""
    slr, rlr, stmr, ds, dr, telr, wepl, t, tr, ta, qdu, ie, bpl, ppl, burst, nc, nfor, ps, pr, a = (
        float(text) for text in c[:20]
    )
    olr, lstr = slr + rlr, stmr + dr
    nos = ps - slr - ds - 100 + 0.004 * (ps - olr - ds - 14) ** 2
    pre = pr + 10 * math.log10(1 + 10 ** ((10 - lstr) / 10))
    nor = rlr - 121 + pre + 0.008 * (pre - 35) ** 2
    no = 10 * math.log10(sum(10 ** (n / 10) for n in (nc, nos, nor, nfor + rlr)))
    ro = 15 - 1.5 * (slr + no)
    xolr = olr + 0.2 * (64 + no - rlr)
    iolr = 20 * ((1 + (xolr / 8) ** 8) ** (1 / 8) - xolr / 8)
    stmro = -10 * math.log10(10 ** (-stmr / 10) + math.exp(-t / 4) * 10 ** (-telr / 10))
    ist = 12 * (1 + ((stmro - 13) / 6) ** 8) ** (1 / 8)
    ist -= 28 * (1 + ((stmro + 1) / 19.4) ** 35) ** (1 / 35)
    ist -= 13 * (1 + ((stmro - 3) / 33) ** 13) ** (1 / 13) - 29
    q = 37 - 15 * math.log10(qdu)
    g = 1.07 + 0.258 * q + 0.0602 * q**2
    y, z = (ro - 100) / 15 + 46 / 8.4 - g / 9, 46 / 30 - g / 40
    iq = 15 * math.log10(1 + 10**y + 10**z)
    terv = telr - 40 * math.log10((1 + t / 10) / (1 + t / 150)) + 6 * math.exp(-0.3 * t**2)
    re, roe = 80 + 2.5 * (terv - 14), -1.5 * (no - rlr)
    idte = ((roe - re) / 2 + math.hypot((roe - re) / 2, 10) - 1) * (1 - math.exp(-t))
    rle = 10.5 * (wepl + 7) * (tr + 1) ** -0.25
    idle = (ro - rle) / 2 + math.hypot((ro - rle) / 2, 13)
    x = math.log2(ta / 100) if ta > 100 else 0.0
    idd = 25 * ((1 + x**6) ** (1 / 6) - 3 * (1 + (x / 3) ** 6) ** (1 / 6) + 2)
    idte = idte if t >= 1 else 0.0
    ie_eff = ie + (95 - ie) * ppl / (ppl / burst + bpl)
    return ro - (iolr + ist + iq) - (idte + idle + idd) - ie_eff + a


def within(least: int, most: int) -> st.SearchStrategy[Fraction]:
    return st.fractions(least, most, max_denominator=100)


@settings(max_examples=settings().max_examples // 4)
@given(
    st.builds(
        Connection,
        send_loudness_rating=within(0, 18),
        receive_loudness_rating=within(-5, 14),
        sidetone_masking_rating=within(10, 20),
        send_side_d=within(-3, 3),
        receive_side_d=within(-3, 3),
        talker_echo_loudness_rating=within(5, 65),
        weighted_echo_path_loss=within(5, 110),
        echo_delay_ms=within(0, 500),
        round_trip_delay_ms=within(0, 1_000),
        absolute_delay_ms=within(0, 500),
        quantizing_distortion_units=within(1, 14),
        equipment_impairment=within(0, 40),
        packet_loss_robustness=within(5, 40),
        packet_loss_percent=within(0, 20),
        burst_ratio=within(1, 8),
        circuit_noise_dbm0p=within(-80, -40),
        send_room_noise_dba=within(35, 85),
        receive_room_noise_dba=within(35, 85),
        advantage=within(0, 20),
        noise_floor_dbmp=st.just(-64),
        delay_sensitivity=st.just(1),
        least_perceived_delay_ms=st.just(100),
    )
)
def test_emodel_is_that_of_the_formulas(connection: Connection) -> None:
    assert float(rate_connection(connection).r) == pytest.approx(in_floats(connection), abs=1e-6)


# ---- outside of its domain


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("absolute_delay_ms", -1), ("packet_loss_percent", 101), ("packet_loss_percent", -1)),
        *(("burst_ratio", 0), ("packet_loss_robustness", 0), ("quantizing_distortion_units", 0)),
        *(("send_loudness_rating", 19), ("advantage", 21), ("least_perceived_delay_ms", 0)),
    ],
)
def test_emodel_refuses_what_it_is_not_defined_for(name: str, value: int) -> None:
    with pytest.raises(ValueError, match=f"{name}: expected .*found {value}"):
        rate_connection(Connection(**{name: value}))

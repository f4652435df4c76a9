"""What is said of two ends of an association that do not fit, or of one without the other."""

import pytest

GATEWAYS = """
device gw {{
  port inner, outer: packet
  seal = esp_encrypt {{ {sealed} }}
  open = esp_decrypt {{ {opened} }}
  cut = fragment {{ mtu = {mtu} B }}
  out, back = fifo {{ limit = 64 pkt }}
  inner.rx -> seal -> cut -> out -> outer.tx
  outer.rx -> open -> back -> inner.tx
}}
topology vpn {{
  a, b = host
  left, right = gw
  link a -- left.inner via media.fast_ethernet
  link left.outer -- right.outer via media.fast_ethernet
  link right.inner -- b via media.fast_ethernet
}}
test t on vpn {{
  flow f = packets {{ rate = 1_000 pkt/s, size = 200 B @ip }} from a to b
  run {{ measure = {measure} }}
  expect whole: f.lost == 0 pkt
}}
"""
GCM = "encryption = aes_128_gcm"
BETWEEN = "what is to be sent in between is lost as `expired`"


def texts(sealed: str, opened: str, mtu: int = 1_500, measure: str = "100 ms") -> str:
    return GATEWAYS.format(sealed=sealed, opened=opened, mtu=mtu, measure=measure)


@pytest.mark.parametrize(
    ("sealed", "opened", "remedy"),
    [
        (GCM, "encryption = aes_256_gcm", "give both ends the same `encryption`"),
        (
            f"{GCM}, mode = transport, in_udp = true",
            GCM,
            "give both ends the same `mode` and `in_udp`",
        ),
        (
            f'{GCM}, key = "{20 * "01"}"',
            GCM,
            "give both ends the same, or none, so that one is drawn for both",
        ),
        (f"{GCM}, rekey = 1 s", GCM, "write an `overlap` here, or take the `rekey` away there"),
        (
            f"{GCM}, spi = 300",
            f"{GCM}, overlap = 1 s",
            "give both ends the same `spi`",
        ),
    ],
)
def test_ends_that_differ_are_both_shown(planned, problems, sealed, opened, remedy):
    assert planned(texts(sealed, opened)) == ()
    (told,) = problems.errors
    assert (told.code, told.span.text, told.help) == ("E0311", "open", remedy)
    assert (told.secondary[0].span.text, told.secondary[0].text) == ("seal", "encrypted here")


def test_fragments_are_to_be_put_together_ahead_of_what_decrypts(planned, problems):
    assert planned(texts(GCM, GCM, mtu=128)) == ()
    (told,) = problems.errors
    assert (told.code, told.help) == ("E0311", "put a `reassemble` ahead of it")


@pytest.mark.parametrize(
    ("sealed", "note", "remedy"),
    [
        (
            "rekey = 2_000 B, lifetime = 1 pkt",
            f"{BETWEEN}, and the first of it begins the exchange of keys",
            "exchange keys earlier, by `rekey`, or give it a longer `lifetime`",
        ),
        (
            "rekey = 10 pkt, negotiation = 20 ms, lifetime = 15 pkt",
            BETWEEN,
            "exchange keys earlier, by `rekey`, or give it a longer `lifetime`",
        ),
        (
            "rekey = 1 pkt",
            "what is to be sent after that is lost as `expired`",
            "exchange keys less often",
        ),
        (
            "rekey = 1 pkt, spi = 32_000",
            "what is to be sent after that is lost as `expired`",
            "exchange keys less often, or begin with a smaller `spi`",
        ),
    ],
)
def test_a_late_exchange_of_keys_has_a_remedy(planned, problems, sealed, note, remedy):
    spi = 32_000 if "spi" in sealed else 256
    planned(texts(f"{GCM}, {sealed}", f"{GCM}, overlap = 1 ms, spi = {spi}", measure="5 s"))
    (told,) = [problem for problem in problems.all if problem.code == "W0618"]
    assert (told.notes[1], told.help) == (note, remedy)


@pytest.mark.parametrize(
    ("sealed", "remedy"),
    [
        ("lifetime = 5_000_000_000 pkt", "write at most `4_294_967_295 pkt`"),
        (
            "rekey = 50 s, negotiation = 15 s, lifetime = 60 s",
            "rekey earlier, or give it a `lifetime` of at least 65 s",
        ),
    ],
)
def test_what_cannot_be_agreed_on_has_a_remedy(planned, problems, sealed, remedy):
    assert planned(texts(f"{GCM}, {sealed}", GCM)) == ()
    assert [(error.code, error.help) for error in problems.errors] == [("E0301", remedy)]


CELLS = """
device box {{
  port west, east: cell
  seal = cell_encrypt
  there, back = fifo {{ limit = 16 cell }}
  west.rx -> seal -> there -> east.tx
  east.rx -> back -> west.tx
}}
topology road {{
  a, b = host
  near = box
  link a -- near.west via media.stm1
  link near.east -- b via media.stm1
}}
test t on road {{
  flow f = cbr {{ pcr = 1_000 cell/s, cdvt = 1 us }} from a to b
  run {{ measure = 100 ms, payload = {payload} }}
  expect whole: f.lost == 0 cell
}}
"""


@pytest.mark.parametrize(("payload", "codes"), [("true", ["W0629"]), ("false", [])])
def test_cells_that_arrive_encrypted_are_errored(planned, problems, payload, codes):
    assert planned(CELLS.format(payload=payload))
    assert [problem.code for problem in problems.all] == codes

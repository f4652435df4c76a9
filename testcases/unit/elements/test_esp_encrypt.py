"""The sending end of a security association of ESP: sizes, numbers, and its lifetime."""

import pytest

from qospec.catalogue.form import Form
from qospec.catalogue.kinds import Lifetime
from qospec.elements.encapsulate import Encapsulate
from qospec.elements.esp_decrypt import EspDecrypt
from qospec.elements.esp_encrypt import EspEncrypt
from qospec.engine.security.seal import number_in, read_index
from qospec.secret import Secret

CBC = ("aes_128_cbc", "hmac_md5_96")
VOICE = Form("packet", ((70, 1), (160, 1), (200, 1), (280, 1)), 4)


@pytest.mark.parametrize(
    ("parameters", "sizes"),
    [
        (CBC, [136, 232, 264, 344]),  # 20 + 8 + 16 + padded + 12
        (("triple_des_cbc", "hmac_sha1_96"), [120, 216, 256, 336]),
        (("aes_256_cbc", "hmac_sha2_256_128"), [140, 236, 268, 348]),
        (("aes_128_gcm",), [124, 216, 256, 336]),
        ((*CBC, "tunnel", "ipv4", True), [144, 240, 272, 352]),
        ((*CBC, "tunnel", "ipv6"), [156, 252, 284, 364]),
        ((*CBC, "transport"), [120, 200, 248, 328]),
    ],
)
def test_sizes_of_esp_are_those_of_the_transforms(lab, parameters, sizes):
    batch = lab.cells([0, 7, 7, 9], size_bytes=[70, 160, 200, 280], marks=[0, 368, 8, 8])
    sender, receiver = EspEncrypt(*parameters), EspDecrypt(*parameters)
    (left,) = lab.carry(sender, lab.setting(), batch, cuts=[7]).departures
    assert left.size_bytes.tolist() == sizes
    assert [number_in(seal) for seal in left.read_column("seal").tolist()] == [1, 2, 3, 4]
    (again,) = lab.carry(receiver, lab.setting(), left, cuts=[7]).departures
    assert again.equals(batch)
    assert [size for size, _ in sender.predict_form(VOICE).sizes] == sizes
    assert receiver.predict_form(sender.predict_form(VOICE)) == VOICE


def test_esp_packets_of_an_expired_association_are_lost(lab):
    batch = lab.cells(range(5))
    outcome = lab.carry(
        EspEncrypt(*CBC, lifetime=Lifetime(3, "packet")), lab.setting(), batch, cuts=[2]
    )
    assert outcome.departures[0].at_ps.tolist() == [0, 1, 2]
    assert [(cause, item) for cause, *_, item in outcome.lost] == [("expired", 3), ("expired", 4)]


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        (("aes_128_gcm", "hmac_md5_96"), "aes_128_gcm authenticates by itself"),
        (("null",), "null needs an integrity"),
    ],
)
def test_esp_transforms_that_do_not_fit_each_other_are_refused(parameters, said):
    with pytest.raises(ValueError, match=f"^encryption: {said}") as raised:
        EspEncrypt(*parameters)
    fitting = "none" if len(parameters) > 1 else "hmac_sha2_256_128"
    assert raised.value.help == f"write `integrity = {fitting}`"


def test_a_key_of_another_length_is_refused_with_the_number_of_its_digits():
    with pytest.raises(ValueError, match=r"^key: aes_128_gcm takes 20.*has 5") as raised:
        EspEncrypt("aes_128_gcm", key=Secret(bytes(5)))
    assert raised.value.help == "write 40 hexadecimal digits; without `key` a key is drawn"


def test_esp_takes_no_form_that_it_cannot_have_made():
    sealed = EspEncrypt(*CBC).predict_form(VOICE)
    with pytest.raises(ValueError, match="encrypted already"):
        EspEncrypt(*CBC).predict_form(sealed)
    with pytest.raises(ValueError, match=r"by aes_128_cbc and hmac_md5_96 \(tunnel, ipv4\)"):
        EspDecrypt("aes_128_gcm").predict_form(sealed)
    with pytest.raises(ValueError, match="another size than they were encrypted to"):
        EspDecrypt(*CBC).predict_form(Encapsulate(24).predict_form(sealed))
    with pytest.raises(ValueError, match="65500 B encrypted exceed the 65535 B"):
        EspEncrypt(*CBC).predict_form(Form("packet", ((65_500, 1),)))


def sealed(lab, at_ps, **parameters):
    """Return when packets left, their indices less the first, and their numbers; and what is lost.

    The ciphertext of each has 64 bytes.
    """
    batch = lab.cells(at_ps)
    outcome = lab.carry(EspEncrypt(*CBC, **parameters), lab.setting(), batch, cuts=at_ps[1:])
    (left,) = outcome.departures
    seals = left.read_column("seal").tolist()
    assert {cause for cause, *_ in outcome.lost} <= {"expired"}
    numbered = [(read_index(seal) - 256, number_in(seal)) for seal in seals]
    return dict(zip(left.at_ps.tolist(), numbered, strict=True)), [
        item for *_, item in outcome.lost
    ]


@pytest.mark.parametrize(
    "after", [Lifetime(3, "packet"), Lifetime(192, "byte"), Lifetime(129, "byte")]
)
def test_esp_uses_the_successor_that_was_negotiated_meanwhile(lab, after):
    left, lost = sealed(lab, [0, 10, 20, 30, 44, 45, 50, 60], rekey=after, negotiation=25)
    assert left == {
        0: (0, 1),
        10: (0, 2),
        20: (0, 3),
        30: (0, 4),
        44: (0, 5),
        45: (1, 1),
        50: (1, 2),
        60: (1, 3),
    }
    assert not lost


def test_esp_is_rekeyed_after_a_time_with_or_without_packets(lab):
    rekey = Lifetime(100, "time")
    left, _ = sealed(lab, [0, 99, 119, 120, 239, 240, 599, 600], rekey=rekey, negotiation=20)
    assert list(left.values()) == [(0, 1), (0, 2), (0, 3), (1, 1), (1, 2), (2, 1), (4, 1), (5, 1)]


def test_esp_packets_between_the_lifetime_and_the_successor_are_lost(lab):
    agreed = {"rekey": Lifetime(2, "packet"), "lifetime": Lifetime(3, "packet"), "negotiation": 25}
    left, lost = sealed(lab, [0, 10, 20, 30, 34, 35, 40], **agreed)
    assert left == {0: (0, 1), 10: (0, 2), 20: (0, 3), 35: (1, 1), 40: (1, 2)}
    assert lost == [3, 4]


def test_an_esp_packet_that_finds_its_association_expired_begins_an_exchange_of_keys(lab):
    agreed = {"rekey": Lifetime(1_000, "packet"), "negotiation": 5}
    left, lost = sealed(lab, [0, 10, 14, 15], lifetime=Lifetime(100, "byte"), **agreed)
    assert (left, lost) == ({0: (0, 1), 15: (1, 1)}, [1, 2])
    left, lost = sealed(lab, [0, 10, 14, 15], lifetime=Lifetime(10, "time"), **agreed)
    assert (left, lost) == ({0: (0, 1), 15: (1, 1)}, [1, 2])


def test_esp_is_used_for_all_of_its_bytes(lab):
    """Two ciphertexts of 64 B are within 128 B, and beyond 127 B."""
    assert sealed(lab, [0, 1, 2], lifetime=Lifetime(128, "byte"))[1] == [2]
    assert sealed(lab, [0, 1, 2], lifetime=Lifetime(127, "byte"))[1] == [1, 2]


def test_esp_is_rekeyed_at_once_when_the_time_has_come(lab):
    left, _ = sealed(lab, [0, 99, 100, 199, 200], rekey=Lifetime(100, "time"), negotiation=0)
    assert list(left.values()) == [(0, 1), (0, 2), (1, 1), (1, 2), (2, 1)]


def test_the_time_of_each_esp_association_begins_when_it_is_ready(lab):
    """Each is used up after two packets, the exchange begins with the third, and takes 5 ps."""
    agreed = {"rekey": Lifetime(10, "time"), "lifetime": Lifetime(2, "packet"), "negotiation": 5}
    left, lost = sealed(lab, [0, 1, 2, 7, 8, 9, 14], **agreed)
    assert left == {0: (0, 1), 1: (0, 2), 7: (1, 1), 8: (1, 2), 14: (2, 1)}
    assert lost == [2, 5]


def test_an_expired_esp_association_takes_no_smaller_packet_either(lab):
    batch = lab.cells([0, 1, 2], size_bytes=[100, 100, 20])
    sender = EspEncrypt(*CBC, lifetime=Lifetime(200, "byte"))  # 112 B and 32 B would fit
    assert [item for *_, item in lab.carry(sender, lab.setting(), batch).lost] == [1, 2]


@pytest.mark.slow
def test_esp_has_no_index_left_for_another_successor(lab):
    left, lost = sealed(lab, range(4_098), rekey=Lifetime(1, "packet"))
    assert lost == [4_096, 4_097]
    assert list(left.values())[-1] == (4_095, 1)


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        (
            {"rekey": Lifetime(5 * 10**13, "time"), "lifetime": Lifetime(6 * 10**13, "time")},
            "begins after 50 s and takes 15 s cannot finish before .* expires after 60 s",
        ),
        (
            {"rekey": Lifetime(20, "packet"), "lifetime": Lifetime(19, "packet")},
            "begins after 20 pkt cannot finish before the association expires after 19 pkt",
        ),
        ({}, "nothing is negotiated without `rekey`"),
        ({"rekey": Lifetime(2**32, "packet")}, "rekey: 4_294_967_296 pkt is more than"),
    ],
)
def test_an_exchange_of_keys_that_cannot_finish_is_refused(parameters, said):
    with pytest.raises(ValueError, match=said):
        EspEncrypt(*CBC, **parameters, negotiation=15 * 10**12)


def test_a_time_that_just_suffices_for_an_exchange_of_keys_is_accepted(lab):
    agreed = {"rekey": Lifetime(20, "time"), "lifetime": Lifetime(25, "time"), "negotiation": 5}
    assert sealed(lab, [24, 25], **agreed) == ({24: (0, 1), 25: (1, 1)}, [])


def test_esp_that_is_rekeyed_needs_an_end_that_knows_of_it():
    rekeyed = EspEncrypt(*CBC, rekey=Lifetime(9, "packet")).predict_form(VOICE)
    assert EspDecrypt(*CBC, overlap=0).predict_form(rekeyed) == VOICE
    with pytest.raises(ValueError, match="no `overlap` says for how long"):
        EspDecrypt(*CBC).predict_form(rekeyed)

"""The sending end of a security association of ESP: sizes, numbers, and its lifetime."""

import pytest

from qospec.catalogue.form import Form
from qospec.elements.encapsulate import Encapsulate
from qospec.elements.esp_decrypt import EspDecrypt
from qospec.elements.esp_encrypt import EspEncrypt
from qospec.engine.security.seal import number_in

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
    assert [number_in(seal) for seal in left.seal.tolist()] == [1, 2, 3, 4]
    (again,) = lab.carry(receiver, lab.setting(), left, cuts=[7]).departures
    assert again.equals(batch)
    assert [size for size, _ in sender.form_after(VOICE).sizes] == sizes
    assert receiver.form_after(sender.form_after(VOICE)) == VOICE


def test_esp_packets_of_an_expired_association_are_lost(lab):
    batch = lab.cells(range(5))
    outcome = lab.carry(EspEncrypt(*CBC, lifetime_packets=3), lab.setting(), batch, cuts=[2])
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
    with pytest.raises(ValueError, match=said):
        EspEncrypt(*parameters)


def test_esp_takes_no_form_that_it_cannot_have_made():
    sealed = EspEncrypt(*CBC).form_after(VOICE)
    with pytest.raises(ValueError, match="encrypted already"):
        EspEncrypt(*CBC).form_after(sealed)
    with pytest.raises(ValueError, match=r"by aes_128_cbc and hmac_md5_96 \(tunnel, ipv4\)"):
        EspDecrypt("aes_128_gcm").form_after(sealed)
    with pytest.raises(ValueError, match="another size than they were encrypted to"):
        EspDecrypt(*CBC).form_after(Encapsulate(24).form_after(sealed))
    with pytest.raises(ValueError, match="65500 B encrypted exceed the 65535 B"):
        EspEncrypt(*CBC).form_after(Form("packet", ((65_500, 1),)))

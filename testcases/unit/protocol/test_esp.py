"""Sizes of ESP packets, against a table that was computed elsewhere and against published ones."""

import pytest

from qospec.protocol.esp import ENCRYPTIONS, INTEGRITIES, Esp

AES, TRIPLE_DES, GCM, NULL = (
    ENCRYPTIONS[name] for name in ("aes_128_cbc", "triple_des_cbc", "aes_256_gcm", "null")
)
MD5, SHA1, SHA256, SHA384, SHA512 = INTEGRITIES.values()
INNER = (40, 46, 60, 64, 70, 160, 200, 280, 576, 1280, 1400, 1418, 1438, 1500)
# In tunnel mode over IPv4. Source: shared facts, computed from RFC 4303 independently of this code.
MATRIX = {
    (AES, SHA1): (104, 104, 120, 136, 136, 232, 264, 344, 648, 1352, 1464, 1480, 1496, 1560),
    (AES, SHA256): (108, 108, 124, 140, 140, 236, 268, 348, 652, 1356, 1468, 1484, 1500, 1564),
    (AES, SHA384): (116, 116, 132, 148, 148, 244, 276, 356, 660, 1364, 1476, 1492, 1508, 1572),
    (AES, SHA512): (124, 124, 140, 156, 156, 252, 284, 364, 668, 1372, 1484, 1500, 1516, 1580),
    (TRIPLE_DES, MD5): (96, 96, 112, 120, 120, 216, 256, 336, 632, 1336, 1456, 1472, 1488, 1552),
    (GCM, None): (96, 100, 116, 120, 124, 216, 256, 336, 632, 1336, 1456, 1472, 1492, 1556),
    (NULL, MD5): (84, 88, 104, 108, 112, 204, 244, 324, 620, 1324, 1444, 1460, 1480, 1544),
}


@pytest.mark.parametrize(("transforms", "sizes"), MATRIX.items())
def test_sizes_are_those_of_the_table(transforms, sizes):
    assert tuple(map(Esp(*transforms).count_protected_bytes, INNER)) == sizes


@pytest.mark.parametrize(("voice", "printed"), [(70, 136), (160, 232), (280, 344), (200, 264)])
def test_sizes_are_those_of_the_paper_on_vpn_routers(voice, printed):
    assert Esp(AES, MD5).count_protected_bytes(voice) == printed
    assert Esp(TRIPLE_DES, MD5).count_protected_bytes(voice) != printed, (
        "the paper's router used AES"
    )


def test_udp_encapsulation_adds_8_bytes_and_ipv6_20():
    assert Esp(AES, SHA1, in_udp=True).count_protected_bytes(64) == 136 + 8
    assert Esp(AES, SHA1, family="ipv6").count_protected_bytes(64) == 136 + 20


def test_transport_mode_protects_what_is_behind_the_header():
    """20 B of header and 44 of payload, which become 48 with padding and trailer."""
    assert Esp(AES, SHA1, "transport").count_protected_bytes(64) == 20 + 8 + 16 + 48 + 12
    assert Esp(GCM, None, "transport").count_protected_bytes(64) == 20 + 8 + 8 + 48 + 16


def test_a_path_of_1500_bytes_takes_1410_bytes_of_udp_in_aes():
    """The paper's routers sent 1 364 bytes of UDP over VPN since 1 470 become 1 560."""
    esp = Esp(AES, MD5)
    assert esp.count_protected_bytes(1_410 + 28) <= 1_500 < esp.count_protected_bytes(1_411 + 28)
    assert (esp.count_protected_bytes(1_364 + 28), esp.count_protected_bytes(1_470 + 28)) == (
        1_464,
        1_560,
    )


@pytest.mark.parametrize(
    ("encryption", "integrity", "message"),
    [
        (GCM, SHA1, "aes_256_gcm authenticates by itself, without hmac_sha1_96"),
        (NULL, None, "null needs an integrity"),
        (ENCRYPTIONS["aes_128_ctr"], None, "aes_128_ctr needs an integrity"),
    ],
)
def test_transforms_that_do_not_belong_together_are_refused(encryption, integrity, message):
    with pytest.raises(ValueError, match=message):
        Esp(encryption, integrity)

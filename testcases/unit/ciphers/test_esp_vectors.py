"""Published examples of the transforms, byte by byte."""

import numpy as np
import pytest

from qospec.ciphers.encryption import make_row_cipher
from qospec.ciphers.esp import Association
from qospec.ciphers.integrity import RowHmac
from qospec.ciphers.key import Key
from qospec.ciphers.octets import read_rows
from qospec.protocol.esp import ENCRYPTIONS, INTEGRITIES, Esp


def row(text):
    return read_rows([bytes.fromhex(text)])


# Source: RFC 3602, 4, cases 5 to 8: key, SPI, number, next header, payload, packet of ESP.
ESP_IN_AES_CBC = [
    (
        "90d382b410eeba7ad938c46cec1a82bf",
        0x4321,
        1,
        1,
        (
            "08000ebda70a00008e9c083db95b070008090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20212223"
            "2425262728292a2b2c2d2e2f3031323334353637"
        ),
        (
            "0000432100000001e96e8c08ab465763fd098d45dd3ff893f663c25d325c18c6a9453e194e120849a4870b66"
            "cc6b9965330013b4898dc856a4699e523a55db080b59ec3a8e4b7e52775b07d1db34ed9c538ab50c551b874a"
            "a269add047ad2d5913ac19b7cfbad4a6"
        ),
    ),
    (
        "90d382b410eeba7ad938c46cec1a82bf",
        0x4321,
        8,
        1,
        "0800b5e8a80a0500a69c083d0b660e00777777777777777777777777",
        (
            "000043210000000869d08df7d203329db093fc4924e5bd80f51995881ec4e0c4488987ce742e8109689bb379"
            "d2d750c0d915dca346a89f75"
        ),
    ),
    (
        "0123456789abcdef0123456789abcdef",
        0x8765,
        2,
        4,
        (
            "45000054090400004001f988c0a87b03c0a87bc808009f76a90a0100b49c083d02a2040008090a0b0c0d0e0f"
            "101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f3031323334353637"
        ),
        (
            "0000876500000002f4e765244f6407adf13dc1380f673f37773b5241a4c449225e4f3ce5ed611b0c237ca96c"
            "f74a93013c1b0ea1a0cf70f8e4ecaec78ac53aad7a0f022b859243c647752e94a859352b8a4d4d2decd136e5"
            "c177f132ad3fbfb2201ac9904c74ee0a109e0ca1e4dfe9d5a100b842f1c22f0d"
        ),
    ),
    (
        "0123456789abcdef0123456789abcdef",
        0x8765,
        5,
        4,
        (
            "45000044090c00004001f990c0a87b03c0a87bc80800d63caa0a0200c69c083da3de0300ffffffffffffffff"
            "ffffffffffffffffffffffffffffffffffffffffffffffff"
        ),
        (
            "000087650000000585d47224b5f3dd5d2101d4ea8dffab2215b92683819596a8047232cc00f7048fe45318e1"
            "1f8a0f62ede3c3fc61203bb50f980a08c9843fd3a1b06d5c07ff9639b7eb7dfb3512e5de435e7207ed971ef3"
            "d2726d9b5ef6affc6d17a0decbb13892"
        ),
    ),
]


@pytest.mark.parametrize(
    ("key", "spi", "number", "next_header", "payload", "packet"), ESP_IN_AES_CBC
)
def test_esp_in_aes_cbc(key, spi, number, next_header, payload, packet):
    esp = Esp(ENCRYPTIONS["aes_128_cbc"])
    one_way = Association(esp, spi, Key(bytes.fromhex(key)), ends=bytes(8))
    vectors, numbers = row(packet)[:, 8:24], np.array([number])
    made = np.empty_like(row(packet))
    one_way.protect(row(payload), next_header, numbers, made, vectors)
    assert made.tobytes().hex() == packet


# Source: draft-mcgrew-gcm-test-01, 4: key with salt, vector of initialisation, SPI and number,
# payload with padding and trailer, ciphertext with the check value.
ESP_IN_AES_GCM = [
    (
        "4c80cdefbb5d10da906ac73c3613a6342e443b68",
        "4956ed7e3b244cfe",
        "000043218765432100000000",
        (
            "45000048699a000080114db7c0a80102c0a801010a9bf15638d301000001000000000000045f736970045f75"
            "6470037369700963796265726369747902646b000021000101020201"
        ),
        (
            "fecf537e729d5b07dc30df528dd22b768d1b98736696a6fd348509fa13ceac34cfa2436f14a3f3cf65925bf1"
            "f4a13c5d15b21e1884f5ff6247aeabb786b93bce61bc17d768fd9732459018148f6cbe722fd04796562dfdb4"
        ),
    ),
    (
        "feffe9928665731c6d6a8f9467308308cafebabe",
        "facedbaddecaf888",
        "0000a5f80000000a",
        (
            "4500003e698f000080114dccc0a80102c0a801010a980035002a2343b2d00100000100000000000003736970"
            "0963796265726369747902646b00000100010001"
        ),
        (
            "deb22cd9b07c72c16e3a65beeb8df304a5a5897d33ae530f1ba76d5d114d2a5c3de81827c10e9a4f51330d0e"
            "ec416642cfbb85a5b47e48a4ec3b9ba95d918bd183b70d3aa8bc6ee4c309e9d85a41ad4a"
        ),
    ),
    (
        "abbccddef00112233445566778899aababbccddef00112233445566778899aab11223344",
        "0102030405060708",
        "4a2cbfe300000002",
        (
            "4500003069a6400080062690c0a801029389155e0a9e008b2dc57ee0000000007002400020bf0000020405b4"
            "0101040201020201"
        ),
        (
            "ff425c9b724599df7a3bcd510194e00d6a78107f1b0b1cbf06efae9d65a5d763748a637985771d347f054565"
            "9f14e99def842d8eb335f4eecfdbf831824b4c4915956c96"
        ),
    ),
    (
        "feffe9928665731c6d6a8f9467308308feffe9928665731ccafebabe",
        "facedbaddecaf888",
        "0000a5f80000000a",
        "45000028a4ad4000400678800a01038f0a010612802306b8cb712602dd6bb03e501016d075680001",
        (
            "a5b1f8066029aea40e598b8122de02420938b3ab33f828e687b8858b5bfbdbd0315b27452144cc7795457b96"
            "52037f5318027b5b4cd7a636"
        ),
    ),
    (
        "7d773d00c144c525ac619d18c84a3f47d9664267",
        "43457e9182443bc6",
        "335467aeffffffff",
        "01020201",
        "437f866bcb3f699fe9b0822bac961c4504bef270",
    ),
    (
        "abbccddef00112233445566778899aabdecaf888",
        "cafedebaceface74",
        "000001000000000000000001",
        "746f016265016f72016e6f7401746f0162650001",
        "29c9fc69a197d038ccdd14e2ddfcaa0543332164412503524303ed3c6c5f283843af8c3e",
    ),
]


@pytest.mark.parametrize(("key", "vector", "known", "plain", "sealed"), ESP_IN_AES_GCM)
def test_esp_in_aes_gcm(key, vector, known, plain, sealed):
    """Some have extended sequence numbers, which only the cipher sees."""
    bits = (len(key) // 2 - 4) * 8
    cipher = make_row_cipher(ENCRYPTIONS[f"aes_{bits}_gcm"], Key(bytes.fromhex(key)))
    made = np.empty_like(row(sealed))
    cipher.encrypt([row(plain)], row(vector), row(known), made)
    assert made.tobytes().hex() == sealed


@pytest.mark.parametrize(
    ("key", "vector", "known", "plain", "sealed"),
    [vector for vector in ESP_IN_AES_GCM if len(vector[2]) == 2 * 8],
)
def test_esp_in_aes_gcm_from_its_header_on(key, vector, known, plain, sealed):
    """The payload is what precedes padding and trailer, which have to come out as printed."""
    known_bytes, plain_bytes = bytes.fromhex(known), bytes.fromhex(plain)
    bits = (len(key) // 2 - 4) * 8
    esp = Esp(ENCRYPTIONS[f"aes_{bits}_gcm"])
    spi, number = int.from_bytes(known_bytes[:4], "big"), int.from_bytes(known_bytes[4:], "big")
    one_way = Association(esp, spi, Key(bytes.fromhex(key)), ends=bytes(8))
    payload, numbers = read_rows([plain_bytes[: -2 - plain_bytes[-2]]]), np.array([number])
    expected = known_bytes[:4].hex() + known_bytes[-4:].hex() + vector + sealed
    made = np.empty_like(row(expected))
    one_way.protect(payload, plain_bytes[-1], numbers, made, row(vector))
    assert made.tobytes().hex() == expected


# Source: RFC 3686, 6, examples 1 to 3, 4 and 7: key with nonce, vector, plaintext, ciphertext.
AES_CTR = [
    (
        "ae6852f8121067cc4bf7a5765577f39e00000030",
        "0000000000000000",
        "53696e676c6520626c6f636b206d7367",
        "e4095d4fb7a7b3792d6175a3261311b8",
    ),
    (
        "7e24067817fae0d743d6ce1f32539163006cb6db",
        "c0543b59da48d90b",
        "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
        "5104a106168a72d9790d41ee8edad388eb2e1efc46da57c8fce630df9141be28",
    ),
    (
        "7691be035e5020a8ac6e618529f9a0dc00e0017b",
        "27777f3f4a1786f0",
        "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20212223",
        "c1cf48a89f2ffdd9cf4652e9efdb72d74540a42bde6d7836d59a5ceaaef3105325b2072f",
    ),
    (
        "16af5b145fc9f579c175f93e3bfb0eed863d06ccfdb7851500000048",
        "36733c147d6d93cb",
        "53696e676c6520626c6f636b206d7367",
        "4b55384fe259c9c84e7935a003cbe928",
    ),
    (
        "776beff2851db06f4c8a0542c8696f6c6a81af1eec96b4d37fc1d689e6c1c10400000060",
        "db5672c97aa8f0b2",
        "53696e676c6520626c6f636b206d7367",
        "145ad01dbf824ec7560863dc71e3e0c0",
    ),
]


@pytest.mark.parametrize(("key", "vector", "plain", "sealed"), AES_CTR)
def test_cipher_aes_in_counter_mode(key, vector, plain, sealed):
    bits = (len(key) // 2 - 4) * 8
    cipher = make_row_cipher(ENCRYPTIONS[f"aes_{bits}_ctr"], Key(bytes.fromhex(key)))
    made = np.empty_like(row(plain))
    cipher.encrypt([row(plain)], row(vector), made[:, :0], made)
    assert made.tobytes().hex() == sealed
    opened, _ = cipher.decrypt(made, row(vector), made[:, :0])
    assert opened.tobytes().hex() == plain


# Source: NIST SP 800-20, tables A.1 and A.2, first rows: key, plaintext, ciphertext.
TRIPLE_DES = [
    ("01" * 24, "8000000000000000", "95f8a5e5dd31d900"),
    ("8001010101010101" * 3, "0000000000000000", "95a8d72813daa94d"),
]


@pytest.mark.parametrize(("key", "plain", "sealed"), TRIPLE_DES)
def test_cipher_triple_des(key, plain, sealed):
    cipher = make_row_cipher(ENCRYPTIONS["triple_des_cbc"], Key(bytes.fromhex(key)))
    made, none = np.empty_like(row(plain)), row(plain)[:, :0]
    cipher.encrypt([row(plain)], row("00" * 8), none, made)
    assert made.tobytes().hex() == sealed
    assert cipher.decrypt(made, row("00" * 8), none)[0].tobytes().hex() == plain


# Source: RFC 2202, 2 and 3 (cases 1, 3 and 5), RFC 4868, 2.7.2 (AUTH256-1 and so on): transform,
# byte of which the key consists, data, check value.
HMACS = [
    ("hmac_md5_96", 0x0B, b"Hi There", "9294727a3638bb1c13f48ef8"),
    ("hmac_md5_96", 0xAA, b"\xdd" * 50, "56be34521d144c88dbb8c733"),
    ("hmac_md5_96", 0x0C, b"Test With Truncation", "56461ef2342edc00f9bab995"),
    ("hmac_sha1_96", 0x0B, b"Hi There", "b617318655057264e28bc0b6"),
    ("hmac_sha1_96", 0xAA, b"\xdd" * 50, "125d7342b9ac11cd91a39af4"),
    ("hmac_sha1_96", 0x0C, b"Test With Truncation", "4c1a03424b55e07fe7f27be1"),
    ("hmac_sha2_256_128", 0x0B, b"Hi There", "198a607eb44bfbc69903a0f1cf2bbdc5"),
    (
        "hmac_sha2_384_192",
        0x0B,
        b"Hi There",
        "b6a8d5636f5c6a7224f9977dcf7ee6c7fb6d0c48cbdee973",
    ),
    (
        "hmac_sha2_512_256",
        0x0B,
        b"Hi There",
        "637edc6e01dce7e6742a99451aae82df23da3e92439e590e43e761b33e910fb8",
    ),
]


@pytest.mark.parametrize(("name", "byte", "data", "value"), HMACS)
def test_cipher_check_values_of_esp(name, byte, data, value):
    integrity = INTEGRITIES[name]
    key = Key(bytes([byte]) * integrity.key_bytes)
    assert RowHmac(integrity, key).compute_values(read_rows([data])).tobytes().hex() == value

"""GCM over rows against one call of the library for each."""

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from hypothesis import given
from hypothesis import strategies as st

from qospec.ciphers import encryption
from qospec.ciphers.encryption import make_row_cipher
from qospec.ciphers.ghash import Ghash
from qospec.ciphers.key import Key
from qospec.ciphers.octets import read_rows
from qospec.protocol.esp import ENCRYPTIONS


# Source: D. McGrew, J. Viega, The Galois/Counter Mode of Operation, appendix B, test cases 2 and 4.
@pytest.mark.parametrize(
    ("subkey", "blocks", "value"),
    [
        (
            "66e94bd4ef8a2c3b884cfa59ca342b2e",
            "0388dace60b6a392f328c2b971b2fe7800000000000000000000000000000080",
            "f38cbb1ad69223dcc3457ae5b6b0f885",
        ),
        (
            "b83b533708bf535d0aa6e52980d53b78",
            (
                "feedfacedeadbeeffeedfacedeadbeefabaddad2000000000000000000000000"
                "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e"
                "21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e09100000000"
                "00000000000000a000000000000001e0"
            ),
            "698e57f70e6ecc7fd9463b7260a9ae5f",
        ),
    ],
)
def test_ghash_of_a_published_example(subkey, blocks, value):
    rows = read_rows([bytes.fromhex(blocks)])
    assert Ghash(bytes.fromhex(subkey)).hash_rows(rows).tobytes().hex() == value


@pytest.fixture
def small_batches(monkeypatch):
    monkeypatch.setattr(encryption, "AT_ONCE_BYTES", 64)


@given(
    key=st.sampled_from([16, 24, 32]).flatmap(lambda n: st.binary(min_size=n + 4, max_size=n + 4)),
    width=st.integers(0, 70),
    known_bytes=st.integers(0, 20),
    count=st.integers(1, 6),
    seed=st.integers(0, 2**32),
)
@pytest.mark.usefixtures("small_batches")
def test_gcm_is_that_of_the_library(key, width, known_bytes, count, seed):
    octets = np.random.default_rng(seed).integers
    plain = octets(0, 256, (count, width), np.uint8)
    known = octets(0, 256, (count, known_bytes), np.uint8)
    vectors = octets(0, 256, (count, 8), np.uint8)
    cipher = make_row_cipher(ENCRYPTIONS[f"aes_{8 * len(key) - 32}_gcm"], Key(key))
    sealed = np.empty((count, width + 16), np.uint8)
    cipher.encrypt([plain[:, : width // 2], plain[:, width // 2 :]], vectors, known, sealed)
    theirs = AESGCM(key[:-4])
    rows = zip(sealed, vectors, plain, known, strict=True)
    for made, vector, *texts in rows:
        nonce = key[-4:] + vector.tobytes()
        assert made.tobytes() == theirs.encrypt(nonce, *(text.tobytes() for text in texts))
    sealed[0, seed % (width + 16)] ^= 1
    opened, genuine = cipher.decrypt(sealed, vectors, known)
    assert genuine.tolist() == [False] + [True] * (count - 1)
    assert not opened[0].any()
    assert (opened[1:] == plain[1:]).all()

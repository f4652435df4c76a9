"""A key shows its length, and its secret only when asked for by name."""

import copy
import pickle

import pytest

from qospec.ciphers.key import Key, KeyLengthError

SECRET = bytes(range(0x41, 0x51))


@pytest.mark.parametrize("shown", [repr, str, "{}".format, lambda key: f"{[key]!r}", "%s".__mod__])
def test_a_cipher_s_key_is_shown_as_its_length(shown):
    text = shown(Key(SECRET))
    assert "Key of 16 bytes" in text
    assert "ABC" not in text
    assert SECRET.hex() not in text


def test_a_cipher_s_key_is_revealed_by_name():
    assert Key(SECRET).reveal() == SECRET
    assert not hasattr(Key(SECRET), "__dict__")


def test_a_cipher_s_key_reaches_a_worker_process():
    key = Key(SECRET)
    assert pickle.loads(pickle.dumps(key)) == key == copy.deepcopy(key)  # noqa: S301  its own
    assert hash(Key(SECRET)) == hash(key)
    assert key != Key(SECRET[:-1])
    assert key != SECRET


def test_a_drawn_cipher_key_follows_from_its_name():
    path = ("0", "suite.case", "west.seal", "encryption")
    key = Key.draw(16, path)
    assert key == Key.draw(16, path)
    assert key.reveal().hex() == "0fc946dd127093bbc4b5fb28ae3cb04f"
    others = [Key.draw(16, ("1", *path[1:])), Key.draw(16, path[:-1]), Key.draw(20, path)]
    assert len({key.reveal()[:16], *(other.reveal()[:16] for other in others)}) == 4
    assert Key.draw(0, path).length == 0


def test_a_key_of_a_wrong_length_names_all_that_the_cipher_takes():
    with pytest.raises(KeyLengthError) as raised:
        Key(SECRET).check("some_cipher", 24, 32)
    assert str(raised.value) == "some_cipher takes a key of 24 or 32 bytes, not of 16"
    assert SECRET not in pickle.dumps(raised.value)

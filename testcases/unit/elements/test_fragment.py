"""Fragmentation: what becomes of packets that are larger than the MTU."""

import pytest

from qospec.catalogue.form import Form
from qospec.elements.esp_decrypt import EspDecrypt
from qospec.elements.esp_encrypt import EspEncrypt
from qospec.elements.fragment import Fragment
from qospec.elements.reassemble import Reassemble
from qospec.engine.event.process import build_process
from qospec.engine.items.batch import FOREVER_PS
from qospec.engine.items.piece import MORE_FOLLOW, number_in, read_whole
from qospec.protocol.fragments import list_fragment_bytes

MIXED = Form("packet", ((100, 2), (1_400, 3), (3_000, 1)), 6)


@pytest.fixture
def setting(lab):
    return lab.setting(inserted=("fragments",))


def cut(setting, batch, **parameters):
    """Return what leaves, and what is lost."""
    step = build_process(Fragment(**parameters), setting)((batch,), FOREVER_PS)
    return step.departures[0], [(loss.cause, loss.batch.sent_ps.tolist()) for loss in step.losses]


def test_packets_above_the_mtu_are_cut_and_others_are_not(lab, setting):
    batch = lab.cells(
        [1_000, 2_000, 2_000], size_bytes=[1_400, 3_000, 576], sent_ps=[100, 200, 300], marks=8
    )
    left, lost = cut(setting, batch, mtu=1_400)
    assert not lost
    assert left.at_ps.tolist() == [1_000, *[2_000] * 4]
    assert left.size_bytes.tolist() == [1_400, *list_fragment_bytes(3_000, 1_400), 576]
    assert left.connection.tolist() == [0, 0, 1, 1, 0]
    assert left.sent_ps.tolist() == [100, 200, 201, 202, 300]
    assert left.marks.tolist() == [8] * 5
    notes = left.read_column("fragment").tolist()
    assert [note & MORE_FOLLOW for note in notes] == [0, 1, 1, 0, 0]
    assert [number_in(note) for note in notes] == [0, 0, 1, 2, 0]
    assert len({read_whole(note) for note in notes[1:4]}) == 1
    assert notes[0] == notes[4] == 0


def test_a_fragment_is_not_cut_again(lab, setting):
    left, _ = cut(setting, lab.cells([0], connection=1, size_bytes=1_500), mtu=1_400)
    assert left.size_bytes.tolist() == [1_500]


def test_packets_that_may_not_be_cut_are_lost(lab, setting):
    batch = lab.cells([0, 1, 2], size_bytes=[1_400, 1_401, 9_000])
    left, lost = cut(setting, batch, mtu=1_400, dont_fragment=True)
    assert left.sent_ps.tolist() == [0]
    assert lost == [("fragmentation_needed", [1, 2])]


def test_fragments_of_an_encrypted_packet_have_its_seal(lab, setting):
    sealed = lab.cells([0], size_bytes=2_000)
    left, _ = cut(setting, sealed.with_column("seal", sealed.at_ps + 77), mtu=1_000)
    assert left.read_column("seal").tolist() == [77] * 3


def test_forms_of_fragments():
    made = Fragment(1_400).predict_form(MIXED)
    assert made.sizes == ((100, 2), (248, 1), (1_396, 2), (1_400, 3))
    assert made.compute_mean(lambda size: size) * 6 == 200 + 3 * 1_400 + 3_000 + 2 * 20
    assert Reassemble().predict_form(made) == MIXED
    assert Fragment(3_000).predict_form(MIXED) is MIXED
    assert Fragment(1_000, dont_fragment=True).predict_form(MIXED).sizes == ((100, 2),)
    with pytest.raises(ValueError, match="fragments already"):
        Fragment(1_000).predict_form(made)
    longest = Fragment(68).predict_form(Form("packet", ((65_535, 1),)))
    assert longest.sizes == ((63, 1), (68, 1_364))  # 65,515 B, of which 48 in each but the last


def test_packets_that_forbid_it_are_refused():
    """RFC 791, 3.1: DF. In a tunnel the header around them allows it; transport mode has none."""
    form = MIXED._replace(dont_fragment=True)
    with pytest.raises(ValueError, match="forbids to cut them"):
        Fragment(1_400).predict_form(form)
    assert Fragment(3_000).predict_form(form) is form
    assert Fragment(1_400, dont_fragment=True).predict_form(form).largest_bytes == 1_400
    assert Fragment(1_400).predict_form(form.with_header(24)).fragmented
    assert Fragment(1_400).predict_form(EspEncrypt("aes_128_gcm").predict_form(form)).fragmented
    transport = EspEncrypt("aes_128_gcm", mode="transport").predict_form(form)
    with pytest.raises(ValueError, match="forbids to cut them"):
        Fragment(1_400).predict_form(transport)


def test_forms_of_fragments_before_and_after_encryption():
    seal, open_, cut_, join = (
        EspEncrypt("aes_128_gcm"),
        EspDecrypt("aes_128_gcm"),
        Fragment(1_000),
        Reassemble(),
    )
    form = MIXED
    for element in (cut_, seal, open_, join):
        form = element.predict_form(form)
    assert form == MIXED
    for element in (seal, cut_, join, open_):
        form = element.predict_form(form)
    assert form == MIXED
    sealed = seal.predict_form(cut_.predict_form(MIXED))
    with pytest.raises(ValueError, match="not as they were cut"):
        join.predict_form(sealed)
    with pytest.raises(ValueError, match="another size than they were encrypted to"):
        open_.predict_form(cut_.predict_form(seal.predict_form(MIXED)))

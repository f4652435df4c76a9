"""Large outcomes are packed, in place of the files of their cases: what they say stays the same."""

import gzip
import hashlib
import subprocess
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from seals import seal

from qospec.document import write_json
from qospec.record import packing, store
from qospec.record.outcome import complete_outcome

PACKED = "outcome.json.gz"


def write(folder: Path, recorded: Any, outcome: Any = None) -> store.Record:
    record = store.create(folder, "7")
    frame = dict(recorded.planned)
    record.begin(frame, frame.pop("planned"))
    for number, case in enumerate(recorded.outcome["cases"], 1):
        record.add(number, case)
    record.end(outcome or recorded.outcome, recorded.timing)
    return record


@pytest.fixture
def kept(tmp_path: Path, recorded: Any, monkeypatch: pytest.MonkeyPatch) -> store.Record:
    """Return a record whose outcome is packed, as one of 1 MB would be."""
    monkeypatch.setattr(packing, "LARGEST_PLAIN", 100)
    return write(tmp_path / "packed", recorded)


def test_a_large_outcome_is_packed_in_place_of_the_cases(kept: store.Record, recorded: Any) -> None:
    files = sorted(path.name for path in kept.folder.rglob("*") if path.is_file())
    assert files == ["SHA256SUMS", PACKED, "run.json", "timing.json"]
    assert gzip.decompress((kept.folder / PACKED).read_bytes()).decode() == write_json(
        recorded.outcome
    )
    assert kept.read_outcome() == kept.collect_outcome() == recorded.outcome
    kept.verify()
    command = ["sha256sum", "--check", "--strict", "SHA256SUMS"]
    subprocess.run(command, cwd=kept.folder, capture_output=True, check=True)


def test_its_fingerprint_is_that_of_the_text(
    kept: store.Record, recorded: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    plain = write(tmp_path / "plain", recorded)
    assert not (plain.folder / PACKED).exists()
    assert kept.find_fingerprint() == plain.find_fingerprint()
    assert (
        kept.find_fingerprint()
        == hashlib.sha256((plain.folder / "outcome.json").read_bytes()).hexdigest()
    )


def test_cases_that_may_be_run_again_are_kept(
    tmp_path: Path, recorded: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packing, "LARGEST_PLAIN", 100)
    frame, done = dict(recorded.planned), recorded.outcome["cases"]
    left = complete_outcome(frame, frame.pop("planned"), done[:-1])
    record = write(tmp_path, recorded, left)
    assert (record.folder / PACKED).exists()
    assert len(list((record.folder / "cases").iterdir())) == len(done)
    begun = record.read_begun()
    record.reopen(begun)
    assert not (record.folder / PACKED).exists()
    record.add(len(done), done[-1])
    record.end(recorded.outcome, recorded.timing)
    assert not list((record.folder / "cases").iterdir())
    assert record.read_outcome() == recorded.outcome


def test_a_run_that_is_killed_while_it_removes_cases_has_ended(
    kept: store.Record, recorded: Any
) -> None:
    """Its seal names them still, and some are there."""
    lines = (kept.folder / "SHA256SUMS").read_text()
    for name in ("cases/0001.json", "cases/0002.json"):
        text = write_json(recorded.outcome["cases"][int(name[-6]) - 1])
        lines += f"{hashlib.sha256(text.encode()).hexdigest()}  {name}\n"
        if "2" in name:
            (kept.folder / name).write_text(text, encoding="utf-8")
    (kept.folder / "SHA256SUMS").write_text(lines)
    kept.verify()
    assert kept.read_outcome() == recorded.outcome


def test_a_signature_is_of_the_packed_outcome(kept: store.Record) -> None:
    kept.sign(Ed25519PrivateKey.generate())
    assert len(kept.find_signer()) == 64
    with gzip.open(kept.folder / PACKED, "ab") as file:
        file.write(b" ")
    seal(kept.folder)
    with pytest.raises(store.RecordError, match="it is the signature of another record"):
        kept.find_signer()


@pytest.mark.parametrize(
    "data", [b"", b"{}", gzip.compress(b"{}", mtime=0)[:-4], b"\x1f\x8b\x08\x00" * 9]
)
def test_what_is_not_packed_is_refused(kept: store.Record, data: bytes) -> None:
    (kept.folder / PACKED).write_bytes(data)
    seal(kept.folder)
    with pytest.raises(store.RecordError, match=r"outcome\.json\.gz` is damaged"):
        kept.read_outcome()


def test_no_more_is_unpacked_than_a_record_may_have(
    kept: store.Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of 20 kB can hold 20 MB."""
    (kept.folder / PACKED).write_bytes(gzip.compress(b"[" * 20_000_000))
    seal(kept.folder)
    monkeypatch.setattr(store, "MAX_BYTES", 100_000)
    with pytest.raises(store.RecordError, match=r"outcome\.json\.gz` is too large: the files"):
        kept.read_outcome()

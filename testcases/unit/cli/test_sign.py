"""`qos sign`: whose record it is, and the messages where it is not."""

import json
import os
import re
import shutil
import stat
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from invoking import invoke
from narrow import NARROW
from seals import seal

SPECIFICATION = (
    NARROW
    + """test t on bench {
  flow ab = packets { rate = 100 pkt/s, size = 500 B @ip } from a to b
  run { measure = 100 ms }
  expect ab.received == 10 pkt
}
"""
)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a project with a record that passes; not to be changed."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "qos.toml").touch()
    (folder / "bench.qos").write_text(SPECIFICATION)
    assert invoke("run", folder / "bench.qos", "--no-progress").exit_code == 0
    return folder


@pytest.fixture
def record(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the record in a copy of the project."""
    shutil.copytree(project, tmp_path / "own")
    monkeypatch.chdir(tmp_path / "own")
    (found,) = Path("records").iterdir()
    return found


def sign(record: Path, *options: str) -> str:
    """Sign a record with the key `own.pem`, and return the public key that is printed."""
    done = invoke("sign", record, "--key", "own.pem", *options)
    assert done.exit_code == 0, done.output
    found = re.search("Ed25519 key ([0-9a-f]{64})", done.output)
    assert found is not None
    return found[1]


def test_a_signed_record_names_its_key_wherever_it_is_read(record: Path) -> None:
    assert "not signed" in invoke("verify", record).output
    signer = sign(record, "--new-key")
    assert stat.S_IMODE(Path("own.pem").stat().st_mode) == 0o600
    key = load_pem_private_key(Path("own.pem").read_bytes(), None)
    assert key.public_key().public_bytes_raw().hex() == signer
    assert f"signed with the Ed25519 key {signer}" in invoke("verify", record).output
    assert invoke("verify", record, "--signer", signer).exit_code == 0
    assert signer in (record / "report.html").read_text()
    assert signer in invoke("report", record).output
    assert sign(record) == signer


def test_another_program_can_verify_it(record: Path) -> None:
    """The signed bytes are what docs/record.md says: a line, and the seal without reports."""
    signer = sign(record, "--new-key")
    lines = sorted(
        (record / "SHA256SUMS").read_text().splitlines(keepends=True), key=lambda line: line[66:]
    )
    kept = [line for line in lines if not line[66:].startswith(("report.", "signature.json"))]
    signed = "a record of qospec, signature version 1\n" + "".join(kept)
    signature = bytes.fromhex(json.loads((record / "signature.json").read_text())["signature"])
    Ed25519PublicKey.from_public_bytes(bytes.fromhex(signer)).verify(signature, signed.encode())


def test_what_was_changed_and_sealed_again_is_not_what_was_signed(record: Path) -> None:
    signer = sign(record, "--new-key")
    other = "ab" * 32
    done = invoke("verify", record, "--signer", other)
    assert (done.exit_code, f"is signed with {signer}, and not with {other}" in done.output) == (
        4,
        True,
    )
    changed = Path("changed")
    shutil.copytree(record, changed)
    timing = json.loads((changed / "timing.json").read_text())
    (changed / "timing.json").write_text(json.dumps({**timing, "started": "2020-01-01T00:00:00Z"}))
    seal(changed)
    for command in ("verify", "report", "judge"):
        done = invoke(command, changed)
        assert done.exit_code == 4
        assert "did not sign what the files hold now" in done.output
    (changed / "signature.json").unlink()
    seal(changed)
    done = invoke("verify", changed, "--signer", signer)
    assert (done.exit_code, "is not signed" in done.output) == (4, True)


def test_a_signature_of_another_record_is_told(record: Path) -> None:
    sign(record, "--new-key")
    other = Path("other")
    shutil.copytree(record, other)
    outcome = json.loads((other / "outcome.json").read_text())
    (other / "outcome.json").write_text(json.dumps({**outcome, "seed": "7"}))
    seal(other)
    done = invoke("verify", other)
    assert (done.exit_code, "it is the signature of another record" in done.output) == (4, True)


@pytest.mark.parametrize(
    ("text", "mode", "said"),
    [
        (None, 0, "there is no key `own.pem`: `--new-key` makes one"),
        ("no key", 0o600, "`own.pem` holds no private key of Ed25519 in PEM"),
        ("no key", 0o644, "others can read the key `own.pem`: `chmod 600 own.pem`"),
    ],
)
def test_a_key_that_cannot_be_used_is_refused(
    record: Path, text: str | None, mode: int, said: str
) -> None:
    if text is not None:
        Path("own.pem").write_text(text)
        Path("own.pem").chmod(mode)
    done = invoke("sign", record, "--key", "own.pem")
    assert (done.exit_code, said in done.output) == (2, True), done.output
    assert not (record / "signature.json").exists()


def test_a_pipe_is_no_key(record: Path) -> None:
    os.mkfifo("own.pem", 0o600)
    writer = os.open("own.pem", os.O_RDWR)  # so that reading waits for it no longer than the test
    os.set_blocking(writer, False)
    os.write(writer, b"no key" * 1_000)
    done = invoke("sign", record, "--key", "own.pem")
    os.close(writer)
    assert (done.exit_code, "cannot read `own.pem`: it is not a file" in done.output) == (2, True)


def test_what_the_cases_do_not_come_to_is_not_signed(record: Path) -> None:
    outcome = json.loads((record / "outcome.json").read_text())
    (record / "outcome.json").write_text(json.dumps({**outcome, "seed": "7"}))
    seal(record)
    for command in (("verify", record), ("sign", record, "--key", "own.pem", "--new-key")):
        done = invoke(*command)
        assert (done.exit_code, "run.json and cases come to" in done.output) == (4, True)
    assert not Path("own.pem").exists()


def test_a_key_is_not_replaced_and_a_run_that_has_not_ended_not_signed(record: Path) -> None:
    Path("own.pem").write_text("mine")
    done = invoke("sign", record, "--key", "own.pem", "--new-key")
    assert (done.exit_code, "`own.pem` exists" in done.output) == (2, True)
    assert Path("own.pem").read_text() == "mine"
    (record / "outcome.json").unlink()
    done = invoke("sign", record, "--key", "new.pem", "--new-key")
    assert (done.exit_code, "has not ended: go on with it by `qos run --resume" in done.output) == (
        2,
        True,
    )
    assert not Path("new.pem").exists()

"""How soon the language server says what is wrong after a key, in a file of 1,000 lines: CPU time.

The declaration that was edited is checked first, then the whole file, which must find the same. The
peer is `tokenize` of Python, which reads about as many lines of this program: it is slow or fast
where a program in Python is.
"""

from __future__ import annotations

import io
import statistics
import sys
import tempfile
import time
import tokenize
from pathlib import Path

from figures import Figure, MismatchError
from language import LABORATORY, TEST, TOPOLOGY

from qospec.language_server.session import Session

LINES = 1_000
MOST_S = {"glance": 0.1}
"""Less is not noticed. The whole takes longer than one waits."""
REPEATS = 7
TINY = {"LINES": 60, "REPEATS": 2}


def write_file(folder: Path) -> tuple[Path, str]:
    """Return the path and the text of a suite of so many lines, with what it imports beside it."""
    laboratory = LABORATORY + TOPOLOGY.format(number=1, ports=3, encrypted=1, length=11)
    (folder / "laboratory_0.qos").write_text(laboratory, encoding="utf-8")
    text, number = "qos 1\nimport laboratory_0\n", 0
    while text.count("\n") < LINES:
        text += TEST.format(number=number, site=0, topology=1)
        number += 1
    return folder / "suite_0.qos", text


def measure() -> list[Figure]:
    """Return the CPU time of both after an edit of a test in the middle of the file."""
    taken: dict[str, list[float]] = {"glance": [], "whole": [], "peer": []}
    lines = Path(__file__).read_text(encoding="utf-8").splitlines(keepends=True)
    python = "".join(lines * max(1, LINES // len(lines)))
    with tempfile.TemporaryDirectory() as temporary:
        path, text = write_file(Path(temporary).resolve())
        session = Session()
        session.texts[path] = text
        session.diagnose(path, text)
        middle = text.index("== 3\n", len(text) // 2)
        for number in range(REPEATS):
            wrong = f"{text[:middle]}== {number} m{text[middle + 4 :]}"
            found = {}
            for name, act in (
                ("glance", session.diagnose_declaration),
                ("whole", session.diagnose),
            ):
                began = time.process_time()
                found[name] = {problem.span.place for problem in act(path, wrong) or ()}
                taken[name].append(time.process_time() - began)
            began = time.process_time()
            for _ in tokenize.generate_tokens(io.StringIO(python).readline):
                pass
            taken["peer"].append(time.process_time() - began)
            if found["glance"] != found["whole"] or len(found["whole"]) != 1:
                raise MismatchError(f"found {found}")
    print(f"{text.count(chr(10)):_} lines", file=sys.stderr)
    middles = {name: statistics.median(its) for name, its in taken.items()}
    peer = middles.pop("peer")
    return [
        Figure(
            f"language_server.{name}",
            value,
            "s CPU",
            peer,
            "tokenize",
            peer / value,
            f"<= {MOST_S[name]} s" if name in MOST_S else "",
        )
        for name, value in middles.items()
    ]

"""What an editor is told: meanings, declarations, uses, another name, what may stand at a place."""

from pathlib import Path

import pytest
from fuzz.damage import ODD

from qospec.diagnostics import Problems
from qospec.language_server.answers import Answers, RenameError
from qospec.language_server.completion import list_completions
from qospec.language_server.names import Place
from qospec.language_server.session import Session
from qospec.source import Source
from qospec.yaml_twin.writer import write_yaml

LIBRARY = """qos 1

let uplink = 10 Mbit/s @line

## A router for tests.
device router(depth: Int = 20) {
  port site, provider: packet
  queue = fifo { limit = depth * 1 pkt }
  out = line { rate = uplink, carries = packet }
  site.rx -> queue -> out -> provider.tx
  provider.rx -> site.tx
}

topology access {
  office, internet = host
  dut = router(depth = 5)
  link office -- dut.site via line { rate = uplink, carries = packet }
  link dut.provider -- internet via line { rate = uplink, carries = packet }
}
"""
SUITE = """qos 1
import lib

test light on lib.access {
  sweep share in [10%, 50%]
  flow call = packets { rate = share * lib.uplink, size = 200 B @ip } from office to internet
  run { measure = 100 ms }
  expect whole: call.lost == 0 pkt
  expect prompt: call.delay.max < 5 ms if share < 20% else call.delay.max < 9 ms
}
"""


@pytest.fixture
def project(tmp_path: Path) -> tuple[Answers, Path, Path]:
    """Return answers about a project of two files, one of which is open."""
    (tmp_path / "qos.toml").write_text("")
    library, suite = tmp_path / "lib.qos", tmp_path / "suite.qos"
    library.write_text(LIBRARY)
    suite.write_text(SUITE)
    session = Session()
    session.texts[suite] = SUITE
    return Answers(session), library, suite


def behind(text: str, words: str) -> int:
    """Return the offset behind some words, which stand once in a text."""
    assert text.count(words) == 1, words
    return text.index(words) + len(words)


def test_a_meaning_is_what_explain_says_of_it(project: tuple[Answers, Path, Path]) -> None:
    answers, _, suite = project
    assert "flow call = packets" in answers.explain(suite, behind(SUITE, "whole: cal"))
    assert "10 Mbit/s" in answers.explain(suite, behind(SUITE, "lib.upl"))
    assert "sweep" in answers.explain(suite, behind(SUITE, "  swee"))
    assert answers.explain(suite, behind(SUITE, "on lib.acc")).startswith("lib.access")
    assert "size" in answers.explain(suite, behind(SUITE, "siz"))
    assert "8 bit" in answers.explain(suite, behind(SUITE, "200 B"))


def test_a_comment_means_nothing(tmp_path: Path) -> None:
    path, session = tmp_path / "a.qos", Session()
    session.texts[path] = "qos 1\n# sweep here\n"
    assert Answers(session).explain(path, behind("qos 1\n# sweep here\n", "# swe")) == ""


@pytest.mark.parametrize(
    ("at", "file", "words"),
    [
        ("import li", "lib.qos", ""),
        ("whole: cal", "suite.qos", "flow "),
        ("lib.upl", "lib.qos", "let "),
        ("on lib.acc", "lib.qos", "topology "),
        ("from off", "lib.qos", "}\n\ntopology access {\n  "),
        ("rate = sha", "suite.qos", "sweep "),
    ],
)
def test_a_declaration_is_found_where_it_is(
    project: tuple[Answers, Path, Path], at: str, file: str, words: str
) -> None:
    answers, library, suite = project
    place = answers.find_definition(suite, behind(SUITE, at))
    assert place is not None
    assert place.path == library.with_name(file)
    text = {library: LIBRARY, suite: SUITE}[place.path]
    assert place.start == (behind(text, words) if words else 0)


@pytest.mark.slow
def test_a_declaration_of_the_library_is_found_and_not_renamed(tmp_path: Path) -> None:
    text = "qos 1\nimport std.media\nlet mine = media.stm1\n"
    path, session = tmp_path / "a.qos", Session()
    session.texts[path] = text
    place = Answers(session).find_definition(path, behind(text, "media.st"))
    assert place is not None
    assert place.path.name == "media.qos"
    with pytest.raises(RenameError, match="not yours"):
        Answers(session).rename(path, behind(text, "media.st"), "other")


def replace(places: list[Place], new: str) -> dict[Path, str]:
    """Return the texts of files with a name in these places."""
    texts = {place.path: place.source.text for place in places}
    for place in sorted(places, key=lambda place: place.start, reverse=True):
        text = texts[place.path]
        texts[place.path] = text[: place.start] + new + text[place.end :]
    return texts


def test_a_name_is_changed_in_all_files_and_in_the_branch_that_nothing_takes(
    project: tuple[Answers, Path, Path],
) -> None:
    answers, library, suite = project
    here = replace(answers.rename(suite, behind(SUITE, "flow cal"), "voice"), "voice")
    assert here == {suite: SUITE.replace("call", "voice")}
    both = replace(answers.rename(suite, behind(SUITE, "lib.upl"), "rate_out"), "rate_out")
    assert both == {
        library: LIBRARY.replace("uplink", "rate_out"),
        suite: SUITE.replace("uplink", "rate_out"),
    }
    answers.session.texts[library] = LIBRARY
    inner = replace(
        answers.rename(library, behind(LIBRARY, "device router(dep"), "size_of_it"), "deep"
    )
    assert inner == {library: LIBRARY.replace("depth", "deep")}


@pytest.mark.parametrize(
    ("at", "new", "why"),
    [
        ("flow cal", "share", "already declared"),
        ("flow cal", "flow", "cannot be a name"),
        ("flow cal", "a b", "cannot be a name"),
        ("call.los", "x", "no file"),
        ("measur", "x", "no file"),
    ],
)
def test_a_name_that_would_mean_something_else_is_refused(
    project: tuple[Answers, Path, Path], at: str, new: str, why: str
) -> None:
    answers, _, suite = project
    with pytest.raises(RenameError, match=why):
        answers.rename(suite, behind(SUITE, at), new)


@pytest.mark.parametrize(
    ("written", "has", "lacks"),
    [
        ("  expect call.|\n", {"lost", "delay", "jitter"}, {"expect", "office"}),
        ("  expect call.delay.|\n", {"max", "mean", "p99"}, {"lost"}),
        ("  expect |\n", {"call", "share"}, {"sweep"}),
        ("  |\n", {"flow", "expect", "require"}, {"topology"}),
        ("  flow more = pack|\n", {"packets", "calls"}, {"flow"}),
        (
            "  flow more = packets { | } from office to internet\n",
            {"rate", "size", "dscp"},
            {"lost"},
        ),
        ("  flow more = packets from off|\n", {"office", "internet"}, set()),
        ("  run { | }\n", {"measure", "warmup", "repeat"}, {"rate"}),
        ("  let limit = 10 |\n", {"Mbit/s", "ms", "cell"}, {"office"}),
        ("  let limit = 10 Mbit/s @|\n", {"ip", "line"}, {"call"}),
        ("  let limit = lib.|\n", {"uplink", "access"}, {"office"}),
        ("  # exp|\n", set(), {"expect"}),
    ],
)
def test_what_may_stand_at_a_place_is_offered(
    project: tuple[Answers, Path, Path], written: str, has: set[str], lacks: set[str]
) -> None:
    answers, _, suite = project
    head = SUITE.replace("import lib\n", "import lib, std.traffic.calls\n")
    head = head[: head.index("  expect whole")].replace("  run { measure = 100 ms }\n", "")
    text = head + written
    answers.session.texts[suite] = text.replace("|", "") + "}\n"
    found = answers.complete(suite, text.index("|"))
    assert has <= found.keys()
    assert not lacks & found.keys()


def test_what_may_stand_is_offered_where_no_brace_is_closed_yet(
    project: tuple[Answers, Path, Path],
) -> None:
    answers, _, suite = project
    text = SUITE[: SUITE.index("  expect whole")] + "  expect call."
    answers.session.texts[suite] = text
    assert {"lost", "delay"} <= answers.complete(suite, len(text)).keys()


def test_a_place_in_damaged_text_is_answered() -> None:
    """Texts are cut anywhere, have braces the wrong way, and end with what the language lacks."""
    texts = ["qos 1\ntopology {{{{ \0 x", "qos→"]
    for cut in range(0, len(SUITE), 8):
        odd = ODD[cut // 8 % len(ODD)]
        texts += [SUITE[:cut] + odd, f"{SUITE[:cut]}{{ {odd}".replace("}", "{")]
    found = [list_completions("a.qos", text, len(text), len) for text in texts]
    assert "topology" in found[0]


@pytest.mark.parametrize(
    "before", ["let a = 1 s\n", "topology t {\n  a = host\n}\n" * 9, "device d {\n  a ="]
)
@pytest.mark.parametrize("written", ["test x on t {\n  ", "test x ", "test x on t {\n  expect a "])
def test_declarations_before_the_one_that_is_written_do_not_change_its_keywords(
    before: str, written: str
) -> None:
    def offer(text: str) -> dict[str, str]:
        return list_completions("a.qos", text, len(text), len)

    alone = offer(f"qos 1\n{written}")
    assert alone
    assert offer(f"qos 1\n{before}\n{written}") == alone


def test_a_file_in_yaml_is_answered_alike(project: tuple[Answers, Path, Path]) -> None:
    answers, library, suite = project
    text = write_yaml(Source("suite.qos", SUITE), Problems())
    assert text is not None
    path = suite.with_suffix(".yaml")
    suite.unlink()
    answers.session.close(suite)
    answers.session.texts[path] = text
    assert not answers.session.diagnose(path, text)
    at = text.index("lib.uplink") + len("lib.up")
    place = answers.find_definition(path, at)
    assert place is not None
    assert (place.path, place.start) == (library, behind(LIBRARY, "let "))
    both = replace(answers.rename(path, at, "rate_out"), "rate_out")
    assert both[path] == text.replace("uplink", "rate_out")
    assert "lost" in answers.complete(path, text.index("call.lost") + len("call."))


def test_what_is_imported_is_read_again_when_it_has_changed(
    project: tuple[Answers, Path, Path],
) -> None:
    answers, library, suite = project
    session = answers.session
    assert not session.diagnose(suite, SUITE)
    session.texts[library] = LIBRARY.replace("uplink", "other")
    assert [problem.code for problem in session.diagnose(suite, SUITE)] == ["E0101"]
    session.close(library)
    assert not session.diagnose(suite, SUITE)
    library.unlink()
    assert [problem.code for problem in session.diagnose(suite, SUITE)] == ["E0106"]

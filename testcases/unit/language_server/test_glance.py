"""What is told of an edit before the whole file is checked: as much as the edited test shows."""

from pathlib import Path

import pytest

from qospec.language_server.glance import Change, find_change
from qospec.language_server.session import Session

FILE = """qos 1

topology net {
  a, b = host
  link a -- b via line { rate = 10 Mbit/s @line, carries = packet }
}

test first on net {
  flow call = packets { rate = 1 Mbit/s @ip, size = 200 B @ip } from a to b
  run { measure = 10 ms }
  expect call.lost == 0 pkt
}

test second on net {
  flow call = packets { rate = 1 Mbit/s @ip, size = 200 B @ip } from a to b
  run { measure = 10 ms }
  expect call.delay.max < 1 s
}
"""
WRONG_SECOND = FILE.replace("call.delay", "call.dely")
PATH = Path("a.qos").resolve()


@pytest.fixture
def session():
    made = Session()
    made.diagnose(PATH, FILE)
    return made


def told(found):
    return (
        None
        if found is None
        else [(problem.code, problem.span.place, problem.span.text) for problem in found]
    )


def test_a_mistake_in_the_edited_test_is_told_as_by_the_whole_check(session):
    seen = told(session.diagnose_declaration(PATH, WRONG_SECOND))
    assert seen == told(session.diagnose(PATH, WRONG_SECOND))
    assert [code for code, _, _ in seen] == ["E0501"]


def test_a_mistake_that_is_mended_is_told_no_more(session):
    session.diagnose(PATH, WRONG_SECOND)
    assert session.diagnose_declaration(PATH, FILE) == ()


def test_what_is_wrong_elsewhere_stays_at_its_new_place(session):
    session.diagnose(PATH, WRONG_SECOND)
    longer = WRONG_SECOND.replace(
        "call.lost == 0 pkt", "call.lost == 0 pkt\n  report call.recieved"
    )
    seen = told(session.diagnose_declaration(PATH, longer))
    assert sorted(seen) == sorted(told(session.diagnose(PATH, longer)))
    assert [text for _, _, text in sorted(seen)] == ["recieved", "dely"]


def test_a_name_that_only_other_tests_use_is_not_called_unused(session):
    text = FILE.replace("test first", "let length = 10 ms\n\ntest first")
    text = text.replace(
        "measure = 10 ms }\n  expect call.delay", "measure = length }\n  expect call.delay"
    )
    assert session.diagnose(PATH, text) == ()
    assert session.diagnose_declaration(PATH, text.replace("0 pkt", "1 pkt")) == ()


@pytest.mark.parametrize(
    "text",
    [
        FILE.replace("200 B", "300 B"),  # in both tests
        f"{FILE}\n",  # in none
    ],
    ids=["two declarations", "none"],
)
def test_what_one_declaration_does_not_tell_is_left_to_the_whole_check(session, text):
    assert session.diagnose_declaration(PATH, text) is None


@pytest.mark.parametrize("text", [FILE, WRONG_SECOND], ids=["as before", "otherwise"])
def test_text_that_can_be_read_again_is_told_of_at_once(session, text):
    broken = FILE.replace(
        "{ measure = 10 ms }\n  expect call.delay", "{ measure =\n  expect call.delay"
    )
    assert [problem.code[:3] for problem in session.diagnose(PATH, broken)] == ["E00"]
    assert told(session.diagnose_declaration(PATH, text)) == told(session.diagnose(PATH, text))


def test_text_that_could_never_be_read_is_left_to_the_whole_check():
    session = Session()
    session.diagnose(PATH, FILE.replace("host", "host {", 1))
    assert session.diagnose_declaration(PATH, FILE) is None


def test_nothing_is_told_of_a_file_that_was_never_checked():
    assert Session().diagnose_declaration(PATH, FILE) is None


@pytest.mark.parametrize(
    ("old", "new", "change"),
    [
        ("abc", "abXc", Change(2, 2, 3)),
        ("abc", "ac", Change(1, 2, 1)),
        ("aaa", "aa", Change(2, 3, 2)),
        ("", "x", Change(0, 0, 1)),
        ("same", "same", Change(4, 4, 4)),
    ],
)
def test_a_change_is_the_least_that_makes_one_text_of_the_other(old, new, change):
    assert find_change(old, new) == change
    assert new == old[: change.start] + new[change.start : change.new_end] + old[change.old_end :]

"""Criteria that were judged over all repeats together, in reports."""

from qospec.report.causes import count_with_confidence
from qospec.report.words import describe_measured

INTERVAL = {"lower": {"text": "960 us"}, "upper": {"text": "1.022 ms"}, "repeats": 10}


def statement(confidence="95 %", interval=INTERVAL):
    return {
        "kind": "expect",
        "verdict": "inconclusive",
        "comparison": "<",
        "measured": {"text": "991 us"},
        "confidence": confidence,
        "interval": interval,
    }


def test_what_was_measured_has_its_interval():
    assert describe_measured(statement()) == "991 us (960 us to 1.022 ms, 95 %)"


def test_a_record_of_before_has_none():
    assert describe_measured({"measured": {"text": "991 us"}}) == "991 us"


def test_criteria_with_confidence_are_counted():
    document = {"cases": [{"statements": [statement(), statement("99.5 %"), statement("", None)]}]}
    assert count_with_confidence(document) == {
        "count": 2,
        "sentence": "2 criteria were judged with confidence; on average at most 0.06 of them is"
        " decided wrongly by chance. To be 95 % sure of all at once, each would need 97.5 %.",
    }


def test_a_hundred_criteria_would_each_need_more():
    sentence = count_with_confidence({"cases": [{"statements": [statement()] * 100}]})["sentence"]
    assert "at most 5 of them are decided wrongly" in sentence
    assert sentence.endswith("sure of all at once, each would need 99.95 %.")
    sure = count_with_confidence({"cases": [{"statements": [statement("99.9 %")] * 10}]})[
        "sentence"
    ]
    assert sure.endswith("on average at most 0.01 of them is decided wrongly by chance.")


def test_what_is_only_reported_is_no_criterion():
    shown = {"cases": [{"statements": [{**statement(), "kind": "report"}]}]}
    assert count_with_confidence(shown)["count"] == 0


def test_without_any_there_is_nothing_to_say():
    assert count_with_confidence({"cases": [{"statements": [{"verdict": "pass"}]}]})["count"] == 0

"""Reasons: one sentence for each flow, place and cause, whatever the number of repeats."""

import pytest

from qospec.report.causes import list_discarded, list_reasons, list_unmet


def made(*losses, repeats=1, text="", flows=("files", "film"), also=()):
    """Return a case with these losses: (repeat, flow, element, cause, number)."""
    statements = [{"verdict": "fail", "text": text}, {"verdict": "pass", "text": "film.lost == 0"}]
    return {
        "repeats": [{}] * repeats,
        "metrics": {flow: {} for flow in flows},
        "statements": statements,
        "losses": [
            {
                "repeat": repeat,
                "flow": flow,
                "element": element,
                "cause": cause,
                "carries": "packet",
                "cells": cells,
            }
            for repeat, flow, element, cause, cells in losses
        ],
        "why": [
            *also,
            *(
                f"{cells:_} packet{'s' * (cells != 1)} of {flow}: {element} ({cause})"
                for _, flow, element, cause, cells in losses
            ),
        ],
    }


EARLY = ("files", "dut.bulk", "early")
FULL = ("files", "dut.bulk", "overflow")


def test_a_single_trial_keeps_its_recorded_sentences() -> None:
    case = made((1, *EARLY, 1_739), (1, *FULL, 1))
    assert list_reasons(case) == case["why"]


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ((739, 724, 1_751), "724 to 1_751 packets of files per repeat: dut.bulk (early)"),
        ((5, 5, 5), "5 packets of files per repeat: dut.bulk (early)"),
        ((1, 1, 1), "1 packet of files per repeat: dut.bulk (early)"),
        ((1, 3), "1 to 3 packets of files per repeat, in 2 of 3: dut.bulk (early)"),
        ((4,), "4 packets of files per repeat, in 1 of 3: dut.bulk (early)"),
    ],
)
def test_repeats_are_reported_together(counts, said) -> None:
    assert list_reasons(made(*((n, *EARLY, c) for n, c in enumerate(counts, 1)), repeats=3)) == [
        said
    ]


def test_each_cause_has_a_line_of_its_own() -> None:
    case = made((1, *EARLY, 7), (1, *FULL, 2), (2, *EARLY, 8), (2, *FULL, 2), repeats=2)
    assert list_reasons(case) == [
        "7 to 8 packets of files per repeat: dut.bulk (early)",
        "2 packets of files per repeat: dut.bulk (overflow)",
    ]
    assert [(entry["least"], entry["most"]) for entry in list_discarded(case)] == [(7, 8), (2, 2)]


FILM = ("film", "dut.priority", "overflow")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("film.loss < 1 %", ["film"]),
        ("film[2].loss < 1 %", ["film"]),
        ("film.oam.lost == 0", ["film"]),
        ("film.lost == files.lost", ["files", "film"]),
        ("dut.bulk.dropped == 0", ["files", "film"]),
        ("bare.film.lost == 0 and my_film > 2", ["files", "film"]),
    ],
)
def test_only_the_flows_that_a_criterion_names_are_reported(text, said) -> None:
    case = made((1, *EARLY, 9), (1, *FILM, 2), text=text)
    assert [word for word in ("files", "film") if f"of {word}:" in str(list_reasons(case))] == said


def test_members_and_oam_cells_are_of_their_flow() -> None:
    losses = [(1, f"bare.film{part}", "dut.q", "overflow", 2) for part in ("[1]", ".oam")]
    flows = ("files", "bare.film", "bare.film[1]")
    case = made((1, *EARLY, 9), *losses, text="bare.film[1].lost == 0", flows=flows)
    assert len(list_reasons(case)) == 2


def test_if_nothing_concerns_them_a_sentence_says_so_and_all_is_reported() -> None:
    assert list_reasons(made((1, *EARLY, 9), text="film.loss < 1 %")) == [
        "nothing of film was discarded",
        "9 packets of files: dut.bulk (early)",
    ]


@pytest.mark.parametrize(
    ("errored", "more"),
    [(None, ""), ("0", ""), ("40", ", but 40 pkt of film arrived encrypted or changed")],
)
def test_what_arrived_with_another_payload_is_not_passed_over(errored, more) -> None:
    case = made((1, *EARLY, 9), text="film.errored == 0")
    count = None if errored is None else {"value": errored, "unit": "pkt", "text": f"{errored} pkt"}
    case["metrics"]["film"]["errored"] = count
    assert list_reasons(case)[0] == f"nothing of film was discarded{more}"


def test_what_is_no_loss_is_always_reported() -> None:
    silent = "files sent no packet within the window"
    assert list_reasons(made((1, *FILM, 2), text="film.lost == 0", also=[silent]))[0] == silent
    none = "no packet was discarded: dut.bulk (0 overflow)"
    assert list_reasons(made(text="film.lost == 0", also=[none])) == [none]


def test_a_record_that_does_not_say_what_was_lost_keeps_its_sentences() -> None:
    case = made((1, *EARLY, 7), (2, *EARLY, 8), repeats=2)
    for loss in case["losses"]:
        del loss["carries"]
    assert list_reasons(case) == case["why"]


@pytest.mark.parametrize("known", [{"carries": "packet"}, {}])
def test_what_one_repeat_lost_is_not_among_what_all_of_them_did(known) -> None:
    case = made((1, *EARLY, 7), (2, *EARLY, 8), repeats=2)
    kept = [{n: v for n, v in loss.items() if n != "carries"} for loss in case["losses"]]
    (found,) = list_discarded({**case, "losses": [{**loss, **known} for loss in kept]})
    assert found == {
        "flow": "files",
        "element": "dut.bulk",
        "cause": "early",
        "words": "early",
        "carries": known.get("carries", ""),
        "least": 7,
        "most": 8,
        "when": "per repeat",
    }


def test_failures_precede_what_is_inconclusive_and_are_distinguished() -> None:
    verdicts = ("pass", "inconclusive", "fail", "not applicable", "", "inconclusive", "fail")
    its = [{"label": n, "verdict": verdict} for n, verdict in enumerate(verdicts)]
    found = list_unmet({"verdict": "fail", "statements": its})
    assert [entry["label"] for entry in found] == [2, 6, 1, 5]
    assert [entry["apart"] for entry in found] == ["", "", "inconclusive", "inconclusive"]


def test_what_kept_exchanges_from_their_end_is_a_reason_too() -> None:
    losses = [
        (1, "ask.exchanges", "a.ask", "timed_out", 2),
        (1, "ask[1].answers", "far.meter", "policed", 1),
        (1, "tell", "far.meter", "policed", 9),
    ]
    case = made(*losses, text="ask.exchanges.lost == 0 pkt", flows=("ask", "ask.exchanges", "tell"))
    case["why"] = []
    assert list_reasons(case) == [
        "2 exchanges of ask: a.ask (timed_out)",
        "1 answer of ask[1]: far.meter (policed)",
    ]


def rated(late: tuple[int, ...], *losses: tuple[int, int], metric: str = "mean_opinion_score"):
    """Return a case of calls, by repeat so many too late, and what was lost: (repeat, number)."""
    case = made(
        *((repeat, "talk", "r.queue", "overflow", count) for repeat, count in losses),
        repeats=len(late),
        text="talk.mos.min >= 3.6",
        flows=("talk",),
    )
    case["why"] = [] if losses else ["no packet was discarded: r.queue (0 overflow)"]
    case["statements"][0]["measures"] = {"flow": "talk", "metric": metric, "statistic": "min"}
    took = {"min": "278 us", "mean": "24.94 ms", "max": "99.09 ms"}
    case["metrics"] = {
        "talk": {
            "sent": {"value": "18000", "unit": "pkt", "text": "18_000 pkt"},
            **{f"transfer_delay.{name}": {"text": text} for name, text in took.items()},
        }
    }
    case["repeats"] = [{"talk": {"late": {"value": str(count)}}} for count in late]
    place = {"element": "r.queue", "mean": {"text": "46.4 pkt"}, "most": {"text": "182 pkt"}}
    case["waits"] = [{"flow": "talk", "places": [place]}]
    return case


def test_of_several_places_each_has_its_share_of_the_waiting() -> None:
    case = rated((0, 12))
    texts = {"mean": "9 pkt", "most": "64 pkt", "mean_wait": "9.2 ms", "longest_wait": "21 ms"}
    shares = {"near.cpu": ("49/50", "98 %"), "far.cpu": ("1/50", "2 %")}
    case["waits"][0]["places"] = [
        {"element": name, "share": {"value": value, "text": text}}
        | {key: {"text": text} for key, text in texts.items()}
        for name, (value, text) in shares.items()
    ]
    (took,) = [line for line in list_reasons(case) if "waiting at" in line]
    assert took.endswith(
        "waiting at near.cpu (9.2 ms on average, 21 ms at most; 98 % of all waiting),"
        " far.cpu (9.2 ms on average, 21 ms at most; 2 % of all waiting)"
    )


LATE = "1_370 to 4_488 of 18_000 packets of talk per repeat: too late to be played"
TOOK = (
    "talk took 278 us to 99.09 ms, on average 24.94 ms:"
    " waiting at r.queue (46.4 pkt on average, 182 pkt at most)"
)


def test_what_came_too_late_precedes_fewer_losses() -> None:
    assert list_reasons(rated((1_370, 4_488), (1, 5), (2, 10))) == [
        LATE,
        TOOK,
        "5 to 10 packets of talk per repeat: r.queue (overflow)",
    ]


def test_what_came_too_late_follows_more_losses() -> None:
    assert list_reasons(rated((1_370, 4_488), (2, 5_000))) == [
        "5_000 packets of talk per repeat, in 1 of 2: r.queue (overflow)",
        LATE,
        TOOK,
    ]


def test_that_nothing_was_lost_follows_what_was_late() -> None:
    none = "no packet was discarded: r.queue (0 overflow)"
    assert list_reasons(rated((0, 12))) == [
        "12 of 18_000 packets of talk per repeat, in 1 of 2: too late to be played", TOOK, none,
    ]  # fmt: skip


def test_of_a_delay_where_the_time_went_comes_first_and_nothing_is_too_late() -> None:
    case = rated((1_370, 4_488), (1, 5_000), metric="transfer_delay")
    assert list_reasons(case) == [
        TOOK,
        "5_000 packets of talk per repeat, in 1 of 2: r.queue (overflow)",
    ]


def test_the_test_of_a_policer_that_discarded_is_named() -> None:
    case = made((1, "film", "sw.upc", "policed_scr", 4), (1, "film", "sw.upc", "policed_pcr", 2))
    case["why"] = []
    assert list_reasons(case) == [
        "4 packets of film: sw.upc (policed: above SCR with MBS)",
        "2 packets of film: sw.upc (policed: above PCR with CDVT)",
    ]

"""What each pass proposes, as text: nothing is run."""

import pytest
from shrinking import VALUES, draft_of, proposed

from qospec.shrink import passes
from qospec.shrink.layout import lay_out
from qospec.shrink.prune import prune
from qospec.shrink.start import without_loops


def test_a_flow_goes_with_what_is_required_of_it() -> None:
    text = "test t { flow f = ubr from a to b, require f.sent > 0 cell, expect g.lost == 0 cell }"
    assert ["test t { expect g.lost == 0 cell }"] in proposed(passes.remove_nodes, text)


def test_what_is_expected_stays_as_it_is() -> None:
    text = "test t { expect f.lost == 1 + 0 cell as shape }"
    for made in (
        passes.remove_nodes,
        passes.reduce_to_parts,
        passes.shorten_lengths,
        passes.round_numbers,
    ):
        assert proposed(made, text) == []


@pytest.mark.parametrize(
    ("text", "shorter"),
    [
        (
            "test t { run { warmup = 1 s, measure = 1 s } }",
            "test t { run { measure = 1 s } }",
        ),
        ("topology t { x = box(fast = true) }", "topology t { x = box() }"),
        ("let bound = min(1, 2)", "let bound = min(1)"),
        ("traffic voice = packets { dscp = 46 }", "traffic voice = packets { }"),
        ("test t on bed(fast = true) { run { } }", "test t on bed() { run { } }"),
    ],
)
def test_with_care_runs_values_and_what_devices_are_made_with_stay(text: str, shorter: str) -> None:
    assert [shorter] in proposed(passes.remove_nodes, text)
    assert [shorter] not in proposed(passes.remove_nodes, text, careful=True)


IN_A_DEVICE = (
    "device box { port p: packet, q = processor { per_packet = max(2, 3) * 25 us, limit = 64 pkt },"
    " s = wrr { order = [a, b], weights = [15, 25] } }"
)


@pytest.mark.parametrize(
    "text",
    [
        IN_A_DEVICE,
        "let each = 25 us\ndevice box { q = processor { per_packet = each } }",
        "let each = 25 us\nlet two = 2 * each\ntopology t { x = box(per_packet = two) }",
        "topology t { x = box(per_packet = 25 us) }",
        "topology t { for i in 0 .. 1 { x = box(per_packet = 25 us) } }",
        "topology bed(e: Time = 25 us) { x = box(e) }\ntest t on bed { expect 1 == 1 }",
        "topology bed(e: Time) { x = box(e) }\ntest t on bed(e = 25 us) { expect 1 == 1 }",
        "topology bed(e: Time) { x = box(e) }\ntest t on bed(25 us) { expect 1 == 1 }",
        "topology bed(e: Time) { x = box(e) }\ntest t on bed(e = 2 * e) { let e = 25 us }",
        "topology bed(e: Time) { x = box(e) }\ntest t on bed(e = e) { sweep e in [25 us] }",
        "topology bed(k: Device) { x = k }\ntest t on bed(k = box(e = 25 us)) { expect 1 == 1 }",
    ],
)
def test_numbers_that_devices_are_made_of_stay_as_they_are(text: str) -> None:
    for made in (passes.reduce_to_parts, passes.shorten_lengths, passes.round_numbers):
        assert proposed(made, text) == []


def test_what_a_device_does_not_need_goes_but_nothing_that_gives_it_another_number() -> None:
    changed = [text for (text,) in proposed(passes.remove_nodes, IN_A_DEVICE)]
    for gone in (" limit = 64 pkt", "[a]", "q = processor"):
        assert any((gone in IN_A_DEVICE) != (gone in text) for text in changed), gone
    assert all("max(2, 3)" in text or "per_packet" not in text for text in changed)
    assert all("[15, 25]" in text or "weights" not in text for text in changed)


@pytest.mark.parametrize(
    "text",
    [
        "let each = 25 us\ntest t { run { measure = each } }",
        "topology t { x = box(count = 25) }",
        "topology t { x = host(delay = 25 us) }",
        "topology t(e: Int) { x = box(count = e) }\ntest t on t(e = 25) { expect 1 == 1 }",
        "device box { q = processor { per_packet = each } }\ntest t { let each = 25 us }",
    ],
)
def test_numbers_of_the_test_get_rounder_beside_devices(text: str) -> None:
    assert len(proposed(passes.round_numbers, text)) == 1


def test_what_a_test_is_on_may_use_its_values() -> None:
    text = "test t on bed(fast = yes) { let yes = true, run { measure = 1 s } }"
    assert ["test t on bed(fast = true) { run { measure = 1 s } }"] in proposed(
        passes.inline_names, text
    )


def test_a_call_without_arguments_needs_no_parentheses() -> None:
    text = "test t { flow f = some() from a to b }"
    assert ["test t { flow f = some from a to b }"] in proposed(passes.remove_parentheses, text)


def test_one_of_several_nodes_goes_with_its_links() -> None:
    text = "topology t { a, b, c = host, link a -- b via m, link b -- c via m }"
    assert ["topology t { a, b = host, link a -- b via m }"] in proposed(passes.remove_nodes, text)


def test_a_node_between_two_links_is_bypassed() -> None:
    text = "topology t { a, b = host, x = box, link a -- x.p via m, link x.q -- b via m }"
    assert proposed(passes.bypass_nodes, text) == [
        ["topology t { a, b = host, link a -- b via m }"]
    ]


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("let x = 2 us\nlet y = 3 * x", "let y = 3 * 2 us"),
        ("let x = 1 + 1\nlet y = 3 * x", "let y = 3 * (1 + 1)"),
        ("let x = { 1: 2 us }\nlet y = x[1]", "let y = 2 us"),
        ("let x = { 1: 2 us }\nlet y = x[2]", None),
        ("let x = a.b\nlet y = x.c", "let y = a.b.c"),
        ('reference r "R" { x = { 2: 5 us } }\nlet y = r.x[2]', "let y = 5 us"),
        ("traffic t = ubr { pcr = 1 cell/s, cdvt = 1 us }\nlet y = t { cdvt = 2 us }",
         "let y = ubr { pcr = 1 cell/s, cdvt = 2 us }"),
        ("topology t(n: Int = 2) { a = host(count = n) }\ntest u on t(n = 3)",
         "topology t() { a = host(count = 3) } test u on t()"),
        ("topology t(n: Int = 2) { a = host(count = n) }\ntest u on t(n = 3)\ntest v on t", None),
    ],
)  # fmt: skip
def test_a_name_gives_way_to_its_value_if_that_is_known(text: str, after: str | None) -> None:
    found = [place for (place,) in proposed(passes.inline_names, text)]
    first = " ".join(text.splitlines()[0].split())
    assert (after in found) if after is not None else all(first in text for text in found)


def test_what_depends_on_nothing_is_worked_out_if_it_has_an_end() -> None:
    assert proposed(passes.fold_numbers, "let x = 65% of 100 Mbit/s") == [["let x = 65 Mbit/s"]]
    assert proposed(passes.fold_numbers, "let x = 1 us / 3") == []
    assert proposed(passes.fold_numbers, "let x = 1 us if 2 > 1 else 3 us") == [["let x = 1 us"]]


def test_a_condition_that_holds_goes() -> None:
    text = "test t { expect f.lost == 0 cell when 90% >= 80% }"
    assert ["test t { expect f.lost == 0 cell }"] in proposed(passes.fold_numbers, text)


def test_lengths_get_shorter_in_units_that_fit() -> None:
    (place,) = proposed(passes.shorten_lengths, "test t { run { measure = 2 s } }")
    assert place[0] == "test t { run { measure = 200 us } }"
    assert place[-1] == "test t { run { measure = 1 s } }"


def test_subscripts_get_lower_together() -> None:
    (place,) = proposed(passes.lower_subscripts, "test t { flow f = ubr from a[2] to b[2] }")
    assert place[0] == "test t { flow f = ubr from a[0] to b[0] }"


def test_an_array_of_one_has_no_subscripts() -> None:
    text = "topology t { a = host(count = 1), link a[0] -- b via m }"
    assert proposed(passes.remove_subscripts, text) == [
        ["topology t { a = host(), link a -- b via m }"]
    ]


def test_loops_are_written_out_with_names_of_their_own() -> None:
    draft = draft_of(
        "test t { for i in 0 .. 1 { flow f = ubr from a[i] to b, require f.sent > 0 cell },"
        " for i in 0 .. 0 { expect later: f[i + 1].lost > f[i].lost } }"
    )
    statements = without_loops(draft, VALUES, "t").tree.declarations[0].statements
    assert [" ".join(statement.span.text.split()) for statement in statements] == [
        "flow f0 = ubr from a[0] to b",
        "require f0.sent > 0 cell",
        "flow f1 = ubr from a[1] to b",
        "require f1.sent > 0 cell",
        "expect later: f1.lost > f0.lost",
    ]


def test_what_nothing_needs_goes_with_its_imports() -> None:
    draft = draft_of("import std.media, std.devices.sitline as s\nlet x = media.stm1\nlet y = 1")
    assert prune(draft, "y").text.split() == ["qos", "1", "let", "y", "=", "1"]


def test_a_file_has_no_parentheses_that_mean_nothing_and_its_test_last() -> None:
    draft = draft_of(
        "test t on u() { expect f.lost / (1 cell) < (2) * (1 + 1) }\ntopology u() { a = host() }"
    )
    assert lay_out(draft, "why") == (
        "qos 1\n\n# why\n\ntopology u {\n  a = host\n}\n\n"
        "test t on u {\n  expect f.lost / 1 cell < 2 * (1 + 1)\n}\n"
    )


def test_changes_within_a_larger_one_are_lost_with_it() -> None:
    draft = draft_of("let x = 1 + 2\nlet y = 3")
    first, second = draft.tree.declarations
    edits = [draft.replace(first.value, "4"), draft.remove(first), draft.replace(second, "z")]
    assert draft.apply(edits).split() == ["qos", "1", "z"]

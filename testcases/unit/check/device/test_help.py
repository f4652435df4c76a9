"""What beginners write, and the help that they get."""

import pytest

from qospec.catalogue.kinds import RECORDS
from qospec.check.device import item_kinds
from qospec.check.modules import imports
from qospec.check.records.kinds import RESERVED
from qospec.reference.library import load_library

_NUMBERED = "number the hosts, as in `h = host(count = 4)`, and write `h[i]`"
_STATISTIC = "a statistic follows what is measured, as in `flow.delay.{}`"


@pytest.mark.parametrize(
    ("text", "help_"),
    [
        ("let fast = media.stm1", "write `import std.media` below the first line"),
        # not `dctcp`, which is a kind that is built in and has no fields
        ("let mark = dscp.ef", "write `import std.dscp` below the first line"),
        (
            "let few = [1, 2]\nlet asked = few.size",
            "choose an item, as in `[0].size`, or loop: `for one in … { … }`",
        ),
        # a kind that is built in has that name too
        ("let call = calls.g711", "write `import std.traffic.calls` below the first line"),
        ("let sizes = imix.simple", "write `import std.traffic.imix` below the first line"),
        ("let mark = EF", "write `dscp.ef`, with `import std.dscp` below the first line"),
        ("import std.dscp\nlet mark = AF11", "write `dscp.af11`"),
        (
            "let box = switch",
            (
                "write `generic.ethernet_switch(ports = 2)`, "
                "with `import std.devices.generic` below the first line"
            ),
        ),
        (
            "topology t {\n  r = router { ports = 2 }\n}",
            "an element belongs in a `device`; `import std.devices.generic` has simple ones",
        ),
        ("import imix", "write `import std.traffic.imix`"),
        ("topology t {\n  a[3] = host\n}", "write `a = host(count = 3)` for an array"),
        ("topology t {\n  a = host[3]\n}", "write `host(count = 3)` for an array"),
        ("let loads = 9 .. 1", "write `1 .. 9`"),
        ("let loads = 20 .. 80%", "write `20% .. 80% step …`"),
        ("let loads = 80% .. 20% step 10%", "write `20% .. 80% step 10%`"),
        ("let loads = 90% .. 20% step 20%", "write `20% .. 80% step 20%`"),
        ("let loads = 80 .. 50% step 10%", "write `50% .. 80% step 10%`"),
        ("device d(room: Packets = 64) {\n}", "write `64 pkt`"),
        ("device d(room: Count = 2 + 6) {\n}", "write `8 cell`"),
        (
            "let sizes = exponential(500 B)",
            "write `exponential(500 B, min = 40 B, max = 1_500 B) @ip`",
        ),
        (
            "let sizes = exponential(500 B, max = 1_200 B) @ip",
            "write `exponential(500 B, min = 40 B, max = 1_200 B) @ip`",
        ),
        (
            "let sizes = exponential(500 B, min = 64 B) @frame",
            "write `exponential(500 B, min = 64 B, max = 1_500 B) @frame`",
        ),
        (
            "let sizes = exponential(500 B @ip)",
            "write `exponential(500 B @ip, min = 40 B @ip, max = 1_500 B @ip)`",
        ),
        (
            "let sizes = exponential(500)",
            "write `exponential(16 ms)`, or `exponential(500 B, min = 40 B, max = 1_500 B) @ip`",
        ),
        (
            "let waits = exponential(500 us, min = 40 B, max = 1_500 B)",
            "leave `min` and `max` out, or give a size as the mean",
        ),
        (
            "let waits = exponential(500 us, max = 9 ms)",
            "leave `max` out, or give a size as the mean",
        ),
        (
            "let mark = std.dscp.ef",
            "write `import std.dscp` below the first line, and `dscp.ef` here",
        ),
        (
            "traffic t = packets { rate = 1 pkt/s, size = 64 B @ip, dscp = std.dscp.ef }",
            "write `import std.dscp` below the first line, and `dscp.ef` here",
        ),
        (
            "let sizes = std.traffic.imix.simple",
            "write `import std.traffic.imix` below the first line, and `imix.simple` here",
        ),
        ("import std.dscp\nlet mark = std.dscp.ef", "write `dscp.ef`"),
        (
            "let box = std.nowhere.box",
            "write `import std.NAME` below the first line, and `NAME.…` here",
        ),
        ("let late = percentile(3, 99)", _STATISTIC.format("p99")),
        ("let late = avg(3)", _STATISTIC.format("mean")),
        (
            "let kept = 0 * m",
            "declare it; the unit `m` directly follows a number, as in `1 m`",
        ),
        ("let load = 1 Mbit / s", "write `1 Mbit/s`"),
        ("let waits = 9 ms .. 1 ms step 3 ms", "write `1 ms .. 7 ms step 3 ms`"),
        ("property p {\n  forall n in 20 .. 5\n  expect n > 0\n}", "write `5 .. 20`"),
    ],
)
def test_the_way_out_is_what_was_meant(checked, text, help_):
    [problem] = checked(text)[1]
    assert problem.help == help_


def test_every_code_point_of_the_library_is_pointed_to(catalogue):
    names = [
        declaration.name
        for declaration in load_library(catalogue).list_named()
        if declaration.unit.path.stem == "dscp"
    ]
    assert len(names) == 24
    said = [imports.suggest_import(name.upper(), {"dscp"}) for name in names]
    assert said == [f"write `dscp.{name}`" for name in names]


def test_code_points_are_those_of_the_rfcs(checked):
    classes = [f"dscp.af{c}{d} == {8 * c + 2 * d}" for c in (1, 2, 3, 4) for d in (1, 2, 3)]
    selectors = [f"dscp.cs{n} == {8 * n}" for n in range(8)]
    others = ["dscp.ef == 46", "dscp.voice_admit == 44", "dscp.le == 1", "dscp.df == 0"]
    lets = [
        f"let l{n} = 1 if {condition} else unknown"
        for n, condition in enumerate([*classes, *selectors, *others])
    ]
    assert checked("import std.dscp\n" + "\n".join(lets))[1] == ()


def test_a_field_with_a_dash_may_be_called_so_without_it(checked):
    [problem] = checked("let x = fifo {\n  limit = 8 cell\n  warm-up = 1 s\n}")[1]
    assert problem.message == "`-` is not allowed in a name"
    assert problem.help == "write `warm_up` or `warmup`, as the field is called"
    [problem] = checked("topology my-pair {\n}")[1]
    assert problem.help == "write `my_pair`"


BOX = """
device box {
  port west, east: cell
  queue = fifo { limit = 8 cell }
  west.rx -> queue -> east.tx
  east.rx -> west.tx
}
topology pair {
  a, b = host
  x = box
  link a -- x.west via line { rate = 1 Mbit/s @cell }
  link x.east -- b via line { rate = 1 Mbit/s @cell }
}
"""


@pytest.mark.parametrize(
    ("written", "help_"),
    [("quue", "write `queue`"), ("eats", "write `east`"), ("zzz", "")],
)
def test_a_part_of_a_device_is_a_port_or_an_element(checked, written, help_):
    text = f"""{BOX}
test t on pair {{
  flow f = cbr {{ pcr = 10 cell/s, cdvt = 1 ms }} from a to b
  run {{ measure = 1 s }}
  expect x.{written}.lost == 0
}}
"""
    [problem] = checked(text)[1]
    assert problem.message == f"`x` has no port or element `{written}`"
    assert problem.help == help_
    assert problem.notes == ("ports of box: west east; its elements: queue",)


def test_wires_that_could_not_be_read_are_not_missed(checked):
    text = """
device mux(n: Int = 3) {
  port p[n], out: cell
  all = fifo { limit = 8 cell }
  for i from 0 to 2 {
    p[i].rx -> all
  }
  all -> out.tx
  out.rx -> discard
}
"""
    [problem] = checked(text)[1]
    assert problem.message == "`for` iterates over a list or a range"
    assert problem.help == "write `for i in 0 .. 2`"


def test_an_import_that_is_missing_is_reported_once(codes):
    text = """
topology lab {
  a, b, c, d = host
  link a -- b via media.stm1
  link c -- d via media.stm4
}
"""
    assert codes(text) == ["E0101"]


def test_what_a_kind_refuses_is_reported_at_the_field_and_once_for_all_copies(checked):
    text = """
traffic base = vbr_rt {
  pcr = 10 cell/s
  scr = 20 cell/s
  mbs = 10 cell
  cdvt = 10 us
}
traffic copy = base { connections = 2 }
"""
    [problem] = checked(text)[1]
    assert problem.code == "E0301"
    assert problem.span.text == "20 cell/s"


def test_a_field_that_depends_on_itself_is_called_as_it_is_written(checked):
    [problem, *_] = checked(
        "traffic t = vbr_rt { pcr = 2 * scr, scr = pcr, mbs = 9 cell, cdvt = 1 us }"
    )[1]
    assert problem.message == "`pcr` depends on itself: pcr -> scr -> pcr"


def test_what_is_built_is_not_refused_as_later(catalogue):
    known = {name for role in RECORDS for name in catalogue.select_role(role)}
    assert not known & RESERVED


def test_a_size_in_parts_of_bytes_is_reported_in_decimals(checked):
    [problem] = checked("traffic t = packets { rate = 1 pkt/s, size = 0.5 B @ip }")[1]
    assert problem.message == "`size` must be a whole number of bytes, found 0.5"


def test_what_is_carried_is_followed_once_for_all_ports(codes, monkeypatch):
    asked = []

    def counted(part):
        asked.append(part)
        return ("packet",)

    monkeypatch.setattr(item_kinds, "find_carried", counted)
    chain = "\n  ".join(f"w{n} = delay {{ time = 1 us }}" for n in range(50))
    wires = " -> ".join(f"w{n}" for n in range(50))
    text = f"""
device d {{
  port p[50], out: packet
  {chain}
  for i in 0 .. 49 {{
    p[i].rx -> w0
  }}
  {wires} -> out.tx
  out.rx -> discard
}}
"""
    assert codes(text) == []
    assert len(asked) <= 2 * 50


def test_thresholds_are_by_marks(checked):
    queue = "q = fifo { limit = 9 pkt, drop = threshold { by = dscp, at = 5 pkt } }"
    text = f"device d {{\n  port p: packet\n  {queue}\n  p.rx -> q -> p.tx\n}}"
    [problem] = checked(text)[1]
    assert problem.message == "`at` is a map from marks to numbers, not a number"


SHARED = """
device shared {{
  port west, east: packet
  a, b, c = fifo {{ limit = 9 pkt, drop = {drop} }}
  all = classify {{ a = pkt.dscp == 46, b = pkt.dscp == 10, c = otherwise }}
  out = {scheduler}
  west.rx -> all
  all.a -> a -> out.a
  all.b -> b -> out.b
  all.c -> c -> out.c
  out -> east.tx
  east.rx -> discard
}}
"""
WRED = "wred { by = dscp, low = { LOW }, high = { 10: 9 pkt }, p = { 10: 5% } }"


@pytest.mark.parametrize(
    ("before", "scheduler", "reported"),
    [
        ("", "wfq { weights = { a: 0, b: 1, c: -2 } }", ["0", "-2"]),
        ("", "custom { byte_counts = { a: 0 B, b: 10 B, c: 2 ms } }", ["0 B", "2 ms"]),
        ("let none = 0", "wfq { weights = { a: 1, b: none, c: 1 } }", ["none"]),
        ("let mine = { a: 0, b: 0, c: 1 }", "wfq { weights = mine }", ["mine"]),
    ],
)
def test_each_wrong_entry_of_a_map_is_reported_where_it_is(checked, before, scheduler, reported):
    text = before + SHARED.format(drop="tail", scheduler=scheduler)
    assert [problem.span.text for problem in checked(text)[1]] == reported


@pytest.mark.parametrize(
    ("low", "reported"),
    [("64: 3 pkt, 10: 3 pkt, 70: 3 pkt", ["64", "70"]), ("green: 3 pkt", ["green"])],
)
def test_each_key_that_is_no_mark_is_reported_where_it_is(checked, low, reported):
    drop, scheduler = WRED.replace("LOW", low), "strict { order = [a, b, c] }"
    problems = checked(SHARED.format(drop=drop, scheduler=scheduler))[1]
    assert [problem.span.text for problem in problems] == reported


@pytest.mark.parametrize(
    ("asked", "label", "way_out"),
    [
        ("pkt.dscp == 64", "too large", "write at most 63"),
        ("pkt.priority == 8", "too large", "write at most 7"),
        ("pkt.dscp in (8 .. 70)", "too large", "write at most 63"),
        ("pkt.dscp == -1", "too small", "write at least 0"),
    ],
)
def test_a_mark_out_of_range_suggests_the_greatest(checked, asked, label, way_out):
    parts = f"c = classify {{ x = {asked}, rest = otherwise }}\n  c.x -> discard"
    text = f"device d {{\n  port p: packet\n  {parts}\n  p.rx -> c\n  c.rest -> p.tx\n}}"
    [problem] = checked(text)[1]
    assert (problem.code, problem.label, problem.help) == ("E0205", label, way_out)


def test_a_mistake_in_a_record_inside_of_another_is_reported_where_it_is(checked):
    text = """
device edge {
  port lan, wan: packet
  q = fifo { limit = 32 pkt, drop = red { low = 16 pkt, high = 48 pkt, p = 10% } }
  lan.rx -> q -> wan.tx
  wan.rx -> discard
}
"""
    [problem] = checked(text)[1]
    assert problem.message.startswith("high: an average of 48 is never reached")
    assert problem.span.text == "48 pkt"


@pytest.mark.parametrize(
    ("asked", "near"),
    [
        ("pkt.checksum", ""),
        ("pkt.dcsp", "pkt.dscp"),
        ("pkt.prority", "pkt.priority"),
        ("packet.dscp", "pkt.dscp"),
        ("cell.clpp", "cell.clp"),
    ],
)
def test_what_a_class_cannot_ask_for_is_compared_behind_the_dot(checked, asked, near):
    parts = f"c = classify {{ x = {asked} == 1, rest = otherwise }}\n  c.x -> discard"
    text = f"device d {{\n  port p: packet\n  {parts}\n  p.rx -> c\n  c.rest -> p.tx\n}}"
    [problem] = checked(text)[1]
    assert problem.code == "E0416"
    assert problem.notes[0].startswith("attributes: vc.category vc.path cell.clp ")
    assert problem.label == (f"did you mean `{near}`?" if near else "")


PACKETS = """
topology lab {{
  a, b = host
  link a -- b via line {{ rate = 1 Gbit/s @line, carries = packet }}
}}
test t on lab {{
  flow f = packets {{ rate = 1 Mbit/s @ip, size = 200 B @ip }} from a to b
  run {{ measure = 1 s }}
  expect {}
}}
"""


@pytest.mark.parametrize(
    ("sizes", "way_out"),
    [
        (
            "exponential(500 B, min = 4 B, max = 15_000 B) @ip",
            "the nearest sizes that fit are `28 B @ip` and `1_500 B @ip`",
        ),
        (
            "mix { 9_000 B: 1, 10 B: 1, 9_500 B: 1, 100 B: 1 } @ip",
            "the nearest sizes that fit are `28 B @ip` and `1_500 B @ip`",
        ),
        (
            "mix { 9_000 B: 1, 9_500 B: 1, 100 B: 1 } @ip",
            "the nearest size that fits is `1_500 B @ip`",
        ),
    ],
)
def test_sizes_that_fit_at_neither_end_suggest_both_limits(checked, sizes, way_out):
    text = PACKETS.format("f.lost == 0 pkt").replace("200 B @ip", sizes)
    link = "import std.media\n" + text.replace(
        "line { rate = 1 Gbit/s @line, carries = packet }", "media.fast_ethernet"
    )
    [problem] = checked(link)[1]
    assert (problem.code, problem.help) == ("E0301", way_out)


@pytest.mark.parametrize(
    ("size", "way_out"),
    [
        ("1_501 B @ip", "1_500 B @ip"),
        ("27 B @ip", "28 B @ip"),
        ("10 B @frame", "64 B @frame"),
        ("2_000 B @line", "1_538 B @line"),
        ("2_000 B @payload", "1_472 B @payload"),
        ("mix { 64 B: 1, 9_000 B: 2 } @frame", "1_518 B @frame"),
    ],
)
def test_a_size_that_does_not_fit_suggests_the_next_that_does(checked, size, way_out):
    text = """
import std.media
topology lab {{
  a, b = host
  link a -- b via media.fast_ethernet
}}
traffic web = packets {{ rate = 1 Mbit/s @ip, size = {} }}
test t on lab {{
  flow f = web from a to b
  run {{ measure = 1 s }}
  expect f.lost == 0 pkt
}}
"""
    [problem] = checked(text.format(size))[1]
    assert (problem.code, problem.span.text) == ("E0301", size)
    assert problem.secondary[0].text == "linked here, where `f` begins"
    assert problem.help == f"the nearest size that fits is `{way_out}`"
    assert not checked(text.format(way_out))[1]


@pytest.mark.parametrize(
    ("asked", "code", "help_"),
    [
        ("f.lost.overflwo == 0", "E0503", "write `overflow`"),
        ("f.lost.qeue == 0", "E0503", ""),
        ("x.queue.overflo == 0", "E0423", "write `x.queue.overflow`"),
        ("x.queue.lost.overflow == 0", "E0423", "write `x.queue.overflow`"),
        ("x.queue.drops == 0", "E0423", ""),
        ("x.queue.occupancy.maxi == 0", "E0503", "write `max`"),
    ],
)
def test_a_cause_that_is_nearly_one_is_offered(checked, asked, code, help_):
    [problem] = checked(f"""{BOX}
test t on pair {{
  flow f = cbr {{ pcr = 10 cell/s, cdvt = 1 ms }} from a to b
  run {{ measure = 1 s }}
  expect {asked}
}}
""")[1]
    assert (problem.code, problem.help) == (code, help_)
    assert bool(problem.label) == bool(help_)
    observed = [note for note in problem.notes if note.startswith("observed of")]
    assert all(note.startswith("observed of `fifo`: lost ") for note in observed)
    assert bool(observed) == (code == "E0423")


def test_an_invariant_suggests_a_known_name_for_each_mistake(checked):
    mistakes = "queue.overflo == 0 and queue.lost.early == 0 and west.rx.cout > 0 and queue == 0"
    text = BOX.replace("  east.rx", f"  invariant {mistakes}\n  east.rx")
    reported = checked(text)[1]
    assert {problem.code for problem in reported} == {"E0423"}
    assert [problem.help for problem in reported] == [
        "write `queue.overflow`",
        "write `queue.early`",
        "write `west.rx.count`",
        "write `queue.lost`",
    ]


def test_a_file_that_lacks_a_name_says_which_it_has(checked):
    [problem] = checked("import lab\nlet a = lab.gigabit\n", lab="let slow = 1\nlet fast = 2\n")[1]
    assert problem.message == "nothing in `lab` is named `gigabit`"
    assert (problem.notes, problem.help) == (("`lab` declares fast slow",), "")
    [problem] = checked("import lab\nlet a = lab.fats\n", lab="let slow = 1\nlet fast = 2\n")[1]
    assert (problem.notes, problem.help) == (("`lab` declares fast slow",), "write `fast`")


@pytest.mark.parametrize(
    ("port", "limit", "way_out"),
    [
        ("packet", "64 cell", "its limit counts cells: write `64 pkt`"),
        ("cell", "1_200 pkt", "its limit counts packets: write `1_200 cell`"),
    ],
)
def test_a_limit_in_the_wrong_items_suggests_the_right_ones(checked, port, limit, way_out):
    queue = f"q = fifo {{ limit = {limit} }}"
    [problem] = checked(
        f"device d {{\n  port w, e: {port}\n  {queue}\n  w.rx -> q -> e.tx\n  e.rx -> w.tx\n}}"
    )[1]
    assert (problem.code, problem.help) == ("E0425", way_out)


@pytest.mark.parametrize("word", ["true", "false"])
def test_a_tagged_link_is_one_whose_frames_all_have_a_tag(checked, word):
    medium = f"media.tagged_fast_ethernet {{ tagged = {word} }}"
    text = f"import std.media\ntopology t {{\n  a, b = host\n  link a -- b via {medium}\n}}"
    [problem] = checked(text)[1]
    assert (problem.code, problem.help) == ("E0104", "write `vlan_tags`")


def test_a_keyword_behind_a_number_is_no_unit(checked):
    [problem] = checked("let kept = 0 if m == 1 else 2")[1]
    assert problem.help == "declare it; the unit `m` directly follows a number, as in `1 m`"


def test_a_word_for_a_scheduler_points_to_devices(checked):
    text = "device d(kind: Name) {\n  out = kind { weights = { a: 1 } }\n}"
    problems = checked(f"{text}\ntopology t {{\n  x = d(kind = wrr)\n}}")[1]
    found = next(problem for problem in problems if problem.code == "E0104")
    assert found.message == "`wrr` is a word here, and has no fields to change"
    assert "`Device`" in found.help


@pytest.mark.parametrize(
    ("swept", "ends", "help_"),
    [
        ("i in [0, 2]", "i to b", _NUMBERED),
        ("i in [a, b]", "i to b", _NUMBERED),
        ("i in [0, 2]", "lab to b", "name a host of the topology"),
    ],
)
def test_what_is_swept_is_no_host_but_may_number_them(checked, swept, ends, help_):
    text = f"""
topology lab {{
  a, b = host
  link a -- b via line {{ rate = 149.76 Mbit/s @cell }}
}}
test t on lab {{
  sweep {swept}
  flow f = cbr {{ pcr = 10 cell/s, cdvt = 1 us }} from {ends}
  run {{ measure = 1 s }}
  expect f.lost == 0
}}
"""
    found = [problem for problem in checked(text)[1] if problem.code == "E0306"]
    assert {problem.help.removesuffix(" for one of them") for problem in found} == {help_}


def test_a_clock_without_its_unit_is_told_what_the_number_says(checked):
    [problem] = checked("topology t {\n  _a = host(clock = 20)\n}")[1]
    assert (problem.code, problem.help) == ("E0205", "write at most 0.01")
    assert problem.notes == ("a number without a unit is a ratio: 20 in a million is `20 ppm`",)

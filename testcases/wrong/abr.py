"""Wrong switches and sources of `suites/abr`, and how they are noticed."""

from replacing import Wrong

SWITCHES, SOURCES, SUITE = "switches", "sources", "closed_loop.qos"


def changed(
    name: str, replaces: str, cases: tuple[str, ...], criteria: set[str], **said: str
) -> Wrong:
    return Wrong(
        f"abr.{name}", replaces, SUITE, cases, criteria, changes={said["old"]: said["new"]}
    )


WRONG = [
    changed(
        "never_marks",
        SWITCHES,
        ("two_share:how=marks",),
        {"lossless", "bounded"},
        old="""    q = abr_queue {
      limit = room
      feedback = relative_rate
      high = 100 cell
      low = 20 cell
    }""",
        new="    q = fifo { limit = room }",
    ),
    changed(
        "marks_late",
        SWITCHES,
        ("two_share:how=indication",),
        {"bounded"},
        old="high = 100 cell\n      low = 60 cell",
        new="high = 300 cell\n      low = 60 cell",
    ),
    changed(
        "offers_all",
        SWITCHES,
        ("two_share:how=rates", "beside_a_constant_rate"),
        {"used", "left"},
        old="target = 95%",
        new="target = 98%",
    ),
    changed(
        "rises_twice_as_fast",
        SOURCES,
        ("one_rises",),
        {"rising"},
        old="  rif = 1 / 16\n",
        new="  rif = 1 / 8\n",
    ),
    changed(
        "sends_half_of_the_rm_cells",
        SOURCES,
        ("one_rises",),
        {"rising", "returned"},
        old="  rdf = 1 / 16\n  nrm = 32",
        new="  rdf = 1 / 16\n  nrm = 64",
    ),
    changed(
        "ignores_congestion",
        SOURCES,
        ("two_share:how=marks", "two_share:how=indication"),
        {"lossless", "bounded"},
        old="  rdf = 1 / 256\n",
        new="  rdf = 1 / 32_768\n",
    ),
    changed(
        "forgets_its_minimum",
        SOURCES,
        ("a_minimum_is_kept",),
        {"kept"},
        old="mcr = least",
        new="mcr = least / 2",
    ),
]

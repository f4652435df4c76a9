"""The records of all parts of a run become that of the whole run, byte for byte."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from qospec.dataclass import dataclass
from qospec.record.ended import CaseWriter
from qospec.record.outcome import complete_outcome
from qospec.record.parts import Part, read_part
from qospec.record.store import REMEDY, Record, RecordError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from qospec.document import Document


class MergeError(Exception):
    """Records are not all parts of one run; the message is for the user."""


NEEDS = "merging needs each part once, of one specification, seed and version"


@dataclass(frozen=True)
class MergedRun:
    """What the records of all parts say together.

    Attributes:
        frame: What was known before the run.
        planned: All cases, as not run.
        outcome: The whole outcome.
        timing: When the first part began, when the last one ended, and the time of each case.
    """

    frame: Document
    planned: list[Document]
    outcome: Document
    timing: Document

    def write(self, record: Record) -> None:
        """Write the files that one run would have written."""
        record.begin(self.frame, self.planned)
        cases = self.outcome["cases"]
        with CaseWriter(record, len(cases)) as writer:
            for number, case in enumerate(cases, 1):
                writer.add(number, case)
        record.end(self.outcome, self.timing)


def merge(records: Sequence[Record]) -> MergedRun:
    """Return what the records of all parts of a run say together.

    Raises:
        MergeError: A record is not of a part, is of another run, or its run was interrupted; a part
            is missing, or is there twice.
        RecordError: A record cannot be read, or is damaged.
    """
    plans = [record.plan() for record in records]
    parts = [_read_part(record, plan) for record, plan in zip(records, plans, strict=True)]
    whole = plans[0]
    for record, plan in zip(records[1:], plans[1:], strict=True):
        if difference := next(_list_differences(whole, plan), ""):
            raise MergeError(
                f"`{record.folder}` and `{records[0].folder}` are not parts of one run: "
                f"{difference}; {NEEDS}"
            )
    _verify_all_there(parts, records)
    outcomes = [record.read_outcome() for record in records]
    timings = [record.read_timing() for record in records]
    for part, record, outcome, timing in zip(parts, records, outcomes, timings, strict=True):
        if outcome["state"] != "complete" or not timing:
            raise MergeError(
                f"part {part} was {outcome['state']}: go on with it by `qos run --resume"
                f" {record.folder}`"
            )
        chosen = [case["name"] for case in part.choose(whole["planned"])]
        if [case["name"] for case in outcome["cases"]] != chosen:
            raise RecordError(
                f"`{record.folder}` holds other cases than those of part {part}: {REMEDY}"
            )
    frame = {name: value for name, value in whole.items() if name not in ("planned", "part")}
    done = [case for outcome in outcomes for case in outcome["cases"]]
    planned = whole["planned"]
    return MergedRun(
        frame, planned, complete_outcome(frame, planned, done), _merge_timings(timings, planned)
    )


def _read_part(record: Record, plan: Document) -> Part:
    part = read_part(plan)
    if part is None:
        raise MergeError(
            f"`{record.folder}` is not of a part of a run: `qos run --part 1/8` makes such a record"
        )
    return part


def _list_differences(one: Document, other: Document) -> Iterator[str]:
    """Yield in words in what two parts differ that belong to different runs."""
    ours, theirs = one["provenance"], other["provenance"]
    yield from (
        f"the {noun} is `{b}` here and `{a}` there"
        for noun, a, b in (
            ("seed", one["seed"], other["seed"]),
            ("version of qospec", one["qospec"], other["qospec"]),
            *(
                (f"version of {package}", ours[package], theirs[package])
                for package in ("python", "numpy", "numba")
            ),
            (
                "limit of cells per trial",
                *(p["limits"].get("cells per trial") for p in (ours, theirs)),
            ),
            ("number of parts", one["part"]["of"], other["part"]["of"]),
        )
        if a != b
    )
    yield from _list_changed_sources(_read_digests(ours), _read_digests(theirs))
    if ours != theirs:
        yield "they were run with different options"
    if [case["name"] for case in one["planned"]] != [case["name"] for case in other["planned"]]:
        yield "different cases were selected"
    if {**one, "part": None} != {**other, "part": None}:
        yield "what they planned differs"


def _read_digests(provenance: Document) -> Mapping[str, str]:
    return {source["name"]: source["sha256"] for source in provenance["sources"]}


def _list_changed_sources(one: Mapping[str, str], other: Mapping[str, str]) -> Iterator[str]:
    for name in sorted({*one, *other}):
        if name not in one or name not in other:
            yield f"only one of them read `{name}`"
        elif one[name] != other[name]:
            yield f"`{name}` differs"


def _verify_all_there(parts: Sequence[Part], records: Sequence[Record]) -> None:
    of = parts[0].of
    (number, times) = Counter(part.number for part in parts).most_common(1)[0]
    if times > 1:
        folders = [
            f"`{record.folder}`"
            for part, record in zip(parts, records, strict=True)
            if part.number == number
        ]
        raise MergeError(f"part {number}/{of} is there {times} times: {', '.join(folders)}")
    if missing := sorted({*range(1, of + 1)} - {part.number for part in parts}):
        which = ", ".join(f"{number}/{of}" for number in missing)
        noun = "parts are" if len(missing) > 1 else "part is"
        raise MergeError(f"{len(missing)} {noun} missing: {which}; {NEEDS}")


def _merge_timings(timings: Sequence[Document], planned: Sequence[Document]) -> Document:
    seconds: dict[str, Any] = {}
    for timing in timings:
        seconds |= timing["cases"]
    kept = [run for timing in timings for run in timing.get("kept", ())]
    (program, *others) = {timing.get("program", "") for timing in timings}
    return {
        "started": min(timing["started"] for timing in timings),
        "finished": max(timing["finished"] for timing in timings),
        "cases": {name: seconds[name] for case in planned if (name := case["name"]) in seconds},
        "compiling": round(sum(timing.get("compiling", 0) for timing in timings), 3),
        **({"program": program} if program and not others else {}),
        **({"kept": kept} if kept else {}),
    }

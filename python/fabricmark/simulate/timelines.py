"""What ranks of a simulation did and waited for, as a timeline of the suite and as Perfetto takes it."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from fabricmark.base import paths
from fabricmark.base.errors import FabricmarkError
from fabricmark.results import timeline
from fabricmark.simulate.calls import Found

PROGRAM, LANE = "fabricmark simulate", "program"
WORK = "compute"
MOST = 200_000  # activities
ENDING = ".json"


def check_names(own: Path | None, perfetto: Path | None) -> None:
    """Raises FabricmarkError (2) for names by which nobody finds them again."""
    if own is not None and not own.name.endswith(timeline.ENDING):
        raise FabricmarkError(
            f"--timeline {own}", f"end the name with {timeline.ENDING}, as reports look for it"
        )
    if perfetto is not None and perfetto.suffix != ENDING:
        raise FabricmarkError(f"--perfetto {perfetto}", f"end the name with {ENDING}")


def write(found: Found, file: Path) -> None:
    """The suite's, which `fabricmark report` draws."""
    document = {
        "schema": timeline.SCHEMA, "program": PROGRAM,
        "title": f"{found.name} {found.algorithm}".rstrip() + f", {found.setting.ranks} ranks",
        "kind": "modelled", "resolution": 0.0, "left_out": dict(found.about["left_out"]),
        "series": series(found.about["activities"]),
    }  # fmt: skip
    if fault := timeline.first_fault_of(document):
        raise FabricmarkError(f"{file}: {fault[0]}: {fault[1]}", "please report it", 3)
    paths.write_atomically(file, json.dumps(document))


def series(activities: Sequence[Sequence]) -> list[Mapping]:
    """Activities that differ in nothing but their times; those that touch are one."""
    lists: dict[tuple, list[list]] = {}
    for kind, rank, peer, start, end in activities:
        whom = "" if kind == WORK else f"rank {peer}"
        own = lists.setdefault((rank, kind, whom), [])
        if own and start <= own[-1][1]:
            last = own[-1]
            own[-1] = [last[0], max(end, last[1]), last[2] + end - start, last[3] + 1]
        elif end > start:
            own.append([start, end, end - start, 1])
    return [
        {"device": rank, "lane": LANE, "kind": kind, "what": "", "whom": whom, "activities": own}
        for (rank, kind, whom), own in sorted(lists.items()) if own
    ]  # fmt: skip


def write_perfetto(found: Found, file: Path) -> None:
    """Events of Chrome's format, times in microseconds: a thread for each rank."""
    events: list[Mapping] = [
        {"ph": "M", "name": "thread_name", "pid": 0, "tid": rank, "args": {"name": f"rank {rank}"}}
        for rank in range(found.setting.ranks)
    ]
    for kind, rank, peer, start, end in found.about["activities"]:
        name = kind if kind == WORK else f"{kind} of rank {peer}"
        events.append(
            {"ph": "X", "name": name, "cat": kind, "pid": 0, "tid": rank, "ts": start * 1e6,
             "dur": (end - start) * 1e6}
        )  # fmt: skip
    about = {"kind": "modelled", "left_out": dict(found.about["left_out"])}
    paths.write_atomically(file, json.dumps({"traceEvents": events, "otherData": about}))

"""What the tests of fm_fft share: how results are checked."""

import re

FAULTS = ("element", "scale", "zeros", "stale", "swapped")
TYPES = ("float", "double")
DIRECTIONS = ("forward", "inverse")
PLACE = re.compile(r"point (\d+) of transform (\d+)")


def verdicts(done):
    return {verdict["name"]: verdict for verdict in done.document["verdicts"]}


def check_points(done, points):
    """Both directions were compared in full, with rounding errors far below what is allowed."""
    found = verdicts(done)
    kinds = ("repetitions", "transforms", "residual")
    assert set(found) == {f"{way} {kind}" for way in DIRECTIONS for kind in kinds}
    repetitions = done.document["repetitions"]["count"]
    for name, verdict in found.items():
        assert verdict["checked"] == points * (repetitions if "repetitions" in name else 1)
        assert 0 < verdict["error"] < verdict["threshold"] * 2 / 3


def check_fault(done, direction="forward"):
    """The place of the worst point of a run that found a fault in this direction alone, with its rank."""
    assert done.code == 1 and done.errors == ""
    found = verdicts(done)
    failed = {name for name, verdict in found.items() if verdict["status"] == "failed"}
    assert failed - {f"{direction} repetitions"} == {f"{direction} transforms", f"{direction} residual"}
    worst = found[f"{direction} transforms"]["worst"]
    place = PLACE.fullmatch(worst["place"])
    assert place and worst["place"] in done.output
    return int(place[1]), int(place[2]), worst["rank"]


def check_work(done, name, amount):
    entries = [m for m in done.document["measurements"] if m["name"] == name]
    works = {m["axes"]["operation"]: m["work"]["amount"] for m in entries}
    assert {way: works[way] for way in DIRECTIONS} == dict.fromkeys(DIRECTIONS, amount)

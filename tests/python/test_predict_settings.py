"""Every value of every system file counts in a prediction, is named as not limiting, or is refused.

No figure that no file says is read as 0 without a word.
"""

from dataclasses import replace
from functools import cache

import pytest
from conftest import REPOSITORY
from fabricmark import models, systems
from fabricmark.base.errors import FabricmarkError
from fabricmark.predict import points, settings
from fabricmark.systems import files

NAMES = sorted({*files.listed("system"), *files.listed("board")})
COUNTS = (1, 4)
MOVED, NAMED, REFUSED = "moved", "named", "refused"


@cache
def loaded(name, board):
    return systems.load(name, "fitted", board)


def requests():
    """Every benchmark x transport of every system and board of the repository."""
    for name in NAMES:
        for board in loaded(name, None).boards:
            system = loaded(name, board)
            if system.board.device_class != "fpga":
                continue
            for benchmark in models.names():
                over = ("none", *system.networks) if models.traits(benchmark).exchanges else ("none",)
                for transport in over:
                    yield points.PredictionRequest(benchmark, system, transport, points.WEAK)


def counts_of(request):
    return tuple(count for count in COUNTS if count <= request.system.most_devices)


def values(request):
    found, about = points.predict(request, counts_of(request), {})
    return [one.value for point in found for one in point.predictions], about


def predicted(request):
    """Whether there is a prediction without any setting."""
    try:
        return values(request)[0]
    except FabricmarkError:
        return None


def keys_of(request):
    """All values of the system's files, with the names that --set takes: (name, value)."""
    places = {"": "board", **dict.fromkeys(request.system.network_ids.values(), "network")}
    found = {}
    for part, sourced in request.system.parts.items():
        place = places.get(part, "bitstream")
        for one in sourced:
            number = one.of("fitted")
            if number:
                found.setdefault(f"{place}.{one.name}", number)
    return found


def what_it_does(request, name, number, usual):
    """What one value, twice or half as large, does to the predictions."""
    try:
        settings.key_of(name)
    except FabricmarkError as error:
        assert "no value that a model reads" in str(error)
        return REFUSED
    moved = False
    for factor in settings.FACTORS:
        try:
            found, about = values(replace(request, overrides={name: number * factor}))
        except FabricmarkError as error:
            text = str(error)
            assert name in text and "; " in text, text
            return REFUSED
        moved = moved or found != usual
        if any(line.startswith(f"{name} is not limiting") for line in about):
            assert found == usual, name
            return NAMED
    return MOVED if moved else "nothing"


def check(chosen):
    counted = {MOVED: 0, NAMED: 0, REFUSED: 0}
    for request in chosen:
        usual = predicted(request)
        for name, number in keys_of(request).items() if usual is not None else ():
            found = what_it_does(request, name, number, usual)
            assert found in counted, f"{request.about}: {name} does {found}"
            counted[found] += 1
    return counted


@pytest.mark.full
def test_every_key_of_every_system_counts_or_is_refused():
    counted = check(requests())
    assert min(counted.values()) > 30, counted


def test_every_key_counts_or_is_refused():
    """The same, of each benchmark and transport on one system."""
    chosen = {}
    for request in requests():
        if request.system.name in ("noctua1", "leaf_spine", "u280_hbm"):
            chosen.setdefault((request.benchmark, request.transport), request)
    counted = check(chosen.values())
    assert counted[MOVED] > 30 and counted[NAMED] > 5 and counted[REFUSED] > 60, counted


def test_a_value_that_is_not_read_would_be_noticed(monkeypatch):
    """Where every value passes for read, some move nothing, and are named."""
    request = points.PredictionRequest("gemm", loaded("noctua1", None), "none", points.WEAK)
    monkeypatch.setattr(points.settings, "check_system_value", lambda *words: None)
    monkeypatch.setattr(points.settings, "not_limiting", lambda *words: [])
    number = request.system.board["memory.bank_bandwidth"]
    found = what_it_does(request, "board.memory.bank_bandwidth", number, predicted(request))
    assert found == "nothing"


def unsaid(request):
    """Values that a prediction reads and no file says, with what is said of them."""
    found = {}
    planned = points.planned(request, [(count, {}) for count in counts_of(request)])
    for plan, run in planned:
        network = plan.system.networks.get(request.transport)
        seen = settings.watch(request.benchmark, run, plan.board, plan.devices, network, plan.bitstream)
        known = settings.said(request.system, request.transport, plan.bitstream, "fitted")
        kind = network.kind if network is not None else ""
        for name in sorted(set(seen.names()) - known):
            found[name] = settings.meaning(name, kind)
    return found


def test_no_absent_figure_is_read_without_a_word():
    for request in requests():
        try:
            planned = unsaid(request)
        except FabricmarkError:
            continue
        needed = [name for name, text in planned.items() if text is None]
        try:
            _, about = values(request)
        except FabricmarkError as error:
            assert not needed or any(name in str(error) for name in needed)
            continue
        assert needed == [], request.about
        for name, text in planned.items():
            assert not text or any(name in line for line in about), (request.about, name)


@pytest.mark.parametrize("name", ["host.read_latency", "host.write_latency"])
def test_what_no_file_says_any_more_is_needed(name):
    system = loaded("u250", None)
    parts = {part: tuple(one for one in some if one.name != name) for part, some in system.parts.items()}
    request = points.PredictionRequest("host_transfer", replace(system, parts=parts), "none", points.WEAK)
    assert values(replace(request, system=system))
    with pytest.raises(FabricmarkError, match=f"no file says board.{name}"):
        values(request)


def test_a_board_without_its_way_to_the_host_is_refused():
    system = loaded("noctua1", None)
    bare = replace(system, board=system.board.having({"host.write_bandwidth": None}))
    request = points.PredictionRequest("b_eff", bare, "host", points.WEAK)
    with pytest.raises(FabricmarkError, match=r"no model without board\.host\.write_bandwidth"):
        points.predict(request, (2,), {})
    parts = tuple(one for one in system.parts[""] if one.name != "host.write_latency")
    without = replace(system, parts={**system.parts, "": parts})
    request = points.PredictionRequest("b_eff", without, "host", points.WEAK)
    with pytest.raises(FabricmarkError, match=r"no file says board\.host\.write_latency"):
        points.predict(request, (2,), {})
    given = replace(request, overrides={"board.host.write_latency": 2e-5})
    assert points.predict(given, (2,), {})[0]


def test_all_that_is_said_of_absent_values_is_of_a_value():
    known = set(settings.every_name())
    for table in (settings.STATED, settings.SILENT, settings.OF_KIND):
        assert set(table) <= known
    assert not set(settings.STATED) & set(settings.SILENT)


def test_more_than_a_leaf_of_switches_takes_longer():
    system = loaded("leaf_spine", None)
    request = points.PredictionRequest("b_eff", system, "channels", points.WEAK)
    found, _ = points.predict(request, (32, 64), {})
    one, two = (point.headline.value / point.devices for point in found)
    assert two < 0.95 * one
    wider = replace(request, overrides={"network.switch_ports": 256.0})
    assert points.predict(wider, (64,), {})[0][0].headline.value == pytest.approx(64 * one)


def test_the_documented_table_of_absent_values():
    lines = (REPOSITORY / "docs" / "systems.md").read_text().splitlines()
    for name, said in settings.STATED.items():
        key = name.partition(".")[2]
        assert any(line.startswith(f"| `{key}` |") and f"| {said}" in line for line in lines), name

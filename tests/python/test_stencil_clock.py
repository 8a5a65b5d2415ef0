"""The modelled clock of cascades through boards beside eq. 3.8 of Mondigo 2020: over the ring of the thesis
and over the switches that it plans. A pass each, as passes are alike."""

import json

import pytest
from fabricmark import systems
from fabricmark.base import kernels
from fabricmark.models import _cascade
from fabricmark.systems import export
from shallow_water_runs import note
from simulated_runs import bitstream_of
from stream_program import on_a_device

pytestmark = pytest.mark.programs

LARGE, FLOW = (2581, 2879), (720, 240)
WIDE = (2582, 2878)  # rows of whole words of two cells
# The ring's equation has its printed inputs; how much of a packet is data is printed for no switch.
RING, SWITCHES = ("arria10_ring", "published"), ("leaf_spine", "fitted")


def full(*row):
    return pytest.param(*row, marks=pytest.mark.full)


def described(folder, named, bitstream, cells, boards, more=()):
    """(the cascade of the equation, the exported system with as many boards, seconds of a start)"""
    name, profile = named
    system = systems.load(name, profile)
    chosen = bitstream_of(system, bitstream)
    made = _cascade.of_design(
        {**chosen.parameters, **dict(more)},
        cells,
        boards,
        system.board_with(chosen, boards),
        system.networks["channels"],
        chosen,
    )
    document = json.loads(export.text(name, profile))
    document["topology"][0]["most_devices"] = max(boards, document["topology"][0]["most_devices"])
    file = folder / "system.json"
    file.write_text(json.dumps(document))
    starts = document["devices"][0]["values"].get("launch_seconds", {"value": 0})
    return made, file, starts["value"]


@pytest.mark.parametrize(
    "bitstream, grid, system, boards",
    [
        ("lbm", FLOW, RING, 4),
        ("lbm_2", FLOW, RING, 2),
        ("lbm_4", FLOW, RING, 1),
        ("lbm", FLOW, SWITCHES, 4),
        ("tsunami", (2581, 256), SWITCHES, 2),
        *(full("lbm", FLOW, RING, boards) for boards in (1, 2, 8, 16)),
        *(full("lbm_2", FLOW, RING, boards) for boards in (1, 8, 16)),
        *(full("lbm_4", FLOW, RING, boards) for boards in (8, 16)),
        *(full(bits, FLOW, SWITCHES, 16) for bits in ("lbm", "lbm_2", "lbm_4")),
        *(full("tsunami", LARGE, RING, boards) for boards in (1, 2, 4, 8, 16)),
        *(full("tsunami_wide", WIDE, RING, boards) for boards in (1, 2, 8, 16)),
        full("tsunami", LARGE, SWITCHES, 4),
        full("tsunami_wide", WIDE, SWITCHES, 4),
    ],
)
def test_the_clock_is_as_the_equation(tmp_path_factory, bitstream, grid, system, boards):
    """But for the latency of links, which the equation stretches too where cells are waited for."""
    compare(tmp_path_factory, bitstream, grid, system, boards)


@pytest.mark.parametrize("grid", [(256, 64), (256, 256), FLOW])
def test_elements_fill_as_fast_as_the_memory_brings_words(tmp_path_factory, grid):
    """Of four pipelines; a memory that took its time at the end of a pass would hide the start of it."""
    made = compare(tmp_path_factory, "lbm_4", grid, RING, 1, (("cascaded", 3),), 0.005)
    assert made.stall > 0 and min(made.supplies, key=made.supplies.get) == _cascade.MEMORY


def compare(tmp_path_factory, bitstream, grid, system, boards, more=(), apart=0.02):
    """The cascade of the equation, `apart` at most. `more`: parameters of the build by name."""
    benchmark, cells = bitstream.split("_")[0], grid[0] * grid[1]
    named = f"de5a_net_stream/{bitstream}"
    made, file, start = described(tmp_path_factory.mktemp("system"), system, named, cells, boards, more)
    steps = made.cascaded * boards
    done = on_a_device(tmp_path_factory, benchmark).run(
        "--timing-only", "--system", file, "--bitstream-id", named, "--ranks", boards,
        "--columns", grid[0], "--rows", grid[1], "--steps", steps,
        *(word for name, value in more for word in ("--" + name.replace("_", "-"), value)), timeout=120,
    )  # fmt: skip
    assert done.code == 0, done.errors
    [rate] = [one["best"] for one in done.document["measurements"] if one["name"] == "cell_steps"]
    seconds = cells * steps / (rate * 1e6) - start
    of_equation = cells * steps / made.rate
    flies = 0 if boards == 1 else boards * (made.link_cycles + made.codec_cycles)
    unstretched = of_equation - flies * made.stall / (1 - made.stall) / made.hz
    print(f"{seconds / of_equation - 1:.2%} of eq. 3.8, {seconds / unstretched - 1:.2%} but for links")
    assert seconds == pytest.approx(unstretched, rel=apart)
    check_causes(done, made, seconds)
    return made


def check_causes(done, made, seconds):
    """What the run says that it waited for, in the words of predictions, beside the equation's stall."""
    benchmark = done.document["run"]["benchmark"]
    named = kernels.kernel(benchmark).variants["dataflow"]["phases"]
    shares = {"words": " % are ", "links": " % for ", "memory": " % for ", "start": " % for "}
    said = note(done, "time " + "[^0-9]*".join(f"([0-9.]+){of}{named[name]}" for name, of in shares.items()))
    words, links, memory, start = map(float, said.groups())
    spent = _cascade.phases(made, {}, named)
    assert sum(spent.values()) == pytest.approx(made.words * made.hz**-1 / made.share)
    for share, name in ((words, "words"), (links + memory, "links")):
        cycles = made.waited[name] + (made.waited["memory"] if name == "links" else 0)
        assert share == pytest.approx(100 * float(cycles) / made.hz / seconds, abs=3)
    assert words + links + memory + start == pytest.approx(100, abs=0.1)
    of_words = 100 * made.words / made.hz / seconds
    waited = of_words * made.stall / (1 - made.stall)
    assert words == pytest.approx(of_words, abs=1)
    assert links + memory == pytest.approx(waited, abs=3)
    if min(made.supplies, key=made.supplies.get) == _cascade.LINK:
        assert links == pytest.approx(waited, abs=3)
    assert made.boards > 1 or links == 0


LONG = (720, 1920)
TALL = (2582, 512)


@pytest.mark.parametrize(
    "bitstream, grid, system, boards, ratio",
    [
        ("lbm_2", FLOW, RING, 4, 2.3),  # the pipelines alone count
        ("lbm_4", LONG, RING, 2, 2.0),  # the links
        ("tsunami_wide", TALL, SWITCHES, 2, 2.4),
        *(full(bits, LONG, RING, boards, 2.6) for bits in ("lbm", "lbm_2", "lbm_4") for boards in (2, 8)),
        full("lbm_4", LONG, RING, 8, 2.0),
        full("lbm_4", LONG, SWITCHES, 4, 2.0),
        full("tsunami_wide", WIDE, RING, 8, 1.2),
        full("tsunami_wide", WIDE, SWITCHES, 4, 2.4),
    ],
)
def test_the_clock_of_compressed_cells_is_as_the_equation(
    tmp_path_factory, bitstream, grid, system, boards, ratio
):
    more = (("compression", "2d"), ("compression_ratio", ratio))
    compare(tmp_path_factory, bitstream, grid, system, boards, more)

"""Rings of boards whose links carry compressed cells: the same bits, faults of links, what is refused."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from shallow_water_runs import failed, note
from simulated_runs import exported
from stream_program import mpirun, on_a_device, one_error

pytestmark = pytest.mark.programs

FULL = pytest.mark.full
ONCE = ("--warmup", 0, "--repetitions", 1)
SHORT = ("--columns", 64, "--rows", 48, "--steps", 25, *ONCE)
EXACT = ("--exact", "true")
BENCHMARKS = ("lbm", "tsunami")
KINDS = ("1d", "2d")
CREDIT_LINKS = ("--flow", "credit-link")


@pytest.fixture(scope="module")
def boards(tmp_path_factory):
    """Options of a cascade through boards of a system."""
    folder = tmp_path_factory.mktemp("systems")

    def options(system="noctua1"):
        return ("--variant", "dataflow", "--transport", "channels", "--system", exported(folder, system))

    return options


@pytest.fixture(scope="module", params=BENCHMARKS)
def program(request, tmp_path_factory):
    return on_a_device(tmp_path_factory, request.param)


def ratio_of(done):
    """Bytes of cells by those on links, as printed beside both."""
    said = note(done, r"compression \dd, emulated: ratio ([\d.]+), (\d+) bytes over links as (\d+); ")
    assert float(said[1]) == pytest.approx(int(said[2]) / int(said[3]), rel=1e-4)
    (metric,) = (one for one in done.document["measurements"] if one["name"] == "compression_ratio")
    assert (metric["unit"], metric["kind"], metric["better"]) == ("x", "emulated", "higher")
    assert metric["best"] == metric["median"] == pytest.approx(int(said[2]) / int(said[3]), rel=1e-12)
    assert metric["axes"] == {"compression": done.document["parameters"]["compression"]}
    return float(said[1])


# 25 steps: a multiple of none of these passes. Two frames and more go over each link.
USUAL = [(2, 2, 1), (4, 1, 2)]
RINGS = [
    *USUAL,
    (3, 2, 4),
    *((boards, 1, n) for boards in (2, 4, 8) for n in (1, 2, 4) if (boards, n) != (4, 2)),
]


@pytest.mark.parametrize(
    "ranks, cascaded, pipelines",
    [*USUAL, *(pytest.param(*ring, marks=FULL) for ring in RINGS[len(USUAL) :])],
)
def test_compressed_links_give_the_same_bits(program, boards, ranks, cascaded, pipelines):
    of_usual = program.valid(*SHORT, *EXACT).digest
    words = ("--ranks", ranks, "--cascaded", cascaded, "--pipelines", pipelines)
    for kind, flow in (("1d", ()), ("2d", CREDIT_LINKS), ("1d", CREDIT_LINKS), ("2d", ())):
        done = program.valid(*SHORT, *EXACT, *boards(), *words, *flow, "--compression", kind)
        assert done.digest == of_usual, (kind, flow)
        assert ratio_of(done) > 1.2


@pytest.mark.parametrize(
    "kind, pipelines, ranks",
    [
        ("2d", 2, 4),
        ("1d", 4, 2),
        *(pytest.param("2d", n, ranks, marks=FULL) for n in (1, 4) for ranks in (4, 8)),
    ],
)
def test_compressed_frames_over_switches_give_the_same_bits(program, boards, kind, pipelines, ranks):
    words = ("--ranks", ranks, "--cascaded", 1, "--pipelines", pipelines, "--compression", kind)
    done = program.valid(*SHORT, *EXACT, *boards("leaf_spine"), *words)
    assert done.digest == program.valid(*SHORT, *EXACT).digest


def test_flits_of_a_link_that_says_its_rate_alone(program, boards):
    words = ("--ranks", 2, "--cascaded", 1, "--compression", "2d", "--pipelines", 1)
    done = program.valid(*SHORT, *EXACT, *boards("arria10_ring"), *words)
    assert done.digest == program.valid(*SHORT, *EXACT).digest


def test_cells_of_the_sphere_have_more_numbers(tmp_path_factory, boards):
    program = on_a_device(tmp_path_factory, "tsunami")
    words = (*SHORT, *EXACT, "--coordinates", "sphere")
    ring = (*boards(), "--ranks", 2, "--pipelines", 2, "--compression", "2d")
    assert program.valid(*words, *ring).digest == program.valid(*words).digest


@FULL
def test_processes_compress_alike(program, boards):
    words = (*SHORT, *EXACT, *boards(), "--compression", "2d")
    launcher, ranks = mpirun(3), ("--ranks", 3)
    processes, threads = program.valid(*words, launcher=launcher), program.valid(*words, *ranks)
    assert processes.digest == threads.digest
    # Steps that are checked are made again, and which these are is drawn: of twelve runs the ratios are
    # within 3.1 % of each other, and those of 1d far smaller.
    assert ratio_of(processes) == pytest.approx(ratio_of(threads), rel=0.05)


def test_a_board_alone_has_no_link(program, boards):
    done = program.valid(*SHORT, *EXACT, *boards(), "--compression", "1d")
    assert done.digest == program.valid(*SHORT, *EXACT).digest
    assert not any("compression" in one for one in done.document["notes"])


# The gain law ---------------------------------------------------------------------------------------------

LAW = (
    r"the gain law has ([\d.e+]+) cycles of the fullest link for (\d+) passes of (\d+) words, "
    r"([\d.e+]+) in their order, the clock ([\d.e+]+) of all; a FIFO of (\d+) flits"
)


@dataclass(frozen=True)
class Gain:
    """What a run prints of its passes [cycles], and the start of all its pipelines and links."""

    law: float
    passes: float
    words: float
    in_order: float
    clock: float
    elastic: float
    start: float

    @classmethod
    def of(cls, done, system, ranks):
        said = map(float, note(done, LAW).groups())
        depth = float(note(done, r"([\d.]+) cycles through each")[1])
        document = json.loads(Path(system).read_text())
        [network] = [one for one in document["networks"] if one["id"] == "520n_serial_40g"]
        flies = network["values"]["latency_seconds"]["value"] * network["values"]["clock_hz"]["value"]
        return cls(*said, ranks * (depth + flies + 20))


TALL = ("--columns", 64, "--rows", 1500, "--cascaded", 1, *ONCE)


@pytest.mark.parametrize("flow", [(), CREDIT_LINKS])
@pytest.mark.parametrize(
    "benchmark, pipelines, ranks, kind, is_slow",
    [
        ("tsunami", 4, 2, "2d", True),  # links are slower than cells
        ("tsunami", 2, 2, "1d", False),
        pytest.param("tsunami", 4, 4, "1d", True, marks=FULL),
        pytest.param("tsunami", 1, 2, "1d", False, marks=FULL),
        pytest.param("lbm", 4, 4, "2d", False, marks=FULL),
    ],
)
def test_the_clock_follows_the_gain_law(
    tmp_path_factory, boards, benchmark, pipelines, ranks, kind, is_slow, flow
):
    """Within 2 % where the FIFO of two packets holds what comes faster for a while; without it, not."""
    program = on_a_device(tmp_path_factory, benchmark)
    words = (*TALL, *boards(), "--steps", 2 * ranks, "--ranks", ranks, *flow, "--compression", kind)
    done = program.valid(*words, "--pipelines", pipelines)
    made = Gain.of(done, boards()[-1], ranks)
    assert made.words == 64 * 1500 / pipelines
    assert (made.law > 1.02 * made.passes * made.words) == is_slow
    assert made.in_order >= made.law
    expected = made.in_order + made.passes * made.start
    assert made.clock == pytest.approx(expected, rel=0.02)
    print(
        f"the clock: {made.clock / made.law - 1:.2%} of the law, {made.clock / expected - 1:.2%} with starts"
    )


def test_a_link_without_a_fifo_is_slower_than_the_law(tmp_path_factory, boards):
    program = on_a_device(tmp_path_factory, "tsunami")
    words = (*TALL, *boards(), "--steps", 4, "--ranks", 2, "--compression", "2d", "--pipelines", 4)
    made = Gain.of(program.valid(*words, "--elastic-flits", 1), boards()[-1], 2)
    assert made.clock > 1.1 * (made.in_order + made.passes * made.start)


def test_with_a_ratio_the_law_is_that_of_even_cells(program, boards):
    words = ("--ranks", 2, "--timing-only", "--compression", "2d", "--compression-ratio", 1.25)
    done = program.run(*TALL, *boards(), "--steps", 2, "--pipelines", 4, *words)
    assert done.code == 0, done.errors
    made = Gain.of(done, boards()[-1], 2)
    bytes_of_cell = {"lbm": 40, "tsunami": 28}[done.document["run"]["benchmark"]]
    even = 4 * bytes_of_cell / 1.25 / 32  # cycles of a word on links of 32 bytes
    assert made.law == pytest.approx(made.words * even, rel=0.002)
    assert made.clock == pytest.approx(made.law + made.start, rel=0.02)


# Faults ---------------------------------------------------------------------------------------------------

FAULTS = ("flipped", "lost", "swapped", "blank", "late", "dead", "half")


@pytest.mark.parametrize("kind", [*FAULTS[:2], *(pytest.param(one, marks=FULL) for one in FAULTS[2:])])
@pytest.mark.parametrize("compression", ["2d", pytest.param("1d", marks=FULL)])
@pytest.mark.parametrize("flow", [(), CREDIT_LINKS])
def test_wrong_flits_are_found(program, boards, compression, kind, flow):
    words = (*SHORT, *boards(), "--ranks", 3, *flow, "--compression", compression)
    done = program.run(*words, "--inject-fault", f"{kind}@1")
    assert done.code == 1, done.errors
    if done.document is None:
        one_error(done, (1,))
    else:
        assert "halos" in failed(done)
    if kind == "lost":
        assert "what came over a link is not as it was compressed: " in done.errors


# Only time ------------------------------------------------------------------------------------------------


def test_only_time_needs_a_ratio_and_says_it(program, boards):
    words = (*SHORT, *boards(), "--ranks", 2, "--timing-only")
    compressed = (*words, "--compression", "2d")
    error = one_error(program.run(*compressed))
    assert "--timing-only has no bits" in error and "--compression-ratio" in error
    done = program.run(*compressed, "--compression-ratio", 2.5)
    assert done.code == 0, done.errors
    said = note(done, r"compression 2d, as given: ratio ([\d.]+), (\d+) bytes over links as (\d+); ")
    assert float(said[1]) == pytest.approx(2.5, rel=0.01)
    names = {one["name"] for one in done.document["measurements"]}
    assert "cell_steps" in names and "compression_ratio" not in names  # it was given


BAD = {
    "a ratio of nothing": (("--compression-ratio", 2), "without compression"),
    "a ratio beside bits": (("--compression", "1d", "--compression-ratio", 2), "of a run with bits"),
    "many lanes": (("--compression", "1d", "--pipelines", 8), "up to 4 cells a cycle, and not 8"),
    "another one": (("--compression", "3d"), "none, 1d, 2d"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_input_gets_one_line(program, boards, name):
    words, said = BAD[name]
    done = program.run(*SHORT, *boards(), "--ranks", 2, *words)
    assert done.code == 2
    assert re.search(said, one_error(done))

"""The memory that kernel.toml plans: what programs allocate and refuse, and what predictions ask for."""

import re
import shutil

import declared
import pytest
from fabricmark.base import kernels
from stream_program import KERNELS, PROGRAM, Stream, one_error

# Of each benchmark with formulas: its variants, and a run whose shares and blocks do not come out even. Most
# have kernels that tests of the benchmark build, too.
SMALL_PTRANS = ("--size", "300", "--block-size", "16", "--ranks", "3")
BAY = ("--mesh", "bay:1001", "--steps", "20", "--ranks", "2")
UNEVEN = {
    ("stream", "base"): ["--size", "10007", "--replications", "3"],
    ("stream", "throughput"): ["--size", "10007", "--replications", "3"],
    ("gemm", "base"): ["--size", "300", "--block-size", "32", "--replications", "3", "--b-copies", "2"],
    ("gemm", "throughput"): [
        "--size", "301", "--block-size", "32", "--replications", "2", "--data-type", "double",
    ],
    ("random_access", "base"): ["--log-size", "12", "--replications", "4"],
    ("random_access", "throughput"): ["--log-size", "12", "--replications", "2"],
    ("fft", "base"): ["--log-size", "6", "--batch", "7", "--replications", "3"],
    ("fft", "throughput"): ["--log-size", "6", "--batch", "7", "--replications", "3"],
    ("fft", "throughput", "stages"): ["--log-size", "6", "--batch", "7", "--form", "stages"],
    ("fft", "throughput", "distributed"): [
        "--scope", "distributed", "--log-size", "12", "--vector-bytes", "16", "--ranks", "2",
    ],
    ("fft", "throughput", "distributed stages"): [
        "--scope", "distributed", "--form", "stages", "--log-size", "12", "--ranks", "2",
    ],
    ("hpl", "base"): ["--size", "300", "--block-size", "32", "--matrix-banks", "3"],
    ("hpl", "throughput"): ["--size", "384", "--block-size", "128", "--ranks", "3"],
    ("hpl", "dataflow"): ["--size", "256", "--transport", "host", "--ranks", "2"],
    ("ptrans", "base"): [*SMALL_PTRANS, "--matrix-banks", "2", "--round-blocks", "1"],
    ("ptrans", "throughput"): [*SMALL_PTRANS, "--distribution", "diagonal"],
    ("ptrans", "dataflow"): [*SMALL_PTRANS, "--transport", "cpu"],
    ("b_eff", "base"): ["--ranks", "2", "--largest", "4"],
    ("shallow_water", "base"): [*BAY, "--order", "1"],
    ("shallow_water", "throughput"): [*BAY, "--order", "2"],
    ("shallow_water", "dataflow"): [*BAY, "--transport", "host"],
    ("lbm", "base"): ["--columns", "100", "--rows", "37", "--steps", "5", "--pipelines", "4"],
    ("lbm", "throughput"): ["--columns", "101", "--rows", "37", "--steps", "7", "--ranks", "2"],
    ("lbm", "dataflow"): ["--columns", "100", "--rows", "37", "--steps", "5", "--transport", "host"],
    ("tsunami", "base"): ["--columns", "100", "--rows", "37", "--steps", "5", "--pipelines", "2"],
    ("tsunami", "throughput"): ["--columns", "101", "--rows", "37", "--steps", "7", "--ranks", "2"],
    ("tsunami", "dataflow"): ["--columns", "100", "--rows", "37", "--steps", "5", "--transport", "host"],
}  # fmt: skip
# Intel's channels, which PoCL has not: their buffers are made of the plan and of nothing else.
CHANNELS = {(benchmark, "channels") for benchmark in ("b_eff", "hpl", "ptrans")}
# host_transfer's buffers follow from lists of cases, which no formula has.
WITHOUT = {"host_transfer"}


def variants() -> dict[tuple[str, str], list[dict]]:
    """By (benchmark, variant): the buffers among the arguments, and other memory."""
    found = {}
    for path in KERNELS.glob("*/kernel.toml"):
        for name, variant in declared.kernel_toml(path)["variants"].items():
            arguments = [one for all in variant.get("arguments", {}).values() for one in all]
            buffers = [one for one in arguments if one["kind"] == "buffer"] + variant.get("memory", [])
            found[path.parent.name, name] = buffers
    return found


def test_every_variant_with_buffers_plans_its_memory():
    having = {key for key, buffers in variants().items() if buffers and key[0] not in WITHOUT}
    planned = {key for key, buffers in variants().items() if any("bytes" in one for one in buffers)}
    assert planned == having


def test_every_plan_is_run():
    assert {key[:2] for key in UNEVEN} | CHANNELS == {
        key for key, buffers in variants().items() if any("bytes" in one for one in buffers)
    }


@pytest.mark.programs
@pytest.mark.parametrize("run", UNEVEN, ids=" ".join)
def test_programs_allocate_what_is_planned(tmp_path, run):
    """Else the run ends with an error."""
    program = Stream(tmp_path, PROGRAM.with_name(f"fm_{run[0]}"))
    program.valid("--variant", run[1], "--repetitions", "1", *UNEVEN[run])


# b_eff's kernel writes one byte.
SHORTENED = sorted({key[0] for key in UNEVEN} - {"b_eff"})


@pytest.mark.programs
@pytest.mark.parametrize("benchmark", SHORTENED)
def test_a_formula_that_is_too_short_is_found(tmp_path, benchmark):
    """By host code that needs more, a copy that does not fit, a guard zone or the check of the result."""
    folder = shutil.copytree(KERNELS, tmp_path / "kernels")
    toml = declared.file_of_variants(folder, benchmark)
    before, arguments, rest = toml.read_text().partition("[variants.base.arguments]")
    shorter = re.sub(r'bytes = "(\w[^"]*\W[^"]*|\w+_bytes)"', r'bytes = "(\1) / 8"', rest)
    toml.write_text(before + arguments + shorter)
    program = Stream(tmp_path, PROGRAM.with_name(f"fm_{benchmark}"))
    words = ("--variant", "base", "--repetitions", "1", *UNEVEN[benchmark, "base"])
    done = program.run(*words, variables={"FABRICMARK_KERNELS": str(folder)})
    assert done.code == 1 or one_error(done)


def memory(benchmark, settings, ranks=1, **more):
    (found,) = kernels.ask([kernels.wanted(benchmark, "fpga", settings, ranks=ranks, **more)])
    return found["memory"]


DDR = {"kind": "ddr", "placement": "interleaved", "bank_bytes": 8 << 30}


def test_describe_tells_the_memory_and_refuses_what_banks_cannot_hold():
    words = {"size": 20480, "replications": 5, "block_size": 512}
    fits = memory("gemm", words, banks=4, memory=DDR)
    assert fits["bytes"] == 4 * 20480**2 * 4 and "refusal" not in fits
    assert {"size", "block_size", "replications", "data_type"} <= set(fits["parameters"])
    full = memory("gemm", {**words, "size": 46080}, banks=4, memory=DDR)
    assert "17820 MiB are to lie in bank 0 of DDR memory, which holds 8192 MiB" in full["refusal"]["cause"]


def test_describe_counts_the_rank_that_has_most():
    words = {"size": 1000, "block_size": 128, "grid_rows": 2}
    assert memory("hpl", words, ranks=6)["largest"] == 4 * 3 * 128**2 * 4  # of 8 blocks, over 2 x 3


def test_without_ranks_nothing_is_said_of_memory():
    (found,) = kernels.ask([kernels.wanted("gemm", "fpga", {"size": 4096})])
    assert "memory" not in found

"""The memory that kernel.toml plans: what programs allocate and refuse, and what predictions ask for."""

import re
import shutil

import pytest
from fabricmark.base import kernels
from stream_program import KERNELS, PROGRAM, Stream, one_error

# Of each benchmark with formulas: its variants, and a run whose shares and blocks do not come out even.
UNEVEN = {
    ("stream", "base"): ["--size", "10007", "--replications", "3"],
    ("stream", "throughput"): ["--size", "10007", "--replications", "3"],
    ("gemm", "base"): ["--size", "300", "--block-size", "64", "--replications", "3", "--b-copies", "2"],
    ("gemm", "throughput"): ["--size", "301", "--replications", "2", "--data-type", "double"],
    ("random_access", "base"): ["--log-size", "12", "--replications", "4"],
    ("random_access", "throughput"): ["--log-size", "12", "--replications", "2"],
    ("fft", "base"): ["--log-size", "9", "--batch", "7", "--replications", "3"],
    ("hpl", "base"): ["--size", "300", "--block-size", "64", "--matrix-banks", "3"],
}
FORMULA = re.compile(r'bytes = "([^"]+)"')


def planned() -> set[tuple[str, str]]:
    """(benchmark, variant) of which kernel.toml plans any memory."""
    found = set()
    for path in KERNELS.glob("*/kernel.toml"):
        for part in re.split(r"\n(?=\[variants\.)", path.read_text()):
            heading = re.match(r"\[variants\.(\w+)\.arguments\]", part)
            if heading and re.search(r"\bbytes = ", part):
                found.add((path.parent.name, heading[1]))
    return found


def test_every_plan_is_run():
    assert set(UNEVEN) == planned()


@pytest.mark.programs
@pytest.mark.parametrize("benchmark,variant", UNEVEN, ids=" ".join)
def test_programs_allocate_what_is_planned(tmp_path, benchmark, variant):
    """Else the run ends with an error."""
    program = Stream(tmp_path, PROGRAM.with_name(f"fm_{benchmark}"))
    program.valid("--variant", variant, "--repetitions", "1", *UNEVEN[benchmark, variant])


@pytest.mark.programs
@pytest.mark.parametrize("change", ["bytes + 4", "bytes - 4"])
@pytest.mark.parametrize("benchmark", ["gemm", "hpl", "fft"])
def test_another_length_is_refused(tmp_path, benchmark, change):
    folder = shutil.copytree(KERNELS, tmp_path / "kernels")
    toml = folder / benchmark / "kernel.toml"
    text = toml.read_text()
    old = FORMULA.search(text)[1]
    toml.write_text(text.replace(f'"{old}"', f'"{change.replace("bytes", f"({old})")}"', 1))
    program = Stream(tmp_path, PROGRAM.with_name(f"fm_{benchmark}"))
    words = ("--variant", "base", "--repetitions", "1", *UNEVEN[benchmark, "base"])
    line = one_error(program.run(*words, variables={"FABRICMARK_KERNELS": str(folder)}), codes=(2,))
    assert "kernel.toml plans" in line and "correct its formulas" in line


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

"""Replicas with entry points of their own: on the device that there is, and on Intel's FPGA emulator.

The emulator needs them, as FPGAs do, and tests of it are skipped where it is not installed. Other devices are
asked to take them.
"""

import itertools
import os
import re
import shutil
import subprocess

import pytest
from conftest import REPOSITORY
from fabricmark.base import kernels
from stream_program import KERNELS, SHORT, on_a_device, on_emulator, one_error

programs = pytest.mark.programs
full = pytest.mark.full
OWN_ENTRIES = {"FABRICMARK_REPLICAS": "entries"}
# Small, but each replica has work; RandomAccess takes powers of two only.
SMALL = {
    "stream": (("--size", 5000, "--buffer-size", 64), (2, 3)),
    "random_access": (("--log-size", 16, "--buffer-size", 16, "--log-rngs", 3), (2, 4)),
    "fft": (("--log-size", 6, "--batch", 7), (2, 3)),
    "gemm": (("--size", 100, "--block-size", 16, "--gemm-size", 4, "--unroll", 4), (2, 3)),
    "ptrans": (("--size", 100, "--block-size", 16, "--channel-width", 4), (2, 3)),
    "hpl": (("--size", 100, "--block-size", 16, "--register-block", 4, "--launch-items", 2), (2, 3)),
}
CASES = [(name, copies) for name, (_, numbers) in SMALL.items() for copies in numbers]
QUICK = {("hpl", 2)}


def small(name, copies):
    return (*SMALL[name][0], "--variant", "base", "--replications", copies, "--repetitions", 2)


def on_own_entries(factory, name):
    """How to start fm_<name> on the device that there is, which is asked for entry points of their own."""
    made = on_a_device(factory, name)
    made.environment |= OWN_ENTRIES
    return made


@programs
@pytest.mark.parametrize(
    "name, copies", [pytest.param(*case, marks=[full] * (case not in QUICK)) for case in CASES]
)
def test_each_base_kernel_is_valid_with_entry_points_of_its_own(tmp_path_factory, name, copies):
    on_own_entries(tmp_path_factory, name).valid(*small(name, copies))


@programs
@pytest.mark.parametrize("name", SMALL)
def test_each_base_kernel_is_valid_as_fpgas_get_it(tmp_path_factory, tmp_path, name):
    """What stands in place of the lines for CPUs, such as shift registers and turned lanes."""
    shipped = (KERNELS / name / "base.cl").read_text()
    own = tmp_path / f"{name}.cl"
    own.write_text(f"#undef FM_CPU\n{shipped}")
    for copies in (1, 2):
        on_a_device(tmp_path_factory, name).valid(*small(name, copies), "--kernel-file", own)


@programs
@full
@pytest.mark.parametrize("copies", [1, 2])
@pytest.mark.parametrize("name", ["gemm", "ptrans", "hpl", "fft", "random_access"])
def test_a_base_kernel_is_valid_at_its_default_size(tmp_path_factory, name, copies):
    words = ("--variant", "base", "--replications", copies, "--repetitions", 1, "--warmup", 0)
    on_a_device(tmp_path_factory, name).valid(*words)


@programs
@full
@pytest.mark.parametrize("name, copies", CASES)
def test_each_base_kernel_is_valid_on_the_emulator(tmp_path_factory, name, copies):
    done = on_emulator(tmp_path_factory, name).valid(*small(name, copies))
    assert done.document["parameters"]["replications"] == copies


@programs
@full
@pytest.mark.parametrize("name, words", [("b_eff", ("--largest", 10)), ("host_transfer", ("--largest", 16))])
def test_what_has_no_replicas_is_valid_on_the_emulator(tmp_path_factory, name, words):
    on_emulator(tmp_path_factory, name).valid(*words, "--variant", "base", "--repetitions", 2)


def overlapping(timeline):
    """Pairs of executions by different replicas in one operation that ran at the same time."""
    return [
        (one, other)
        for one, other in itertools.combinations(timeline, 2)
        if all(one[key] == other[key] for key in ("rank", "repetition", "operation"))
        and one["replication"] != other["replication"]
        and max(one["started"], other["started"]) < min(one["ended"], other["ended"])
    ]


@programs
@full
@pytest.mark.parametrize("copies", [2, 3])
@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one core")
def test_replicas_overlap_on_the_emulator(tmp_path_factory, copies):
    stream = on_emulator(tmp_path_factory, "stream")
    words = ("--variant", "base", "--size", 2**23, "--repetitions", 5, "--timeline")
    pairs = set()
    for _ in range(5):  # other work on the machine may keep them apart once
        timeline = stream.valid(*words, "--replications", copies).document["timeline"]
        pairs |= {(one["replication"], other["replication"]) for one, other in overlapping(timeline)}
        if pairs == set(itertools.combinations(range(copies), 2)):
            return
    pytest.fail(f"only {pairs} ran at the same time")


@programs
@full
def test_an_emulator_with_one_thread_runs_one_replica_after_the_other(tmp_path_factory):
    stream = on_emulator(tmp_path_factory, "stream")
    words = ("--variant", "base", "--size", 2**23, "--replications", 2, "--timeline")
    done = stream.valid(*words, variables={"CL_CONFIG_CPU_TBB_NUM_WORKERS": "1"})
    assert len(done.document["timeline"]) >= 8 and overlapping(done.document["timeline"]) == []


@pytest.fixture(scope="module")
def stream(tmp_path_factory):
    return on_own_entries(tmp_path_factory, "stream")


@programs
def test_a_bitstream_has_as_many_replicas_as_it_was_built_with(stream):
    bitstream = stream.new_file(".bin")
    words = (*SHORT, "--variant", "base")
    stream.valid(*words, "--replications", 3, "--save-bitstream", bitstream)
    assert "replications = 3\n" in bitstream.with_name(f"{bitstream.name}.toml").read_text()
    done = stream.valid(*SHORT, "--bitstream", bitstream)
    assert done.document["parameters"]["replications"] == 3
    line = one_error(stream.run(*SHORT, "--bitstream", bitstream, "--replications", 2), codes=(2,))
    assert "was built with replications = 3" in line and "says 2" in line


@programs
def test_a_users_kernel_has_to_offer_each_replica(stream, tmp_path):
    shipped = (KERNELS / "stream" / "base.cl").read_text()
    own = tmp_path / "mine.cl"
    words = (*SHORT, "--variant", "base", "--replications", 2, "--kernel-file", own)
    own.write_text(shipped)
    stream.valid(*words)
    only_one = shipped.replace("#include __FILE__", "")
    for text, missing in (
        (only_one, "stream_1"),
        (only_one.replace("FM_REPLICATED(stream)", "stream"), "stream_0"),
    ):
        own.write_text(text)
        assert f"has no kernel '{missing}'" in one_error(stream.run(*words), codes=(2,))


@programs
def test_a_replica_that_computes_wrongly_is_found(stream, tmp_path):
    """The result is that of all replicas: one of three that adds another value is enough."""
    shipped = (KERNELS / "stream" / "base.cl").read_text()
    own = tmp_path / "wrong.cl"
    own.write_text(shipped.replace("+= read[u]", "+= read[u] + (FM_REPLICA == 2)"))
    assert own.read_text() != shipped
    words = (*SHORT, "--variant", "base", "--kernel-file", own, "--replications", 3)
    assert stream.run(*words).code == 1


def preprocessed(compiler, command):
    """Names of the kernels that aoc or v++ would see, as `command` in the folder kernels calls it."""
    words = re.findall(r"-[ID] ?\S+|\S+\.cl", command)
    done = subprocess.run(
        [compiler, "-E", "-P", "-x", "c", *itertools.chain(*(word.split() for word in words))],
        cwd=KERNELS, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return re.findall(r"__kernel void (\w+)\(", done.stdout)


@pytest.fixture(scope="module")
def compiler():
    return shutil.which("g++") or pytest.skip("no g++")


def test_the_documented_commands_make_the_kernels_that_the_host_looks_for(compiler):
    page = (REPOSITORY / "docs" / "platforms.md").read_text()
    aoc, vpp = (re.search(rf"^ +({tool} .*\.cl.*)$", page, re.MULTILINE)[1] for tool in ("aoc", r"v\+\+"))
    assert preprocessed(compiler, aoc) == [f"stream_{i}" for i in range(4)]
    assert preprocessed(compiler, f"{vpp} -D__xilinx__") == ["stream"]
    assert preprocessed(compiler, f"{aoc} -D__xilinx__") == ["stream"]


@programs
@pytest.mark.parametrize("benchmark", SMALL)
def test_a_file_includes_itself_for_each_replica(compiler, benchmark):
    base = kernels.kernel(benchmark).variants["base"]
    (built,) = kernels.ask([kernels.wanted(benchmark, "fpga", {}, variant="base")])
    given = " ".join(
        f"-D{name}={text}" for name, text in built["definitions"].items() if name != "REPLICATIONS"
    )
    command = f"-I . -DINTELFPGA_CL {given} {{}} {benchmark}/{base['file']}"
    assert preprocessed(compiler, command.format("")) == base["entry_points"]
    for copies in (1, 2, 64):
        names = [name for name in base["entry_points"] if name not in base["replicated"]]
        names += [f"{name}_{i}" for i in range(copies) for name in base["replicated"]]
        assert preprocessed(compiler, command.format(f"-DREPLICATIONS={copies}")) == names

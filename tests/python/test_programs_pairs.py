"""Every variant of every kernel.toml with every transport is valid, or refused with the pairs that exist."""

import json
import re
import shutil

import declared
import pytest
from boards import ENGINES
from fabricmark.base import kernels
from simulated_runs import exported
from stream_program import KERNELS, PEER_GPU, PROGRAM, Stream, devices, mpirun, only_error

pytestmark = pytest.mark.programs

FULL = pytest.mark.full
TOMLS = {path.parent.name: declared.kernel_toml(path) for path in sorted(KERNELS.glob("*/kernel.toml"))}
# A benchmark that is not here runs with its own sizes.
SMALL = {
    "stream": ("--size", "1000"),
    "random_access": ("--log-size", "10"),
    "gemm": ("--size", "100"),
    "fft": ("--log-size", "6", "--batch", "4"),
    "hpl": ("--size", "256", "--block-size", "64"),
    "ptrans": ("--size", "100", "--block-size", "32"),
    "host_transfer": ("--largest", "14", "--overlap-bytes", "4096"),
    "b_eff": ("--largest", "4", "--messages", "2"),
    "shallow_water": ("--mesh", "bay:100", "--steps", "10"),
    "lbm": ("--columns", "32", "--rows", "24", "--steps", "7"),
}
QUICK = {"stream", "ptrans", "b_eff"}  # of the others, test files of their own run both variants
REFUSED = re.compile(r"there is no host code for the variant ([\w -]+); choose ([\w, -]+) \(--variant.*\)$")
NO_PEERS = "the transport nvlink does not reach the memory of emulated devices"
NO_CHANNELS = "channels need the compiler for Intel's FPGAs or their emulator"


def transports(benchmark):
    """Values of the benchmark's transport; an empty one where it has none."""
    transport = kernels.kernel(benchmark).parameters.get("transport")
    return transport.values if transport else [""]


def pairs(benchmark):
    """Variant and transport as a message names them, with the words that ask for them."""
    for variant in TOMLS[benchmark]["variants"]:
        for way in transports(benchmark):
            words = ("--variant", variant, *(("--transport", way) if way else ()))
            yield f"{variant} with {way}" if way else variant, words


def check_refused(done, name):
    """One line that names the pair that is asked for, and all that there are; returns these."""
    asked, offered = REFUSED.search(only_error(done, codes=(2,))).groups()
    assert asked == name
    return offered.split(", ")


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """How to start the program of a benchmark; skips where there is no device."""
    made = Stream(tmp_path_factory.mktemp("pairs"))
    devices(made)

    def named(benchmark):
        made.program = PROGRAM.with_name(f"fm_{benchmark}")
        return made

    return named


@pytest.fixture(scope="module")
def extended(tmp_path_factory):
    """A copy of kernels/ in which each benchmark has one variant more, and one transport where it has any."""
    folder = tmp_path_factory.mktemp("extended") / "kernels"
    shutil.copytree(KERNELS, folder)
    for benchmark, toml in TOMLS.items():
        base = toml["variants"]["base"]
        path = declared.file_of_variants(folder, benchmark)
        ways = json.dumps(["pigeon", *transports(benchmark)])
        every = r'values = "transports"\n(memory = "device"\n)?'
        text = re.sub(every, f"values = {ways}\n", path.read_text())
        if "[variants.systolic]" in text:
            continue  # of another benchmark, too
        whole = "defaults = { chunk_bytes = { fpga = 0 } }\n"
        for option in (', issuer = "host"', ", rx_buffers = 64", whole):  # which go with their transports
            text = text.replace(option, "")
        text += f'\n[variants.systolic]\nfile = "{base["file"]}"\n'
        text += f'entry_points = {base["entry_points"]}\nstyle = "{base["style"]}"\n'
        text += text[text.index("[variants.base.arguments]") :].split("\n\n")[0].replace("base", "systolic")
        path.write_text(text)
    return {"FABRICMARK_KERNELS": str(folder)}


@pytest.fixture(scope="module")
def of_kernels(tmp_path_factory):
    """Words for the transports of kernels: a system that has it, and cables for one board."""
    folder = tmp_path_factory.mktemp("systems")
    files = {name: exported(folder, name) for name in ("noctua1", "noctua2")}
    engine = ("--system", files["noctua2"], "--topology", "ring")
    return {"channels": ("--system", files["noctua1"]), **dict.fromkeys(ENGINES, engine)}


@pytest.mark.parametrize("benchmark", [pytest.param(b, marks=[FULL] * (b not in QUICK)) for b in TOMLS])
@pytest.mark.usefixtures("of_the_repository")
def test_every_pair_runs_or_is_refused_by_name(program, of_kernels, benchmark):
    small = (*SMALL.get(benchmark, ()), "--repetitions", "1", "--warmup", "0")
    for name, words in pairs(benchmark):
        variant = TOMLS[benchmark]["variants"][words[1]]
        is_on_boards = variant.get("style") == "dataflow" or "over_fabric" in variant
        more = of_kernels.get(words[-1], ()) if is_on_boards else ()
        how = {}
        if words[-1] == "mpi":  # whose ranks are processes, and which hands any MPI its shared virtual memory
            more, how = ("--memory", "svm"), {"launcher": mpirun(1)}
        if words[-1] == "nvlink":  # which needs a GPU, or what plays one
            how = {"variables": {"LD_PRELOAD": str(PEER_GPU)}}
        done = program(benchmark).run(*words, *more, *small, **how)
        if (name == "channels with channels" and NO_CHANNELS in done.errors) or NO_PEERS in done.errors:
            assert done.code == 2
            continue
        if done.code == 2:
            assert name not in check_refused(done, name)
            continue
        assert (done.code, done.errors) == (0, ""), done.output
        assert {verdict["status"] for verdict in done.document["verdicts"]} == {"passed"}


@pytest.mark.parametrize("benchmark", TOMLS)
def test_a_variant_or_transport_without_code_ends_with_the_pairs_that_there_are(program, extended, benchmark):
    there = {name for name, _ in pairs(benchmark)}
    ways = transports(benchmark)
    made_up = {"systolic": ("--variant", "systolic")}
    if ways[0]:
        made_up = {
            f"systolic with {ways[0]}": ("--variant", "systolic", "--transport", ways[0]),
            "base with pigeon": ("--variant", "base", "--transport", "pigeon"),
        }
    for name, words in made_up.items():
        done = program(benchmark).run(*words, *SMALL.get(benchmark, ()), variables=extended)
        offered = check_refused(done, name)
        assert offered and set(offered) <= there

"""Programs on SYCL's devices, with the real runtime and plugin; skipped where they are not installed."""

import shutil

import pytest
from fabricmark.base import runtimes
from fabricmark.build import design
from fabricmark.build.steps import CLANG
from stream_program import SHORT, devices, on_a_device, only_error
from sycl_libraries import made_for, make_library

pytestmark = pytest.mark.programs
RUNTIME = "sycl"


def on_sycl(factory, name):
    """How to start fm_<name> on SYCL; skips the test where that is not installed."""
    if not runtimes.find(RUNTIME).installed():
        pytest.skip(f"no SYCL (`fabricmark runtimes install {RUNTIME}`)")
    made = on_a_device(factory, name)
    made.environment = runtimes.environment(RUNTIME, made.environment)
    assert all(device["platform"].startswith("SYCL: ") for device in devices(made))
    return made


@pytest.fixture(scope="module")
def stream_on_sycl(tmp_path_factory):
    return on_sycl(tmp_path_factory, "stream")


@pytest.mark.parametrize("memory", ["buffer", "host-pointer", "svm"])
def test_stream_is_valid_in_each_kind_of_memory(stream_on_sycl, memory):
    done = stream_on_sycl.valid(*SHORT, "--memory", memory, "--platform", "sycl")
    environment = done.document["environment"]
    assert environment["device"]["platform"].startswith("SYCL: ")
    assert environment["variables"]["FABRICMARK_SYCL"] is not None


def test_a_wrong_result_is_found(stream_on_sycl):
    assert stream_on_sycl.run(*SHORT, "--inject-fault", "element").code == 1


def test_a_kernel_that_does_not_compile(stream_on_sycl):
    kernel = stream_on_sycl.folder / "broken.cl"
    kernel.write_text("__kernel void stream( nothing )\n")
    line = only_error(stream_on_sycl.run(*SHORT, "--kernel-file", kernel), codes=(2,))
    assert "does not compile" in line and "(SYCL)" in line


def test_kernels_of_two_queues_run_at_the_same_time(stream_on_sycl):
    """Not one after the other, as where a queue's flush waits for its kernels."""
    words = ("--size", "4000000", "--repetitions", "5", "--replications", "2", "--timeline")
    done = stream_on_sycl.valid(*words)
    if done.document["environment"]["device"]["compute_units"] < 2:
        pytest.skip("one core")
    runs = {}
    for entry in done.document["timeline"]:
        runs.setdefault((entry["repetition"], entry["operation"]), {})[entry["replication"]] = entry
    pairs = [both for both in runs.values() if len(both) == 2]
    assert pairs
    assert any(one[1]["submitted"] < one[0]["ended"] for one in pairs)


def test_a_saved_program_is_loaded(stream_on_sycl):
    saved = stream_on_sycl.folder / "saved.bin"
    stream_on_sycl.valid(*SHORT, "--save-bitstream", saved)
    stream_on_sycl.valid(*SHORT, "--bitstream", saved)
    for damaged in (b"nothing", b"fabricmark-programs 0\n", b"fabricmark-programs 2 5 9\nshort"):
        saved.write_bytes(damaged)
        assert "saved.bin" in only_error(stream_on_sycl.run(*SHORT, "--bitstream", saved), codes=(2,))


@pytest.fixture
def library(stream_on_sycl, of_the_repository):
    """Of STREAM's kernels as `fabricmark build --tool icpx` writes them, by clang and the stub of SYCL, whose
    tasks run at once: what loads and starts them is SYCL's plugin. With its sidecar."""
    if not shutil.which(CLANG):
        pytest.skip(f"no {CLANG}")
    found = design.resolve("stream", "base", "pac_d5005", None, {"replications": "2"})
    made = made_for(found, stream_on_sycl.folder, "emulator")
    file = make_library(made, stream_on_sycl.folder / "kernels.so")
    file.with_name(file.name + ".toml").write_text(made.sidecar)
    return file


AS_ON_AN_FPGA = {"FABRICMARK_REPLICAS": "entries"}


def on_library(program, file, *words):
    sizes = ("--size", 100000, "--repetitions", 2)
    return program.run(*sizes, "--bitstream", file, "--platform", "sycl", *words, variables=AS_ON_AN_FPGA)


@pytest.mark.parametrize("memory", ["buffer", "svm"])
def test_kernels_of_a_library_run(stream_on_sycl, library, memory):
    done = on_library(stream_on_sycl, library, "--memory", memory)
    assert done.code == 0 and done.document["environment"]["device"]["platform"].startswith("SYCL: ")
    assert on_library(stream_on_sycl, library, "--inject-fault", "element").code == 1


@pytest.mark.parametrize("words", ["has no fm_start_stream_1", "is cut short"])
def test_a_wrong_library_is_named(stream_on_sycl, library, words):
    file = library.with_name("damaged.so")
    content = library.read_bytes()
    misnamed = content.replace(b"fm_start_stream_1", b"fm_start_strean_1", 1)
    file.write_bytes(misnamed if "stream_1" in words else content[: len(content) * 3 // 4])
    file.with_name(file.name + ".toml").write_bytes(library.with_name(library.name + ".toml").read_bytes())
    line = only_error(on_library(stream_on_sycl, file), codes=(2,))
    assert words in line and "damaged.so" in line


def test_a_library_for_a_board_is_not_for_a_cpu(stream_on_sycl, library):
    file = library.with_name("board.so")
    found = design.resolve("stream", "base", "pac_d5005", None, {"replications": "2"})
    made = made_for(found, library.parent, "emulator")
    make_library(made, file, change=lambda text: text.replace("fm_is_emulated = 1", "fm_is_emulated = 0"))
    file.with_name(file.name + ".toml").write_text(made.sidecar)
    line = only_error(on_library(stream_on_sycl, file), codes=(2,))
    assert "its kernels are for an FPGA" in line


# What is said of memories in the table of a library, and how STREAM, which gives each argument any of its
# three arrays, ends with it.
NUMBERED = [
    ('"buffer", -1', '"buffer", 3', 0, ""),
    ('"first", "buffer", -1', '"first", "buffer", 3', 2, "'first' of a kernel is in memory 3 of the board"),
    ('"first", "buffer", -1', '"first", "buffer", -7', 2, "memory -7 for the argument 'first' of 'stream_0'"),
    ('"scalar", "float", -1', '"scalar", "float", 0', 2, "memory 0 for the argument 'scalar'"),
]


@pytest.mark.parametrize("old, new, code, words", NUMBERED)
def test_memories_of_a_library_are_asked_for(stream_on_sycl, library, old, new, code, words):
    """A CPU has one memory, so that a number changes nothing there."""
    file = library.with_name("numbered.so")
    found = design.resolve("stream", "base", "pac_d5005", None, {"replications": "2"})
    made = made_for(found, library.parent, "emulator")
    assert old in next(iter(made.files.values()))
    make_library(made, file, change=lambda text: text.replace(old, new))
    file.with_name(file.name + ".toml").write_text(made.sidecar)
    done = on_library(stream_on_sycl, file)
    assert done.code == code, done.errors
    assert words in (only_error(done, codes=(code,)) if code else "")


def test_messages_between_ranks(tmp_path_factory):
    done = on_sycl(tmp_path_factory, "b_eff").valid(
        "--transport", "host", "--ranks", "2", "--largest", "10", "--repetitions", "2"
    )
    assert len(done.document["verdicts"]) > 1

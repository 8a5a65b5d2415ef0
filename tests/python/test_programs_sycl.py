"""Programs on SYCL's devices, with the real runtime and plugin; skipped where they are not installed."""

import pytest
from fabricmark.base import runtimes
from stream_program import SHORT, devices, on_a_device, only_error

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


def test_messages_between_ranks(tmp_path_factory):
    done = on_sycl(tmp_path_factory, "b_eff").valid(
        "--transport", "host", "--ranks", "2", "--largest", "10", "--repetitions", "2"
    )
    assert len(done.document["verdicts"]) > 1

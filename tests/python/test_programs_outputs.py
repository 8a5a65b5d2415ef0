"""What a real program does with outputs and disks that take nothing, and kernels that it cannot call."""

import json
import re
import subprocess
from pathlib import Path

import pytest
from fabricmark import results
from stream_program import PROGRAM, SHORT, TIME_OUT, Done, Stream, only_error

pytestmark = pytest.mark.programs


def started(stream, tmp_path, words, redirection="", before="", **variables):
    """fm_stream by a shell in a folder of its own, where temporary files go too."""
    script = f'{before} "$@" {redirection}; exit ${{PIPESTATUS[0]}}'
    done = subprocess.run(
        ["bash", "-c", script, "bash", stream.program, *map(str, words)],
        env={**stream.environment, "TMPDIR": str(tmp_path), **variables},
        cwd=tmp_path, capture_output=True, text=True, errors="replace", timeout=TIME_OUT,
    )  # fmt: skip
    return Done(done.returncode, done.stdout, done.stderr, None)


def rescued(done, folder):
    """The result whose place the message names."""
    path = Path(re.search(r"the result is in '([^']+)'", done.errors)[1])
    assert path.parent == folder
    return results.load(path)


@pytest.mark.parametrize("redirection", [">/dev/full", ">&-"])
def test_a_result_that_standard_output_does_not_take_is_not_lost(stream, tmp_path, redirection):
    done = started(stream, tmp_path, [*SHORT, "--json", "-"], redirection)
    assert "cannot write to standard output: " in only_error(done, codes=(3,))
    assert rescued(done, tmp_path).verdict() == "valid"


MICRO = {
    "allreduce": ("-m", "4:4", "-i", "2", "-x", "0", "H", "H"),
    "collective": ("all_reduce", "--transport", "cpu", "--sizes", "64:64"),
}


@pytest.mark.parametrize("name", MICRO)
def test_a_result_of_a_micro_benchmark_is_not_lost_either(stream, tmp_path, name):
    micro = Stream(stream.folder, stream.program.with_name(f"fm_{name}"))
    done = started(micro, tmp_path, [*MICRO[name], "--ranks", "2", "--json", "-"], ">/dev/full")
    assert "cannot write to standard output: " in only_error(done, codes=(3,))
    assert rescued(done, tmp_path).verdict() == "valid"


def test_a_result_that_does_not_fit_on_the_disk_is_not_lost(stream, tmp_path):
    done = started(stream, tmp_path, [*SHORT, "--json", "/dev/full"])
    assert "cannot write '/dev/full': No space left on device" in only_error(done, codes=(3,))
    assert rescued(done, tmp_path).verdict() == "valid"


@pytest.mark.parametrize("redirection", [">/dev/full", ">&-"])
@pytest.mark.parametrize(("words", "code"), [([], 3), (["--inject-fault", "zeros"], 1)])
def test_a_table_that_nobody_takes_costs_no_result(stream, tmp_path, redirection, words, code):
    done = started(stream, tmp_path, [*SHORT, *words, "--json", "r.json"], redirection)
    line = only_error(done, codes=(code,))
    assert "cannot write to standard output: " in line and "'r.json'" in line
    assert results.load(tmp_path / "r.json").document["run"]["exit_code"] == (1 if words else 0)


@pytest.mark.parametrize("words", [["--json", "-"], [], ["--help"], ["--list-devices"]])
def test_a_reader_that_has_gone_hears_nothing(stream, tmp_path, words):
    # Whether the program is faster than `true` decides between its own end and that by the signal.
    done = started(stream, tmp_path, [*SHORT, *words], "| true")
    assert done.code in (0, 141)
    assert done.errors == ""


@pytest.mark.parametrize("word", ["--help", "--version", "--list-devices"])
def test_answers_that_nobody_takes_are_an_error(stream, tmp_path, word):
    assert "standard output" in only_error(started(stream, tmp_path, [word], ">/dev/full"), codes=(3,))


def test_a_runtime_whose_cache_takes_nothing_is_named(stream, found, tmp_path):
    if "Portable Computing Language" not in found[0]["platform"]:
        pytest.skip("the first device is not PoCL's")
    # A limit on the size of files stands for a full disk, and other than that needs no rights to set up.
    before = "trap '' XFSZ; ulimit -f 1;"
    (tmp_path / "cache").mkdir()
    words = [*SHORT, "--platform", "0", "--vector-width", "2"]
    done = started(stream, tmp_path, words, "", before, POCL_CACHE_DIR=str(tmp_path / "cache"))
    line = only_error(done, codes=(3,))
    assert f"its cache '{tmp_path / 'cache'}' cannot be written" in line and "POCL_CACHE_DIR" in line


KERNEL = "{head} {{ }}\n"
ARRAYS = "__global float* a, __global float* b, __global float* c"
OWN = {
    "another name": ("__kernel void mine(__global float* a)", "has no kernel 'stream', only 'mine'"),
    "too few arguments": ("__kernel void stream(__global float* a)", "takes 1 argument;"),
    "a value in place of memory": (
        "__kernel void stream(float a, __global float* b, __global float* c, float s, uint n, uint u)",
        "argument 1 of the kernel 'stream'",
    ),
    "a value of another size": (
        f"__kernel void stream({ARRAYS}, double s, uint n, uint u)",
        "argument 4 of the kernel 'stream'",
    ),
}


@pytest.mark.parametrize("name", OWN)
def test_an_own_kernel_that_cannot_be_called_is_told_the_signature(stream, tmp_path, name):
    head, cause = OWN[name]
    (tmp_path / "mine.cl").write_text(KERNEL.format(head=head))
    done = stream.run(*SHORT, "--kernel-file", tmp_path / "mine.cl", "--variant", "base")
    line = only_error(done, codes=(2,))
    assert cause in line and "mine.cl" in line
    assert re.search(r"stream/base.cl does: __kernel void stream\(global \w+\* \w+, .*, uint \w+\)", line), (
        line
    )


def test_an_own_kernel_of_another_type_is_remarked_on(stream, tmp_path):
    """It can be called, and may be meant; the check of the results decides."""
    head = f"__kernel void stream({ARRAYS}, uint scalar, uint n, uint u)"
    (tmp_path / "mine.cl").write_text(KERNEL.format(head=head))
    done = stream.run(*SHORT, "--kernel-file", tmp_path / "mine.cl", "--variant", "base")
    assert done.code == 1
    assert any("argument 4 of the kernel 'stream'" in note for note in done.document["notes"])


def test_the_calibration_lists_the_same_devices_as_a_benchmark(stream, found):
    done = Stream(stream.folder, PROGRAM.with_name("fm_calibrate")).start("--list-devices")
    assert done.code == 0 and json.loads(done.output)["devices"] == found

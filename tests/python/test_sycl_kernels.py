"""Kernels in SYCL C++: the sources of kernels/*.cl, which SYCL's compiler builds at run time."""

import tomllib

import pytest
from stream_program import KERNELS, PROGRAM, SHORT, Stream, on_a_device, one_error
from test_programs_sycl import on_sycl

pytestmark = pytest.mark.programs
SYCL = ("--language", "sycl", "--platform", "sycl")
SMALL = {
    "stream": (*SHORT,),
    "gemm": ("--size", "256", "--repetitions", "2"),
    "random_access": ("--log-size", "12", "--repetitions", "2"),
    "fft": ("--log-size", "9", "--batch", "16", "--repetitions", "2"),
    "b_eff": ("--transport", "host", "--ranks", "2", "--largest", "10", "--repetitions", "2"),
}
VARIANTS = [
    (name, variant)
    for name in sorted(SMALL)
    for variant, one in tomllib.loads((KERNELS / name / "kernel.toml").read_text())["variants"].items()
    if one.get("sycl")
]


def test_benchmarks_with_kernels_in_sycl():
    """Both variants of those that compute; b_eff's only kernel."""
    assert len(VARIANTS) == 9


@pytest.mark.parametrize(("name", "variant"), VARIANTS)
def test_kernels_in_sycl_are_valid(tmp_path_factory, name, variant):
    program = on_sycl(tmp_path_factory, name)
    done = program.valid(*SMALL[name], *SYCL, "--variant", variant, timeout=300)
    assert any("SYCL C++" in note for note in done.document["notes"])


@pytest.mark.parametrize("data_type", ["half", "double"])
def test_kernels_of_other_types(tmp_path_factory, data_type):
    words = (*SMALL["stream"], *SYCL, "--data-type", data_type)
    program = on_sycl(tmp_path_factory, "stream")
    if data_type == "half" and program.start(*words[:-4], "--data-type", "half").code == 2:
        pytest.skip("the device has no half")
    program.valid(*words)


def test_a_wrong_kernel_in_sycl_is_found(tmp_path_factory):
    program = on_sycl(tmp_path_factory, "stream")
    source = (KERNELS / "stream" / "throughput.cl").read_text()
    planted = source.replace("factor * first[i] + second[i]", "factor * first[i] - second[i]")
    assert planted != source
    own = program.folder / "wrong.cl"
    own.write_text(planted)
    assert program.run(*SHORT, *SYCL, "--variant", "throughput", "--kernel-file", own).code == 1


def test_a_kernel_that_is_no_sycl_is_refused(tmp_path_factory):
    program = on_sycl(tmp_path_factory, "stream")
    own = program.folder / "broken.cl"
    own.write_text("__kernel void stream( nothing )\n")
    line = one_error(program.run(*SHORT, *SYCL, "--kernel-file", own), codes=(2,))
    assert "does not compile" in line and "(SYCL)" in line


def test_other_devices_and_other_kernels_are_refused(tmp_path_factory):
    stream = on_a_device(tmp_path_factory, "stream")
    line = one_error(stream.run(*SHORT, "--language", "sycl"), codes=(2,))
    assert "no device of SYCL" in line and "runtimes install sycl" in line
    ptrans = Stream(stream.folder, PROGRAM.with_name("fm_ptrans"))
    line = one_error(ptrans.run("--language", "sycl", "--size", "16"), codes=(2,))
    assert "is no SYCL C++" in line
    assert "--language" in one_error(stream.run("--language", "cuda"), codes=(2,))

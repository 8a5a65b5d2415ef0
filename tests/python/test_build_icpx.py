"""`fabricmark build --tool icpx`: the wrapper of SYCL kernels, which clang compiles against a stub of SYCL.

No icpx was at hand. The stub (tests/sycl_stub) has what the wrapper uses; one wrapper is also loaded and run.
"""

import ctypes
import os
import shutil
import subprocess
from dataclasses import replace

import pytest
from conftest import REPOSITORY, run_in_process
from fabricmark.base.errors import FabricmarkError
from fabricmark.build import command, design, icpx
from fabricmark.build.steps import CLANG, How
from sycl_libraries import compiled, made_for, make_library

pytestmark = [pytest.mark.programs, pytest.mark.usefixtures("of_the_repository")]
# Of each benchmark with kernels in SYCL C++: on boards with interleaved memory and with memory by argument.
DESIGNS = {
    "stream": ("stream", "base", "pac_d5005", {}),
    "stream by argument": ("stream", "base", "520n_mx", {"replications": "3", "unroll": "2"}),
    "stream of half": ("stream", "base", "pac_d5005", {"data_type": "half", "vector_width": "16"}),
    "random_access": ("random_access", "base", "520n_mx", {"replications": "2"}),
    "fft": ("fft", "base", "520n_mx", {"replications": "2", "log_size": "9"}),
    "fft with an even size": ("fft", "base", "pac_d5005", {"log_size": "12"}),
    "gemm": ("gemm", "base", "520n_mx", {"replications": "2"}),
    "gemm of double": ("gemm", "base", "pac_d5005", {"data_type": "double"}),
    "gemm of both": ("gemm", "base", "pac_d5005", {"data_type": "mixed"}),
    "b_eff": ("b_eff", "base", "pac_d5005", {}),
    "b_eff over pipes": ("b_eff", "channels", "520n", {}),
    "b_eff over own pipes": ("b_eff", "channels", "520n", {"internal_channels": "true"}),
    "ptrans over pipes": ("ptrans", "channels", "520n", {}),
    "hpl over pipes": ("hpl", "channels", "520n", {}),
}


def resolved(name):
    benchmark, variant, board, given = DESIGNS[name]
    return design.resolve(benchmark, variant, board, None, given)


@pytest.fixture(scope="module", autouse=True)
def clang():
    if not shutil.which(CLANG):
        pytest.skip(f"no {CLANG}")


@pytest.mark.parametrize("name", DESIGNS)
def test_each_wrapper_compiles(tmp_path, name):
    found = resolved(name)
    made = made_for(found, tmp_path)
    done = compiled(made)
    assert (done.returncode, done.stderr) == (0, "")
    text = next(iter(made.files.values()))
    names = [one for kernel in found.kernels for one in icpx.aoc.entry_points(kernel)]
    assert all(f'{{"{one}", "fm_start_{one}", ' in text for one in names)
    assert f"fm_entry_point_count = {len(names)};" in text


# What is planted in STREAM's wrapper; a kind or an order that is another kernel's is no wrapper of this one.
PLANTED = [
    (
        "void, void, void, float, unsigned int, unsigned int",
        "void, void, float, void, unsigned int, unsigned int",
    ),
    (
        "void, void, void, float, unsigned int, unsigned int",
        "void, void, void, double, unsigned int, unsigned int",
    ),
    ("void, void, void, float, unsigned int, unsigned int", "void, void, void, float, unsigned int"),
    ("first), fm::on_device(second)", "first), scalar"),
    ("class stream_0_task;", ""),
    ('#include "stream/base.cl"', ""),
]


@pytest.mark.parametrize("old, new", PLANTED)
def test_a_wrong_wrapper_does_not_compile(tmp_path, old, new):
    made = made_for(resolved("stream"), tmp_path)
    assert old in next(iter(made.files.values()))
    done = compiled(made, change=lambda text: text.replace(old, new, 1))
    assert done.returncode != 0 and "error" in done.stderr


def test_a_kernel_of_other_arguments_does_not_compile(tmp_path):
    """As where kernel.toml and the source differ."""
    found = resolved("random_access")
    (kernel,) = found.kernels
    first, second, *others = kernel.arguments
    swapped = replace(found, kernels=(replace(kernel, arguments=(first, others[0], second, *others[1:])),))
    done = compiled(made_for(swapped, tmp_path))
    assert done.returncode != 0 and "arguments of random_access_0" in done.stderr


@pytest.mark.skipif("SYCL_INCLUDE" not in os.environ, reason="SYCL_INCLUDE names no headers of Intel's")
def test_each_wrapper_compiles_with_intels_headers(tmp_path):
    """Those of PyPI's intel-sycl-rt 2025.0.5, the last with FPGAs, by SYCL_INCLUDE: its folder include."""
    folder = os.environ["SYCL_INCLUDE"]
    places = ["-isystem", folder, "-isystem", f"{folder}/sycl", "-DSYCL_DISABLE_FSYCL_SYCLHPP_WARNING"]
    for name in DESIGNS:
        done = compiled(made_for(resolved(name), tmp_path), "-fsyntax-only", headers=places)
        assert (done.returncode, done.stderr) == (0, ""), name


@pytest.mark.skipif("SYCL_INCLUDE" not in os.environ, reason="SYCL_INCLUDE names no headers of Intel's")
def test_the_plugin_chooses_memories_with_intels_headers():
    """Later SYCLs have no such property, and the plugin says so when a board is to have it."""
    folder = os.environ["SYCL_INCLUDE"]
    places = ["-isystem", folder, "-isystem", f"{folder}/sycl", "-I", str(REPOSITORY / "kernels")]
    source = REPOSITORY / "src" / "device" / "sycl" / "plugin" / "devices.cpp"
    line = ["c++", "-std=c++20", *places, str(source)]
    done = subprocess.run([*line, "-fsyntax-only"], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    done = subprocess.run([*line, "-E"], capture_output=True, text=True, check=False, timeout=120)
    assert "property::usm::buffer_location(" in done.stdout


def loaded_from(folder, found):
    """A library of the wrapper, compiled by clang for this machine, where the stub runs a task at once."""
    return ctypes.CDLL(str(make_library(made_for(found, folder, "emulator"), folder / "kernels.so")))


def start(loaded, kernel, *arguments):
    """A queue and an event of the stub have no content. A whole number is a uint, an array a buffer."""
    spare = ctypes.create_string_buffer(64)
    values = [ctypes.c_uint(one) if isinstance(one, int) else one for one in arguments]
    arrays = {i: ctypes.addressof(one) for i, one in enumerate(values) if isinstance(one, ctypes.Array)}
    values = [ctypes.c_void_p(arrays[i]) if i in arrays else one for i, one in enumerate(values)]
    places = (ctypes.c_void_p * len(values))(*map(ctypes.addressof, values))
    getattr(loaded, f"fm_start_{kernel}")(spare, None, 0, spare, places)


def test_messages_go_through_own_pipes(tmp_path):
    """Pair 0 sends, and pair 1 takes it from the pipes that a cable would join; a wrong byte is found."""
    loaded = loaded_from(tmp_path, resolved("b_eff over own pipes"))
    received, wrong = (ctypes.c_ubyte * 64)(), (ctypes.c_uint * 3)()
    for first, expected, count in ((5, 5, 0), (5, 6, 3 * 64)):
        start(loaded, "send_0", ctypes.c_ubyte(first), 3, 1)
        start(loaded, "receive_1", received, wrong, ctypes.c_ubyte(expected), 3, 1)
        assert wrong[0] == count
    begin = (5 + 128 * 17) % 256  # of the third chunk, as content.h says
    assert list(received) == [(begin + 17 * k) % 256 for k in range(64)]


def test_random_access_updates_as_its_sequence_says(tmp_path):
    given = {"replications": "1", "buffer_size": "1", "ignore_dependence": "false", "log_rngs": "2"}
    found = design.resolve("random_access", "base", "pac_d5005", None, given)
    loaded = loaded_from(tmp_path, found)
    log_table, each = 6, 8
    seeds = [0x9E3779B97F4A7C15 * (i + 1) % 2**64 for i in range(2 ** found.parameters["log_rngs"])]
    table = (ctypes.c_ulong * 2**log_table)()
    arguments = (ctypes.c_ulong(each), log_table, log_table, ctypes.c_ulong(0))
    start(loaded, "random_access_0", table, (ctypes.c_ulong * len(seeds))(*seeds), *arguments)
    expected = [0] * 2**log_table
    for number in seeds:
        for _ in range(each):
            expected[number % 2**log_table] ^= number
            number = number << 1 & 2**64 - 1 ^ (7 if number >> 63 else 0)
    assert list(table) == expected and any(expected)


def test_the_library_starts_the_kernels_that_its_table_names(tmp_path):
    loaded = loaded_from(tmp_path, resolved("stream by argument"))
    count = ctypes.c_uint.in_dll(loaded, "fm_entry_point_count").value
    assert count == 3
    assert ctypes.c_int.in_dll(loaded, "fm_is_emulated").value == 1

    class Entry(ctypes.Structure):
        _fields_ = [
            ("name", ctypes.c_char_p), ("start", ctypes.c_char_p),
            ("argument_count", ctypes.c_uint), ("arguments", ctypes.c_void_p),
        ]  # fmt: skip

    entries = (Entry * count).in_dll(loaded, "fm_entry_points")
    assert [one.name for one in entries] == [b"stream_0", b"stream_1", b"stream_2"]
    found = resolved("stream by argument").parameters
    items = found["buffer_size"] * found["vector_width"]
    # A vector of 16 numbers is aligned to its size.
    space = ctypes.c_float * (items + 16)
    arrays = [space() for _ in range(3)]
    places = [(ctypes.addressof(one) + 63) // 64 * 64 for one in arrays]
    first, second, result = (((ctypes.c_float * items).from_address(place)) for place in places)
    first[:], second[:] = [1.0] * items, [float(i % 7) for i in range(items)]
    assert entries[1].start == b"fm_start_stream_1"
    start(loaded, "stream_1", *map(ctypes.c_void_p, places), ctypes.c_float(3.0), 1, 1)
    assert list(result) == [3.0 + i % 7 for i in range(items)]


def test_memory_by_argument_and_its_place_in_the_table(tmp_path):
    found = resolved("fft")
    text = next(iter(made_for(found, tmp_path).files.values()))
    for argument, banks in found.kernels[0].buffers.items():
        for i, bank in enumerate(banks):
            assert f'{{"{argument}", "buffer", {bank}}}' in text
            assert f"decltype(fft_{i})>, {bank}> {argument}(" in text
    emulated = next(iter(made_for(found, tmp_path, "emulator").files.values()))
    assert "fm::located" not in emulated and '{"source", "buffer", -1}' in emulated


def test_io_pipes_have_the_numbers_of_their_interfaces(tmp_path):
    """Inputs and outputs in turn, or as an option says; read from the classes of the pipes."""
    found = resolved("b_eff over pipes")
    made = made_for(found, tmp_path)
    asked = 'static_assert(in_3::place == {} && out_3::place == {}, "places");\n'
    assert compiled(made, change=lambda text: text + asked.format(6, 7)).returncode == 0
    assert "places" in compiled(made, change=lambda text: text + asked.format(7, 6)).stderr
    extra = ["-DFM_PIPE_INPUT(n)=(4+(n))", "-DFM_PIPE_OUTPUT(n)=(n)"]
    other = icpx.steps(found, "a_bsp:with_pipes", tmp_path, extra)
    assert command.judged("icpx", found, other, How()) == []
    assert compiled(other, change=lambda text: text + asked.format(7, 3)).returncode == 0


@pytest.mark.parametrize("target, words, ending", [
    ("hw", ["-shared", "-Xshardware", "-Xstarget=intel_s10sx_pac:pac_s10_usm"], ".so"),
    ("report", ["-fsycl-link=early", "-Xshardware", "-Xstarget=intel_s10sx_pac:pac_s10_usm"], ".a"),
    ("emulator", ["-shared", "-DFPGA_EMULATOR"], ".so"),
])  # fmt: skip
def test_each_target_has_its_options(tmp_path, target, words, ending):
    made = made_for(resolved("stream"), tmp_path, target, clock_mhz=300.0, relaxed=False)
    (given,) = made.commands
    assert given[:3] == ["icpx", "-fsycl", "-fintelfpga"]
    assert set(words) <= set(given) and made.bitstream.suffix == ending
    assert ("-Xshardware" in given) == ("-Xsclock=300MHz" in given) == (target != "emulator")
    assert {"-fp-model=precise", "-no-fma"} <= set(given)
    assert bool(made.sidecar) == (target != "report")
    assert target == "report" or 'language = "SYCL C++"' in made.sidecar
    assert target == "report" or 'tools = "icpx 2024.0"' in made.sidecar


FAKE_TOOL = """#!/bin/sh
while [ "$1" != -o ]; do file=$1; shift; done
test -f "$file" && echo made > "$2"
"""


@pytest.mark.parametrize("words, made", [
    ((), "gemm.so"), (("--target", "emulator"), "gemm.so"), (("--target", "report"), "gemm.a"),
])  # fmt: skip
def test_the_command_writes_wrapper_library_and_sidecar(tmp_path, words, made):
    tool = tmp_path / "tools" / "icpx"
    tool.parent.mkdir()
    tool.write_text(FAKE_TOOL)
    tool.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tool.parent}:{os.environ['PATH']}"}
    line = ["build", "gemm", "--system", "pac_d5005", "--language", "sycl", "--output", "out", *words]
    done = run_in_process(line, environment, tmp_path, tmp_path)
    assert done.returncode == 0, done.stderr
    beside = {"gemm.icpx.cpp", made} | ({f"{made}.toml"} if made.endswith(".so") else set())
    assert {file.name for file in (tmp_path / "out").iterdir()} == beside


def test_nobody_gets_icpx_who_does_not_ask(tmp_path):
    """Neither where a board has packages of both of Intel's tools, nor where only Intel's emulate."""
    for words in (["stream", "--system", "520n_mx"], ["b_eff", "--target", "emulator"]):
        done = run_in_process(["build", *words, "--dry-run"], dict(os.environ), tmp_path, tmp_path)
        assert done.returncode == 0 and "\naoc " in done.stdout, done.stderr


@pytest.mark.parametrize("words, cause", [
    (["hpl", "--system", "pac_d5005", "--language", "sycl"], "not written in SYCL C++"),
    (["stream", "--tool", "v++", "--language", "sycl"], "SYCL C++ is for icpx"),
    (["stream", "--tool", "icpx", "--language", "hls"], "not written in SYCL C++"),
    (["stream", "--tool", "icpx", "--target", "hw_emu"], "icpx makes nothing for hw_emu"),
    (["stream", "--target", "hw_emu", "--language", "sycl"], "icpx makes nothing for hw_emu"),
    (["stream", "--tool", "icpx"], "rule target-missing"),
    (["stream", "--tool", "icpx", "--tool-version", "20.4"], "no rules for icpx 20.4"),
    (["fft", "--system", "520n_mx", "--tool", "icpx", "--tool-version", "2023.1"], "rule location-version"),
    (["touch", "--tool", "icpx"], "touch's variant base is not written in SYCL C++"),
])  # fmt: skip
def test_what_cannot_be_is_refused_in_one_line(tmp_path, words, cause):
    done = run_in_process(["build", *words, "--dry-run"], dict(os.environ), tmp_path, tmp_path)
    assert done.returncode == 2 and done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert cause in line and "; " in line


@pytest.mark.parametrize("line, cause", [
    ("inspect stream --language sycl", "nothing is estimated of SYCL C++"),
    ("run stream --emulate --system u280_hbm --language sycl", "emulated cards take no SYCL C++"),
])  # fmt: skip
def test_where_sycl_would_mean_nothing_it_is_refused(tmp_path, line, cause):
    done = run_in_process(line.split(), dict(os.environ), tmp_path, tmp_path)
    assert done.returncode == 2 and cause in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize("benchmark, variant, board, cause", [
    ("ptrans", "base", "pac_d5005", "ptrans's variant base is not written in SYCL C++"),
    ("hpl", "base", "pac_d5005", "hpl's variant base is not written in SYCL C++"),
    ("stream", "base", "520n_100g", "no support package of 520n_100g for oneAPI is known"),
    ("stream", "base", "u250", "no support package of u250 for oneAPI is known"),
])  # fmt: skip
def test_what_icpx_does_not_make(tmp_path, benchmark, variant, board, cause):
    found = design.resolve(benchmark, variant, board, None, {})
    with pytest.raises(FabricmarkError, match=cause):
        icpx.steps(found, None, tmp_path, [])

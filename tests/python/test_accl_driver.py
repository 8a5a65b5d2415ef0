"""The plugin for ACCL's engine on a card, with a stub of ACCL's driver, and b_eff over it on emulated cards.

No card was there. The stub (tests/accl_stub) writes down what reaches it; where ACCL_INCLUDE names
folders with headers of ACCL, of its network layer and of XRT (separated by colons), the plugin is compiled
against these.
"""

import ctypes
import json
import os
import shutil
import subprocess
from dataclasses import replace

import pytest
from accl_cards import (
    BUILT_B_EFF,
    KERNELS_OF_B_EFF,
    PLUGIN,
    PROGRAMS,
    STUB,
    Design,
    bitstream,
    compiled,
    plugin_of_stub,
)
from accl_cards import run as run_on_cards
from conftest import REPOSITORY
from fabricmark.base import xrt
from fabricmark.build import steps

pytestmark = [pytest.mark.programs, pytest.mark.usefixtures("of_the_repository")]
PROGRAM = PROGRAMS / "fm_b_eff"
ON_CARDS = pytest.mark.skipif(
    xrt.find() is None or shutil.which(steps.CLANG) is None, reason="AMD's XRT or clang is not installed"
)
RANKS = "10.10.10.1:5500/0/4096,10.10.10.2:5501/1/4096"


@pytest.fixture(scope="module")
def plugin(tmp_path_factory):
    return plugin_of_stub(tmp_path_factory.mktemp("accl"))


class Rank(ctypes.Structure):
    _fields_ = [("address", ctypes.c_char_p), ("port", ctypes.c_int32)]


class Settings(ctypes.Structure):
    _fields_ = [
        ("device", ctypes.c_void_p), ("bitstream", ctypes.c_char_p), ("protocol", ctypes.c_int32),
        ("ranks", ctypes.POINTER(Rank)), ("rank_count", ctypes.c_int32), ("rank", ctypes.c_int32),
        ("receive_buffers", ctypes.c_uint32), ("receive_bytes", ctypes.c_uint32),
        ("timeout", ctypes.c_uint32),
    ]  # fmt: skip


class Functions(ctypes.Structure):
    _fields_ = [
        ("version", ctypes.c_uint32), ("last_words", ctypes.CFUNCTYPE(ctypes.c_char_p)),
        ("open", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.POINTER(Settings), ctypes.POINTER(ctypes.c_void_p))),
        ("places", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int32,
                                    ctypes.c_uint32 * 2)),
        ("close", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
        ("communicator", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int32),
                                          ctypes.c_int32, ctypes.POINTER(ctypes.c_uint32))),
    ]  # fmt: skip


# What hosts of ACCL call: over UDP what initialize_accl of accl_network_utils does, but for the names of the
# two units of the network.
OVER_UDP = [
    "device 1", "ip cmac_0:{cmac}", "ip networklayer:{poe_0}", f"configure_vnx {RANKS} 1 0",
    "ip ccl_offload:{ccl_offload_0}", "kernel hostctrl:{hostctrl_0_0} exclusive", "ACCL 0 1",
    f"initialize {RANKS} 1 16 4096 4096 65536", "set_timeout 1000000",
    "create_communicator 10.10.10.2:5501/1/4096 0", "~ACCL",
]  # fmt: skip
OVER_TCP = [
    "device 1", f"initialize_accl {RANKS} 1 0 1 some.xclbin 16 4096 4096 0",
    "ip ccl_offload:{ccl_offload_0}", "kernel hostctrl:{hostctrl_0_0} exclusive", "ACCL 0 1",
    "set_timeout 1000000", "create_communicator 10.10.10.2:5501/1/4096 0", "~ACCL",
]  # fmt: skip


@pytest.mark.parametrize("protocol, calls", [(0, OVER_UDP), (1, OVER_TCP)])
def test_the_engine_is_set_up_as_hosts_of_accl_do(plugin, tmp_path, monkeypatch, protocol, calls):
    log = tmp_path / "calls"
    monkeypatch.setenv("ACCL_STUB_LOG", str(log))
    entry = ctypes.CDLL(str(plugin)).fabricmark_accl_functions
    entry.restype = ctypes.POINTER(Functions)
    functions = entry().contents
    ranks = (Rank * 2)((b"10.10.10.1", 5500), (b"10.10.10.2", 5501))
    given = Settings(1, b"some.xclbin", protocol, ranks, 2, 1, 16, 4096, 1000000)
    engine, places, made = ctypes.c_void_p(), (ctypes.c_uint32 * 2)(), ctypes.c_uint32()
    assert functions.open(given, engine) == 0 and functions.places(engine, 0, 2, places) == 0
    assert list(places) == [0x12000324, 0x400 + 4 * 5]  # rank 1 of 2; of int32
    assert functions.places(engine, 0, 9, places) == 1 and b"type 9" in functions.last_words()
    assert functions.communicator(engine, (ctypes.c_int32 * 1)(1), 1, made) == 0
    assert functions.places(engine, made.value, 2, places) == 0 and places[0] == 0x01010324
    assert functions.communicator(engine, (ctypes.c_int32 * 1)(2), 1, made) == 1
    functions.close(engine)
    assert log.read_text().splitlines() == calls
    failing = "initialize_accl" if protocol else "configure_vnx"
    monkeypatch.setenv("ACCL_STUB_FAILS", failing)
    assert functions.open(given, engine) == 1
    assert functions.last_words() == f"no luck with {failing}".encode()


@pytest.mark.skipif("ACCL_INCLUDE" not in os.environ, reason="ACCL_INCLUDE names no headers of ACCL")
def test_the_plugin_compiles_with_accls_headers():
    """What ACCL's headers take of Coyote, jsoncpp and ZeroMQ may be missing."""
    folders = [*os.environ["ACCL_INCLUDE"].split(":"), str(STUB / "beside")]
    done = compiled([word for folder in folders for word in ("-isystem", folder)], "-Werror", "-fsyntax-only")
    assert (done.returncode, done.stderr) == (0, "")


def test_cmake_finds_the_driver_and_makes_the_plugin(tmp_path):
    """In a clone whose headers and libraries are the stub's."""
    clone = tmp_path / "ACCL"
    shutil.copytree(STUB, clone / "include")
    (clone / "lib").mkdir()
    source = tmp_path / "empty.cpp"
    source.write_text("")
    libraries = [
        clone / "lib" / f"lib{name}.so" for name in ("accl_network_utils", "vnx", "accl", "xrt_coreutil")
    ]
    for library in libraries:
        subprocess.run(["c++", "-shared", "-o", str(library), str(source)], check=True, timeout=60)
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(plugin LANGUAGES CXX)\n"
        f"list(APPEND CMAKE_MODULE_PATH {REPOSITORY / 'tools' / 'cmake'})\n"
        f"add_subdirectory({PLUGIN.parent} driver)\n"
    )
    made = tmp_path / "made"
    configure = ["cmake", "-S", str(tmp_path), "-B", str(made), f"-DACCL_ROOT={clone}"]
    kept = {"capture_output": True, "text": True, "check": False, "timeout": 120}
    done = subprocess.run(configure, **kept)
    assert done.returncode == 0, done.stderr
    done = subprocess.run(["cmake", "--build", str(made)], **kept)
    assert done.returncode == 0, done.stdout
    assert ctypes.CDLL(str(made / "driver" / "libfabricmark_accl_driver.so")).fabricmark_accl_functions
    libraries[0].unlink()
    shutil.rmtree(made)
    done = subprocess.run(configure, **kept)
    assert done.returncode != 0 and "not found: libaccl_network_utils" in " ".join(done.stderr.split())


CONFIG = """[connectivity]
nk=ccl_offload:1:ccl_offload_0
nk=arrive:1:arrive_0
stream_connect=control.commands:ccl_offload_0.calls:512
stream_connect=ccl_offload_0.ended:control.statuses:512
stream_connect=joiner.joined:ccl_offload_0.made:512
stream_connect=ccl_offload_0.wire:link_0.tx
stream_connect=link_0.rx:arrive_0.wire
stream_connect=arrive_0.to_kernels:router.arriving
"""
B_EFF = Design(
    "b_eff",
    '#include "b_eff/dataflow.cpp"\n#include "engine.hpp"\n',
    CONFIG + KERNELS_OF_B_EFF,
    BUILT_B_EFF,
    modes=("streaming",),
)


@pytest.fixture(scope="module")
def card(tmp_path_factory):
    return bitstream(tmp_path_factory.mktemp("b_eff_on_cards"), B_EFF)


def run(card, plugin, *words, **variables):
    """Of two ranks on two cards."""
    usual = ("--mode", "streaming", "--largest", "8", "--repetitions", "2")
    return run_on_cards("fm_b_eff", card, plugin, *usual, *words, **variables)


@ON_CARDS
def test_b_eff_is_valid_on_two_emulated_cards(card, plugin, tmp_path):
    """Streaming, through an engine in ACCL's place: hosts, kernels and their words are the real ones."""
    addresses, log, result = tmp_path / "cards.json", tmp_path / "calls", tmp_path / "result.json"
    addresses.write_text(json.dumps({"ips": ["10.1.0.5", "10.1.0.6"]}))
    told = {"FABRICMARK_ACCL_ADDRESSES": str(addresses), "ACCL_STUB_LOG": str(log)}
    done = run(card, plugin, "--json", result, **told)
    assert done.returncode == 0, done.stderr
    document = json.loads(result.read_text())
    assert {one["status"] for one in document["verdicts"]} == {"passed"}
    assert {one["kind"] for one in document["measurements"]} == {"emulated"}
    assert document["environment"]["variables"]["FABRICMARK_ACCL"] == str(plugin)
    calls = log.read_text()
    assert calls.count("initialize 10.1.0.5:5500/0/1048576,10.1.0.6:5501/1/1048576 ") == 2
    assert run(card, plugin, "--inject-fault", "element").returncode == 1


@ON_CARDS
def test_what_cannot_be_driven_is_one_line(card, plugin, tmp_path):
    wrong = tmp_path / "cards.json"
    wrong.write_text('{"ips": ["10.1.0.5"]}')
    cases = [
        (None, (), {}, 3, "FABRICMARK_ACCL is not set; build ACCL's driver and the plugin"),
        (PROGRAM, (), {}, 3, "does not drive ACCL's engine: "),
        (plugin, (), {"ACCL_STUB_FAILS": "configure_vnx"}, 3, "no luck with configure_vnx"),
        (plugin, (), {"FABRICMARK_ACCL_ADDRESSES": str(wrong)}, 2, "has 1 addresses for 2 ranks"),
        (plugin, (), {"FABRICMARK_ACCL_ADDRESSES": str(PROGRAM)}, 2, "has no list of addresses"),
        (plugin, ("--issuer", "host"), {}, 2, "use --issuer logic"),
    ]
    for file, words, told, code, text in cases:
        done = run(card, file, *words, **told)
        assert done.returncode == code, done.stderr
        lines = [line for line in done.stderr.splitlines() if text in line]
        assert len(lines) == 1, done.stderr


@ON_CARDS
def test_a_call_that_fails_makes_the_run_invalid(plugin, tmp_path):
    done = run(bitstream(tmp_path, replace(B_EFF, options=("-DSTATUS=64",))), plugin)
    assert (
        done.returncode == 1
        and "calls of ACCL's engine have failed, the first with status 0x40" in done.stderr
    )

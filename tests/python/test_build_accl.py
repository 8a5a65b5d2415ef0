"""Link configurations of kernels with ACCL's engine, judged by the rules of v++, and planted mistakes.

Neither v++ nor ACCL's own kernels were there. Where ACCL_HLS names driver/hls in a clone of ACCL, what
test/refdesigns/gen_config.py of that clone prints is compared.
"""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from conftest import REPOSITORY
from fabricmark.base.errors import FabricmarkError
from fabricmark.build import accl, aoc, card, command, design, rules, sidecars, vitis
from fabricmark.build.design import Design, Kernel, Memory
from fabricmark.build.steps import USUAL, How
from fabricmark.build.tool_reports import Report
from hls_support import STUB, built, run

BENCHMARKS, BOARDS, NETWORKS = (tuple(accl.data()[name]) for name in ("designs", "boards", "networks"))
VERSIONS = rules.load("v++").versions
HBM = Memory("hbm", "host", 32, 2**28)
OURS = r"(?m)^(nk|sp|slr|stream_connect)=.*\b(control|make_.|take_.|joiner|router)\b.*\n"


def made_up(benchmark, board="u280_hbm", network="accl-udp"):
    source = REPOSITORY / "kernels" / benchmark / "dataflow.cpp"
    known = accl.signatures(source)
    kernels = tuple(
        Kernel(name, False, len(of), {argument: () for argument in known[name].memory})
        for name, of in accl.units(benchmark).items()
    )
    return Design(
        benchmark, "dataflow", source, {}, {}, kernels, HBM, False, board, language=design.HLS, engine=network
    )


def script(found, tmp_path, how=USUAL):
    made = vitis.steps(found, None, tmp_path, [], how)
    (config,) = [text for file, text in made.files.items() if file.suffix == ".cfg"]
    return made, config


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_every_configuration_passes_for_each_board_network_and_version(benchmark, tmp_path):
    passed = set()
    for board in BOARDS:
        for network in NETWORKS:
            for version in VERSIONS:
                found, how = made_up(benchmark, board, network), How(version=version)
                if not any(one.span.has(version) for one in rules.board("v++", board).platforms):
                    continue
                made, config = script(found, tmp_path, how)
                assert [one.text for one in command.judged("v++", found, made, how)] == []
                units = re.findall(r"^nk=\w+:\d+:(\S+)$", config, re.M)
                assert {"ccl_offload_0", "hostctrl_0_0", "arith_0", "poe_0", "cmac"} <= set(
                    ".".join(units).split(".")
                )
                passed.add((board, network))
    assert passed == {(board, network) for board in BOARDS for network in NETWORKS}


# Of our kernels: who commands the engine, and who is at its streams of data.
ENDS = {
    "b_eff": ({"control"}, "joiner", "router"),
    "ptrans": ({"put", "exchange"}, "send", "receive"),
    "hpl": ({"carry"}, "lb_user_krnl_0", "lb_user_krnl_0"),
    "shallow_water": ({"control"}, "send", None),
}


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_commands_reach_the_engine_and_data_its_streams(benchmark, tmp_path):
    _, config = script(made_up(benchmark), tmp_path)
    joined = [one.split(":")[:2] for one in re.findall(r"^stream_connect=(\S+)$", config, re.M)]
    to = {reader: writer for writer, reader in joined}
    callers, sends, takes = ENDS[benchmark]
    found, arbiter = set(), to["ccl_offload_0.s_axis_call_req"].partition(".")[0]
    while arbiter.startswith("arb_"):
        found.add(to[f"{arbiter}.cmd_clients_1"].partition(".")[0])
        arbiter = to[f"{arbiter}.cmd_clients_0"].partition(".")[0]
    assert found == callers and arbiter == "hostctrl_0_0"
    assert to["ccl_offload_0.s_axis_krnl"].partition(".")[0] == sends
    readers = [reader.partition(".")[0] for writer, reader in joined if writer == "ccl_offload_0.m_axis_krnl"]
    assert readers == ([takes] if takes else [])


# What is written wrong in the configuration of b_eff over UDP on a U280, and the rule that names it.
MISTAKES = {
    "ends swapped": (
        "hostctrl_0_0.cmd:arb_0.cmd_clients_0",
        "arb_0.cmd_clients_0:hostctrl_0_0.cmd",
        "connection-direction",
    ),
    "a port that is not there": ("arb_0.cmd_cclo:", "arb_0.cmd_ccl0:", "connection-port"),
    "a port of ours that is not there": ("joiner.joined:", "joiner.join:", "connection-port"),
    "commands into data": (
        "control.commands:arb_0.cmd_clients_1",
        "control.commands:arith_0.in0",
        "connection-words",
    ),
    "data into commands": (
        "joiner.joined:ccl_offload_0.s_axis_krnl",
        "joiner.joined:arb_0.cmd_clients_1",
        "connection-words",
    ),
    "words without keep and last": (
        "take_0.arrived:control.from_left",
        "take_0.arrived:ccl_offload_0.s_axis_krnl",
        "connection-words",
    ),
    "words of another kernel of ours": (
        "make_0.leaving:joiner.first",
        "make_0.leaving:control.from_left",
        "connection-words",
    ),
    "a stream to nobody": ("stream_connect=take_0.arrived:control.from_left\n", "", "connection-open"),
    "statuses to nobody": (
        "stream_connect=arb_0.ack_clients_1:control.statuses:512\n",
        "",
        "connection-open",
    ),
    "one stream, two readers": ("arith_0.in1", "arith_0.in0", "connection-twice"),
    "a kernel that nobody compiled": (
        "nk=join_words:1:joiner\n",
        "nk=joined_words:1:joiner\n",
        "kernel-not-compiled",
    ),
    "no such unit": ("stream_connect=make_1.", "stream_connect=make_2.", "unit-unknown"),
    "as many names as units": ("nk=hp_compression:3:", "nk=hp_compression:2:", "nk-form"),
    "no such SLR": ("slr=poe_0:SLR2", "slr=poe_0:SLR3", "slr-unknown"),
    "no such bank": ("HBM[7:31]", "HBM[7:32]", "bank-unknown"),
    "a place of no port": ("sp=extdma_0_0.m_axi_0:HBM[0:5]", "sp=extdma_0_0:HBM[0:5]", "sp-form"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_planted_mistake_is_named(mistake, tmp_path):
    old, new, rule = MISTAKES[mistake]
    found = made_up("b_eff")
    made, config = script(found, tmp_path)
    assert old in config
    files = {file: text.replace(old, new) for file, text in made.files.items()}
    changed = type(made)(made.tool, made.notes, files, made.commands, made.bitstream, made.sidecar)
    said = {one.rule for one in command.judged("v++", found, changed, USUAL)}
    assert rule in said


def test_an_object_that_nobody_made_is_named(tmp_path):
    found = made_up("hpl")
    made, _ = script(found, tmp_path)
    left_out = [word for word in made.commands[-1] if not word.endswith("ccl_offload.xo")]
    changed = type(made)(
        made.tool, made.notes, made.files, [*made.commands[:-1], left_out], made.bitstream, made.sidecar
    )
    assert "kernel-not-compiled" in {one.rule for one in command.judged("v++", found, changed, USUAL)}


def test_boards_and_targets_without_such_a_design_are_refused(tmp_path):
    with pytest.raises(FabricmarkError, match="no design with ACCL for u250; use u280_hbm or u55c"):
        script(made_up("b_eff", "u250"), tmp_path)
    for target in vitis.EMULATIONS:
        with pytest.raises(FabricmarkError, match=f"linked for cards, not for {target}; use --target hw"):
            script(made_up("b_eff"), tmp_path, How(target=target))
    with pytest.raises(FabricmarkError, match="linked for cards, not for emulated ones"):
        card.steps(made_up("b_eff"), None, tmp_path, [])
    with pytest.raises(FabricmarkError, match="aoc takes no HLS"):
        aoc.steps(made_up("b_eff"), None, tmp_path, [])


@pytest.mark.programs
@pytest.mark.usefixtures("of_the_repository")
def test_the_published_design_is_built_with_its_clock_and_size():
    name = "u280_hbm_shallow_water/accl_udp"
    found = design.resolve("shallow_water", "dataflow", "noctua2", name, {}, "u280_hbm")
    made = vitis.steps(found, None, Path("x"), [], USUAL)
    assert found.engine == "accl-udp" and "-DPARTITION_ELEMENTS=8192" in made.commands[0]
    assert made.commands[-1][made.commands[-1].index("--kernel_frequency") + 1] == "274"
    assert [one.text for one in command.judged("v++", found, made, USUAL)] == []


# Kernels that only a card has: both run one after another, and what they pass is in the order of the calls.
PASSED = """\
#include "b_eff/dataflow.cpp"
#include <cstdio>
int main() {
  fm::stream<fm::accl_data> first("first"), second("second"), joined("joined"), routed("routed");
  unsigned int values[16] = {};
  for (unsigned int i = 0; i < 6; ++i) {
    values[0] = i;
    (i < 3 ? first : second).write(fm::accl_packed(values, %s));
  }
  join_words(first, second, 1, 3, joined);
  for (int i = 0; i < 6; ++i) {
    const fm::accl_data word = joined.read();
    fm::accl_unpack(word, values);
    std::printf("%%u ", values[0]);
    routed.write(word);
  }
  route_words(routed, 6, first, second);
  for (int side = 0; side < 2; ++side) {
    for (fm::stream<fm::accl_data>& from = side == 0 ? first : second; !from.empty();) {
      fm::accl_unpack(from.read(), values);
      std::printf("%%s%%u", side == 0 ? " a" : " b", values[0]);
    }
  }
  std::printf("\\n");
}
"""


@pytest.mark.parametrize(
    ("dest", "line"),
    [
        ("i < 3 ? 0 : 1", "0 3 1 4 2 5  a0 a1 a2 b3 b4 b5"),
        ("0", "0 3 1 4 2 5  a0 a3 a1 a4 a2 a5"),
    ],
)
def test_words_of_two_directions_share_accls_one_stream(dest, line, tmp_path):
    done = run(built(tmp_path, PASSED % dest, *STUB))
    assert done.stdout.strip() == line, done.stderr


ACCL_HLS = os.environ.get("ACCL_HLS")


@pytest.mark.skipif(not ACCL_HLS, reason="ACCL_HLS names no driver/hls in a clone of ACCL")
@pytest.mark.parametrize(("board", "theirs"), [("u280_hbm", "u280"), ("u55c", "u55c")])
@pytest.mark.parametrize("network", NETWORKS)
def test_accls_part_is_that_of_its_own_script(board, theirs, network, tmp_path):
    folder = Path(ACCL_HLS).parents[1] / "test" / "refdesigns"
    words = ["-b", theirs, "-p", network.removeprefix("accl-"), "--vadd", "-o", tmp_path / "link.ini"]
    subprocess.run([sys.executable, folder / "gen_config.py", *map(str, words)], check=True)
    theirs_ = {line for line in (tmp_path / "link.ini").read_text().split() if "vadd" not in line}
    _, config = script(made_up("b_eff", board, network), tmp_path)
    assert set(re.sub(OURS, "", config).split()) == theirs_


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_the_sidecar_says_network_and_modes(benchmark, network, tmp_path):
    """And `bitstreams import` keeps it."""
    made, _ = script(made_up(benchmark, network=network), tmp_path)
    linked = {"transports": [network], "modes": accl.data()["designs"][benchmark]["modes"]}
    assert tomllib.loads(made.sidecar)["engine"] == linked
    file = sidecars.of(tmp_path / "a.xclbin")
    file.write_text(made.sidecar)
    sidecars.write(file, Report("vitis"))
    assert tomllib.loads(file.read_text())["engine"] == linked

"""Micro-benchmarks predicted: over the host by hand, over engines and links beside the modelled clock."""

import csv
import io
import os
import re
import subprocess

import pytest
from conftest import REPOSITORY
from fabricmark.base import micro
from fabricmark.base.errors import FabricmarkError
from fabricmark.models import _point_to_point
from fabricmark.predict import collectives
from fabricmark.predict import micro as predicted
from simulated_runs import exported

HOST = ("--system", "noctua2", "--board", "u280_hbm", "--transport", "host")
PROGRAMS = REPOSITORY / "build" / "release" / "bin"
DMA, LATENCY, COPIES, LINK, WITHIN = 19.6e-6, 0.75e-6, 9.7e9, 12e9, 26e9  # of noctua2's files


def rows(done):
    assert done.returncode == 0, done.stderr
    return list(csv.DictReader(io.StringIO(done.stdout)))


def values(done):
    """What is predicted, by the size of a message."""
    return {int(row["size"]): float(row["value"]) for row in rows(done)}


def test_latency_over_the_host_is_read_message_and_write(predict):
    found = values(predict("fm_latency", *HOST, "--sweep", "size=64:4MiB:x256", "--csv", "-"))
    apart = values(
        predict("fm_latency", *HOST, "--set", "nodes=2", "--sweep", "size=64:4MiB:x256", "--csv", "-")
    )
    assert list(found) == [64, 64 * 256, 64 * 256**2]
    for size in found:
        copies = 2 * (DMA + size / COPIES)
        assert found[size] == pytest.approx((copies + LATENCY + size / WITHIN) * 1e6, rel=1e-5)
        assert apart[size] == pytest.approx((copies + LATENCY + size / LINK) * 1e6, rel=1e-5)


def test_windows_over_the_host_follow_as_fast_as_the_slowest_step_lets_them(predict):
    size, window = 2**20, 16
    given = ("--set", f"size={size}", "--set", f"window={window}", "--set", "nodes=2", "--csv", "-")
    copy, message = DMA + size / COPIES, LATENCY + size / LINK
    answer = 2 * (DMA + 4 / COPIES) + LATENCY + 4 / LINK
    one = 2 * copy + message + (window - 1) * copy + answer
    both = 2 * copy + message + (window - 1) * 2 * copy  # copies of a device take turns
    for program, seconds, ways in (("fm_bw", one, 1), ("fm_bibw", both, 2)):
        (row,) = rows(predict(program, *HOST, *given))
        assert float(row["value"]) == pytest.approx(ways * window * size / seconds / 1e9, rel=1e-5)
        assert row["unit"] == "GB/s"


def test_memories_of_hosts_need_no_copies(predict):
    cpu = predict("fm_latency", "--system", "noctua2", "--transport", "cpu", "--set", "size=8", "--csv", "-")
    assert float(rows(cpu)[0]["value"]) == pytest.approx((LATENCY + 8 / WITHIN) * 1e6, rel=1e-5)
    mixed = predict("fm_latency", *HOST, "--set", "size=8", "--set", "placement=H D", "--csv", "-")
    assert float(rows(mixed)[0]["value"]) == pytest.approx(
        (LATENCY + 8 / WITHIN + DMA + 8 / COPIES) * 1e6, rel=1e-5
    )
    assert float(rows(mixed)[0]["value"]) < float(
        rows(predict("fm_latency", *HOST, "--set", "size=8", "--csv", "-"))[0]["value"]
    )


@pytest.mark.parametrize("placement", ["D D", "H D", "D H"])
@pytest.mark.parametrize("program", ["fm_bw", "fm_bibw"])
def test_no_rate_is_above_what_the_slowest_step_carries(predict, program, placement):
    words = ("--set", f"placement={placement}", "--sweep", "size=64:4MiB:x16", "--csv", "-")
    found = rows(predict(program, *HOST, *words))
    assert found
    assert all(0 < float(row["value"]) <= float(row["limit"]) for row in found)


@pytest.fixture(scope="module")
def systems(tmp_path_factory):
    """Exported files of the two systems with engines and links."""
    folder = tmp_path_factory.mktemp("systems")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FABRICMARK_ROOT", str(REPOSITORY))
        patch.setenv("FABRICMARK_SYSTEMS", os.devnull)
        return {name: exported(folder, name) for name in ("noctua1", "noctua2")}


def clock(program, system, *words):
    """What the program's own modelled clock says, by size."""
    done = subprocess.run(
        [PROGRAMS / program, "--ranks", "2", "--system", system, "-m", "64:4194304", *words, "D", "D"],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    told = (line.split() for line in done.stdout.splitlines())
    factor = 1.0 if program == "fm_latency" else 1e-3  # MB/s
    return {int(one[0]): float(one[1]) * factor for one in told if len(one) == 3 and one[0].isdigit()}


# How far apart both may be: latencies to the digits that are printed, and what the last of long RDMA messages
# waits for; windows, whose short messages share receive buffers, more.
APART = {"fm_latency": 0.01, "fm_bw": 0.11, "fm_bibw": 0.11}


@pytest.mark.programs
@pytest.mark.parametrize("issuer", ["host", "logic"])
@pytest.mark.parametrize("transport", ["accl-udp", "accl-tcp", "accl-rdma"])
@pytest.mark.parametrize("program", APART)
def test_over_engines_as_the_modelled_clock_has_it(predict, systems, program, transport, issuer):
    words = ("--system", "noctua2", "--board", "u280_hbm", "--transport", transport)
    asked = predict(program, *words, "--set", f"issuer={issuer}", "--sweep", "size=64:4MiB:x4", "--csv", "-")
    found, told = (
        values(asked),
        clock(program, systems["noctua2"], "--transport", transport, "--issuer", issuer),
    )
    assert len(found) == 9
    assert found == {size: pytest.approx(told[size], rel=APART[program]) for size in found}
    assert found[2**18] == pytest.approx(told[2**18], rel=0.01)


@pytest.mark.programs
@pytest.mark.parametrize("program", APART)
def test_over_links_as_the_modelled_clock_has_it(predict, systems, program):
    words = ("--system", "noctua1", "--transport", "channels")
    found = values(predict(program, *words, "--sweep", "size=64:4MiB:x16", "--csv", "-"))
    told = clock(program, systems["noctua1"], "--transport", "channels")
    assert found == {size: pytest.approx(told[size], rel=0.01) for size in found}


@pytest.mark.programs
def test_every_program_is_predicted_or_refused_with_a_reason():
    reasons = {}
    for name in micro.found():
        assert predicted.is_one(name)
        try:
            operation = predicted.operation(name)
        except FabricmarkError as error:
            reasons[name] = str(error)
        else:
            assert operation or name.removeprefix("fm_") in _point_to_point.PROGRAMS
    beside = {name for name, reason in reasons.items() if "hides behind computation" in reason}
    pairs = {name for name, reason in reasons.items() if "several pairs" in reason}
    assert pairs == {"fm_multi_lat", "fm_mbw_mr"}
    assert all(re.fullmatch(r"fm_i\w+", name) for name in beside)
    assert set(reasons) - beside - pairs == {"fm_collective"}
    assert not predicted.is_one("fm_stream")
    assert not predicted.is_one("latency")


@pytest.mark.programs
def test_operations_are_those_of_collectives(predict):
    words = ("--system", "noctua2", "--board", "u280_hbm", "--devices", "4", "--set", "size=64KiB")
    for name, own in (("fm_allreduce", "all_reduce"), ("fm_alltoallv", "all_to_all")):  # all end together
        assert rows(predict(name, *words, "--csv", "-")) == rows(predict(own, *words, "--csv", "-"))
    of_program, of_operation = (predict(name, *words) for name in ("fm_bcast", "broadcast"))
    assert "the mean of all ranks, as the program prints it" in of_program.stdout
    assert "mean of all ranks" not in of_operation.stdout


@pytest.mark.programs
def test_the_size_of_a_reduce_scatter_is_that_of_all_parts_in_the_program_alone(
    predict, one_error_line, monkeypatch
):
    """As the program's -m: 256 KiB of four ranks are 64 KiB of each; the operation's size is one rank's."""
    words = ("--system", "noctua2", "--board", "u280_hbm", "--devices", "4")
    whole = predict("fm_reduce_scatter", *words, "--set", "size=256KiB")
    assert "that of all ranks' parts of the sums together" in whole.stdout

    def time(name, size):
        (found,) = [
            float(row["value"])
            for row in rows(predict(name, *words, "--set", f"size={size}", "--csv", "-"))
            if row["name"] == "time"
        ]
        return found

    of_operation = time("reduce_scatter", "64KiB")
    assert time("fm_reduce_scatter", "256KiB") == pytest.approx(of_operation, rel=0.1)  # mean of ranks
    assert time("fm_reduce_scatter", "64KiB") < 0.8 * of_operation
    one_error_line(predict("fm_reduce_scatter", *words, "--set", "size=8"), 2)
    monkeypatch.setenv("FABRICMARK_ROOT", str(REPOSITORY))
    usual = {"profile": "fitted", "closed_form": False, "beyond": True}
    (one,) = collectives.cases(
        "reduce_scatter", "noctua1", "channels", [4], {"size": "64KiB"}, [], None, **usual
    )
    of_scale = predicted.by_size("fm_reduce_scatter", "noctua1", "channels", 4, [2**18], {})
    assert of_scale == {2**18: one.points[0].headline.value}


@pytest.mark.programs
@pytest.mark.parametrize("program", ["fm_bcast", "fm_scatter", "fm_gather", "fm_reduce", "fm_allreduce"])
@pytest.mark.parametrize(
    ("name", "transport"), [("noctua2", "accl-udp"), ("noctua2", "accl-rdma"), ("noctua1", "channels")]
)
def test_operations_take_what_the_programs_print(predict, systems, program, name, transport):
    """The mean of four ranks by the modelled clock; the slowest one of rooted ones takes up to 80 % more."""
    own = ("--board", "u280_hbm") if name == "noctua2" else ()
    words = ("--system", name, *own, "--transport", transport, "--devices", "4")
    sweep = ("--sweep", "size=4096:1MiB:x16", "--csv", "-")
    found = {int(row["size"]): float(row["value"]) for row in rows(predict(program, *words, *sweep))
             if row["name"] == "time"}  # fmt: skip
    asked = [program, "--ranks", "4", "--system", systems[name], "--transport", transport]
    done = subprocess.run(
        [PROGRAMS / asked[0], *asked[1:], "-m", "4096:1048576", "D", "D"],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    lines = (line.split() for line in done.stdout.splitlines())
    told = {int(one[0]): float(one[1]) for one in lines if len(one) > 1 and one[0].isdigit()}
    assert len(found) == 3
    assert found == {size: pytest.approx(told[size], rel=0.04) for size in found}
    if program == "fm_gather":
        operation = predict("gather", *words, *sweep)
        slowest = [float(row["value"]) for row in rows(operation) if row["name"] == "time"]
        assert slowest[-1] > 1.25 * told[2**20]


def test_what_is_said_below_the_table(predict):
    told = predict("fm_bw", *HOST, "--sensitivity").stdout
    assert "unvalidated" in told
    assert "memories D D, in one node (nodes=2: apart)" in told
    assert "copies of a device take turns" in " ".join(told.split())
    assert "board.host.write_bandwidth" in told
    swept = predict("fm_latency", *HOST, "--sweep", "network.latency=1us:4us", "--csv", "-")
    assert [float(row["value"]) for row in rows(swept)] == sorted(float(row["value"]) for row in rows(swept))


REFUSED = {
    "devices": (["--devices", "4"], "has two ranks"),
    "parameter": (["--set", "iterations=3"], "has no parameter iterations"),
    "window": (["--set", "window=4"], "has no parameter window"),
    "size": (["--set", "size=lots"], "size=lots"),
    "letters": (["--set", "placement=D"], "not two of H, D, B"),
    "hosts": (["--set", "placement=H H"], "placement=H H over host"),
    "nodes": (["--set", "nodes=3"], "no whole number from 1 to 2"),
    "issuer": (["--set", "issuer=logic"], "issuer=logic over host"),
    "unread": (["--set", "board.memory.banks=4"], "reads no board.memory.banks"),
    "design": (["--bitstream-id", "u280_hbm_single/stream"], "has no kernel and no program"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(predict, one_error_line, case):
    words, cause = REFUSED[case]
    assert cause in one_error_line(predict("fm_latency", *HOST, *words), 2)


def test_a_board_without_high_bandwidth_memory(predict, one_error_line):
    words = ("fm_bw", "--system", "noctua1", "--transport", "host", "--set", "placement=B B")
    assert "no high-bandwidth memory" in one_error_line(predict(*words), 2)

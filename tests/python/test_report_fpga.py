"""Results of real FPGA runs get their prediction: from the board, bitstream and clock that they say."""

import copy
import json

import pytest
import samples
from fabricmark import results
from fabricmark.report import run_tables
from fabricmark.systems import device_limits

BOARD = {**samples.DEVICE, "name": "p520_hpc_sg280l : BittWare Stratix 10", "class": "fpga"}
PARAMETERS = {
    "size": 2**29, "data_type": "float", "vector_width": 16, "unroll": 1, "buffer_size": 32768,
    "replications": 4, "transport": "none",
}  # fmt: skip
KERNEL = {"file": "stream.aocx", "digest": "0" * 32, "origin": "bitstream"}

pytestmark = pytest.mark.usefixtures("of_the_repository")


@pytest.fixture(name="result")
def result_of_a_board(tmp_path):
    def make(kernel=(), command=(), device=BOARD, design=None):
        document = copy.deepcopy(samples.result(device=device))
        document["run"]["kernel"] = {**KERNEL, **dict(kernel)}
        if design is not None:
            document["run"]["design"] = design
        document["run"]["command"] = ["fm_stream", *command]
        document["parameters"] = {**document["parameters"], **PARAMETERS}
        path = tmp_path / "result.json"
        path.write_text(json.dumps(document))
        return results.load(path)

    return make


def triad(result):
    known = device_limits.of_result(result)
    found = run_tables.predictions(result, known)
    return next((one for one in found if one.axes == {"operation": "triad"}), None), known


def test_a_run_with_a_bitstream_has_a_prediction(result):
    found, known = triad(result(command=["--bitstream-id", "520n_multi/stream"]))
    assert known.fpga.bitstream["clock"] == pytest.approx(341.67e6)
    assert found.value == pytest.approx(68, rel=0.05)
    assert found.limit == pytest.approx(76.8)
    lines = run_tables.hints(result(command=["--bitstream-id", "520n_multi/stream"]), known, [])
    assert all("systems new" not in str(line) for line in lines)


def test_its_own_clock_counts(result):
    said = {"bitstream": "520n_multi/stream", "board": "520n", "clock_hz": 100e6, "tools": "aoc 21.2"}
    slow, known = triad(result(kernel=said))
    usual, _ = triad(result(kernel={"bitstream": "520n_multi/stream"}))
    assert known.fpga.board.get("clock") == 100e6
    assert slow.value < 0.5 * usual.value


def test_the_design_of_the_system_stands_in_for_what_the_sidecar_leaves_out(result):
    design = {
        "system": "noctua1", "board": "520n", "bitstream": "520n_multi/stream", "clock_hz": 341.67e6,
        "tools": "aoc 21.2", "shell": "BSP 20.4", "resources": {"dsps": 128},
    }  # fmt: skip
    of_design, known = triad(result(design=design))
    assert (known.fpga.bitstream.name, of_design.value) == ("stream", pytest.approx(68, rel=0.05))
    slow, _ = triad(result(kernel={"clock_hz": 100e6}, design=design))
    assert slow.value < 0.5 * of_design.value, "the clock that was reached goes before the described one"
    loaded, described = run_tables.designs(result(kernel={"board": "520n", "tools": "aoc 22"}, design=design))
    assert loaded == "bitstream: for 520n, aoc 22"
    assert described == (
        "design: noctua1, 520n_multi/stream, for 520n, 341.7 MHz, aoc 21.2, shell BSP 20.4, 128 dsps"
    )


def test_what_nothing_is_known_of_has_none(result):
    found, known = triad(result())
    assert (found, known) == (None, None)
    found, known = triad(result(command=["--bitstream-id", "520n_multi/gemm"]))
    assert found is None
    assert "is none of stream; 520n_multi/stream would be" in str(known.faults[0])
    emulated = {**BOARD, "emulated": True}
    assert triad(result(command=["--bitstream-id", "520n_multi/stream"], device=emulated)) == (None, None)


def test_the_network_is_that_of_the_system(result):
    words = ["--bitstream-id", "520n_multi/stream", "--system", "/somewhere/noctua1.json"]
    _, known = triad(result(command=words))
    assert known.system.name == "noctua1"
    assert known.fpga.arguments({"transport": "channels"})["network"].name.startswith("520N serial")


def test_the_report_says_where_the_model_is_from(place, result):
    file = place.folder / "result.json"
    document = result(command=["--bitstream-id", "520n_multi/stream"]).document
    file.write_text(json.dumps(document))
    root = str(device_limits.__file__).partition("/python/")[0]
    done = place.run("report", file, "--full", FABRICMARK_ROOT=root)
    assert done.returncode == 0, done.stderr
    assert "modelled from systems/bitstreams: stream for 520n at 341.7 MHz" in done.stdout

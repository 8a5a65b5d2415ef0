"""fm_latency and the others: as OMB's programs in options and text, with results that are checked."""

import json

import pytest
from fabricmark.results import logs
from omb_programs import (
    ALL,
    COLLECTIVES,
    OVERLAPPING,
    PAIRS,
    SHORT,
    WITH_COUNTS,
    Programs,
    metrics,
    of_ranks,
    rows,
)
from simulated_runs import exported
from stream_program import devices, mpirun, only_error
from thinned import only

pytestmark = pytest.mark.programs
RATES = ("bw", "bibw", "mbw_mr")


@pytest.fixture(scope="module")
def omb(tmp_path_factory):
    return Programs(tmp_path_factory.mktemp("omb"))


@pytest.fixture(scope="module")
def device(stream):
    """The first device that is listed; its name and driver."""
    return devices(stream)[0]


@pytest.mark.parametrize("ranks", only([2, 3, 4, 8], 2, 3))
def test_every_program_is_right_between_hosts(omb, ranks):
    for name in of_ranks(ranks):
        done = omb[name].valid(*SHORT, "--ranks", ranks, "-T", "all")
        (kind,) = {one["kind"] for one in done.document["measurements"]}
        assert kind == "measured", name
        assert all(verdict["checked"] > 0 for verdict in done.document["verdicts"]), name


def test_every_program_is_right_between_devices(omb, device):
    for name in ALL:
        done = omb[name].valid(*SHORT, "-c", "D", "D")
        assert done.document["parameters"]["transport"] == "host"
        assert done.document["run"]["kernel"]["file"] == "touch.cl"
        assert done.document["environment"]["device"]["name"] == device["name"]
        assert "Fail" not in done.output and "# OSU MPI-OPENCL " in done.output


@pytest.mark.parametrize("name", [*PAIRS, "allreduce", "gatherv", "ibcast"])
def test_programs_are_right_over_the_library_itself(omb, name):
    done = omb[name].valid(*SHORT, "-T", "all", launcher=mpirun(2))
    assert done.document["environment"]["ranks"]["kind"] == "mpi"
    assert "calls of the MPI library" in " ".join(done.document["notes"])


@pytest.mark.full
@pytest.mark.parametrize("ranks", [2, 3, 8])
def test_all_programs_are_right_over_the_library_itself(omb, ranks):
    for name in of_ranks(ranks):
        omb[name].valid(*SHORT, "-T", "all", launcher=mpirun(ranks))


@pytest.mark.parametrize("letters", ["H D", "D H"])
def test_messages_go_from_a_host_to_a_device_and_back(omb, device, letters):
    words = letters.split()
    for name in ("latency", "bibw"):
        done = omb[name].valid("-m", "1:1048576", "-i", 2, "-x", 1, "-W", 4, *words)
        assert done.document["parameters"]["placement"] == letters
    text = {"H": "HOST (H)", "D": "DEVICE (D)"}
    expected = f"# Send Buffer on {text[words[0]]} and Receive Buffer on {text[words[1]]}\n"
    assert expected in done.output


def test_the_text_is_what_readers_of_omb_read(omb, tmp_path):
    """Without -c two columns; the reader of old logs finds what the result file holds."""
    for name in ("latency", "bw", "mbw_mr", "allreduce", "ibcast", "barrier"):
        done = omb[name].valid(*SHORT, "-f", "-z50,99")
        log = logs.parse(done.output, "x.log")
        assert log.program == name
        found = {(one.name, *sorted(one.axes.items())): one.value for one in log.values}
        of_file = {
            (one["name"], *sorted((k, v) for k, v in one["axes"].items() if k != "algorithm")): one["median"]
            for one in done.document["measurements"]
        }
        # Nobody looked in between, which takes no time; a rate of messages has no statistics.
        assert {key for key in found if key[0] not in ("message_rate", "mpi_test")} <= set(of_file), name
        for key, value in found.items():
            if any("statistic" in part for part in key[1:]) and key[0] != "message_rate":
                assert value == pytest.approx(of_file[key], abs=0.02), key
    plain = omb["latency"].valid(*SHORT)
    assert [len(row) for row in rows(plain.output)] == [2] * 5
    assert [row[0] for row in rows(plain.output)] == [4, 8, 16, 32, 64]


def test_the_file_says_what_was_measured(omb):
    done = omb["bw"].valid(*SHORT, "-b", "multiple")
    assert done.document["parameters"] == {
        "placement": "H H", "transport": "mpi", "buffers": "multiple", "data_type": "mpi_char",
        "window_size": 4, "iterations": 2, "warmup": 1,
    }  # fmt: skip
    assert done.document["run"]["benchmark"] == "bw"
    one = metrics(done, "bandwidth")[64]
    assert one["work"] == {"amount": 4 * 64, "unit": "B"}
    assert len(one["samples"]["per_rank"][0]) == 2
    both = metrics(omb["bibw"].valid(*SHORT), "bandwidth")[64]
    assert both["work"]["amount"] == 2 * 4 * 64


# Bytes on one link, by those of one rank's elements: nccl-tests' doc/PERFORMANCE.md, for 4 ranks.
FACTORS = {
    "allreduce": 2 * 3 / 4,
    "allgather": 3,
    "reduce_scatter": 3 / 4,
    "alltoall": 3,
    "bcast": 1,
    "reduce": 1,
}


def test_bus_bandwidths_have_the_factors_of_nccl_tests(omb):
    for name, factor in FACTORS.items():
        done = omb[name].valid(*SHORT, "--ranks", 4)
        whole, bus = (
            metrics(done, metric)[64]["work"]["amount"] for metric in ("bandwidth", "bus_bandwidth")
        )
        assert whole == 64
        assert bus == pytest.approx(64 * factor), name


def test_overlap_is_made_of_its_parts(omb):
    done = omb["iallreduce"].valid("-m", "1024:4096", "-i", 20, "-x", 2, "-t", 3, "-f")
    for values in rows(done.output):
        _, overall, compute, init, test, wait, pure, least, greatest, overlap = values
        assert overall >= compute + init + wait
        assert least <= pure <= greatest
        assert overlap == pytest.approx(max(0, 100 - (overall - compute) / pure * 100), abs=1)
        # A rank computes as long as the operation took it alone.
        assert compute >= pure * 0.9
        assert test > 0


@pytest.mark.parametrize("name", [name for name in ALL if not name.endswith("barrier")])
def test_a_wrong_element_is_found(omb, name):
    done = omb[name].run(*SHORT, "--inject-fault")
    assert done.code == 1
    assert "# INVALID: " in done.output and "wrong elements" in done.output
    # Of each size; what is scattered has no element for each rank in the least.
    assert done.document["verdicts"][0]["error"] == (4 if name.endswith("reduce_scatter") else 5)


def test_a_wrong_element_is_found_on_a_device(omb, device):
    for name in ("latency", "allreduce"):
        assert omb[name].run(*SHORT, "--inject-fault", "D", "D").code == 1


# What is refused, beside what the unit tests have.
WRONG = {
    "high-bandwidth memory": ("latency", ("B", "B"), "has no high-bandwidth memory of its own (B)"),
    "on-chip memory": ("bw", ("H", "P"), "has no on-chip memory of its own (P)"),
    "a bank": ("bw", ("D", "D", "--bank", "D=1"), "no banks that can be chosen"),
    "SYCL": ("latency", ("-d", "sycl", "D", "D"), "no SYCL runtime is chosen"),
    "one rank": ("latency", ("--ranks", 1), "one rank has none to send to"),
    "more ranks": ("bibw", ("--ranks", 3), "3 ranks for messages between ranks 0 and 1"),
    "another root": ("bcast", ("--root", 5), "root 5 is not one of"),
    "a dry run": ("latency", ("D", "D", "--platform", "dry-run"), "dry-run"),
    "pairs of boards": ("mbw_mr", ("--transport", "accl-udp", "D", "D"), "ranks 0 and 1 alone"),
    "no overlap of boards": ("ibcast", ("--transport", "accl-udp", "D", "D"), "no computation is modelled"),
    "no system": ("latency", ("--transport", "accl-udp", "D", "D"), "fabricmark systems export"),
    "no such mapping": ("latency", ("D", "D"), "device 0 to two ranks"),
}


@pytest.mark.parametrize("name, words, said", WRONG.values(), ids=WRONG)
def test_what_is_not_there_is_refused_in_one_line(omb, device, name, words, said):
    variables = {"FPGA_MAPPING": "0:0"} if "two ranks" in said else {}
    assert said in only_error(omb[name].start("-m", "4", *words, variables=variables))


def test_sizes_that_no_memory_holds_are_skipped_with_a_line(omb, device):
    """Where the device says how much it holds at most."""
    most = device["max_allocation_bytes"]
    first = 1 << (most.bit_length() - 2)
    if first * 8 > 1 << 30:
        pytest.skip("the device holds messages of all sizes")
    done = omb["latency"].valid("-m", f"{first}:{first * 8}", "-i", 1, "-x", 0, "D", "D")
    assert "are skipped: the memory has no room" in done.output


@pytest.fixture(scope="module")
def system2(tmp_path_factory):
    return exported(tmp_path_factory.mktemp("noctua2"), "noctua2")


class TestBoards:
    """Over an emulated fabric."""

    def test_latency_is_modelled_beside_the_emulation(self, omb, system2):
        words = ("--transport", "accl-udp", "--issuer", "logic", "--system", system2, "-m", "64:4096")
        done = omb["latency"].valid(*words, "D", "D")
        assert "# modelled: " in done.output and "Emulation(us)" in done.output
        kinds = {one["name"]: one["kind"] for one in done.document["measurements"]}
        assert kinds == {"latency": "modelled", "emulation_time": "emulated"}
        log = logs.parse(done.output, "x.log")
        assert log.kind == "modelled"
        assert {one.name for one in log.values} == {"latency"}
        host = omb["latency"].valid("--transport", "accl-udp", "--system", system2, "-m", "64:64", "D", "D")
        # A kernel calls the engine far sooner than a host does.
        assert metrics(done, "latency")[64]["best"] < metrics(host, "latency")[64]["best"] / 2

    def test_bandwidth_and_operations_are_modelled(self, omb, system2):
        words = ("--transport", "accl-tcp", "--system", system2, "-W", 8, "-m", "4096:8192", "D", "D")
        one, two = (metrics(omb[name].valid(*words), "bandwidth")[8192]["best"] for name in ("bw", "bibw"))
        assert one < two < 2.2 * one
        done = omb["allreduce"].valid(*words, "--ranks", 4)
        assert {one["axes"].get("algorithm") for one in done.document["measurements"]} != {None}

    def test_a_wrong_element_is_found(self, omb, system2):
        words = ("--transport", "accl-udp", "--system", system2, "-m", "64", "--inject-fault", "D", "D")
        assert omb["latency"].run(*words).code == 1


def test_the_version_and_the_help_are_printed(omb):
    assert omb["latency"].start("--version").output.startswith("fm_latency ")
    text = omb["allreduce"].start("--help").output
    assert "Allreduce Latency Test" in text and "--window-size" in text


def test_families_are_all_that_there_is(omb):
    assert {*PAIRS, *COLLECTIVES, *WITH_COUNTS, *OVERLAPPING} == set(ALL) and len(ALL) == 27
    assert "use one of allgather" in only_error(omb["omb"].start("nothing"))
    assert json.loads(omb["omb"].start("latency", "-m", "4", "-i", 1, "--json", "-").output)["run"][
        "program"
    ] == ("fm_latency")

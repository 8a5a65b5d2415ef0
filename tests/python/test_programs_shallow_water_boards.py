"""The device design of shallow water: what is about it alone, and halos between memories.

Runs over all transports and their faults are in test_programs_boards.py.
"""

import re

import pytest
from boards import FAULTS, LOST, Systems, failed_verdicts, refusals_missed
from fabricmark.models.shallow_water import device
from fabricmark.results.partitions import rows
from shallow_water_rows import path_of
from simulated_runs import exported
from stream_program import PROGRAM, Stream, mpirun, on_a_device, one_error

pytestmark = [pytest.mark.programs, pytest.mark.usefixtures("of_the_repository")]

FULL = pytest.mark.full
MOST_SECONDS = 600  # for meshes of all boards, on a busy machine
MESH = ("--mesh", "bay:3392", "--steps", 100, "--repetitions", 1, "--warmup", 0)
WAYS = {
    "channels": ("--transport", "channels"),
    "udp": ("--transport", "accl-udp"),
    "tcp": ("--transport", "accl-tcp"),
    "host": ("--transport", "host", "--variant", "dataflow"),
}


@pytest.fixture(scope="module")
def water(tmp_path_factory):
    return Stream(tmp_path_factory.mktemp("water"), PROGRAM.with_name("fm_shallow_water"))


@pytest.fixture(scope="module")
def boards(tmp_path_factory):
    """Words for a way of halos, on the system that has it."""
    folder = tmp_path_factory.mktemp("systems")
    systems = Systems(folder)

    def words(way):
        system = systems.files["noctua1" if way == "channels" else "noctua2"]
        return (*WAYS[way], "--system", system)

    return words


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """The digest of the field that the OpenCL kernel makes without contraction."""
    return on_a_device(tmp_path_factory, "shallow_water").valid(*MESH, "--exact", "true").digest


@pytest.mark.parametrize("ranks", [4, pytest.param(16, marks=FULL)])
def test_fields_have_the_bits_of_the_cpu_over_hosts(water, boards, reference, ranks):
    assert water.valid(*MESH, *boards("host"), "--ranks", ranks).digest == reference


OVER_MPI = ("--transport", "mpi", "--variant", "dataflow")


@pytest.mark.parametrize("ranks", [2, pytest.param(7, marks=FULL)])
def test_mpi_gets_the_memory_of_devices_and_fields_have_the_bits(water, reference, ranks):
    assert water.valid(*MESH, *OVER_MPI, launcher=mpirun(ranks)).digest == reference


# The same code makes them for both.
BETWEEN_MEMORIES = {
    "host": ("flipped", "lost", "late", "half"),
    "mpi": ("flipped", "dead", "swapped", "blank"),
}
assert {*BETWEEN_MEMORIES["host"], *BETWEEN_MEMORIES["mpi"]} == set(FAULTS)


@pytest.mark.parametrize(
    "over, fault",
    [
        pytest.param(over, fault, marks=FULL if fault not in ("flipped", "lost") else ())
        for over, faults in BETWEEN_MEMORIES.items()
        for fault in faults
    ],
)
def test_each_fault_of_a_halo_between_memories_is_found(water, boards, over, fault):
    how = ("--timeout", 1 if fault in LOST else 2, "--inject-fault", fault)  # it is waited for to its end
    if over == "mpi":
        done = water.run(*MESH, *OVER_MPI, *how, launcher=mpirun(2))
    else:
        done = water.run(*MESH, *boards("host"), "--ranks", 4, *how)
    assert done.code == (3 if fault in LOST else 1), (fault, done.errors)
    if fault in LOST:
        assert "error: " in done.errors
        return
    failed = failed_verdicts(done)
    # What came late came whole: only the field tells.
    assert failed and (fault == "late" or "halos" in failed), (fault, failed)


def test_mpi_between_ranks_of_one_process_and_on_a_system_is_refused(water, boards):
    line = one_error(water.run(*MESH, *OVER_MPI, "--ranks", 2), (2,))
    assert "not processes of MPI" in line and "mpirun -n 2" in line
    system = boards("udp")[-1]
    line = one_error(water.run(*MESH, *OVER_MPI, "--system", system, launcher=mpirun(2)), (2,))
    assert "nothing is known of what messages over the transport mpi cost" in line


def step_cycles(water, row, transport, system, ranks=None):
    words = ("--mesh", row.mesh, "--ranks", row.devices if ranks is None else ranks, "--steps", 20)
    way = ("--transport", transport, "--variant", "dataflow", "--system", system, "--timing-only")
    done = water.run(*words, *way)
    assert done.code == 0, done.errors
    (one,) = [one for one in done.document["measurements"] if one["name"] == "step_cycles"]
    return one["best"], done


@pytest.mark.parametrize(
    "transport", ["accl-tcp", pytest.param("accl-udp", marks=FULL), pytest.param("host", marks=FULL)]
)
def test_the_clock_is_that_of_the_equations(water, boards, transport):
    fitting = [row for row in rows() if row.fits(transport)]
    over, (*_, system) = path_of(transport), boards("udp")
    for row in fitting:
        cycles, _ = step_cycles(water, row, transport, system)
        assert cycles == pytest.approx(device.step(row.part, over).cycles, rel=0.02), (transport, row)


def test_stalls_are_told_by_cause(water, boards):
    row = next(row for row in rows() if row.part.neighbours >= 8 and row.part.core < 5000)
    _, done = step_cycles(water, row, "host", boards("udp")[-1])
    stalls = {
        one["axes"]["cause"]: one["best"] for one in done.document["measurements"] if one["name"] == "stall"
    }
    assert 75 < stalls["halos"] < 90
    assert 1 < stalls["pipelines"] < 5


def test_a_fault_of_one_rank_and_repetition_strikes_there_alone(water, boards):
    done = water.run(*MESH, *boards("udp"), "--ranks", 4, "--inject-fault", "flipped@2")
    (halos,) = [one for one in done.document["verdicts"] if one["name"] == "halos"]
    assert (done.code, halos["error"]) == (1, 1)
    assert re.match("from device 2 to device ", halos["worst"]["place"])


def test_more_neighbours_than_ports_are_refused_with_their_number(water, boards):
    line = one_error(water.run(*MESH, *boards("channels"), "--ranks", 16), (2,))
    assert re.search(r"device \d+ has [5-9] neighbours, and a board has 4 ports; ", line)


def test_what_does_not_fit_is_refused(water, boards):
    for way, most in (("udp", 8192), ("tcp", 4096)):
        words = ("--mesh", f"parts:{most + 1},0,0,0", "--timing-only", *boards(way))
        line = one_error(water.run(*words), (2,))
        assert f"has {most + 1} elements, and the local memory" in line
        assert str(most) in line.partition("room for")[2]


WRONG = [
    (("--mesh", "parts:10,2,0", "--timing-only"), "is no partition"),
    (("--mesh", "parts:10,2,0,4", "--timing-only"), "neighbours of each partition"),
    (("--mesh", "parts:10,0,0,1", "--ranks", 2, "--timing-only"), "border elements"),
    (("--mesh", "parts:10,0,0,0"), "add --timing-only"),
    (("--mode", "streaming"), "received in memory"),
    (("--order", 1), "piecewise constant"),
    (("--data-type", "double"), "floats"),
    (("--flux", "hll"), "Rusanov"),
]


def test_wrong_input_gets_one_line(water, boards):
    runs = ((words, water.run(*words, *boards("udp")), [said]) for words, said in WRONG)
    assert refusals_missed(runs) == {}


@FULL
def test_64_devices_in_time_alone_and_48_that_compute(water, tmp_path):
    def grown(document):
        for kind in document["topology"]:
            kind["most_devices"] = 64

    system = exported(tmp_path, "noctua2", grown)
    way = ("--transport", "accl-udp", "--system", system, "--repetitions", 1, "--warmup", 0)
    alone = ("--mesh", "bay:434176", "--ranks", 64, "--timing-only", "--steps", 300)
    assert water.run(*alone, *way, timeout=MOST_SECONDS).code == 0
    done = water.valid("--mesh", "bay:312320", "--ranks", 48, "--steps", 100, *way, timeout=MOST_SECONDS)
    assert {one["name"] for one in done.document["verdicts"]} >= {"mass", "halos"}


@FULL
def test_the_largest_mesh_that_is_printed_runs_on_48_boards(water, boards, tmp_path_factory, tmp_path):
    """217 088 elements, four stations (Meyer 2024, Figure 5.13): bits and curves of one device."""
    mesh = ("--mesh", "bay:217088", "--steps", 300, "--repetitions", 1, "--warmup", 0)
    curves = ("--snapshots", 2, "--station-minutes", 0.1)
    one, all_boards = tmp_path / "one", tmp_path / "boards"
    alone = on_a_device(tmp_path_factory, "shallow_water")
    of_one = alone.valid(*mesh, *curves, "--exact", "true", "--fields", one, timeout=MOST_SECONDS).digest
    stations = (one / "stations.csv").read_text()
    rows = [line.split(",") for line in stations.splitlines()[1:]]
    assert {row[1] for row in rows} == {"1", "2", "3", "4"}
    assert any(float(row[4]) != 0 for row in rows)  # the tide has come
    way = (*boards("udp"), "--ranks", 48)
    done = water.valid(*mesh, *curves, *way, "--fields", all_boards, timeout=MOST_SECONDS)
    assert done.digest == of_one
    assert (all_boards / "stations.csv").read_text() == stations
    corrupted = water.run(*mesh, *way, "--inject-fault", "flipped@20", timeout=MOST_SECONDS)
    assert failed_verdicts(corrupted)

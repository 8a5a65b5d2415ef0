"""The device design of shallow water on emulated boards: fields, modelled time, faults and refusals."""

import re

import pytest
from boards import FAULTS, LOST, Systems
from charged_runs import exported
from fabricmark.models.shallow_water import device
from fabricmark.results.partitions import rows
from shallow_water_rows import way_of
from stream_program import PROGRAM, Stream, mpirun, on_a_device, one_error

pytestmark = [pytest.mark.programs, pytest.mark.usefixtures("of_the_repository")]

FULL = pytest.mark.full
MESH = ("--mesh", "bay:3392", "--steps", 100, "--repetitions", 1, "--warmup", 0)
WAYS = {
    "channels": ("--transport", "channels"),
    "udp": ("--transport", "accl-udp"),
    "udp-host": ("--transport", "accl-udp", "--issuer", "host"),
    "tcp": ("--transport", "accl-tcp"),
    "tcp-host": ("--transport", "accl-tcp", "--issuer", "host"),
    "host": ("--transport", "host", "--variant", "dataflow"),
}
SHORT = {(2, "udp"), (4, "channels"), (4, "tcp"), (4, "host"), (7, "udp-host"), (16, "udp")}


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


def digest(done):
    (found,) = [note for note in done.document["notes"] if note.startswith("digest of the field: ")]
    return found


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """The digest of the field that the OpenCL kernel makes without contraction."""
    return digest(on_a_device(tmp_path_factory, "shallow_water").valid(*MESH, "--exact", "true"))


def cases():
    for ranks in (1, 2, 4, 7, 16, 48):
        for way in WAYS:
            if way == "channels" and ranks > 7:
                continue  # more neighbours than ports
            yield pytest.param(ranks, way, marks=() if (ranks, way) in SHORT else FULL)


@pytest.mark.parametrize(("ranks", "way"), tuple(cases()))
def test_fields_have_the_bits_of_the_cpu(water, boards, reference, ranks, way):
    assert digest(water.valid(*MESH, *boards(way), "--ranks", ranks)) == reference


def test_processes_give_the_same(water, boards, reference):
    done = water.valid(*MESH, *boards("udp"), launcher=mpirun(2))
    assert digest(done) == reference


OVER_MPI = ("--transport", "mpi", "--variant", "dataflow")


@pytest.mark.parametrize("ranks", [2, *(pytest.param(ranks, marks=FULL) for ranks in (1, 4, 7, 16, 48))])
def test_mpi_gets_the_memory_of_devices_and_fields_have_the_bits(water, reference, ranks):
    assert digest(water.valid(*MESH, *OVER_MPI, launcher=mpirun(ranks))) == reference


@pytest.mark.parametrize("fault", ["flipped", *(pytest.param(one, marks=FULL) for one in FAULTS)])
def test_each_fault_of_a_halo_over_mpi_is_found(water, fault):
    words = ("--timeout", 2, "--inject-fault", fault)
    done = water.run(*MESH, *OVER_MPI, *words, launcher=mpirun(2))
    assert done.code == (3 if fault in LOST else 1), (fault, done.errors)
    if fault not in LOST:
        failed = {one["name"] for one in done.document["verdicts"] if one["status"] == "failed"}
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


@pytest.mark.parametrize("transport", ["accl-udp", "accl-tcp", "host"])
def test_the_clock_is_that_of_the_equations(water, boards, transport):
    fitting = [row for row in rows() if row.fits(transport)]
    over, (*_, system) = way_of(transport), boards("udp")
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


@pytest.mark.parametrize(
    "way", [pytest.param(way, marks=() if way in ("udp", "host") else FULL) for way in WAYS]
)
def test_each_fault_of_a_halo_is_found(water, boards, way):
    for fault in FAULTS:
        done = water.run(*MESH, *boards(way), "--ranks", 4, "--timeout", 2, "--inject-fault", fault)
        assert done.code == (3 if way == "host" and fault in LOST else 1), (fault, done.errors)
        if fault in LOST:
            assert "error: " in done.errors
            continue
        failed = {one["name"] for one in done.document["verdicts"] if one["status"] == "failed"}
        assert failed, fault
        # What came late came whole: only the field tells.
        assert fault == "late" or "halos" in failed, (fault, failed)


def test_a_fault_of_one_rank_and_repetition_strikes_there_alone(water, boards):
    done = water.run(*MESH, *boards("udp"), "--ranks", 4, "--inject-fault", "flipped@2")
    (halos,) = [one for one in done.document["verdicts"] if one["name"] == "halos"]
    assert (done.code, halos["error"]) == (1, 1)
    assert re.match("from device 2 to device ", halos["worst"]["place"])


def test_more_neighbours_than_ports_are_refused_with_their_number(water, boards):
    line = one_error(water.run(*MESH, *boards("channels"), "--ranks", 16), (2,))
    assert re.search(r"device \d+ has [5-9] neighbours, and a board has 4 ports; ", line)


@pytest.mark.parametrize(("way", "most"), [("udp", 8192), ("tcp", 4096)])
def test_what_does_not_fit_is_refused(water, boards, way, most):
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


@pytest.mark.parametrize(("words", "said"), WRONG)
def test_wrong_input_gets_one_line(water, boards, words, said):
    assert said in one_error(water.run(*words, *boards("udp")), (2,))


@FULL
def test_64_devices_in_time_alone_and_48_that_compute(water, tmp_path):
    def grown(document):
        for kind in document["topology"]:
            kind["most_devices"] = 64

    system = exported(tmp_path, "noctua2", grown)
    way = ("--transport", "accl-udp", "--system", system, "--repetitions", 1, "--warmup", 0)
    assert water.run("--mesh", "bay:434176", "--ranks", 64, "--timing-only", "--steps", 300, *way).code == 0
    done = water.valid("--mesh", "bay:312320", "--ranks", 48, "--steps", 100, *way)
    assert {one["name"] for one in done.document["verdicts"]} >= {"mass", "halos"}

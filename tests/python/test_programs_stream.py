"""The real fm_stream: valid results for every shape, and each way to a wrong one is found."""

import itertools
import json
import os
import pty
import random
import shutil
import statistics
import subprocess
import time

import pytest
from fabricmark.schemas import first_fault, validator
from stream_program import (
    KERNELS,
    OPERATIONS,
    PROGRAM,
    SHORT,
    Stream,
    devices,
    mpirun,
    one_error,
    only_error,
)

pytestmark = pytest.mark.programs

STREAMS = {"copy": 2, "scale": 2, "add": 3, "triad": 3, "host_to_device": 3, "device_to_host": 3}
ARRAYS = ("a", "b", "c")
# Nothing divides these.
SIZES = (1, 7, 1001, 4097)


@pytest.fixture(scope="module")
def stream(tmp_path_factory):
    made = Stream(tmp_path_factory.mktemp("stream"))
    devices(made)
    return made


@pytest.fixture(scope="module")
def found(stream):
    return devices(stream)


@pytest.fixture(scope="module")
def plain(stream):
    """One ordinary run that many tests look at."""
    return stream.valid("--size", "4097", "--repetitions", "5", "--data-type", "float")


@pytest.fixture(scope="module")
def two_ranks(stream):
    return stream.valid("--size", "20000", "--repetitions", "5", "--ranks", "2")


@pytest.fixture(scope="module")
def bitstream(stream):
    """A saved program of vector width 8, with its sidecar."""
    path = stream.folder / "saved" / "stream.bin"
    stream.valid(*SHORT, "--vector-width", "8", "--save-bitstream", path)
    return path


def copied(bitstream, folder):
    """A bitstream and its sidecar to damage."""
    for path in (bitstream, bitstream.with_name("stream.bin.toml")):
        shutil.copy(path, folder)
    return folder / bitstream.name


# Shapes ---------------------------------------------------------------------------------------------------


def shape_words(variant, size, width, buffer_size, replications, unroll=1):
    values = {"size": size, "vector-width": width, "buffer-size": buffer_size, "unroll": unroll}
    words = ["--variant", variant, "--replications", replications, "--repetitions", 2]
    for name, value in values.items():
        words += [f"--{name}", value]
    return words


@pytest.mark.parametrize("variant", ["base", "throughput"])
@pytest.mark.parametrize("width, buffer_size", [(1, 64), (4, 64), (16, 128)])
def test_sizes_that_nothing_divides_are_valid(stream, variant, width, buffer_size):
    for size, replications in itertools.product(SIZES, (1, 3)):
        done = stream.valid(*shape_words(variant, size, width, buffer_size, replications))
        assert [verdict["checked"] for verdict in done.document["verdicts"]] == [size] * 3


@pytest.mark.full
@pytest.mark.parametrize("variant", ["base", "throughput"])
@pytest.mark.parametrize("width", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("unroll", [1, 4])
def test_every_shape_is_valid(stream, variant, width, unroll):
    for blocks in (1, 3, 16):
        buffer_size = width * unroll * blocks
        for size, replications in itertools.product((*SIZES, 3, 65537), (1, 2, 7, 64)):
            stream.valid(*shape_words(variant, size, width, buffer_size, replications, unroll))


@pytest.mark.parametrize("variant", ["base", "throughput"])
@pytest.mark.parametrize("data_type", ["half", "float", "double"])
def test_every_data_type_is_valid_or_refused_by_name(stream, variant, data_type):
    done = stream.run("--size", "4097", "--repetitions", "3", "--variant", variant, "--data-type", data_type)
    if done.code == 0:
        assert done.document["parameters"]["data_type"] == data_type
        assert {v["status"] for v in done.document["verdicts"]} == {"passed"}
    else:
        assert data_type != "float"
        assert data_type in only_error(done, codes=(2,))


def test_values_do_not_grow_with_the_repetitions(stream):
    done = stream.valid("--size", "1000", "--repetitions", "100")
    assert done.document["repetitions"]["count"] == 100
    assert {verdict["error"] for verdict in done.document["verdicts"]} == {0}


@pytest.mark.parametrize("memory", ["buffer", "host-pointer", "svm"])
def test_every_kind_of_memory_is_valid_or_refused_by_name(stream, memory):
    done = stream.run("--size", "4097", "--repetitions", "2", "--memory", memory, "--replications", "2")
    if done.code == 0:
        assert done.document["parameters"]["memory"] == memory
    else:
        assert memory == "svm" and "shared virtual memory" in only_error(done, codes=(2,))


# Ranks ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "ranks",
    [n if n in (1, 2, 3, 5, 8, 16) else pytest.param(n, marks=pytest.mark.full) for n in range(1, 17)],
)
def test_ranks_in_one_process_are_valid(stream, ranks):
    done = stream.valid(*SHORT, "--ranks", ranks)
    environment = done.document["environment"]["ranks"]
    assert environment["count"] == ranks
    assert environment["kind"] == ("single" if ranks == 1 else "in-process")
    assert [place["rank"] for place in environment["placement"]] == list(range(ranks))
    assert all(len(m["samples"]["per_rank"]) == ranks for m in done.document["measurements"])


@pytest.mark.parametrize("ranks", [1, 2, 4, 8])
def test_ranks_of_mpi_are_valid(stream, ranks):
    done = stream.valid(*SHORT, launcher=mpirun(ranks))
    environment = done.document["environment"]["ranks"]
    assert (environment["count"], environment["kind"]) == (ranks, "mpi")
    assert environment["mpi_library"]
    assert done.document["verdicts"][0]["checked"] == 1000 * ranks


def test_ranks_that_share_a_device_share_its_units(stream, found, two_ranks):
    if found[0]["class"] != "cpu" or found[0]["compute_units"] < 2:
        pytest.skip("nothing to share")
    places = two_ranks.document["environment"]["ranks"]["placement"]
    assert sum(place["compute_units"] for place in places) <= found[0]["compute_units"]


def test_processes_with_different_command_lines_end_together(stream):
    """One process that ends alone would leave the others waiting in their next exchange."""
    launcher = [*mpirun(1), PROGRAM, *SHORT, ":", "-n", "1"]
    done = stream.start("--nonsense", launcher=launcher)
    assert "nonsense" in one_error(done, codes=(2,))
    done = stream.start("--help", launcher=launcher)
    assert done.code == 0 and done.errors == ""


# Figures --------------------------------------------------------------------------------------------------


def test_a_rate_is_the_work_of_all_ranks_over_the_time_of_the_slowest(two_ranks):
    document = two_ranks.document
    assert [m["axes"]["operation"] for m in document["measurements"]] == list(OPERATIONS)
    for entry in document["measurements"]:
        per_rank = entry["samples"]["per_rank"]
        assert [len(samples) for samples in per_rank] == [5, 5]
        bytes_moved = 2 * STREAMS[entry["axes"]["operation"]] * 20000 * 4
        assert entry["work"] == {"amount": bytes_moved, "unit": "B"}
        rates = [bytes_moved / max(pair) / 1e9 for pair in zip(*per_rank, strict=True)]
        for key, value in (
            ("best", max(rates)),
            ("maximum", max(rates)),
            ("minimum", min(rates)),
            ("median", statistics.median(rates)),
            ("mean", statistics.fmean(rates)),
            ("standard_deviation", statistics.stdev(rates)),
        ):
            assert entry[key] == pytest.approx(value), key


def test_min_time_goes_on_until_enough_was_timed(stream):
    done = stream.valid("--size", "1000", "--repetitions", "1", "--min-time", "0.05")
    assert done.document["repetitions"]["min_time_seconds"] == 0.05
    assert done.document["repetitions"]["count"] > 1
    timed = sum(sum(m["samples"]["per_rank"][0]) for m in done.document["measurements"])
    assert timed >= 0.05


def test_an_injected_delay_is_in_every_sample(stream):
    done = stream.valid(*SHORT, "--ranks", "2", "--inject-delay", "0.005")
    for entry in done.document["measurements"]:
        assert min(min(samples) for samples in entry["samples"]["per_rank"]) >= 0.005


def test_an_injected_share_raises_the_times(stream):
    """The least of many times, several attempts: the machine may be busy with other work."""
    ratios = []
    for _ in range(4):
        least = []
        for delay in ("0%", "50%"):
            words = ("--size", "200000", "--repetitions", "20", "--inject-delay", delay)
            least.append(min(stream.valid(*words).measurement("triad")["samples"]["per_rank"][0]))
        ratios.append(least[1] / least[0])
        if 1.3 < ratios[-1] < 1.7:
            return
    pytest.fail(f"50% more time shows as the ratios {ratios}")


# The result file ------------------------------------------------------------------------------------------


def test_parameters_keep_their_types(plain):
    parameters = plain.document["parameters"]
    assert parameters["size"] == 4097 and type(parameters["size"]) is int
    assert parameters["data_type"] == "float"
    assert parameters["memory"] == "buffer"
    assert all(type(parameters[name]) is int for name in ("vector_width", "unroll", "replications"))


def test_unset_variables_are_null_and_the_file_is_whole(stream):
    environment = {
        k: v for k, v in stream.environment.items() if k not in ("SLURM_JOB_ID", "OMP_NUM_THREADS")
    }
    path = stream.new_file()
    done = subprocess.run([PROGRAM, *SHORT, "--json", path], env=environment, capture_output=True, timeout=60)
    assert done.returncode == 0
    variables = json.loads(path.read_text())["environment"]["variables"]
    for name in ("FPGA_MAPPING", "SLURM_JOB_ID", "OMP_NUM_THREADS"):
        assert variables[name] is None


def test_the_command_and_its_remarks_are_on_record(plain):
    run = plain.document["run"]
    assert run["command"][:3] == ["fm_stream", "--size", "4097"]
    assert (run["program"], run["benchmark"], run["class"], run["complete"]) == (
        "fm_stream",
        "stream",
        "base",
        True,
    )


def test_json_on_standard_output_is_nothing_but_json(stream):
    done = stream.start(*SHORT, "--json", "-")
    assert done.code == 0 and done.errors == ""
    assert first_fault("result-1", json.loads(done.output)) is None


def test_a_device_file_is_written_to_and_not_replaced(stream):
    """As root a rename would put a plain file in the place of /dev/stdout."""
    read_end, write_end = os.pipe()
    with os.fdopen(read_end) as reader:
        path = f"/dev/fd/{write_end}"
        process = subprocess.Popen(
            [PROGRAM, *SHORT, "--json", path],
            env=stream.environment,
            stdout=subprocess.DEVNULL,
            pass_fds=[write_end],
        )
        os.close(write_end)
        document = json.loads(reader.read())
    assert process.wait(timeout=60) == 0
    assert first_fault("result-1", document) is None


def test_progress_is_silent_when_piped_and_there_on_a_terminal(stream, plain):
    assert plain.errors == ""
    terminal, program_side = pty.openpty()
    process = subprocess.Popen(
        [PROGRAM, *SHORT], env=stream.environment, stdout=subprocess.DEVNULL, stderr=program_side
    )
    os.close(program_side)
    shown = b""
    try:
        while chunk := os.read(terminal, 4096):
            shown += chunk
    except OSError:  # how a terminal says that nobody is left on the other side
        pass
    os.close(terminal)
    assert process.wait(timeout=60) == 0
    assert b"opening the device" in shown
    assert shown.endswith(b"\r\x1b[K"), "the line is gone at the end"


@pytest.mark.parametrize("ranks", [1, 2])
def test_the_timeline_has_each_operation_of_each_replication_once(stream, ranks):
    done = stream.valid(
        *("--size", "5000", "--repetitions", "3", "--replications", "2", "--timeline", "--ranks", ranks)
    )
    timeline = done.document["timeline"]
    seen = [(e["rank"], e["repetition"], e["operation"], e["replication"]) for e in timeline]
    assert sorted(seen) == sorted(itertools.product(range(ranks), range(3), OPERATIONS[:4], range(2)))
    for entry in timeline:
        assert 0 <= entry["queued"] <= entry["submitted"] <= entry["started"] <= entry["ended"]
    for rank in range(ranks):
        own = {
            e["operation"]: e
            for e in timeline
            if (e["rank"], e["repetition"], e["replication"]) == (rank, 0, 0)
        }
        starts = [own[operation]["started"] for operation in OPERATIONS[:4]]
        assert starts == sorted(starts), "the operations of a repetition follow one another"


def test_without_timeline_there_is_none(plain):
    assert "timeline" not in plain.document


def unfinished(folder, number):
    """Whether the result file `number` is being written, or was when its writer died."""
    return any(path.name.startswith(f".{number}.") for path in folder.iterdir())


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.full)])
def test_twenty_kills_leave_no_file_or_a_whole_one(stream, seed):
    """A long timeline makes a large file, so that kills hit the writing too."""
    words = ("--size", "64", "--replications", "1", "--repetitions", "2000", "--timeline")
    start = time.monotonic()
    assert stream.start(*words, "--json", stream.new_file()).code == 0
    usual = time.monotonic() - start
    chance = random.Random(seed)
    folder = stream.folder / f"kills{seed}"
    folder.mkdir()
    cut_in_writing = 0
    for number in range(20):
        path = folder / f"{number}.json"
        process = subprocess.Popen(
            [PROGRAM, *words, "--json", path], env=stream.environment, stdout=subprocess.DEVNULL
        )
        start = time.monotonic()
        if number % 2:  # as soon as something is there to break, or a moment later
            while process.poll() is None and not any(
                p.name.startswith(f".{number}.") for p in folder.iterdir()
            ):
                time.sleep(0.0002)
            time.sleep(chance.uniform(0, 0.01) * chance.randrange(2))
        else:
            time.sleep(chance.uniform(0.3, 1.1) * usual)
        process.kill()
        process.wait()
        cut_in_writing += unfinished(folder, number)
        if path.exists():
            document = json.loads(path.read_text())
            assert len(document.pop("timeline")) == 4 * 2000
            assert first_fault("result-1", document) is None
    assert cut_in_writing > 0, "no kill came while a file was written"


# Faults ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("array", ARRAYS)
@pytest.mark.parametrize("kind", ["element", "scale", "zeros", "stale"])
def test_every_fault_in_every_array_is_found_and_placed(stream, kind, array):
    done = stream.run(*SHORT, "--inject-fault", f"{kind}:{array}")
    assert done.code == 1 and done.errors == ""
    failed = [v for v in done.document["verdicts"] if v["status"] == "failed"]
    assert [v["name"] for v in failed] == [f"array {array}"]
    place = failed[0]["worst"]["place"]
    assert place.startswith(f"{array}[") and place in done.output
    if kind == "element":
        assert place == f"{array}[500]"
    if kind == "zeros":
        assert failed[0]["worst"]["actual"] == 0


@pytest.mark.parametrize("variant", ["base", "throughput"])
def test_a_fault_without_a_target_is_in_the_first_array(stream, variant):
    done = stream.run(*SHORT, "--variant", variant, "--inject-fault", "element")
    assert done.code == 1
    assert done.document["verdicts"][0]["status"] == "failed"


@pytest.mark.parametrize("array", ARRAYS)
def test_a_fault_on_one_rank_alone_is_found_there(stream, array):
    done = stream.run(*SHORT, "--ranks", "2", "--inject-fault", f"element:{array}@1")
    assert done.code == 1
    failed = [v for v in done.document["verdicts"] if v["status"] == "failed"]
    assert [(v["name"], v["worst"]["rank"]) for v in failed] == [(f"array {array}", 1)]
    assert f"{array}[500]" in done.output


def test_a_fault_on_one_rank_of_mpi_is_found(stream):
    done = stream.run(*SHORT, "--inject-fault", "scale:b@1", launcher=mpirun(2))
    assert done.code == 1
    assert done.document["verdicts"][1]["worst"]["rank"] == 1


def test_a_skipped_validation_is_not_a_failure_but_incomplete(stream):
    done = stream.run(*SHORT, "--skip-validation", "--ranks", "2")
    assert done.code == 0
    assert [v["status"] for v in done.document["verdicts"]] == ["skipped"]
    assert done.document["run"]["complete"] is False


# Devices --------------------------------------------------------------------------------------------------


def test_listed_devices_are_as_the_schema_says(found):
    device_schema = validator("result-1").schema["properties"]["environment"]["properties"]["device"]
    checker = validator("result-1").evolve(schema=device_schema)
    for device in found:
        checker.validate(device)


def test_the_platform_and_device_of_the_command_line_are_taken(stream, found):
    wanted = found[-1]
    for platform, device in (
        (wanted["platform"].upper(), wanted["name"].lower()),
        (wanted["platform_index"], 0),
    ):
        done = stream.valid(*SHORT, "--platform", platform, "--device", device)
        assert done.document["environment"]["device"]["platform"] == wanted["platform"]


@pytest.mark.parametrize("option", ["--platform", "--device"])
def test_a_name_that_is_not_there_is_refused_with_what_is(stream, found, option):
    line = only_error(stream.run(*SHORT, option, "no such thing"), codes=(2,))
    assert "no such thing" in line
    assert all(device["name"] in line for device in found)


def test_the_mapping_of_ranks_to_devices_is_taken(stream, found):
    last = len(found) - 1
    done = stream.valid(*SHORT, "--ranks", "2", variables={"FPGA_MAPPING": f"{last}:0"})
    placement = done.document["environment"]["ranks"]["placement"]
    assert [place["device"] for place in placement] == [found[last]["name"], found[0]["name"]]
    assert done.document["environment"]["variables"]["FPGA_MAPPING"] == f"{last}:0"


# Kernels --------------------------------------------------------------------------------------------------


def test_changing_a_parameter_needs_no_build_of_the_host(stream):
    before = PROGRAM.stat().st_mtime_ns
    for width in (4, 8):
        done = stream.valid(*SHORT, "--vector-width", width)
        assert done.document["parameters"]["vector_width"] == width
    assert PROGRAM.stat().st_mtime_ns == before


def test_a_saved_bitstream_runs_where_no_kernel_source_is(stream, bitstream, tmp_path):
    (tmp_path / "stream").mkdir()
    shutil.copy(KERNELS / "stream" / "kernel.toml", tmp_path / "stream")
    done = stream.valid(*SHORT, "--bitstream", bitstream, variables={"FABRICMARK_KERNELS": str(tmp_path)})
    assert done.document["parameters"]["vector_width"] == 8, "from the sidecar"
    assert done.document["run"]["variant"] == "base"
    stream.valid(*SHORT, "--bitstream", bitstream, "--vector-width", "8", "--ranks", "2")


@pytest.mark.parametrize(
    "words, name",
    [
        (("--vector-width", "4"), "vector_width = 8"),
        (("--data-type", "double"), "data_type = float"),
        (("--variant", "throughput"), "variant"),
    ],
)
def test_a_command_line_that_disagrees_with_the_sidecar_is_refused_by_name(stream, bitstream, words, name):
    line = only_error(stream.run(*SHORT, "--bitstream", bitstream, *words), codes=(2,))
    assert name in line and "stream.bin.toml" in line


def test_a_bitstream_without_a_sidecar_is_refused(stream, bitstream, tmp_path):
    copy = copied(bitstream, tmp_path)
    copy.with_name("stream.bin.toml").unlink()
    assert "stream.bin.toml" in only_error(stream.run(*SHORT, "--bitstream", copy), codes=(2,))


def test_a_bitstream_of_another_benchmark_is_refused(stream, bitstream, tmp_path):
    copy = copied(bitstream, tmp_path)
    sidecar = copy.with_name("stream.bin.toml")
    sidecar.write_text(sidecar.read_text().replace("'stream'", "'gemm'"))
    assert "gemm" in only_error(stream.run(*SHORT, "--bitstream", copy), codes=(2,))


def test_a_damaged_bitstream_is_refused_before_the_driver_sees_it(stream, bitstream, tmp_path):
    """PoCL 3.1 aborts or crashes on some of these."""
    copy = copied(bitstream, tmp_path)
    whole = bitstream.read_bytes()
    chance = random.Random(3)
    flipped = bytearray(whole)
    for _ in range(400):
        flipped[chance.randrange(len(flipped))] ^= 0xFF
    for damaged in (whole[: len(whole) // 16], whole[:-1], bytes(flipped), b"", b"nonsense"):
        copy.write_bytes(damaged)
        assert "damaged" in only_error(stream.run(*SHORT, "--bitstream", copy), codes=(2,))


@pytest.fixture
def own_kernel(tmp_path):
    """Writes a user's kernel file: the base kernel with a change."""

    def write(old, new):
        text = (KERNELS / "stream" / "base.cl").read_text()
        assert old in text
        path = tmp_path / "mine.cl"
        path.write_text(text.replace(old, new))
        return path

    return write


def test_a_users_own_kernel_is_marked_optimized(stream, own_kernel):
    path = own_kernel("factor * first[start + k]", "first[start + k] * factor")
    done = stream.valid(*SHORT, "--kernel-file", path, "--vector-width", "8")
    assert done.document["run"]["class"] == "optimized"
    assert "optimized" in done.output


def test_a_users_saved_bitstream_is_marked_optimized_too(stream, bitstream):
    done = stream.valid(*SHORT, "--kernel-file", bitstream)
    assert done.document["run"]["class"] == "optimized"


def test_a_users_kernel_that_computes_wrongly_is_found(stream, own_kernel):
    path = own_kernel("buffer[k] += second", "buffer[k] -= second")
    done = stream.run(*SHORT, "--kernel-file", path)
    assert done.code == 1
    assert "a[" in done.output


def test_a_users_kernel_that_forgets_the_last_block_is_found(stream, own_kernel):
    path = own_kernel("block < blocks;", "block + 1 < blocks;")
    assert stream.run(*SHORT, "--kernel-file", path).code == 1


def test_a_users_kernel_that_does_not_compile_is_named(stream, own_kernel):
    done = stream.run(*SHORT, "--kernel-file", own_kernel("const float scalar", "const flaot scalar"))
    line = one_error(done, codes=(2,))
    assert "mine.cl" in line and "flaot" in line


@pytest.mark.parametrize("ranks", [1, 2])
def test_a_board_file_sets_parameters_but_the_command_line_wins(stream, tmp_path, ranks):
    board = tmp_path / "board.toml"
    board.write_text("banks = 2\n[parameters.stream]\nvector_width = 4\nbuffer_size = 64\n")
    done = stream.valid(*SHORT, "--board", board, "--buffer-size", "256", "--ranks", ranks)
    assert done.document["parameters"]["vector_width"] == 4
    assert done.document["parameters"]["buffer_size"] == 256

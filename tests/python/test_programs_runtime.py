"""What every program does around a run, seen on the real fm_stream: result files, devices, kernels."""

import itertools
import json
import os
import pty
import random
import shutil
import subprocess
import time

import pytest
from fabricmark import systems
from fabricmark.base.schema import first_fault, validator
from fabricmark.systems import export
from stream_program import KERNELS, OPERATIONS, PROGRAM, SHORT, one_error, only_error

pytestmark = pytest.mark.programs


@pytest.fixture(scope="module")
def plain(stream):
    """One ordinary run that many tests look at."""
    return stream.valid("--size", "4097", "--repetitions", "5", "--data-type", "float")


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


# The result file ------------------------------------------------------------------------------------------


def test_parameters_keep_their_types(plain):
    parameters = plain.document["parameters"]
    assert parameters["size"] == 4097 and type(parameters["size"]) is int
    assert parameters["data_type"] == "float"
    assert parameters["memory"] == "buffer"
    assert all(type(parameters[name]) is int for name in ("vector_width", "unroll", "replications"))


def test_the_steps_are_the_whole_run(plain):
    steps = {entry["name"]: entry["seconds"] for entry in plain.document["run"]["steps"]}
    assert list(steps) == ["device", "kernels", "inputs", "repetitions", "check", "result"]
    total = sum(steps.values())
    assert 0.9 * total <= plain.document["run"]["duration_seconds"] <= total + 0.1
    timed = sum(sum(m["samples"]["per_rank"][0]) for m in plain.document["measurements"])
    assert steps["repetitions"] > timed


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
    assert first_fault("result-2", json.loads(done.output)) is None


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
    assert first_fault("result-2", document) is None


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
        starts = [own[operation]["started"] for operation in ("add", "triad", "copy", "scale")]
        assert starts == sorted(starts), "the operations of a repetition follow one another"


def test_without_timeline_there_is_none(plain):
    assert "timeline" not in plain.document


def unfinished(folder, number):
    """Whether the result file `number` is being written, or was when its writer died."""
    return any(path.name.startswith(f".{number}.") for path in folder.iterdir())


@pytest.mark.parametrize("seed, kills", [(1, 8), pytest.param(2, 20, marks=pytest.mark.full)])
def test_kills_leave_no_file_or_a_whole_one(stream, seed, kills):
    """A long timeline makes a large file, so that kills hit the writing too."""
    words = ("--size", "64", "--replications", "1", "--repetitions", "1000", "--timeline")
    start = time.monotonic()
    assert stream.start(*words, "--json", stream.new_file()).code == 0
    usual = time.monotonic() - start
    chance = random.Random(seed)
    folder = stream.folder / f"kills{seed}"
    folder.mkdir()
    cut_in_writing = 0
    for number in range(kills):
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
            assert len(document.pop("timeline")) == 4 * 1000
            assert first_fault("result-2", document) is None
    assert cut_in_writing > 0, "no kill came while a file was written"


# Devices --------------------------------------------------------------------------------------------------


def test_listed_devices_are_as_the_schema_says(found):
    device_schema = validator("result-2").schema["properties"]["environment"]["properties"]["device"]
    checker = validator("result-2").evolve(schema=device_schema)
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
    order = list(range(len(found)))[::-1]
    mapping = ":".join(map(str, order))
    done = stream.valid(*SHORT, "--ranks", len(order), variables={"FPGA_MAPPING": mapping})
    placement = done.document["environment"]["ranks"]["placement"]
    assert [place["device"] for place in placement] == [found[place]["name"] for place in order]
    assert done.document["environment"]["variables"]["FPGA_MAPPING"] == mapping


@pytest.mark.parametrize("mapping, said", [("0:0", "device 0 to two ranks"), ("0", "none for local rank 1")])
def test_a_mapping_without_a_device_for_each_rank_is_refused(stream, mapping, said):
    done = stream.run(*SHORT, "--ranks", "2", variables={"FPGA_MAPPING": mapping})
    assert said in only_error(done, codes=(2,))


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
    path = own_kernel("factor * read[u]", "read[u] * factor")
    done = stream.valid(*SHORT, "--kernel-file", path, "--vector-width", "8")
    assert done.document["run"]["class"] == "optimized"
    assert "base mine.cl (optimized" in done.output


def test_a_users_saved_bitstream_is_marked_optimized_too(stream, bitstream):
    done = stream.valid(*SHORT, "--kernel-file", bitstream)
    assert done.document["run"]["class"] == "optimized"
    assert done.document["run"]["kernel"]["origin"] == "bitstream"


def test_the_result_tells_kernels_apart_by_their_content(stream, own_kernel):
    """A copy of the shipped kernel under another name is that kernel; one that differs is another."""
    shipped = stream.valid(*SHORT).document["run"]["kernel"]
    copy = stream.valid(*SHORT, "--kernel-file", own_kernel("scalar", "scalar")).document["run"]["kernel"]
    other = own_kernel("factor * read[u]", "read[u] * factor")
    changed = stream.valid(*SHORT, "--kernel-file", other).document["run"]["kernel"]
    assert (shipped["file"], shipped["origin"]) == ("base.cl", "shipped")
    assert (copy["file"], copy["origin"]) == ("mine.cl", "file") == (changed["file"], changed["origin"])
    assert shipped["digest"] == copy["digest"] != changed["digest"]


def test_a_users_kernel_that_computes_wrongly_is_found(stream, own_kernel):
    path = own_kernel("buffer[k + u] += read", "buffer[k + u] -= read")
    done = stream.run(*SHORT, "--kernel-file", path)
    assert done.code == 1
    assert "a[" in done.output


def test_a_users_kernel_that_forgets_the_last_block_is_found(stream, own_kernel):
    path = own_kernel("block < pieces;", "block + 1 < pieces;")
    assert stream.run(*SHORT, "--kernel-file", path).code == 1


def test_a_users_kernel_that_does_not_compile_is_named(stream, own_kernel):
    done = stream.run(*SHORT, "--kernel-file", own_kernel("const float scalar", "const flaot scalar"))
    line = one_error(done, codes=(2,))
    assert "mine.cl" in line and "flaot" in line


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.usefixtures("of_the_repository")
def test_a_system_sets_parameters_but_the_command_line_wins(stream, tmp_path, ranks):
    path = tmp_path / "noctua1.json"
    path.write_text(export.text("noctua1"))
    known = systems.load("noctua1").bitstream("stream").parameters
    assert known["buffer_size"] != 256
    chosen = ("--bitstream-id", "520n_multi/stream", "--replications", "1")
    done = stream.valid(*SHORT, "--system", path, *chosen, "--buffer-size", "256", "--ranks", ranks)
    parameters = done.document["parameters"]
    assert {name: parameters[name] for name in known} == known | {"buffer_size": 256, "replications": 1}
    assert "system noctua1: 520n, bitstream 520n_multi/stream" in done.document["notes"]

"""The real fm_ptrans: valid on every grid, kernel and way of the blocks, and every wrong result is found."""

import itertools
import re
import resource

import pytest
from stream_program import KERNELS, ONE_WAY, devices, mpirun, on_a_device, one_error, only_error
from thinned import some_of

pytestmark = pytest.mark.programs

FULL = pytest.mark.full
VARIANTS = ("base", "throughput")
TRANSPORTS = ("cpu", "host")
# Each pair of settings of two kinds is among these.
MIXES = (
    ("float", "pq", "host"),
    ("float", "diagonal", "cpu"),
    ("double", "pq", "cpu"),
    ("double", "diagonal", "host"),
)
# Without a target, swapped ones are messages.
FAULTS = ("element", "scale", "zeros", "stale", "swapped:c")
MESSAGE_FAULTS = ("blank", "half", "late", "swapped")
# Seven blocks along an edge, the last ones not whole, in several rounds.
SIZE = 100
DEFAULTS = {"--size": SIZE, "--block-size": 16, "--round-blocks": 3, "--repetitions": 2}
SHORT = tuple(itertools.chain(*DEFAULTS.items()))
PLACE = re.compile(r"c\[(\d+),(\d+)\]")


@pytest.fixture(scope="module")
def ptrans(tmp_path_factory):
    return on_a_device(tmp_path_factory, "ptrans")


def short(*words):
    """Words with those of a short run that they do not say themselves."""
    return (*words, *itertools.chain(*((n, value) for n, value in DEFAULTS.items() if n not in words)))


def mix(data_type, distribution, transport):
    return ("--data-type", data_type, "--distribution", distribution, "--transport", transport)


def verdicts(done):
    return {verdict["name"]: verdict for verdict in done.document["verdicts"]}


def verdict_of(done):
    return verdicts(done)["elements"]


def failed(done):
    return {name for name, verdict in verdicts(done).items() if verdict["status"] == "failed"}


def check_valid(done, size=SIZE):
    verdict = verdict_of(done)
    repetitions = done.document["repetitions"]["count"]
    assert verdict["checked"] == (repetitions + 1) * size * size, "each repetition, and once more at the end"
    assert verdict["error"] <= 0.5, "rounding only"


def check_found(done, receivers=None):
    assert done.code == 1 and done.errors == ""
    verdict = verdict_of(done)
    assert verdict["status"] == "failed"
    place = PLACE.fullmatch(verdict["worst"]["place"])
    assert place and verdict["worst"]["place"] in done.output
    assert receivers is None or verdict["worst"]["rank"] in receivers
    return verdict, tuple(map(int, place.groups()))


# Grids, types, kernels, ways ------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("ranks", [1, 2, 4, 6])
def test_ranks_in_one_process_are_valid(ptrans, variant, ranks):
    for words in MIXES:
        check_valid(ptrans.valid(*SHORT, *mix(*words), "--variant", variant, "--ranks", ranks))


@pytest.mark.parametrize("ranks", [2, pytest.param(6, marks=FULL)])
def test_ranks_of_mpi_are_valid(ptrans, ranks):
    for variant, words in zip(VARIANTS * 2, MIXES, strict=True):
        check_valid(ptrans.valid(*SHORT, *mix(*words), "--variant", variant, launcher=mpirun(ranks)))


@pytest.mark.parametrize("ranks", [3, 5, 7, 12])
def test_no_number_of_ranks_is_refused(ptrans, ranks):
    """The closest peer refuses some although their grid fits."""
    for distribution in ("pq", "diagonal"):
        check_valid(ptrans.valid(*SHORT, "--distribution", distribution, "--ranks", ranks))


def test_every_grid_of_six_ranks_is_valid(ptrans):
    for rows in (1, 2, 3, 6):
        check_valid(ptrans.valid(*SHORT, *ONE_WAY, "--grid-rows", rows, "--ranks", 6))


def test_ranks_without_a_block_are_valid(ptrans):
    for words in MIXES:
        check_valid(ptrans.valid("--size", 20, "--block-size", 16, *mix(*words), "--ranks", 6), 20)
        check_valid(ptrans.valid("--size", 1, "--block-size", 16, *mix(*words), "--ranks", 2), 1)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("case", [(1, 1, 1), (3, 1, 2), (6, 2, 5), (36, 4, 3), (40, 8, 2), (128, 32, 1)])
def test_any_block_and_any_number_of_replications_is_valid(ptrans, case, variant):
    words = zip(("--block-size", "--channel-width", "--replications"), case, strict=True)
    words = itertools.chain.from_iterable(words)
    check_valid(ptrans.valid(*short(*words), *ONE_WAY, "--variant", variant, "--ranks", 2))


def test_rounds_of_any_length_and_no_parts_are_valid(ptrans):
    for transport, blocks in itertools.product(TRANSPORTS, (0, 1, 2, 1000)):
        words = (*ONE_WAY, "--transport", transport, "--round-blocks", blocks, "--parts", "false")
        check_valid(ptrans.valid(*short(*words), "--ranks", 2))


@pytest.mark.parametrize("memory", ["host-pointer", "svm"])
def test_every_kind_of_memory_is_valid_or_refused_by_name(ptrans, memory):
    for transport in TRANSPORTS:
        done = ptrans.run(*SHORT, "--memory", memory, "--transport", transport, "--ranks", 2)
        assert done.code == 0 or "shared virtual memory" in only_error(done, codes=(2,))


@FULL
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("data_type", ["float", "double"])
@pytest.mark.parametrize("ranks", [1, 2, 4, 6, 9, 16])
def test_the_whole_matrix_is_valid(ptrans, variant, data_type, ranks):
    """Grids 1x1, 1x2, 2x2, 2x3, 3x3 and 4x4."""
    for block, distribution, transport in itertools.product((16, 48, 128), ("pq", "diagonal"), TRANSPORTS):
        for size in (256, 500):
            words = ("--size", size, "--block-size", block, "--repetitions", 1, "--variant", variant)
            words += mix(data_type, distribution, transport)
            check_valid(ptrans.valid(*words, "--ranks", ranks), size)
        if ranks <= 4:
            check_valid(ptrans.valid(*words, launcher=mpirun(ranks)), size)


@FULL
@pytest.mark.parametrize("vector_bytes", [16, 32, 64])
@pytest.mark.parametrize("tile", [(8, 1), (32, 8), (64, 4)])
def test_every_shape_of_the_throughput_kernel_is_valid(ptrans, vector_bytes, tile):
    for data_type, block in itertools.product(("float", "double"), (16, 48, 80)):
        words = ("--vector-bytes", vector_bytes, "--tile-size", tile[0], "--tile-rows", tile[1])
        words += ("--data-type", data_type, "--block-size", block, "--variant", "throughput")
        done = ptrans.run(*short(*words), "--ranks", 2)
        assert done.code == 0 or "tile_size" in only_error(done, codes=(2,))


# Figures --------------------------------------------------------------------------------------------------


def figure(done, name, operation):
    axes = {"operation": operation}
    return next(m for m in done.document["measurements"] if m["name"] == name and m["axes"] == axes)


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_figures_count_the_matrix_without_padding(ptrans, transport):
    done = ptrans.valid(*SHORT, "--data-type", "double", "--transport", transport, "--ranks", 2)
    whole = figure(done, "bandwidth", "transpose")
    assert whole["work"] == {"amount": 8 * SIZE**2, "unit": "B"} and whole["unit"] == "GB/s"
    assert figure(done, "performance", "transpose")["work"] == {"amount": SIZE**2, "unit": "FLOP"}
    assert figure(done, "bandwidth", "kernels")["work"]["amount"] == 3 * 8 * SIZE**2
    # Of 7 x 7 blocks, 24 go to the other rank; over the cpu, all are written to the devices.
    blocks = 24 if transport == "host" else 49
    assert figure(done, "bandwidth", "exchange")["work"]["amount"] == blocks * 16**2 * 8


def test_parts_are_timed_where_there_are_any(ptrans):
    def operations(*words):
        done = ptrans.valid(*SHORT, *words)
        return {m["axes"]["operation"] for m in done.document["measurements"]}

    assert operations("--ranks", 2) == {"transpose", "exchange", "kernels"}
    assert operations("--ranks", 2, "--parts", "false") == {"transpose"}
    assert operations() == {"transpose", "kernels"}, "a rank alone exchanges nothing"
    assert operations("--transport", "cpu") == {"transpose", "exchange", "kernels"}, "writes to the device"


def test_the_timeline_has_every_round(ptrans):
    words = ("--variant", "base", "--replications", 1, "--ranks", 2, "--timeline")
    events = ptrans.valid(*SHORT, *words).document["timeline"]
    for rank, repetition in itertools.product((0, 1), (0, 1)):
        of = [e["operation"] for e in events if (e["rank"], e["repetition"]) == (rank, repetition)]
        assert of.count("kernels") == 2, "what stays and what has arrived"
        assert of.count("transpose") == 1 + 12 // 3, "what stays, and four rounds"


# Faults ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind, variant", some_of(FAULTS, VARIANTS))
def test_every_fault_is_found_and_placed(ptrans, variant, kind):
    words = (*ONE_WAY, "--variant", variant, "--ranks", 2, "--inject-fault", f"{kind}@1")
    verdict, (_, column) = check_found(ptrans.run(*SHORT, *words), {1})
    assert column // 16 % 2 == 1, "a column of rank 1"
    if kind == "element":
        assert 200 < verdict["error"] <= 1001


@pytest.mark.parametrize("kind", ["element:c", "scale", "zeros"])
def test_faults_on_all_ranks_and_in_doubles_are_found(ptrans, kind):
    words = (*SHORT, *ONE_WAY, "--data-type", "double", "--ranks", 3)
    check_found(ptrans.run(*words, "--inject-fault", kind))


@pytest.mark.parametrize(
    "kind, data_type, transport", some_of(MESSAGE_FAULTS, ["float", "double"], TRANSPORTS)
)
def test_corrupted_messages_are_found_and_placed(ptrans, kind, data_type, transport):
    """Of one rank, and of all, where both sides agree about half a message, as doubles in the closest peer.

    There the check goes through the exchange that it tests, and messages of zeros pass.
    """
    words = (*SHORT, *ONE_WAY, "--transport", transport, "--data-type", data_type, "--ranks", 2)
    check_found(ptrans.run(*words, "--inject-fault", f"{kind}@1"), {0})
    check_found(ptrans.run(*words, "--inject-fault", kind))


@pytest.mark.parametrize("distribution", ["pq", pytest.param("diagonal", marks=FULL)])
@pytest.mark.parametrize("kind", MESSAGE_FAULTS)
def test_corrupted_messages_on_larger_grids_are_found(ptrans, kind, distribution):
    words = (*SHORT, *ONE_WAY, "--distribution", distribution, "--ranks", 6)
    check_found(ptrans.run(*words, "--inject-fault", f"{kind}@2"))


@pytest.mark.parametrize(
    "kind", ["half@1", *(pytest.param(k, marks=FULL) for k in ("half", "blank", "late"))]
)
def test_corrupted_messages_of_mpi_are_found(ptrans, kind):
    done = ptrans.run(*SHORT, *ONE_WAY, "--inject-fault", kind, launcher=mpirun(2))
    assert done.code == 1 and verdict_of(done)["status"] == "failed"


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("where", ["", "@1"])
def test_a_lost_message_ends_in_one_line_that_names_the_rank(ptrans, where, transport):
    words = (*SHORT, *ONE_WAY, "--transport", transport, "--ranks", 2, "--timeout", "0.5")
    line = only_error(ptrans.run(*words, "--inject-fault", f"lost{where}"), codes=(3,))
    assert re.search(r"message of 1024 bytes from rank \d in 0.5 s", line)


@FULL
def test_a_lost_message_of_mpi_ends_in_one_line(ptrans):
    done = ptrans.run(*SHORT, "--timeout", "1", "--inject-fault", "lost@1", launcher=mpirun(2))
    assert "from rank 1 in 1 s" in one_error(done, codes=(3,))


def test_a_fault_that_cannot_be_made_is_refused(ptrans):
    """It would prove nothing, and the run would be valid."""
    for words in (
        ("--ranks", 1, "--inject-fault", "lost"),
        ("--ranks", 4, "--inject-fault", "blank@3"),
        ("--ranks", 2, "--round-blocks", 1, "--inject-fault", "swapped"),
        ("--ranks", 2, "--size", 10, "--inject-fault", "element@1"),
    ):
        assert "--inject-fault" in only_error(ptrans.run(*short(*words)), codes=(2,))


BASE = "elements[k] = a[from + row * BLOCK_SIZE + chunk * CHANNEL_WIDTH + k];"
CPU = "rows[i] + b[tile + i * TILES]"
GPU = "tile[x][i] + b[place]"
WRONG_KERNELS = {
    "A is zero": ("base.cl", BASE, "elements[k] = 0;"),
    "A in single precision": ("base.cl", BASE, BASE.replace("a[", "(float)a[")),
    "one block for all": ("base.cl", "from = tasks[2 * task]", "from = tasks[0]"),
    "blocks of C swapped": ("base.cl", "to = tasks[2 * task + 1]", "to = tasks[2 * (count - 1 - task) + 1]"),
    "the last block left out": ("base.cl", "task < first + count", "task + 1 < first + count"),
    "the last column left out": ("base.cl", "column < BLOCK_SIZE;", "column + CHANNEL_WIDTH < BLOCK_SIZE;"),
    "B left out": ("throughput", (CPU, GPU), ("rows[i]", "tile[x][i]")),
    "not transposed": ("throughput", ("transpose_tile(rows);", GPU), ("", "tile[i][x] + b[place]")),
}


@pytest.mark.parametrize("what", WRONG_KERNELS)
def test_a_kernel_that_is_wrong_is_found(ptrans, tmp_path, what):
    name, old, new = WRONG_KERNELS[what]
    if name == "throughput":
        which = 0 if devices(ptrans)[0]["class"] == "cpu" else 1
        name, old, new = ("throughput_cpu.h", "throughput_gpu.h")[which], old[which], new[which]
        start = (KERNELS / "ptrans" / "throughput.cl").read_text().split("#if defined(FM_CPU)")[0]
    else:
        start = ""
    text = (KERNELS / "ptrans" / name).read_text()
    assert old in text
    # The end of its definition keeps a statement of the same words from being changed, not the call.
    path = tmp_path / "wrong.cl"
    path.write_text(start + new.join(text.rsplit(old, 1)))
    words = ("--variant", "throughput" if start else "base", "--data-type", "double", "--replications", 1)
    check_found(ptrans.run(*SHORT, *words, "--kernel-file", path))


# The stack, bad input -------------------------------------------------------------------------------------


def test_the_largest_block_of_the_base_kernel_runs_and_more_is_refused(ptrans):
    if devices(ptrans)[0]["class"] != "cpu":
        pytest.skip("blocks are not on a stack")
    words = ("--variant", "base", "--repetitions", 1, "--warmup", 0, "--replications", 1)
    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    try:
        resource.setrlimit(resource.RLIMIT_STACK, (2 << 20, hard))
        check_valid(ptrans.valid("--size", 990, *words, "--block-size", 976), 990)
        line = only_error(ptrans.run("--size", 10, *words, "--block-size", 992), codes=(2,))
        assert "block_size = 992" in line and "stack" in line
    finally:
        resource.setrlimit(resource.RLIMIT_STACK, (soft, hard))


BAD = {
    "no size": (("--size", "0"), "size = 0"),
    "too large for the memory": (("--size", "500000", "--block-size", "256"), "size = 500000"),
    "a block that channel_width does not divide": (("--block-size", "40"), "block_size"),
    "an unknown type": (("--data-type", "half"), "data_type = half"),
    "an unknown distribution": (("--distribution", "random"), "distribution = random"),
    "an unknown transport": (("--transport", "pigeon"), "transport = pigeon"),
    "a grid that the ranks do not fill": (("--grid-rows", "4"), "4 rows"),
    "a fault elsewhere": (("--inject-fault", "element:a"), "'a'; use c"),
    "a message with a target": (("--inject-fault", "blank:c"), "'c'; leave out"),
    "a rank that is not there": (("--inject-fault", "element@7"), "rank 7"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input_gets_one_line(ptrans, what):
    words, says = BAD[what]
    words += () if "--size" in words else ("--size", "100")
    for ranks in (1, 2):
        assert says in only_error(ptrans.run(*words, "--ranks", ranks), codes=(2,))


def test_bad_input_under_mpi_gets_one_line(ptrans):
    done = ptrans.run("--size", "100", "--grid-rows", "3", launcher=mpirun(2))
    assert "2 ranks do not fill" in one_error(done, codes=(2,))

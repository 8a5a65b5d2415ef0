"""The real fm_gemm: valid for every shape, type and number of ranks, and every wrong result is found."""

import itertools
import json
import platform
import resource
from pathlib import Path
from unittest.mock import patch

import pytest
from stream_program import KERNELS, REPOSITORY, devices, mpirun, on_a_device, only_error
from thinned import some_of

pytestmark = pytest.mark.programs

VARIANTS = ("base", "throughput")
OLD_BLAS = REPOSITORY / "build" / "release" / "tests" / "unit" / "libold_blas.so"
CORE = "OPENBLAS_CORETYPE"
TYPES = ("half", "float", "double", "mixed")
# Nothing divides the last two.
SIZES = (1, 65, 300)
FAULTS = ("element", "scale", "zeros", "stale", "swapped")
# Small blocks, so that small matrices have several.
SHORT = ("--size", "100", "--repetitions", "2", "--block-size", "32")
# Kernels with small blocks in registers are built in less time.
SOON_BUILT = ("--gemm-size", "8", "--unroll", "8")


@pytest.fixture(scope="module")
def gemm(tmp_path_factory):
    return on_a_device(tmp_path_factory, "gemm")


@pytest.fixture(scope="module")
def is_cpu(gemm):
    return devices(gemm)[0]["class"] == "cpu"


def verdicts(done):
    return {verdict["name"]: verdict for verdict in done.document["verdicts"]}


# The host's products --------------------------------------------------------------------------------------


def flags():
    found = next(line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("flags"))
    return set(found.split())


@pytest.mark.skipif(platform.machine() != "x86_64", reason="OpenBLAS's names are those of x86-64")
@pytest.mark.parametrize("of_the_user", [None, "Prescott"])
def test_kernels_of_openblas_fit_a_cpu_that_it_does_not_know(gemm, of_the_user):
    if not OLD_BLAS.exists():
        pytest.skip(f"{OLD_BLAS.name} is not built")
    variables = {"LD_PRELOAD": str(OLD_BLAS)} | ({CORE: of_the_user} if of_the_user else {})
    with patch.dict(gemm.environment):
        gemm.environment.pop(CORE, None)
        done = gemm.run(*SHORT, variables=variables)
    assert done.code == 0
    avx512 = {"avx512f", "avx512vl", "avx512bw", "avx512dq", "avx512cd"} <= flags()
    fitting = "SkylakeX" if avx512 else "Haswell" if {"avx2", "fma"} <= flags() else None
    assert done.document["environment"]["variables"][CORE] == (of_the_user or fitting)


# Shapes, types, ranks -------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", VARIANTS)
def test_sizes_that_nothing_divides_are_valid_without_any_error(gemm, variant):
    for size, replications in itertools.product(SIZES, (1, 3)):
        words = ("--size", size, "--block-size", 32, "--replications", replications, "--repetitions", 2)
        found = verdicts(gemm.valid("--variant", variant, *words))
        assert found["elements"]["checked"] == size * size
        assert found["repetitions"]["checked"] == 2 * size * size
        assert found["spot rows"]["checked"] == size * min(size, 7)
        assert {verdict["error"] for verdict in found.values()} == {0}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("data_type", TYPES)
def test_every_type_is_valid_or_refused_by_name(gemm, variant, data_type):
    done = gemm.run(*SHORT, "--variant", variant, "--data-type", data_type)
    if done.code == 0:
        assert done.document["parameters"]["data_type"] == data_type
        assert {verdict["error"] for verdict in done.document["verdicts"]} == {0}
    else:
        assert data_type in ("half", "double")
        assert data_type in only_error(done, codes=(2,))


@pytest.mark.full
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("data_type", ["float", "double", "mixed"])
@pytest.mark.parametrize("ranks", [1, 2, 4, 8])
def test_the_whole_matrix_is_valid(gemm, variant, data_type, ranks):
    for size, inputs in itertools.product((64, 257, 700), ("exact", "random")):
        words = ("--size", size, "--inputs", inputs, "--repetitions", 1)
        gemm.valid("--variant", variant, "--data-type", data_type, *words, launcher=mpirun(ranks))
        gemm.valid("--variant", variant, "--data-type", data_type, *words, "--ranks", ranks)


@pytest.mark.full
@pytest.mark.parametrize("gemm_size", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("unroll", [1, 8, 64])
def test_every_shape_of_the_base_kernel_is_valid(gemm, gemm_size, unroll):
    for block, data_type in itertools.product((64, 128), ("float", "double", "mixed")):
        words = ("--gemm-size", gemm_size, "--unroll", unroll, "--block-size", block)
        gemm.valid("--size", 200, "--repetitions", 1, "--data-type", data_type, *words)


@pytest.mark.full
@pytest.mark.parametrize("vector_bytes", [16, 32, 64])
@pytest.mark.parametrize("tile", [(1, 1), (4, 3), (8, 3), (14, 2)])
def test_every_shape_of_the_throughput_kernel_is_valid(gemm, vector_bytes, tile):
    for (depth, tiles), data_type in itertools.product(((32, 5), (512, 1)), ("float", "double", "mixed")):
        words = ("--tile-rows", tile[0], "--tile-vectors", tile[1], "--vector-bytes", vector_bytes)
        words += ("--depth-block", depth, "--row-tiles", tiles, "--column-tiles", tiles)
        gemm.valid(*SHORT, "--variant", "throughput", "--data-type", data_type, *words)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("ranks", [1, 2, 4, 8])
def test_ranks_in_one_process_are_valid(gemm, variant, ranks):
    done = gemm.valid(*SHORT, "--variant", variant, "--ranks", ranks)
    assert verdicts(done)["elements"]["checked"] == ranks * 100 * 100
    work = done.measurement("gemm")["work"]
    assert work == {"amount": ranks * 2 * 100**3, "unit": "FLOP"}, "padding is no work"


@pytest.mark.parametrize("ranks", [2, pytest.param(4, marks=pytest.mark.full)])
def test_ranks_of_mpi_are_valid(gemm, ranks):
    for variant in VARIANTS:
        gemm.valid(*SHORT, "--variant", variant, launcher=mpirun(ranks))


@pytest.mark.parametrize("memory", ["host-pointer", "svm"])
def test_every_kind_of_memory_is_valid_or_refused_by_name(gemm, memory):
    for variant in VARIANTS:
        done = gemm.run(*SHORT, "--variant", variant, "--memory", memory)
        assert done.code == 0 or "shared virtual memory" in only_error(done, codes=(2,))


# alpha, beta, inputs --------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", VARIANTS)
def test_with_beta_zero_c_is_not_looked_at(gemm, variant):
    """C starts as NaN then, which any look at it would spread."""
    done = gemm.valid(*SHORT, "--variant", variant, "--beta", "0", "--replications", "2")
    assert {verdict["error"] for verdict in done.document["verdicts"]} == {0}


@pytest.mark.parametrize("variant", VARIANTS)
def test_any_alpha_and_beta_are_valid(gemm, variant):
    for alpha, beta in ((0.3, -1.7), (-1, 0), (1e-3, 100)):
        gemm.valid(*SHORT, "--variant", variant, "--alpha", alpha, "--beta", beta)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("data_type", ["float", "double", "mixed"])
def test_random_inputs_have_rounding_errors_within_the_bound(gemm, variant, data_type):
    words = ("--size", "300", "--block-size", "32", "--repetitions", "1", "--inputs", "random")
    done = gemm.valid("--variant", variant, "--data-type", data_type, *words)
    spot = verdicts(done)["spot rows"]
    assert 0 < spot["error"] < spot["threshold"] / 2


# The stack ------------------------------------------------------------------------------------------------


def test_the_default_block_and_the_largest_run_and_more_is_refused(gemm, is_cpu):
    """PoCL's threads keep the blocks on their stacks and overflow silently; no limit makes these small."""
    if not is_cpu:
        pytest.skip("blocks are not on a stack")
    words = ("--variant", "base", "--repetitions", "1", "--warmup", "0", "--replications", "1")
    for data_type in ("float", "double"):
        gemm.valid("--size", "256", *words, "--data-type", data_type)
    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    try:
        for megabytes, largest in ((2, 800), (8, 800)):
            if hard != resource.RLIM_INFINITY and hard < megabytes << 20:
                continue
            resource.setrlimit(resource.RLIMIT_STACK, (megabytes << 20, hard))
            gemm.valid("--size", largest, *words, "--block-size", largest)
            line = only_error(gemm.run("--size", "10", *words, "--block-size", largest + 16), codes=(2,))
            assert f"block_size = {largest + 16}" in line and "stack" in line
    finally:
        resource.setrlimit(resource.RLIMIT_STACK, (soft, hard))


# Figures --------------------------------------------------------------------------------------------------


def test_device_events_cover_the_timed_part_of_the_throughput_kernel(gemm, is_cpu):
    """The best of some repetitions: the machine may be busy with other work."""
    words = ("--size", "700", "--repetitions", "10", "--timeline", "--skip-validation")
    done = gemm.run("--variant", "throughput", *words)
    assert done.code == 0
    events = done.document["timeline"]
    kernels = {"multiply", "pack_a", "pack_b"} if is_cpu else {"multiply"}
    assert {event["kernel"] for event in events} == kernels
    regions = done.measurement("gemm")["samples"]["per_rank"][0]
    shares = []
    for repetition, seconds in enumerate(regions):
        own = [event for event in events if event["repetition"] == repetition]
        shares.append(sum(event["ended"] - event["started"] for event in own) / seconds)
    assert 0.9 <= max(shares) <= 1


# Faults ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind, variant", some_of(FAULTS, VARIANTS))
def test_every_fault_is_found_and_placed(gemm, variant, kind):
    done = gemm.run(*SHORT, "--variant", variant, "--inject-fault", kind)
    assert done.code == 1 and done.errors == ""
    elements = verdicts(done)["elements"]
    assert elements["status"] == "failed"
    assert elements["worst"]["place"].startswith("c[") and elements["worst"]["place"] in done.output
    if kind == "element":
        assert elements["worst"]["place"] == "c[39,13]"
        assert 100 < elements["error"] <= 1001, "1000 eps of the element"


@pytest.mark.parametrize("data_type", ["double", "mixed"])
@pytest.mark.parametrize("kind", ["element", "scale"])
def test_faults_of_other_types_are_found(gemm, data_type, kind):
    done = gemm.run(*SHORT, "--data-type", data_type, "--inject-fault", f"{kind}:c")
    assert done.code == 1 or data_type in only_error(done, codes=(2,))


@pytest.mark.parametrize("kind", ["element", "scale"])
def test_faults_are_found_in_matrices_that_the_closest_peer_accepts(gemm, kind):
    """There results times 1.5 pass at n = 2048; a unit test shows the source's residual blind."""
    words = ("--size", "2048", "--repetitions", "1", "--warmup", "0", "--variant", "throughput")
    done = gemm.run(*words, "--inject-fault", kind)
    assert done.code == 1
    found = verdicts(done)
    assert found["elements"]["status"] == "failed"
    if kind == "element":
        assert found["residual"]["status"] == "passed"


def test_a_stale_result_without_c_is_found(gemm):
    assert gemm.run(*SHORT, "--beta", "0", "--inject-fault", "stale").code == 1


def test_a_fault_in_random_inputs_is_found(gemm):
    for kind in FAULTS:
        assert gemm.run(*SHORT, "--inputs", "random", "--inject-fault", kind).code == 1


@pytest.mark.parametrize("inputs", ["exact", "random"])
@pytest.mark.parametrize("kind", FAULTS)
def test_a_fault_in_one_repetition_alone_is_found_there(gemm, kind, inputs):
    words = ("--repetitions", "3", "--inputs", inputs, "--inject-fault", f"{kind}#1")
    done = gemm.run("--size", "100", "--variant", "throughput", *words)
    assert done.code == 1
    found = verdicts(done)
    assert found["repetitions"]["status"] == "failed" and found["repetitions"]["repetition"] == 1
    assert found["repetitions"]["worst"]["place"].startswith("c[")
    assert found["elements"]["status"] == "passed", "the last one is right"


@pytest.mark.parametrize("launched", [False, True])
def test_a_fault_on_one_rank_alone_is_found_there(gemm, launched):
    how = {"launcher": mpirun(2)} if launched else {}
    words = () if launched else ("--ranks", "2")
    done = gemm.run(*SHORT, *words, "--inject-fault", "element@1", **how)
    assert done.code == 1
    assert verdicts(done)["elements"]["worst"]["rank"] == 1


WRONG_KERNELS = {
    "a transposed": ("base", "GEMM_LOAD(a, left_start + row * width + x)", "GEMM_LOAD(a, x * width + row)"),
    "b transposed": ("base", "GEMM_LOAD(b, right_start + row * width + x)", "GEMM_LOAD(b, x * width + row)"),
    "c left out": ("base", "GEMM_RESULT(product, c[place])", "GEMM_RESULT(product, 0)"),
    "the last block left out": ("base", "step < blocks;", "step + 1 < blocks;"),
    "the last column left out": ("base", "block_column < blocks;", "block_column + 1 < blocks;"),
    "blocks of b swapped": (
        "base",
        "right_start = (size_t)step *",
        "right_start = (size_t)(blocks - 1 - step) *",
    ),
    "bfloat16 instead of float": (
        "base",
        "GEMM_LOAD(a, left_start + row * width + x)",
        "as_float(as_uint(GEMM_LOAD(a, left_start + row * width + x)) & 0xFFFF0000)",
    ),
    "TF32 instead of float": (
        "base",
        "GEMM_LOAD(b, right_start + row * width + x)",
        "as_float(as_uint(GEMM_LOAD(b, right_start + row * width + x)) & 0xFFFFE000)",
    ),
}


SLOW = ("b transposed", "the last column left out", "blocks of b swapped")


@pytest.mark.parametrize(
    "what", [pytest.param(what, marks=[pytest.mark.full] * (what in SLOW)) for what in WRONG_KERNELS]
)
def test_a_kernel_that_is_wrong_is_found(gemm, tmp_path, what):
    variant, old, new = WRONG_KERNELS[what]
    text = (KERNELS / "gemm" / f"{variant}.cl").read_text()
    assert old in text
    path = tmp_path / "wrong.cl"
    path.write_text(text.replace(old, new))
    words = ("--size", "64", "--block-size", "32", "--repetitions", "1", "--variant", variant)
    done = gemm.run(*words, *SOON_BUILT, "--kernel-file", path)
    assert done.code == 1
    assert verdicts(done)["elements"]["status"] == "failed"
    assert verdicts(done)["spot rows"]["status"] == "failed"


# Bad input ------------------------------------------------------------------------------------------------

BAD = {
    "no size": (("--size", "0"), "size = 0"),
    "too large for the memory": (("--size", "200000"), "size = 200000"),
    "a block that gemm_size does not divide": (("--block-size", "40", "--gemm-size", "16"), "block_size"),
    "a block that unroll does not divide": (("--block-size", "48", "--unroll", "32"), "block_size"),
    "an unknown gemm_size": (("--gemm-size", "3"), "gemm_size = 3"),
    "a depth without whole vectors": (("--depth-block", "100"), "depth_block"),
    "an unknown type": (("--data-type", "quad"), "data_type = quad"),
    "alpha is no number": (("--alpha", "much"), "alpha = 'much'"),
    "nothing to multiply": (("--alpha", "0"), "alpha"),
    "alpha too large": (("--alpha", "1e9"), "alpha = 1000000000"),
    "unknown inputs": (("--inputs", "zeros"), "inputs = zeros"),
    "a fault elsewhere": (("--inject-fault", "element:a"), "'a'; use c"),
    "a fault of messages": (("--inject-fault", "lost"), "no messages"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input_gets_one_line(gemm, what):
    words, says = BAD[what]
    words += () if "--size" in words else ("--size", "10")
    for ranks in ((), ("--ranks", "2")):
        line = only_error(gemm.run("--repetitions", "1", *words, *ranks), codes=(2, 3))
        assert says in line


def test_bad_input_under_mpi_gets_one_line(gemm):
    done = gemm.run("--size", "200000", launcher=mpirun(2))
    assert done.code in (2, 3)
    lines = [line for line in done.errors.splitlines() if line.startswith("fm_gemm: error: ")]
    assert len(lines) == 1 and "size = 200000" in lines[0]


def test_the_parameters_of_the_source_are_there(gemm):
    done = gemm.start("--help")
    for option in ("--block-size", "--gemm-size", "--unroll", "--replications", "--data-type"):
        assert option in done.output
    assert json.loads(gemm.start(*SHORT, "--json", "-").output)["run"]["benchmark"] == "gemm"

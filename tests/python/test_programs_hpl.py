"""The real fm_hpl: valid for every shape, type and number of ranks, and every wrong result is found."""

import itertools
import json

import pytest
from stream_program import KERNELS, ONE_WAY, PROGRAM, mpirun, on_a_device, one_error, only_error
from thinned import some_of
from wrong_kernels import with_own_headers

pytestmark = pytest.mark.programs

FULL = pytest.mark.full
VARIANTS = ("base", "throughput")
TYPES = ("float", "double")
SOLUTION = {"residual", "scaled residual", "forward error"}
FACTORS = {"factors", "diagonal of U", "precision"}
# Blocks that do not divide the matrix, and several for each rank.
SHORT = ("--size", "200", "--block-size", "32", "--repetitions", "2")
# Kernels with small blocks in registers are built four times as fast.
SOON_BUILT = ("--register-block", "4")
GRIDS = {
    "1x1": (1, 1),
    "1x2": (2, 1),
    "2x1": (2, 2),
    "2x2": (4, 2),
    "2x3": (6, 2),
    "3x3": (9, 3),
    "4x4": (16, 4),
}

# What finds each fault, at the least.
FAULTS = {
    "element": {"factors"},
    "element:u": {"factors"},
    "element:l": {"factors"},
    "element:diagonal": {"diagonal of U"},
    "element:x": {"forward error"},
    "scale": {"factors", "diagonal of U", "forward error"},
    "scale:block": {"factors"},
    "scale:x": {"forward error", "scaled residual"},
    "zeros": {"factors", "diagonal of U", *SOLUTION},
    "zeros:block": {"factors"},
    "zeros:x": {"forward error", "scaled residual"},
    "stale": {"factors"},
    "stale:block": {"factors"},
    "stale:x": SOLUTION,
    "swapped:factors": {"factors"},
    "swapped:block": {"factors"},
}


@pytest.fixture(scope="module")
def hpl(tmp_path_factory):
    return on_a_device(tmp_path_factory, "hpl")


def grid_of(name):
    """Options of a grid of ranks in one process."""
    ranks, rows = GRIDS[name]
    return ("--ranks", ranks, "--grid-rows", rows)


def verdicts(done):
    return {verdict["name"]: verdict for verdict in done.document["verdicts"]}


def failed(done):
    return {name for name, verdict in verdicts(done).items() if verdict["status"] == "failed"}


def figure(done, operation, name="performance"):
    return next(
        m
        for m in done.document["measurements"]
        if m["name"] == name and m["axes"] == ({"operation": operation} if operation else {})
    )


# Shapes, types, ranks -------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("data_type", TYPES)
def test_sizes_that_nothing_divides_are_valid(hpl, variant, data_type):
    for size in (1, 2, 33, 200):
        words = ("--size", size, "--block-size", 32, "--repetitions", 1, "--data-type", data_type)
        found = verdicts(hpl.valid("--variant", variant, *words))
        if size == 1:  # the diagonal is all that there is
            assert set(found) == SOLUTION | {"diagonal of U"}
        else:
            assert set(found) == SOLUTION | FACTORS
            # After the repetition, and in full at the end.
            assert found["factors"]["checked"] == 2 * size * (size - 1), "every element beside the diagonal"
        assert found["diagonal of U"]["checked"] == 2 * size
        assert found["forward error"]["checked"] == 2 * size


@pytest.mark.parametrize(
    "grid, variant",
    [
        *some_of(list(GRIDS)[:5], VARIANTS),
        *(pytest.param(*one, marks=FULL) for one in itertools.product(list(GRIDS)[5:], VARIANTS)),
    ],
)
def test_ranks_in_one_process_are_valid(hpl, variant, grid):
    done = hpl.valid(*SHORT, "--variant", variant, *grid_of(grid))
    assert verdicts(done)["factors"]["checked"] == 3 * 200 * 199, "each of two repetitions, and at the end"
    assert figure(done, "lu")["work"]["amount"] == pytest.approx(2 / 3 * 200**3), "padding is no work"


@FULL
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("data_type", TYPES)
@pytest.mark.parametrize("grid", ["1x1", "1x2", "2x2", "2x3", "3x3", "4x4"])
def test_the_whole_matrix_is_valid(hpl, variant, data_type, grid):
    for block, size in itertools.product((32, 64, 96), (257, 512)):
        words = ("--size", size, "--block-size", block, "--repetitions", 1, "--data-type", data_type)
        hpl.valid("--variant", variant, *words, *grid_of(grid))


@FULL
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("lookahead", ["true", "false"])
def test_every_order_and_share_of_the_work_is_valid(hpl, variant, lookahead):
    for replications, launch_items in itertools.product((1, 3), (1, 5, 1000)):
        words = ("--lookahead", lookahead, "--replications", replications, "--launch-items", launch_items)
        hpl.valid(*SHORT, "--variant", variant, *words, *grid_of("2x2"))


@pytest.mark.parametrize("ranks", [2, pytest.param(4, marks=FULL), pytest.param(6, marks=FULL)])
def test_ranks_of_mpi_are_valid(hpl, ranks):
    for variant in VARIANTS:
        hpl.valid(*SHORT, "--variant", variant, launcher=mpirun(ranks))


def test_ranks_without_any_block_are_valid(hpl):
    hpl.valid("--size", "20", "--block-size", "16", *SOON_BUILT, "--repetitions", "1", *grid_of("2x3"))


@FULL
def test_sixteen_ranks_in_one_process_are_valid(hpl):
    words = ("--size", "2048", "--variant", "throughput", "--repetitions", "1", "--warmup", "0")
    hpl.valid(*words, "--ranks", "16")


@FULL
@pytest.mark.parametrize("memory", ["host-pointer", "svm"])
def test_every_kind_of_memory_is_valid_or_refused_by_name(hpl, memory):
    for variant in VARIANTS:
        done = hpl.run(*SHORT, "--variant", variant, "--memory", memory)
        assert done.code == 0 or "shared virtual memory" in only_error(done, codes=(2,))


# Mixed precision ------------------------------------------------------------------------------------------

MIXED = ("--variant", "throughput", "--data-type", "mixed")
REFINED = {f"refined {name}" for name in SOLUTION}


@pytest.fixture(scope="module")
def on_gpu():
    """Variables with which PoCL is a GPU: its kernels keep halves as floats."""
    library = PROGRAM.parent.parent / "tests/unit/liblimited_opencl.so"
    return {"LD_PRELOAD": str(library), "FABRICMARK_LIMITED": "gpu,local=49152,work-items=1024"}


def test_mixed_is_refined_to_double_unless_it_is_not_to_be(hpl):
    for size in (2, 33, 300):
        found = verdicts(hpl.valid(*MIXED, "--size", size, "--block-size", 32, "--repetitions", 1))
        assert set(found) == SOLUTION | FACTORS | REFINED
        assert found["refined scaled residual"]["error"] <= (1 if size == 2 else 1 / 50)
    assert found["precision"]["threshold"] == 0.5 and found["precision"]["error"] > 0.1, "it is half"
    done = hpl.valid(*MIXED, *SHORT, "--refinement", "none", "--ranks", 2)
    assert set(verdicts(done)) == SOLUTION | FACTORS
    assert any("multiply halves" in note for note in done.document["notes"])


@pytest.mark.parametrize("ranks", [1, 4])
def test_mixed_is_valid_by_the_kernels_of_gpus(hpl, on_gpu, ranks):
    words = (*MIXED, "--size", 200, "--block-size", 128, "--repetitions", 1, "--ranks", ranks)
    found = verdicts(hpl.valid(*words, variables=on_gpu))
    assert 0.05 < found["precision"]["error"] < 0.5


@pytest.mark.parametrize("fault", [*FAULTS, "zeros:refined", "element:refined"])
def test_every_fault_is_found_in_mixed_precision(hpl, fault):
    done = hpl.run(*MIXED, "--size", 200, "--block-size", 32, "--repetitions", 1, "--inject-fault", fault)
    assert done.code == 1 and done.errors == ""
    expected = {"zeros": {"factors", "diagonal of U", *SOLUTION, *REFINED}, "scale:x": {"forward error"},
                "zeros:x": {"forward error"}}  # fmt: skip
    assert failed(done) >= expected.get(fault, FAULTS.get(fault, {"refined forward error"}))


WRONG_MIXED = {
    # of kernels/hpl/throughput_cpu.h: (old, new)
    "bfloat16 instead of half": (
        "return FM_PASTE(vload_half, WIDTH)(0, (const half*)bits);",
        "float all[WIDTH];\n  FM_PASTE(vstore, WIDTH)(value, 0, all);\n"
        "  for (uint i = 0; i < WIDTH; ++i) all[i] = as_float(as_uint(all[i]) + 0x8000u & 0xFFFF0000u);\n"
        "  return FM_PASTE(vload, WIDTH)(0, all);",
    ),
    "a scale that is not taken out": (
        "*place -= UNSCALE_LEFT(sum[i][v]);",
        "*place -= 0.5f * UNSCALE_LEFT(sum[i][v]);",
    ),
}


@pytest.mark.parametrize("what", WRONG_MIXED)
def test_a_kernel_that_is_wrong_in_mixed_precision_is_found(hpl, tmp_path, what):
    old, new = WRONG_MIXED[what]
    text = with_own_headers(KERNELS / "hpl" / "throughput.cl")
    assert old in text
    path = tmp_path / "wrong.cl"
    path.write_text(text.replace(old, new))
    done = hpl.run(*MIXED, "--size", 600, "--repetitions", 1, "--kernel-file", path)
    assert done.code == 1 and "precision" in failed(done)


@pytest.mark.parametrize("variant", ["base", "channels", "dataflow"])
def test_kernels_without_mixed_precision_refuse_it(hpl, variant):
    done = hpl.run(*SHORT, "--variant", variant, "--data-type", "mixed")
    assert f"the variant {variant} has no data_type = mixed (--data-type)" in only_error(done, codes=(2,))


# Figures --------------------------------------------------------------------------------------------------


def test_what_is_timed_and_counted_is_said(hpl):
    done = hpl.valid(*SHORT, "--ranks", "2", "--refinement", "gmres")
    lu, solve, refine = (figure(done, "lu"), figure(done, "solve", "time"), figure(done, "refine", "time"))
    both, all_three = figure(done, "lu+solve"), figure(done, "lu+solve+refine")
    assert "2/3 n^3 + 3/2 n^2" in both["derived"] and "HPL" in both["derived"]
    assert "HPL-MxP" in all_three["derived"]
    assert any("2/3 n^3" in note and "timed alone" in note for note in done.document["notes"])
    operations = 2 / 3 * 200**3 + 3 / 2 * 200**2
    seconds = lu["work"]["amount"] / lu["best"] / 1e9 + solve["best"]
    assert both["best"] == pytest.approx(operations / seconds / 1e9, rel=1e-3)
    assert all_three["best"] == pytest.approx(operations / (seconds + refine["best"]) / 1e9, rel=1e-3)


def test_the_timeline_says_how_much_of_the_exchange_is_hidden(hpl):
    done = hpl.valid(*SHORT, "--ranks", "2", "--timeline")
    hidden = figure(done, None, "exchange_hidden")
    assert 0 <= hidden["best"] <= 100 and hidden["unit"] == "%"
    kernels = {event["kernel"] for event in done.document["timeline"]}
    assert {"lu", "left", "top", "inner"} <= kernels
    alone = hpl.valid(*SHORT, "--ranks", "2")
    assert all(m["name"] != "exchange_hidden" for m in alone.document["measurements"])


# Refinement -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data_type", TYPES)
def test_refinement_reaches_double_accuracy(hpl, data_type):
    words = ("--data-type", data_type, "--refinement", "gmres")
    done = hpl.valid(*SHORT, *ONE_WAY, *words, "--ranks", "2")
    found = verdicts(done)
    assert set(found) == SOLUTION | FACTORS | {f"refined {name}" for name in SOLUTION}
    assert found["refined scaled residual"]["error"] <= 1 / 200
    iterations = figure(done, None, "refinement_iterations")["best"]
    assert iterations <= (4 if data_type == "float" else 1)
    assert data_type == "double" or iterations >= 1


def test_refinement_converges_in_spite_of_wrong_factors_which_are_found(hpl):
    done = hpl.run(*SHORT, "--refinement", "gmres", "--inject-fault", "element")
    assert done.code == 1
    assert failed(done) == {"factors"}


# Faults ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("data_type", ["float", pytest.param("double", marks=FULL)])
def test_every_fault_is_found_and_placed(hpl, fault, data_type):
    done = hpl.run(*SHORT, "--data-type", data_type, "--inject-fault", fault)
    assert done.code == 1 and done.errors == ""
    assert failed(done) >= FAULTS[fault]
    for name in failed(done) & {"factors", "diagonal of U", "forward error"}:
        assert verdicts(done)[name]["worst"]["place"] in done.output


@pytest.mark.parametrize(
    "fault", [*list(FAULTS)[:5], *(pytest.param(f, marks=FULL) for f in list(FAULTS)[5:])]
)
def test_a_fault_on_one_rank_alone_is_found(hpl, fault):
    words = (*SHORT, *ONE_WAY, "--ranks", "2", "--variant", "throughput")
    done = hpl.run(*words, "--inject-fault", f"{fault}@1")
    assert done.code == 1 and failed(done) & FAULTS[fault]
    if fault == "element:x":
        assert verdicts(done)["forward error"]["worst"]["rank"] == 1


@pytest.mark.parametrize("fault", ["zeros:refined", "element:refined"])
def test_a_refined_solution_that_is_wrong_is_found(hpl, fault):
    done = hpl.run(*SHORT, "--refinement", "gmres", "--inject-fault", fault)
    assert done.code == 1 and "refined forward error" in failed(done)
    assert not failed(done) & (SOLUTION | FACTORS)


def test_the_solution_of_zeros_that_the_closest_peer_accepts_is_found(hpl):
    words = ("--size", "4096", "--variant", "throughput", "--repetitions", "1", "--warmup", "0")
    done = hpl.run(*words, "--inject-fault", "zeros:x")
    assert done.code == 1
    assert failed(done) == {"scaled residual", "forward error"}, "the source's residual alone lets it pass"


@pytest.mark.parametrize("data_type", ["float", pytest.param("double", marks=FULL)])
def test_one_element_of_a_large_matrix_is_found_that_no_residual_sees(hpl, data_type):
    words = (*ONE_WAY, "--size", "2048", "--variant", "throughput", "--repetitions", "1", "--warmup", "0")
    for fault in ("element:l", "element:u"):
        done = hpl.run(*words, "--data-type", data_type, "--ranks", "2", "--inject-fault", fault + "@1")
        assert done.code == 1
        assert failed(done) == {"factors"}


# Of messages: a lost one never arrives.
@pytest.mark.parametrize("kind", ["blank", "half", "late", "swapped"])
@pytest.mark.parametrize("where", [pytest.param("", marks=FULL), "@0"])
def test_wrong_messages_are_found(hpl, kind, where):
    for variant in VARIANTS:
        words = (*SHORT, *ONE_WAY, "--variant", variant, *grid_of("2x2"))
        done = hpl.run(*words, "--inject-fault", kind + where)
        assert done.code == 1 and failed(done) & FACTORS


@pytest.mark.parametrize("kind", ["blank", "half", "late"])
def test_wrong_messages_between_processes_are_found(hpl, kind):
    for where in ("", "@1"):
        done = hpl.run(*SHORT, *ONE_WAY, "--inject-fault", kind + where, launcher=mpirun(2))
        assert done.code == 1 and failed(done) & FACTORS


def test_a_lost_message_is_named(hpl):
    done = hpl.run(*SHORT, *ONE_WAY, "--ranks", "2", "--timeout", "1", "--inject-fault", "lost")
    assert "no sign of a message" in one_error(done, codes=(3,))


WRONG_KERNELS = {
    "an update left out": (
        "base",
        "k < BLOCKS; ++k) {\n    for (uint r",
        "k + 1 < BLOCKS; ++k) {\n    for (uint r",
    ),
    "the last block left out": ("base", "number < first + count;", "number + 1 < first + count;"),
    "an update added": ("base", "c + x] -=\n", "c + x] +=\n"),
    "the left blocks not updated": ("base", "multiply(block[i][k], block[i][k], factor[k][k])", "continue"),
    "the top blocks not updated": ("base", "multiply(block[k][j], factor[k][k], block[k][j])", "continue"),
    "the panel of the iteration before": ("base", "(top_start + j)", "((top_start + j) ^ 1)"),
    "TF32 instead of float": (
        "base",
        "c + x] -=\n            product[r / REGISTER_SIZE][c / REGISTER_SIZE][r % REGISTER_SIZE][x];",
        "c + x] -= as_float(as_uint("
        "product[r / REGISTER_SIZE][c / REGISTER_SIZE][r % REGISTER_SIZE][x]) & 0xFFFFE000);",
    ),
}
SLOW = ("the last block left out", "an update added", "the top blocks not updated")


@pytest.mark.parametrize(
    "what", [pytest.param(what, marks=[FULL] * (what in SLOW)) for what in WRONG_KERNELS]
)
def test_a_kernel_that_is_wrong_is_found(hpl, tmp_path, what):
    variant, old, new = WRONG_KERNELS[what]
    text = with_own_headers(KERNELS / "hpl" / f"{variant}.cl")
    assert old in text
    path = tmp_path / "wrong.cl"
    path.write_text(text.replace(old, new))
    done = hpl.run(*SHORT, *SOON_BUILT, "--variant", variant, "--kernel-file", path)
    assert done.code == 1
    assert "factors" in failed(done)


# Bad input ------------------------------------------------------------------------------------------------

BAD = {
    "no size": (("--size", "0"), "size = 0"),
    "too large for the memory": (("--size", "300000"), "size = 300000"),
    "a block that register_block does not divide": (
        ("--block-size", "40", "--register-block", "16"),
        "block_size",
    ),
    "an unknown type": (("--data-type", "half"), "data_type = half"),
    "an unknown refinement": (("--refinement", "lu"), "refinement = lu"),
    "an unknown transport": (("--transport", "pigeon"), "transport = pigeon"),
    "a grid that the ranks do not fill": (("--grid-rows", "3"), "grid of 3 rows"),
    "a fault elsewhere": (("--inject-fault", "zeros:b"), "'b'; use"),
    "an element of many": (("--inject-fault", "element:block"), "'block'; use"),
    "many of one element": (("--inject-fault", "scale:u"), "'u'; use"),
    "a refined solution that is not there": (("--inject-fault", "zeros:refined"), "'refined'; use"),
    "equal numbers exchanged": (("--inject-fault", "swapped:x"), "'x'; use"),
    "a message with a target": (("--inject-fault", "blank:x"), "leave out the target"),
    "messages that are all alike": (("--inject-fault", "swapped"), "2 x 2"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input_gets_one_line(hpl, what):
    words, says = BAD[what]
    words += () if "--size" in words else ("--size", "40")
    words += () if "--block-size" in words else ("--block-size", "32")  # as of valid runs
    for ranks in ((), ("--ranks", "2")):
        line = only_error(hpl.run("--repetitions", "1", *words, *ranks), codes=(2, 3))
        assert says in line


def test_faults_need_something_to_corrupt(hpl):
    for fault, size, says in (
        ("blank", 16, "no messages"),
        ("swapped:block", 16, "less than two blocks"),
        ("element", 1, "no element of u"),
    ):
        words = ("--size", size, "--block-size", 16, "--repetitions", 1, "--inject-fault", fault)
        assert says in only_error(hpl.run(*words, *SOON_BUILT), codes=(2,))


def test_the_parameters_of_the_source_are_there(hpl):
    done = hpl.start("--help")
    for option in ("--block-size", "--register-block", "--replications", "--data-type", "--grid-rows"):
        assert option in done.output
    assert json.loads(hpl.start(*SHORT, "--json", "-").output)["run"]["benchmark"] == "hpl"

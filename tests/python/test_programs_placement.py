"""Where arrays lie on a board with many memory banks, as its file says; elsewhere results stay the same."""

import pytest
from fabricmark.systems import export
from stream_program import PROGRAM, Stream, on_a_device, one_error

pytestmark = [pytest.mark.programs, pytest.mark.usefixtures("of_the_repository")]
ONCE = ("--repetitions", 1, "--warmup", 0)
BASE = ("--variant", "base", "--repetitions", 2)


@pytest.fixture(name="on_a_board")
def dry_run_with_the_memory_of_a_board(tmp_path):
    """Starts a program for a board that computes nothing, and whose banks are those of its file."""

    def start(benchmark, board, *words):
        system = tmp_path / f"{board}.json"
        system.write_text(export.text(board))
        program = Stream(tmp_path, PROGRAM.with_name(f"fm_{benchmark}"))
        return program.run("--system", system, "--platform", "dry-run", *ONCE, *words)

    return start


def note(done):
    assert done.code == 0, done.errors
    return next(one for one in done.document["notes"] if "banks chosen" in one)


@pytest.fixture(name="plan")
def hpl_on_the_hbm_of_an_alveo_u280(tmp_path):
    """Starts HPL, whose plan is carried out without a byte of it: on the design for its DDR memory."""
    document, name = export.document("noctua2"), "u280_ddr_multi/hpl_host"
    design = next(one for one in document["bitstreams"] if one["id"] == name)
    design["values"].pop("matrix_banks")
    design["device"] = "u280_hbm"
    system = tmp_path / "hbm.json"
    system.write_text(export.written(document))
    program = Stream(tmp_path, PROGRAM.with_name("fm_hpl"))
    fixed = ("--timing-only", "--system", system, "--bitstream-id", name, "--launch-items", 4096)
    return lambda *words: program.run(*fixed, *words)


@pytest.mark.parametrize("block", [256, 512])
def test_a_matrix_of_33280_fits_the_hbm_of_an_alveo_u280(plan, block):
    """4.1 GiB of 8, in banks of 256 MiB: in one of them a matrix ends at 8192."""
    done = plan("--size", 33280, "--block-size", block)
    assert "HBM: 32 of 32 banks chosen, most in bank" in note(done)
    assert done.document["parameters"]["matrix_banks"] == 32


TOO_LARGE = {
    "a bank": (
        ("--size", 33280, "--matrix-banks", 1),
        "4225 MiB are to lie in bank 0 of HBM, which holds 256",
    ),
    "a bank that a panel needs": (("--size", 46080, "--block-size", 512), "MiB are to lie in bank 0 of HBM"),
    "all banks": (
        (
            "--size",
            65536,
        ),
        "MiB are to lie in bank",
    ),
}


@pytest.mark.parametrize("words, cause", TOO_LARGE.values(), ids=TOO_LARGE)
def test_a_matrix_that_does_not_fit_is_refused(plan, words, cause):
    line = one_error(plan(*words), codes=(2,))
    assert cause in line and "; choose a smaller size" in line


# Meyer 2024, section 3.2: what ran in the HBM2, of STREAM the largest power of two; and what does not fit.
LARGEST = {
    "stream": ("--size", 2**29, 2**30),
    "random_access": ("--log-size", 29, 31),
    "gemm": ("--size", 4096, 8192),
}


@pytest.mark.parametrize("benchmark", LARGEST)
def test_the_published_sizes_fit_an_alveo_u280(tmp_path, benchmark):
    option, largest, more = LARGEST[benchmark]
    system = tmp_path / "hbm.json"
    system.write_text(export.text("u280_hbm"))
    program = Stream(tmp_path, PROGRAM.with_name(f"fm_{benchmark}"))
    words = ("--timing-only", "--system", system, "--bitstream-id", f"u280_hbm_single/{benchmark}", option)
    assert "MiB" in note(program.run(*words, largest))
    assert "MiB are to lie in bank 0 of HBM" in one_error(program.run(*words, more), codes=(2,))


def test_a_design_with_one_bank_keeps_it(on_a_board):
    done = on_a_board("hpl", "520n", "--bitstream-id", "520n_multi/hpl_host", "--size", 2048)
    assert done.document["parameters"]["matrix_banks"] == 1, "memory.matrix_banks of the bitstream"
    interleaved = on_a_board("ptrans", "520n", "--bitstream-id", "520n_multi/ptrans_host", "--size", 2048)
    assert interleaved.document["parameters"]["matrix_banks"] == 0, "the 520N's banks take turns"
    assert "0 of 4 banks chosen" in note(interleaved)


def test_arrays_of_gemm_and_ptrans_have_banks_of_their_own(on_a_board):
    gemm = on_a_board("gemm", "u280_hbm", "--bitstream-id", "u280_hbm_single/gemm")
    assert gemm.document["parameters"]["b_copies"] == 3
    assert "HBM: 3 of 32 banks chosen, most in bank 0: 136 of 256 MiB" in note(gemm)
    ptrans = on_a_board("ptrans", "u280_ddr", "--bitstream-id", "u280_ddr_multi/ptrans_host", "--size", 2048)
    assert ptrans.document["parameters"]["matrix_banks"] == 2
    assert "DDR memory: 2 of 2 banks chosen" in note(ptrans)


def test_banks_of_a_host_are_nobodys_choice(on_a_board):
    done = on_a_board("fft", "pac_d5005", "--bitstream-id", "pac_d5005_single/fft", "--batch", 64)
    assert done.code == 0, done.errors
    assert not any("banks chosen" in one for one in done.document["notes"])


SPREAD = {
    "hpl": ("--size", 300, "--block-size", 32, "--register-block", 8, "--replications", 2),
    "ptrans": ("--size", 300, "--block-size", 32, "--replications", 3, "--round-blocks", 2),
    "gemm": ("--size", 200, "--block-size", 32, "--gemm-size", 8, "--unroll", 8, "--replications", 3),
}
OPTIONS = {"hpl": "--matrix-banks", "ptrans": "--matrix-banks", "gemm": "--b-copies"}


FAULTS = {"hpl": "swapped:block", "ptrans": "element", "gemm": "element"}


@pytest.fixture(name="spread", scope="module", params=SPREAD)
def a_program_with_spread_arrays(request, tmp_path_factory):
    """How to run it, in so many parts."""
    program = on_a_device(tmp_path_factory, request.param)

    def run(count, *words):
        return program.run(*SPREAD[request.param], *BASE, OPTIONS[request.param], count, *words)

    return run, FAULTS[request.param]


@pytest.mark.parametrize("count, ranks", [(64, 1), (2, 4), pytest.param(1, 4, marks=pytest.mark.full)])
def test_spread_arrays_give_valid_results(spread, count, ranks):
    done = spread[0](count, "--ranks", ranks)
    assert done.code == 0, done.errors


def test_a_wrong_element_of_a_spread_array_is_found(spread):
    run, fault = spread
    assert run(64, "--inject-fault", fault).code == 1

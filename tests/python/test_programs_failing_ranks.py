"""A rank that throws, hangs, is stopped or killed in any step ends all others with a line that names it."""

import re
import shutil
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from small_runs import SMALL_RUNS
from stream_program import devices, error_lines, mpirun, on_a_device, one_error, only_error
from thinned import only

pytestmark = pytest.mark.programs

FULL = pytest.mark.full
STEPS = ("device", "kernels", "generate", "prepare", "timed", "validate", "result")
TIME_OUT = 1
# Of an end after a failure, or after --timeout [s], where others use the cores too; for an idle machine see
# bench/cases/failures.py.
LONGEST = 40


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    made = {name: on_a_device(tmp_path_factory, name) for name in SMALL_RUNS}
    if devices(made["stream"])[0]["class"] != "cpu":
        pytest.skip("for CPUs only")
    for name, program in made.items():  # so that the kernels are built before a time counts
        program.valid(*SMALL_RUNS[name], "--repetitions", "1", "--ranks", "2")
    return made


def words(name, fault, timeout=TIME_OUT):
    return (*SMALL_RUNS[name], "--repetitions", "1", "--timeout", str(timeout), "--inject-fault", fault)


def ended(program, *arguments, **how):
    """How a program ended, and the seconds it took."""
    start = time.monotonic()
    return program.start(*arguments, **how), time.monotonic() - start


def check_thrown(done, rank, step):
    line = one_error(done, codes=(3,))
    assert f"fails in the step '{step}'" in line and line.endswith(f"(rank {rank})"), line


def check_lost(done, rank):
    """A rank that gave no sign is named first, whoever waited for it."""
    assert f"error: rank {rank} does not answer: " in one_error(done, codes=(3,))
    assert "--timeout" in done.errors


def check_killed(done, rank):
    """The launcher names it; a rank that speaks before it is ended may only name the same."""
    assert done.code not in (0, 1)
    assert re.search(rf"process rank {rank} .*exited on signal 9", done.errors), done.errors
    assert all(f"rank {rank}" in line for line in error_lines(done))


def loud_mpirun(ranks):
    return [word for word in mpirun(ranks) if word != "-q"]


@pytest.mark.parametrize("ranks", [2, pytest.param(4, marks=FULL)])
@pytest.mark.parametrize("name", only(SMALL_RUNS, "ptrans", "fft"))
def test_a_rank_that_throws_in_a_process_ends_all(programs, name, ranks):
    for number, step in enumerate(STEPS):
        rank = number % ranks
        done, seconds = ended(programs[name], *words(name, f"throw:{step}@{rank}", 60), "--ranks", ranks)
        check_thrown(done, rank, step)
        only_error(done)
        assert seconds < LONGEST, step


def check_together(programs, cases):
    """Cases (program, fault, rank, launcher) at once: most of their time they wait."""

    def run(case):
        name, fault, _, ranks, launcher = case
        count = () if launcher else ("--ranks", ranks)
        return ended(programs[name], *words(name, fault), *count, launcher=launcher)

    with ThreadPoolExecutor(max_workers=4) as pool:
        for case, (done, seconds) in zip(cases, pool.map(run, cases), strict=True):
            _, fault, rank, _, _ = case
            (check_killed if fault.startswith("kill") else check_lost)(done, rank)
            assert seconds < TIME_OUT + LONGEST, case


def hanging(ranks, steps):
    return [
        (name, f"hang:{step}@{number % ranks}", number % ranks, ranks, ())
        for name in SMALL_RUNS
        for number, step in enumerate(STEPS)
        if step in steps[name]
    ]


def test_a_rank_that_hangs_in_a_process_ends_all(programs):
    steps = {"stream": ("device",), "ptrans": ("prepare",), "hpl": ("timed",), "fft": ("result",)}
    check_together(programs, hanging(2, steps))


@FULL
@pytest.mark.parametrize("ranks", [2, 4])
def test_a_rank_that_hangs_in_any_step_in_a_process_ends_all(programs, ranks):
    check_together(programs, hanging(ranks, dict.fromkeys(SMALL_RUNS, STEPS)))


@pytest.mark.parametrize(
    "name, step, rank, ranks",
    [
        ("stream", "result", 0, 2),
        ("ptrans", "timed", 1, 2),
        ("hpl", "prepare", 1, 4),
        ("fft", "validate", 0, 2),
        *(
            pytest.param(name, step, number % ranks, ranks, marks=FULL)
            for ranks in (2, 4)
            for name in SMALL_RUNS
            for number, step in enumerate(STEPS)
        ),
    ],
)
def test_a_process_that_throws_ends_all(programs, name, step, rank, ranks):
    done, seconds = ended(programs[name], *words(name, f"throw:{step}@{rank}", 60), launcher=mpirun(ranks))
    check_thrown(done, rank, step)
    assert seconds < LONGEST


def failing_process(kind, name, step, rank, ranks):
    launcher = loud_mpirun(ranks) if kind == "kill" else mpirun(ranks)
    return (name, f"{kind}:{step}@{rank}", rank, ranks, launcher)


def test_a_process_that_hangs_is_stopped_or_killed_ends_all(programs):
    cases = [
        failing_process("hang", "stream", "timed", 1, 2),
        failing_process("stop", "hpl", "prepare", 1, 2),
        failing_process("stop", "fft", "timed", 0, 2),
        failing_process("kill", "ptrans", "result", 1, 2),
    ]
    for start in range(0, len(cases), 2):  # they wait by asking
        check_together(programs, cases[start : start + 2])


@FULL
@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize("kind", ["hang", "stop", "kill"])
@pytest.mark.parametrize("name", SMALL_RUNS)
def test_a_process_that_fails_in_any_step_ends_all(programs, name, kind, ranks):
    for number, step in enumerate(STEPS):
        check_together(programs, [failing_process(kind, name, step, number % ranks, ranks)])


def test_a_process_without_memory_for_openblas_ends_all(programs, tmp_path_factory):
    gemm = on_a_device(tmp_path_factory, "gemm")
    size = ("--size", "512", "--repetitions", "1")
    for _ in range(2):  # a compiler without memory would fail before: kernels are cached when built again
        gemm.valid(*size, launcher=mpirun(2))
    limited = gemm.folder / "limited.sh"
    limited.write_text(
        '#!/bin/bash\n[ "$OMPI_COMM_WORLD_RANK$PMI_RANK" = 1 ] && ulimit -v 750000\nexec "$@"\n'
    )
    limited.chmod(0o755)
    done, seconds = ended(gemm, *size, launcher=[*mpirun(2), limited])
    line = one_error(done, codes=(3,))
    assert "OpenBLAS" in line and "(rank 1)" in line
    assert seconds < LONGEST


def test_faults_of_ranks_name_a_step_and_a_rank_that_there_are(programs):
    stream = programs["stream"]
    for fault, name in (
        ("throw:nowhere@0", "generate"),
        ("hang:timed", "STEP@RANK"),
        ("throw:timed@7", "rank 7 of 2"),
        ("kill:timed@1", "mpirun"),
    ):
        done = stream.start(*SMALL_RUNS["stream"], "--ranks", "2", "--inject-fault", fault)
        assert name in only_error(done, codes=(2,))


# What the ranks were asked --------------------------------------------------------------------------------


def two_commands(program, first, second, other=None):
    """One process with each command line."""
    return program.start(*second, launcher=[*mpirun(1), (other or program).program, *first, ":", "-n", "1"])


DIFFERENCES = {
    "size": (("--size", "1000"), ("--size", "2000"), "--size is 1000 on rank 0 and 2000 on rank 1"),
    "flag": (("--timeline",), (), "--timeline is true on rank 0 and nothing on rank 1"),
    "list of devices": ((), ("--list-devices",), "--list-devices is nothing on rank 0 and true on rank 1"),
    "help": ((), ("--help",), "--help or --version is not given on rank 0 and given on rank 1"),
    "validation": (("--skip-validation",), (), "--skip-validation is true on rank 0"),
    "warm-up": (("--warmup", "3"), ("--warmup", "0"), "--warmup is 3 on rank 0 and 0 on rank 1"),
}


@pytest.mark.parametrize(
    "case",
    [name if name in ("size", "list of devices") else pytest.param(name, marks=FULL) for name in DIFFERENCES],
)
def test_processes_that_were_asked_differently_say_both_values(programs, case):
    first, second, said = DIFFERENCES[case]
    done = two_commands(programs["stream"], (*first, "--json", "-"), (*second, "--json", "-"))
    assert said in one_error(done, codes=(2,))
    assert done.output == ""


def test_processes_of_different_programs_say_so(programs):
    done = two_commands(programs["hpl"], (), (), other=programs["stream"])
    assert "the program is fm_stream on rank 0 and fm_hpl on rank 1" in one_error(done, codes=(2,))


def test_processes_with_different_kernels_say_so(programs, tmp_path):
    """Checks that are left out do not make the result of other kernels one of the suite's."""
    kernels = tmp_path / "kernels"
    shutil.copytree(programs["stream"].program.parents[3] / "kernels", kernels)
    source = kernels / "stream" / "base.cl"
    source.write_text(source.read_text() + "\n// changed\n")
    launcher = [
        *mpirun(1), programs["stream"].program, "--skip-validation", ":",
        "-n", "1", "env", f"FABRICMARK_KERNELS={kernels}",
    ]  # fmt: skip
    done = programs["stream"].start("--skip-validation", launcher=launcher)
    assert "the kernel's digest is " in one_error(done, codes=(2,))


@FULL
@pytest.mark.parametrize(
    "name", ["stream", "random_access", "fft", "gemm", "ptrans", "hpl", "b_eff", "host_transfer"]
)
def test_every_option_of_one_process_is_compared(tmp_path_factory, name):
    program = on_a_device(tmp_path_factory, name)
    text = program.start("--help").output
    options = re.findall(r"^ +(?:-\w,)?(--[a-z-]+)( \S+)?", text, re.MULTILINE)
    assert len(options) > 20
    for option, value in options:
        if option in ("--ranks", "--help", "--version"):
            continue
        one = () if not value else (option, "1")
        done = two_commands(program, one or (option,), ())
        line = one_error(done, codes=(2,))
        # A value that cannot be is refused before; the others are compared.
        assert option in line or option.strip("-").replace("-", "_") in line, (option, line)

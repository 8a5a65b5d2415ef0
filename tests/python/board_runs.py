"""The table of runs on emulated boards: two valid ones and two faulty ones of each benchmark and transport.

A row says what a benchmark needs; which transports there are, says the package. Over each transport go the
next two runs and the next two faults of the row, from the start again behind the last one: a transport or a
benchmark that is added has its cases without a new test. Of each two the first is for `make test`.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import cycle

from b_eff_kernels import failed
from boards import ENGINES, FAULTS, LOST, MODES, TRANSPORTS, failed_verdicts
from fft_checks import DIRECTIONS, check_points, verdicts
from stream_program import Done, only_error

EACH = 2  # of valid runs, and of faulty ones, over a transport


@dataclass(frozen=True)
class Run:
    """Options of a valid run, as one text; where its ranks are processes, too, both ways have to agree."""

    words: str
    processes: bool = False


@dataclass(frozen=True)
class Row:
    """A benchmark on boards.

    `reference`: a run whose result all valid ones have to the last bit, if results have a digest; without
    words one board alone.
    `faulty_streams`, `faulty_engines`: options of the faulty runs; each of them finds each of the faults, as
    which two come together changes where a transport is added. `values`: faults of results, which no
    transport makes.
    """

    words: str
    streams: tuple[Run, ...]
    engines: tuple[Run, ...]
    faults: tuple[str, ...]
    faulty_streams: tuple[str, ...]
    faulty_engines: tuple[str, ...]
    check_valid: Callable[[Done], None]
    check_found: Callable[[Done, str], None]
    has_digest: bool = False
    reference: str = ""
    values: tuple[str, ...] = ()
    modes: tuple[str, ...] = MODES[:1]
    needs_cpu: bool = False  # its kernels are compiled for a device
    reference_needs_device: bool = False

    def faulty(self, transport: str) -> tuple[str, ...]:
        """Options of faulty runs over a transport."""
        return self.faulty_engines if transport in ENGINES else self.faulty_streams


@dataclass(frozen=True)
class Case:
    """One run: valid, or with a fault."""

    benchmark: str
    transport: str
    words: str
    fault: str = ""
    processes: bool = False
    is_quick: bool = True

    def __str__(self) -> str:
        how = [word for word in self.words.split() if not word.startswith("--")]
        return "-".join((self.benchmark, self.transport, *how, *([self.fault] if self.fault else [])))


# What a run has to say ------------------------------------------------------------------------------------


def check_kinds(done):
    assert done.document["run"]["variant"] == "dataflow"
    assert {one["kind"] for one in done.document["measurements"]} == {"emulated", "modelled"}


def check_b_eff(done):
    check_kinds(done)
    assert all(verdict["checked"] > 0 for verdict in done.document["verdicts"])


IN_VAIN = r"deadlock at .* waits for|has waited 1 s of modelled time in vain"
NO_MESSAGE = {"lost": IN_VAIN, "dead": rf"{IN_VAIN}|it does not answer"}


def found_in_b_eff(done, kind):
    """Rank 1's first word or message in each part is corrupted, which goes to the right, to rank 2; of
    values, what rank 1 has received from the left.
    """
    if kind in LOST:
        assert re.search(NO_MESSAGE[kind], only_error(done, codes=(1,)))
        assert done.document is None
        return
    assert done.code == 1 and done.errors == ""
    found = failed(done)
    assert {name for name in found if not name.startswith("steps over ")} == {"messages to the right"}
    sender = 1 if kind in FAULTS else 0
    for rank, repetition, place in found.values():
        assert (rank, repetition) == (sender + 1, 1)
        assert re.search(rf"byte \d+ of message \d of \d+ bytes from rank {sender}", place)


PTRANS_SIZE = 100  # seven blocks along an edge, the last ones not whole


def check_ptrans(done):
    check_kinds(done)
    found = {one["name"]: one for one in done.document["verdicts"]}
    assert found.keys() == {"elements", "bits"}
    assert {one["checked"] for one in found.values()} == {3 * PTRANS_SIZE**2}, "twice, and once more"
    assert found["bits"]["error"] == 0


def found_in_ptrans(done, kind):
    assert done.code == 1, (done.output, done.errors)
    if kind in LOST:
        line = only_error(done, codes=(1,))
        assert "deadlock" in line or "in vain" in line or "does not answer" in line
        return
    assert done.errors == ""
    assert "bits" in failed_verdicts(done)


def found_in_hpl(done, kind):
    if kind in LOST:
        assert only_error(done, codes=(1,))
        return
    assert done.code == 1, (done.output, done.errors)
    assert failed_verdicts(done)


def found_in_grid(done, kind):
    assert done.code == 1, (done.output, done.errors)
    if done.document is None:  # lost, or cells that cannot go on
        assert re.search(r"deadlock|in vain|does not answer|faster than", only_error(done, codes=(1,)))
        return
    assert failed_verdicts(done) & {"halos", "steps", "steps again"}


FFT_LOG_SIZE = 12


def check_fft(done):
    check_points(done, 1 << FFT_LOG_SIZE)
    parameters, measurements = done.document["parameters"], done.document["measurements"]
    assert (done.document["run"]["variant"], parameters["scope"]) == ("throughput", "distributed")
    assert {one["kind"] for one in measurements if one["kind"] != "modelled"} == {"emulated"}
    modelled = {one["axes"]["operation"] for one in measurements if one["kind"] == "modelled"}
    assert modelled == {"exchange", "host_to_device", "device_to_host"}, "nothing says what kernels take"


def found_in_fft(done, kind):
    assert done.code == 1, (done.output, done.errors)
    if kind in LOST:
        line = only_error(done, codes=(1,))
        # What a link loses leaves its receiver waiting; of an engine the next message comes in its place.
        assert any(words in line for words in ("deadlock", "in vain", "does not answer", " came for ")), line
        return
    assert done.errors == ""
    assert {verdicts(done)[f"{way} transforms"]["status"] for way in DIRECTIONS} == {"failed"}


def found_in_water(done, kind):
    assert done.code == 1, (done.output, done.errors)
    if kind in LOST:
        assert only_error(done, codes=(1,))
        return
    found = failed_verdicts(done)
    # What came late came whole: only the field tells.
    assert found and (kind == "late" or "halos" in found), found


# The table ------------------------------------------------------------------------------------------------

ROWS = {
    "b_eff": Row(
        words="--largest 7 --repetitions 2",
        streams=(Run("--ranks 3"), Run("--ranks 4 --messages 1", processes=True)),
        engines=(
            Run("--ranks 3 --issuer logic --mode buffered"),
            Run("--ranks 16 --issuer host --mode streaming"),
            Run("--ranks 2 --issuer host --mode streaming", processes=True),
            Run("--ranks 9 --issuer logic --mode buffered --messages 1"),
            Run("--ranks 2 --issuer logic --mode streaming --messages 5"),
            Run("--ranks 4 --issuer host --mode buffered", processes=True),
        ),
        faults=(
            "lost@1",
            "late@1#1",
            "swapped@1#1",
            "half@1#1",
            "blank@1#1",
            "flipped@1#1",
            "dead@1",
            "lost@1",
        ),
        faulty_streams=("--ranks 3",),
        faulty_engines=(
            "--ranks 3 --issuer logic --mode buffered",
            "--ranks 3 --issuer host --mode streaming",
            "--ranks 3 --issuer host --mode buffered",
            "--ranks 3 --issuer logic --mode streaming",
        ),
        values=("element@1#1", "scale@1#1", "zeros@1#1", "stale@1#1"),
        check_valid=check_b_eff,
        check_found=found_in_b_eff,
        modes=MODES,
    ),
    "ptrans": Row(
        words=f"--size {PTRANS_SIZE} --block-size 16 --round-blocks 3 --repetitions 2 --timeout 10",
        streams=(
            Run("--distribution pq --ranks 9 --data-type float --channel-width 8"),
            Run("--distribution diagonal --ranks 4 --data-type double --channel-width 4", processes=True),
        ),
        engines=(
            Run("--distribution diagonal --ranks 2 --channel-width 16 --issuer host --mode streaming"),
            Run("--ranks 9 --data-type double --channel-width 8 --issuer logic --mode buffered"),
            Run(
                "--distribution diagonal --ranks 4 --data-type double --channel-width 8"
                " --issuer logic --mode streaming",
                processes=True,
            ),
            Run("--ranks 16 --channel-width 16 --issuer host --mode buffered"),
            # Blocks in memory go over any grid.
            Run("--ranks 6 --channel-width 16 --issuer logic --mode buffered"),
            Run("--ranks 4 --data-type double --channel-width 8 --issuer host --mode streaming", True),
        ),
        faults=("swapped@1", "half@1", "blank@1", "flipped@1", "dead@1", "lost@1", "late@1", "swapped"),
        faulty_streams=(
            "--ranks 4 --channel-width 8",
            "--distribution diagonal --ranks 2 --data-type double --channel-width 4",
        ),
        faulty_engines=(
            "--ranks 4 --channel-width 16 --issuer logic --mode buffered",
            "--distribution diagonal --ranks 2 --data-type double --channel-width 8"
            " --issuer host --mode streaming",
            "--ranks 9 --channel-width 16 --issuer logic --mode streaming",
            "--ranks 9 --data-type double --channel-width 8 --issuer host --mode buffered",
        ),
        check_valid=check_ptrans,
        check_found=found_in_ptrans,
        has_digest=True,
        reference="--variant dataflow --transport cpu",
        values=("scale@1", "zeros@1", "stale@1"),  # the others: test_another_c_has_another_digest
        modes=MODES,
    ),
    "hpl": Row(
        # Blocks that do not divide the matrix, and several for each rank.
        words="--size 200 --block-size 16 --repetitions 2 --timeout 10",
        streams=(Run("--ranks 4 --data-type double"), Run("--ranks 9")),
        engines=(
            Run("--ranks 4 --issuer logic"),
            Run("--ranks 16 --data-type double --issuer host"),
            Run("--ranks 4 --issuer host", processes=True),
            Run("--ranks 6 --data-type double --issuer logic"),
            Run("--ranks 9 --data-type double --issuer logic"),
            Run("--ranks 2 --issuer host", processes=True),
        ),
        faults=("blank@0", "flipped@0", "dead@0", "lost@0", "late@0", "swapped@0", "half@0", "blank@0"),
        # A rank of a grid with one row sends the same to all, so that nothing can be swapped.
        faulty_streams=("--ranks 4",),
        faulty_engines=("--ranks 4 --issuer logic", "--ranks 4 --issuer host", "--ranks 4 --issuer host"),
        check_valid=check_kinds,
        check_found=found_in_hpl,
        has_digest=True,
        values=("element:u", "element:l", "scale:factors", "zeros:block", "stale:factors"),
    ),
    "fft": Row(
        words=f"--log-size {FFT_LOG_SIZE} --vector-bytes 16 --repetitions 2 --timeout 10",
        streams=(Run("--ranks 4", processes=True), Run("--ranks 16 --data-type double")),
        engines=(
            Run("--ranks 2 --issuer host"),
            Run("--ranks 16 --data-type double --issuer logic"),
            Run("--ranks 4 --data-type double --issuer logic"),
            Run("--ranks 16 --issuer host"),
            Run("--ranks 4 --issuer host", processes=True),
            Run("--ranks 8 --data-type double --issuer logic"),
        ),
        faults=("dead@1", "lost@1", "late@1", "swapped", "half@1", "blank@1", "flipped@1", "dead"),
        faulty_streams=("--ranks 4", "--ranks 2 --data-type double"),
        faulty_engines=(
            "--ranks 4 --issuer logic",
            "--ranks 8 --data-type double --issuer host",
            "--ranks 2 --data-type double --issuer host",
            "--ranks 8 --issuer logic",
        ),
        check_valid=check_fft,
        check_found=found_in_fft,
        has_digest=True,
        reference="--variant throughput --scope distributed --chunk-bytes 0",
        needs_cpu=True,
        reference_needs_device=True,
    ),
    "shallow_water": Row(
        words="--mesh bay:3392 --steps 100 --repetitions 1 --warmup 0 --timeout 10",
        streams=(Run("--ranks 4"), Run("--ranks 7")),  # with 16 some have more neighbours than ports
        engines=(
            Run("--ranks 2 --issuer logic", processes=True),
            Run("--ranks 16 --issuer host"),
            Run("--ranks 4 --issuer logic"),
            Run("--ranks 1"),
            Run("--ranks 7 --issuer host"),
            Run("--ranks 2 --issuer host", processes=True),
        ),
        faults=("late", "swapped", "half", "blank", "flipped", "dead", "lost", "late"),
        faulty_streams=("--ranks 4", "--ranks 2"),
        faulty_engines=("--ranks 4 --issuer logic", "--ranks 4 --issuer host", "--ranks 2 --issuer logic"),
        check_valid=check_kinds,
        check_found=found_in_water,
        has_digest=True,
        # The OpenCL kernel without contraction.
        reference="--exact true",
        reference_needs_device=True,
    ),
    **{
        benchmark: Row(
            # Whose first cells are not the same, so that it shows where they change places.
            words=f"--case {case} --columns 40 --rows 30 --steps 23 --repetitions 1 --warmup 0 --timeout 10",
            streams=(
                Run("--ranks 3 --cascaded 3 --cascaded-on-first 1", processes=True),
                Run("--ranks 4 --pipelines 2"),
            ),
            engines=(),  # what streams from board to board is no message
            faults=("flipped", "half", "blank", "dead", "late", "lost", "swapped"),
            faulty_streams=("--ranks 4", "--ranks 2"),
            faulty_engines=(),
            check_valid=check_kinds,
            check_found=found_in_grid,
            has_digest=True,
            reference="--exact true",
            reference_needs_device=True,
        )
        for benchmark, case in {"lbm": "cylinder", "tsunami": "lake"}.items()
    },
}


def next_two(all_of: tuple, number: int) -> list:
    """Those of a transport with this number."""
    return [all_of[(EACH * number + place) % len(all_of)] for place in range(EACH)]


def cases(transports: tuple[str, ...] = TRANSPORTS, engines: tuple[str, ...] = ENGINES) -> Iterator[Case]:
    """All runs of the table."""
    of_streams = [name for name in transports if name not in engines]
    for benchmark, row in ROWS.items():
        for place, name in enumerate(transports):
            is_engine = name in engines
            if is_engine and not row.engines:
                continue
            number = engines.index(name) if is_engine else of_streams.index(name)
            valid = next_two(row.engines if is_engine else row.streams, number)
            for quick, run in zip((True, False), valid, strict=True):
                yield Case(benchmark, name, run.words, "", run.processes, quick)
            words = next_two(row.faulty_engines if is_engine else row.faulty_streams, number)
            # Of a benchmark that has the streams alone, these have all faults.
            planted = next_two(row.faults, place) if row.engines else row.faults
            for number, (how, fault) in enumerate(zip(cycle(words), planted, strict=False)):
                yield Case(benchmark, name, how, fault, is_quick=number == 0)


def kind_of(fault: str) -> str:
    """The kind of KIND[:TARGET][@RANK][#REPETITION]."""
    return re.split("[:@#]", fault)[0]


def cases_among_processes() -> Iterator[Case]:
    """Of each benchmark a message that arrives wrong and one that does not come, between few processes."""
    for number, (benchmark, row) in enumerate(ROWS.items()):
        for place, kind in enumerate(("flipped", "lost")):
            ways = TRANSPORTS if row.engines else [one for one in TRANSPORTS if one not in ENGINES]
            name = ways[(number + 3 * place) % len(ways)]
            words = min(row.faulty(name), key=lambda one: int(re.search(r"--ranks (\d+)", one)[1]))
            (fault, *_) = (one for one in row.faults if kind_of(one) == kind)
            yield Case(benchmark, name, words, fault, processes=True, is_quick=number == place)


def cases_of_values() -> Iterator[Case]:
    """Of each benchmark its faults of results, over transports in turn."""
    for benchmark, row in ROWS.items():
        for place, fault in enumerate(row.values):
            name = TRANSPORTS[place % len(TRANSPORTS)]
            yield Case(benchmark, name, row.faulty(name)[0], fault, is_quick=place == 0)

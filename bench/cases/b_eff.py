"""b_eff on 2 ranks: over the CPU against a ring of MPI_Sendrecv, over the host in chunks against whole, and
over both what the transport chooses by itself against each choice that a user could force."""

from __future__ import annotations

import json

from common import OwnRuns, Row, Settings, mpirun, program, ratio_row, run_program, runtime_variables
from pairs import Contender, interleave, ratio, ratio_to_best

REPETITIONS = 20
CPU_SIZES = (1, 1024, 65536, 1048576)
CPU_BAR = 0.90
HOST_SIZES = (262144, 524288, 1048576)
HOST_BAR = 0.90  # within 10 % of whole messages, or faster
CHOICE_SIZES = (1, 1024, 16384, 65536, 262144, 524288, 1048576)
CHOICE_BAR = 0.98
FORCED = {
    "cpu": {
        "one by one": ("--serial-bytes", "0"),
        "side by side": ("--serial-bytes", "1073741824"),
        "one by one from 32 KiB": ("--serial-bytes", "32768"),
    },
    "host": {
        "whole": ("--chunk-bytes", "0"),
        "mapped": ("--chunk-bytes", "64"),  # where the memory is the host's; else in such chunks
        "chunks of 64 KiB": ("--chunk-bytes", "65536", "--map-memory", "false"),
        "chunks of 256 KiB": ("--chunk-bytes", "262144", "--map-memory", "false"),
        "whole, shared": ("--chunk-bytes", "0", "--staging", "shared"),
        "chunks of 256 KiB, shared": (
            "--chunk-bytes",
            "262144",
            "--staging",
            "shared",
            "--staging-slots",
            "4",
        ),
    },
}


def ring_rates() -> dict[int, float]:
    """Exchanges per second of the peer, by message size in bytes."""
    text = run_program(mpirun(program("bench_mpi_ring"), str(REPETITIONS)))
    return {int(size): 1e6 / microseconds for size, microseconds in json.loads(text).items()}


def b_eff_rates(variables: dict[str, str], *options: str) -> dict[int, float]:
    """Exchanges per second of fm_b_eff, by message size in bytes; every run is validated."""
    fixed = ["--sub-steps", "false", "--repetitions", str(REPETITIONS), "--json", "-"]
    text = run_program(mpirun(program("fm_b_eff"), *options, *fixed), variables)
    latencies = [m for m in json.loads(text)["measurements"] if m["name"] == "latency"]
    return {m["axes"]["message_bytes"]: 1e6 / m["best"] for m in latencies}


class Curve:
    """Runs one command a round and hands its values out size by size."""

    def __init__(self, measure):
        self.measure = measure
        self.rounds: list[dict[int, float]] = []

    def run(self) -> float:
        self.rounds.append(self.measure())
        return 0.0

    def contender(self, name: str, size: int) -> Contender:
        return Contender(name, lambda: 0.0, [values[size] for values in self.rounds])


def rows(what: str, ours: Curve, peer: Curve, sizes: tuple[int, ...], bar: float, pairs: int) -> list[Row]:
    result = []
    for size in sizes:
        found = ratio(ours.contender("ours", size), peer.contender("peer", size))
        result.append(ratio_row(f"{what}, {size} B", found, bar, pairs))
    return result


def own_runs(runtime: str) -> OwnRuns:
    """Over the CPU, and over the host in chunks and whole; a rate for each size that has a bar."""
    variables = runtime_variables(runtime)

    def chosen(sizes: tuple[int, ...], *options: str) -> dict[str, float]:
        found = b_eff_rates(variables, *options)
        return {f"{size} B": found[size] for size in sizes}

    return {
        "cpu": lambda: chosen(CPU_SIZES, "--transport", "cpu"),
        "host in chunks": lambda: chosen(HOST_SIZES, "--transport", "host"),
        "host whole": lambda: chosen(HOST_SIZES, "--transport", "host", "--chunk-bytes", "0"),
    }


def compare(settings: Settings) -> list[Row]:
    """Rows for both transports; the latter on every runtime."""
    ring, cpu = Curve(ring_rates), Curve(lambda: b_eff_rates({}, "--transport", "cpu"))
    interleave([Contender("ring", ring.run), Contender("cpu", cpu.run)], settings.pairs)
    found = rows("b_eff cpu / MPI_Sendrecv ring", cpu, ring, CPU_SIZES, CPU_BAR, settings.pairs)
    for runtime in settings.runtimes:
        variables = runtime_variables(runtime)
        whole = Curve(lambda v=variables: b_eff_rates(v, "--transport", "host", "--chunk-bytes", "0"))
        chunks = Curve(lambda v=variables: b_eff_rates(v, "--transport", "host"))
        interleave([Contender("whole", whole.run), Contender("chunks", chunks.run)], settings.pairs)
        what = f"b_eff host in chunks on {runtime} / whole"
        found += rows(what, chunks, whole, HOST_SIZES, HOST_BAR, settings.pairs)
    found += choices("cpu", {}, settings.pairs)
    for runtime in settings.runtimes:
        found += choices("host", runtime_variables(runtime), settings.pairs, f" on {runtime}")
    return found


def choices(transport: str, variables: dict[str, str], pairs: int, where: str = "") -> list[Row]:
    """What the transport has chosen at its start against the best of what can be forced, size by size.

    Which is the best is found in one half of the rounds and met in the other, both ways.
    """
    common = ("--transport", transport)
    own = Curve(lambda: b_eff_rates(variables, *common))
    forced = {
        name: Curve(lambda o=options: b_eff_rates(variables, *common, *o))
        for name, options in FORCED[transport].items()
    }
    rounds = max(pairs, 2)  # one for each half
    interleave([Contender("own", own.run), *(Contender(n, c.run) for n, c in forced.items())], rounds)
    result = []
    for size in CHOICE_SIZES:
        ways = [curve.contender(name, size) for name, curve in forced.items()]
        found, best = ratio_to_best(own.contender("own", size), ways)
        what = f"b_eff {transport}{where}, chosen / best in the other rounds ({' or '.join(best)}), {size} B"
        result.append(ratio_row(what, found, CHOICE_BAR, rounds))
    return result

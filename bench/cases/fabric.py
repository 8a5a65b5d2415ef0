"""The emulated fabric on one core: its events, packets and messages; words and changes of kernels."""

from __future__ import annotations

import json
import statistics

from common import OwnRuns, Row, Settings, program, run_program

BAR = 5e6
LEAST_PACKETS = 1e6  # a second, of a long message over TCP
LEAST_WORDS = 20e6  # at least, through one link
LEAST_WORDS_BY_CYCLE = 2e6  # the same where a credit link is stepped by cycle
LEAST_STEPS = 50e6  # a second, of the ends of such a link
MOST_CHANGE = 100e-9  # s, from a kernel to another
MOST_BYTES = 4e9  # of 64 devices in a process
REPETITIONS = 3


def rates() -> dict[str, float]:
    """Events a second, best of the repetitions, by how many are pending."""
    return json.loads(run_program([program("bench_fabric_events"), str(REPETITIONS)]))


def own_runs(_runtime: str) -> OwnRuns:
    """Events a second, each case by itself."""
    return {"fabric events": rates, "messages over packets": packets, "dataflow kernels": kernels}


def packets() -> dict[str, float]:
    """Packets with payload a second, each by itself, of a long message by each protocol."""
    return json.loads(run_program([program("bench_stack"), str(REPETITIONS)]))


def packet_rows(settings: Settings) -> list[Row]:
    """A row for each protocol, in millions a second. TCP must reach its bar; the others are shown beside."""
    runs = [packets() for _ in range(settings.pairs)]
    found = []
    for name in runs[0]:
        values = [run[name] / 1e6 for run in runs]
        middle = statistics.median(values)
        found.append(
            Row(
                what=f"messages over packets, {name}: millions of packets a second",
                value=middle,
                spread=f"{min(values):.2f} to {max(values):.2f}, {settings.pairs} runs",
                bar=f"> {LEAST_PACKETS / 1e6:g}" if name == "tcp" else "",
                reached=middle > LEAST_PACKETS / 1e6,
                counts=name == "tcp",
            )
        )
    return found


def kernels() -> dict[str, float]:
    """Words a second through a link, seconds of a change of kernels, bytes of a process with 64 devices."""
    return json.loads(run_program([program("bench_dataflow"), str(REPETITIONS)]))


def kernel_rows(settings: Settings) -> list[Row]:
    """What dataflow kernels must reach, each the median of all runs."""
    runs = [kernels() for _ in range(settings.pairs)]
    wanted = [
        ("words", "dataflow, one link: millions of words of 64 B a second", 1e6, LEAST_WORDS, 1),
        (
            "words_by_cycle",
            "dataflow, one credit link by cycle: millions of words of 64 B a second",
            1e6,
            LEAST_WORDS_BY_CYCLE,
            1,
        ),
        ("change_seconds", "dataflow, from a kernel to another: ns", 1e-9, MOST_CHANGE, -1),
        ("bytes_of_64_devices", "dataflow, a process with 64 devices: GB", 1e9, MOST_BYTES, -1),
    ]
    found = []
    for name, what, unit, limit, better in wanted:
        values = [run[name] / unit for run in runs]
        middle = statistics.median(values)
        found.append(
            Row(
                what=what,
                value=middle,
                spread=f"{min(values):.3g} to {max(values):.3g}, {settings.pairs} runs",
                bar=f"{'>' if better > 0 else '<'} {limit / unit:g}",
                reached=better * middle >= better * limit / unit,
            )
        )
    return found


def compare(settings: Settings) -> list[Row]:
    """A row for each number of pending events, in millions a second. Packets are shown beside."""
    runs = [rates() for _ in range(settings.pairs)]
    found = []
    for name in runs[0]:
        values = [run[name] / 1e6 for run in runs]
        middle = statistics.median(values)
        is_core = not name.startswith("packets")
        found.append(
            Row(
                what=f"fabric, {name.replace('_', ' ')}: millions of events a second",
                value=middle,
                spread=f"{min(values):.1f} to {max(values):.1f}, {settings.pairs} runs",
                bar="> 5" if is_core else "",
                reached=middle > BAR / 1e6,
                counts=is_core,
            )
        )
    return found + packet_rows(settings) + kernel_rows(settings)

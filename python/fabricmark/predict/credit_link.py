"""`fabricmark predict credit_link`: what the designer of a link asks: depths of buffers, rate, latency."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fabricmark.base import cells, paths, quantities, terminal
from fabricmark.base.errors import FabricmarkError, check_known
from fabricmark.base.terminal import Column
from fabricmark.models._credit_link import CreditLink, ring_seconds
from fabricmark.predict import options
from fabricmark.predict.networked import bytes_of

NAME = "credit_link"
SIZE, DEFAULT_BYTES = "size", 1 << 20
LATENCY, CLOCK, LOSS, WIDTH = "link_latency", "clock", "loss", "width"
MOST_DEPTH = 2**15 - 1  # credits are a signed number of 16 bits
MOST_CYCLES = 2**24
# That of Mondigo 2020, section 2.3.3: two bundled lanes of Serial Lite III, 365 ns at 225 MHz.
USUAL = CreditLink(
    latency=82, packet=32, receive_depth=512, credit_interval=32, timeout=64, keep_alive=0, overhead=1,
    width=32, clock=225e6,
)  # fmt: skip
# Whole numbers, by the field and the least and the most.
COUNTS = {
    "packet": (1, MOST_DEPTH), "receive_depth": (1, MOST_DEPTH), "credit_interval": (1, MOST_DEPTH),
    "timeout": (1, 2**31), "keep_alive": (0, 2**31), "overhead": (1, 2**15), WIDTH: (16, 2**12),
}  # fmt: skip
BOARDS, HOP = "boards", "hop_latency"  # of a ring
PARAMETERS = (LATENCY, CLOCK, LOSS, SIZE, *COUNTS, BOARDS, HOP)


@dataclass(frozen=True)
class Figure:
    """A line of the table: its value [unit] and where it comes from. None: there is none."""

    name: str
    value: float | None
    unit: str
    law: str


def show(words: Mapping[str, str], sweeps: Sequence[options.Sweep], profile: str, file: Path | None) -> None:
    """Print the figures of a link, or those of each value of a sweep, and write them as CSV.

    Raises FabricmarkError (2).
    """
    if len(sweeps) > 1:
        raise FabricmarkError(f"{NAME} is swept over one parameter", "give one --sweep")
    swept = [one.name for one in sweeps]
    texts = [[text] for text in _texts(sweeps[0])] if sweeps else [[]]  # of each line, as many as are swept
    options.check_swept(swept, words)
    every = [_figures({**words, **dict(zip(swept, one, strict=True))}, profile) for one in texts]
    if swept:
        headings = [f"{one.name} [{one.unit}]" if one.unit else one.name for one in every[0]]
        columns = [Column(swept[0], key=True), *terminal.numbers(*headings)]
        rows = [
            [*text, *(terminal.number(one.value) for one in figures)]
            for text, figures in zip(texts, every, strict=True)
        ]
    else:
        columns = [
            Column("figure", key=True),
            Column("value", right=True),
            Column("unit"),
            Column("law", prose=True),
        ]
        rows = [[one.name, terminal.number(one.value), one.unit, one.law] for one in every[0]]
    terminal.table([NAME, "modelled", f"profile {profile}"], columns, rows)
    if file is not None:
        fields = [*swept, "figure", "value", "unit", "kind"]
        table = [
            [*text, one.name, one.value, one.unit, "modelled"]
            for text, figures in zip(texts, every, strict=True) for one in figures
        ]  # fmt: skip
        paths.write_atomically(file, cells.as_csv([fields, *table]))


def _texts(sweep: options.Sweep) -> list[str]:
    if sweep.name not in COUNTS and sweep.name != SIZE:
        allowed = ", ".join((*COUNTS, SIZE))
        raise FabricmarkError(
            f"--sweep {sweep.name}: no whole number of {NAME}", f"sweep over one of {allowed}"
        )
    if sweep.name == SIZE:
        first, last = (bytes_of(text, f"--sweep {SIZE}") for text in (sweep.first, sweep.last))
    else:
        first, last = (_whole(sweep.name, text, COUNTS[sweep.name]) for text in (sweep.first, sweep.last))
    step = _whole(sweep.name, sweep.step, (1, 2**50)) if sweep.step else None
    return [str(one) for one in options.values(first, last, step, sweep.factor, True, sweep.name)]


def _figures(words: Mapping[str, str], profile: str) -> list[Figure]:
    link, size = link_of(words, profile)
    boards = _whole(BOARDS, words.get(BOARDS, "1"), (1, 2**20))
    hop = _quantity(HOP, words[HOP], "seconds") if HOP in words else link.first_word / link.clock
    around = ring_seconds(size, link.rate, hop, boards)
    cycles, printed = "cycles", link.is_published
    recovery = "keep-alive, both latencies, two packets, 16" if link.keep_alive else "none without keep_alive"
    return [
        Figure("link latency", link.latency, cycles, "L"),
        Figure("receive depth without deadlock", link.least_depth, "flits", "D + D_CU - 1"),
        Figure("receive depth for the full rate", link.depth_for_full_rate, "flits",
               "more than 2 D_link + D_CU (eq. 2.4)" if printed else "D ceil((2 L + D + 5)/(D + k))"),
        Figure("first word", link.first_word, cycles, "L + D + 4 (eq. 2.2)" if printed else "L + D + 3"),
        Figure("single word", link.single_word, cycles, "timeout + L + 4"),
        Figure("credit loop", link.credit_loop, cycles, "2 L + D + 5"),
        Figure("frame", link.frame, "B", "(D + 1) w/8 (eq. 4.1)"),
        Figure("share of the peak", link.share, "", "min(D/(D + k), D floor(R/D)/loop) (eq. 2.3)"),
        Figure("peak", link.peak * 1e-9, "GB/s", "w/8 x clock (eq. 2.1)"),
        Figure("rate", link.rate * 1e-9, "GB/s", "share of the peak, without what is lost"),
        Figure("message", link.seconds(size) * 1e6, "us", "first word, then all packets (Fig. 2.9)"),
        Figure("bandwidth of the message", size / link.seconds(size) * 1e-9, "GB/s", f"{size} B"),
        Figure("around the ring", around * 1e6, "us", f"{boards} x {hop * 1e6:.4g} us, {size} B at the rate"),
        Figure("recovery", link.recovery, cycles, recovery),
    ]  # fmt: skip


def link_of(words: Mapping[str, str], profile: str) -> tuple[CreditLink, int]:
    """The link, and the bytes of a message, that --set says. Raises FabricmarkError (2)."""
    for name in words:
        check_known(name, PARAMETERS, f"{NAME} has no parameter {name}")
    counts = {name: _whole(name, words[name], bounds) for name, bounds in COUNTS.items() if name in words}
    link = replace(USUAL, profile=profile, **counts)
    if CLOCK in words:
        link = replace(link, clock=_quantity(CLOCK, words[CLOCK], "hertz"))
    if LATENCY in words:
        link = replace(link, latency=_cycles(words[LATENCY], link.clock))
    if LOSS in words:
        link = replace(link, loss=_share(words[LOSS]))
    _check(link)
    size = bytes_of(words[SIZE], f"{SIZE}={words[SIZE]}") if SIZE in words else DEFAULT_BYTES
    return link, size


def _check(link: CreditLink) -> None:
    if link.credit_interval > min(link.packet, max(link.latency, 1)):
        raise FabricmarkError(
            f"credits come back each {link.credit_interval} flits, later than a packet or the latency",
            f"choose credit_interval up to {min(link.packet, max(link.latency, 1))} (eq. 2.5)",
        )
    if link.receive_depth < link.least_depth:
        raise FabricmarkError(
            f"both ends can wait for each other with a receive depth of {link.receive_depth} flits",
            f"choose at least packet + credit_interval - 1 = {link.least_depth}",
        )


def _whole(name: str, text: str, bounds: tuple[int, int]) -> int:
    digits = text.strip()
    if (
        not (digits.isascii() and digits.isdigit() and len(digits) < 20)
        or not bounds[0] <= int(digits) <= bounds[1]
    ):
        raise FabricmarkError(f"{name}={text}: no such number", f"write {bounds[0]} to {bounds[1]}")
    return int(digits)


def _quantity(name: str, text: str, dimension: str) -> float:
    least, most = quantities.RANGES[dimension]
    example = quantities.EXAMPLES[dimension]
    try:
        number = quantities.parse(text, dimension)
    except ValueError as error:
        raise FabricmarkError(
            f"{name}={text}: {str(error).split('; ')[0]}", f"write for example {example}"
        ) from None
    if not least <= number <= most:
        raise FabricmarkError(f"{name}={text} is out of range", f"write for example {example}")
    return number


def _cycles(text: str, clock: float) -> int:
    """A latency as it is, or of a time the cycles of the clock."""
    if text.isascii() and text.isdigit():
        return _whole(LATENCY, text, (0, MOST_CYCLES))
    cycles = round(_quantity(LATENCY, text, "seconds") * clock)
    if cycles > MOST_CYCLES:
        raise FabricmarkError(f"{LATENCY}={text}: {cycles} cycles", f"give at most {MOST_CYCLES}")
    return cycles


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share < 1:
        raise FabricmarkError(f"{LOSS}={text}: no share of frames", "write 0 to below 1, as 0.05")
    return share

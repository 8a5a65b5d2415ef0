"""Which values are fitted, and to which rows; their values are in systems/*.toml."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from fabricmark.results.published import PublishedValue
from fabricmark.systems import keys

KNOWN: Mapping[str, Mapping[str, keys.Key]] = {
    "board": keys.BOARD,
    "network": keys.NETWORK,
    "bitstream": keys.BITSTREAM,
}
# Where a fit starts and what it may come to, in SI units: guesses, wide apart, that no row had a part in.
RANGES = {
    "seconds": (1e-5, 1e-9, 1.0),
    "bytes_per_second": (1e10, 1e5, 1e13),
    keys.SHARE: (0.7, 0.02, 1.0),
    keys.NUMBER: (1.1, 1.0, 10.0),
}


@dataclass(frozen=True)
class Parameter:
    """A value that is fitted, in SI units.

    `kind`: board, network or bitstream; `board`: id of the board that it is of or that uses it; `owners`: the
    network's transport or the names of the bitstreams that share it. `names`: its keys in systems/*.toml;
    several get one value where the rows tell only their sum. `start`: where the fit starts, None: as its
    dimension says.
    """

    kind: str
    board: str
    owners: tuple[str, ...]
    names: tuple[str, ...]
    start_at: float | None = None

    @cached_property
    def key(self) -> keys.Key:
        return KNOWN[self.kind][self.names[0]]

    @property
    def fields(self) -> tuple[str, ...]:
        """What the models call it."""
        return tuple(KNOWN[self.kind][name].field.removeprefix("model_parameters.") for name in self.names)

    @property
    def start(self) -> float:
        return RANGES[self.key.dimension][0] if self.start_at is None else self.start_at

    @property
    def ends(self) -> tuple[float, float]:
        """The least and the most that it may be."""
        return RANGES[self.key.dimension][1:]

    def __str__(self) -> str:
        return f"{self.owner or self.board}: {' = '.join(self.names)}"

    @property
    def owner(self) -> str:
        """The owners in words; empty for a board."""
        return ", ".join(self.owners)


@dataclass(frozen=True)
class Group:
    """Parameters that are fitted together, to the rows that `takes` says."""

    name: str
    parameters: tuple[Parameter, ...]
    takes: Callable[[PublishedValue], bool]


def rows(benchmark: str, board: str, **more: object) -> Callable[[PublishedValue], bool]:
    """Rows of a benchmark on a board that have also `more` in their columns; a tuple: one of these."""

    def takes(row: PublishedValue) -> bool:
        same = row.benchmark == benchmark and row.board == board
        return same and all(
            getattr(row, column) in (wanted if isinstance(wanted, tuple) else (wanted,))
            for column, wanted in more.items()
        )

    return takes


def of_board(board: str, *names: str, start: float | None = None) -> Parameter:
    return Parameter("board", board, (), names, start)


def of_network(board: str, transport: str, name: str, start: float | None = None) -> Parameter:
    return Parameter("network", board, (transport,), (name,), start)


def of_bitstreams(board: str, bitstreams: Sequence[str], *names: str) -> tuple[Parameter, ...]:
    return tuple(Parameter("bitstream", board, tuple(bitstreams), (name,)) for name in names)


HOST_HPL = ("fitted.multiply_latency", "fitted.panel_efficiency")  # of all block sizes
COPY_LATENCY = ("host.write_latency", "host.read_latency")  # an exchange has both
# In the order of the fit: what later groups are made of comes first.
GROUPS = (
    Group(
        "stream, writes", (of_board("u280_ddr", "host.write_bandwidth"),),
        rows("stream", "u280_ddr", metric="stream_pci_write"),
    ),
    Group(
        "stream, reads", (of_board("u280_ddr", "host.read_bandwidth"),),
        rows("stream", "u280_ddr", metric="stream_pci_read"),
    ),
    Group(
        "b_eff over the host",
        (
            of_board("520n", *COPY_LATENCY),
            of_board("520n", "host.page_latency"),
            of_board("520n", "host.programmed_latency"),
            of_board("520n", "host.programmed_bandwidth", start=1e7),
            of_board("520n", "host.staging_bandwidth"),
            of_board("520n", "host.neighbour_factor"),
        ),
        rows("b_eff", "520n", transport="host"),
    ),
    Group(
        "b_eff over the host",
        (of_board("u280_ddr", *COPY_LATENCY), of_board("u280_ddr", "host.staging_bandwidth")),
        rows("b_eff", "u280_ddr", transport="host"),
    ),
    Group(
        "b_eff over channels", (of_network("520n", "channels", "latency", start=1e-6),),
        rows("b_eff", "520n", transport="channels"),
    ),
    Group("fft", of_bitstreams("520n", ["fft"], "fitted.pipeline_efficiency"), rows("fft", "520n")),
    Group(
        "random_access", of_bitstreams("520n", ["random_access"], "memory.update_latency"),
        rows("random_access", "520n"),
    ),
    Group(
        "random_access", of_bitstreams("u280_ddr", ["random_access"], "memory.update_latency"),
        rows("random_access", "u280_ddr"),
    ),
    Group(
        "ptrans, transfers", (of_board("520n", "host.array_staging_bandwidth"),),
        rows("ptrans", "520n", metric="transfer_time"),
    ),
    Group(
        "ptrans over channels",
        of_bitstreams("520n", ["ptrans_channels"], "fitted.channel_efficiency", "fitted.start_latency"),
        rows("ptrans", "520n", transport="channels", metric="calc_time"),
    ),
    Group(
        "ptrans over the host", (of_network("520n", "host", "ordering_bandwidth", start=1e9),),
        rows("ptrans", "520n", transport="host", metric="calc_time"),
    ),
    Group(
        "hpl over channels",
        of_bitstreams(
            "520n", ["hpl_channels"], "fitted.multiply_efficiency", "fitted.panel_efficiency"
        ),
        rows("hpl", "520n", transport="channels"),
    ),
    Group(
        "hpl over the host", of_bitstreams("520n", ["hpl_host", "hpl_host_256"], *HOST_HPL),
        rows("hpl", "520n", transport="host"),
    ),
    Group(
        "hpl over the host", of_bitstreams("u280_ddr", ["hpl_host"], *HOST_HPL),
        rows("hpl", "u280_ddr", transport="host"),
    ),
)  # fmt: skip

"""Published runs of PTRANS (data/published), predicted with what systems/*.toml describe."""

from dataclasses import replace
from functools import lru_cache

from fabricmark import systems
from fabricmark.models import ptrans
from fabricmark.results import published
from fabricmark.results.published import PublishedValue

TIMES = {"calc_time": "calculation", "transfer_time": "transfer", "total_time": "total"}


def rows() -> list[PublishedValue]:
    return [row for row in published.load() if row.benchmark == "ptrans"]


@lru_cache
def described(system: str, transport: str):
    """(board with the bitstream's clock, network, bitstream)."""
    loaded = systems.load(system)
    bitstream = loaded.bitstream("ptrans", transport)
    return loaded.board_with(bitstream, 1), loaded.networks[transport], bitstream


def predictions(row: PublishedValue, board=(), network=(), bitstream=()):
    """All predictions of a run, with other values where given."""
    known, wired, synthesised = described(row.system, row.transport)
    known = replace(known, devices=row.devices, hosts=row.nodes).having(dict(board))
    wired, synthesised = wired.having(dict(network)), synthesised.having(dict(bitstream))
    parameters = {"variant": "base", "transport": row.transport, **synthesised.parameters}
    parameters["size"] = row.matrix_width
    return ptrans.predict(parameters, known, row.devices, network=wired, bitstream=synthesised)


def modelled(row: PublishedValue, **changes) -> float:
    """What the model says of a published time [s]."""
    operation = TIMES[row.metric]
    return next(
        one.value
        for one in predictions(row, **changes)
        if one.axes == {"operation": operation} and one.unit == "s"
    )

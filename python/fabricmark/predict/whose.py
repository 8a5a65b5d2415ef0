"""Whose host program a closed form is of: HPCC FPGA's, whose runs are published, or this project's.

Over some transports both move different data (docs/charging.md), which the benchmark's model says (`foreign`
of its TRAITS). Of this project's program there is no closed form then: its own host code tells the time, with
--timing-only.
"""

from fabricmark.base.errors import FabricmarkError
from fabricmark.models import _published
from fabricmark.predict.points import PredictionRequest

HPCC_FPGA, THIS = "hpcc-fpga-2021", "this"
PROGRAMS = (HPCC_FPGA, THIS)
BOTH = f"{HPCC_FPGA}, {THIS}"


def check(request: PredictionRequest, wanted: str | None, bitstream: str = "") -> str:
    """Whose program the figures are of. Raises FabricmarkError (2) for one that they are not of."""
    name = request.benchmark
    if wanted not in (None, *PROGRAMS):
        raise FabricmarkError(f"there is no program {wanted}", f"use --program {' or '.join(PROGRAMS)}")
    is_described = request.system.board.device_class == "fpga"
    published = _published.of(name)
    has_rows = is_described and published is not None and bool(published.metrics)
    if wanted == HPCC_FPGA and not has_rows:
        cause = f"no program of HPCC FPGA is what {request.about} predicts"
        raise FabricmarkError(cause, f"use --program {THIS}")
    if not has_rows:
        return THIS
    if request.transport not in request.traits.foreign:
        return wanted or BOTH
    if wanted == THIS:
        cause = f"{request.about}: there is a closed form of HPCC FPGA's program alone"
        other = request.traits.foreign[request.transport]
        raise FabricmarkError(cause, f"{other}: {command(request, bitstream)}")
    return HPCC_FPGA


def command(request: PredictionRequest, bitstream: str) -> str:
    """What tells the time of this project's program."""
    board = f" --board {request.system.board_id}" if len(request.system.boards) > 1 else ""
    own = f" --bitstream-id {bitstream}" if bitstream else ""
    place = f"--system {request.system.name}{board}{own} --transport {request.transport}"
    return f"`fabricmark run {request.benchmark} {place} -- --timing-only`"


def line(request: PredictionRequest, program: str, bitstream: str) -> list[str]:
    """What stands below the table; nothing where both programs do the same."""
    other = request.traits.foreign.get(request.transport)
    if program != HPCC_FPGA or other is None:
        return []
    return [f"program: {HPCC_FPGA}; {other}: {command(request, bitstream)}"]

"""Figures that Mondigo 2020 prints of cascades of pipelines, by eq. 3.8 (_cascade.py)."""

from fabricmark.models import _cascade

PREFIXES = {"GFLOP/s": 1e9, "TFLOP/s": 1 / 1e-12}
NAMES = {"n": "pipelines", "m": "cascaded"}
SEVERAL = "2"  # boards: what a figure is of that says no number of them, as that of any that have links
LONG = "1e12"  # cells of a stream


def figure(one, known) -> float | None:
    """What eq. 3.8 says of a figure, in its unit; None where it says nothing, as of a bitstream that there is
    not. Raises FabricmarkError.
    """
    system, conditions = known.system(one), one.conditions
    wanted = {name: int(conditions[key]) for key, name in NAMES.items() if key in conditions}
    bitstream = system.bitstream(one.program, one.transport, **wanted)
    if bitstream is None:
        return None
    boards, cells = int(conditions.get("M", SEVERAL)), float(conditions.get("c_stream", LONG))
    board = system.board_with(bitstream, boards)
    network = system.networks[one.transport]
    made = _cascade.of_design(bitstream.parameters, cells, boards, board, network, bitstream)
    operations = bitstream["fitted.element_operations"]
    return {
        "b_core": made.needed / 1e9,
        "stall_ratio": 100 * made.stall,
        "performance": operations * made.rate / PREFIXES.get(one.unit, 1.0),
        "performance_of_peak": 100 * made.share,
        "parallel_efficiency": 100 * made.parallel_efficiency,
    }.get(one.metric)

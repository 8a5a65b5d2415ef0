"""Shallow water: steps of discontinuous Galerkin methods on a mesh of triangles.

- FPGA (base kernel): the loops of kernel.toml in each stage. The messages of several ranks are not in this
  model.
- FPGA (dataflow kernels): eq. 5.2 and 5.3 of Meyer 2024 (device.py).
- CPU and GPU: the slower of calibrated arithmetic and calibrated memory, where each array moves once in a
  stage; of that a kernel reaches the share that short runs of it reached. Halos are not in it.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from fabricmark.models import Board, Prediction, Traits, _roofline
from fabricmark.models._kernel_time import kernel_time
from fabricmark.models._measured import Run
from fabricmark.models._types import ELEMENT_BYTES
from fabricmark.models.machine import Bitstream
from fabricmark.models.shallow_water import device

STEPS = {"operation": "steps"}
TRAITS = Traits(
    ("cell_steps", STEPS), exchanges=True, is_shared=True, is_application=True, fields_with="--hours",
    illustration=(
        "--mesh", "bay:6000", "--hours", "24", "--snapshots", "3", "--repetitions", "1", "--warmup", "0",
    ),
)  # fmt: skip
INPUTS = (*_roofline.INPUTS, *device.INPUTS)
CODE_BYTES = 4
UNKNOWNS = 3
SIDES = 3
GEOMETRY = 4 * SIDES  # numbers of an element: depth, normal and length by area of each side
# Additions, multiplications, divisions and square roots of a step with Rusanov's flux, by order;
# tests/unit/shallow_water_kernel_test.cpp counts them.
FLOPS = (222, 1808, 6867)
EDGES = SIDES / 2  # of an element, as two elements share most of them
LARGE = 10**7  # elements of a mesh that nothing tells the size of: more than any cache holds


def stages(order: int) -> int:
    """Stages of a step: Euler, and Runge and Kutta with 2 and 3 (Shu and Osher 1988)."""
    return order + 1


def modes(order: int) -> int:
    """Polynomials of up to this degree in two dimensions."""
    return (order + 1) * (order + 2) // 2


def step_bytes(order: int, number_bytes: int) -> int:
    """What a step of an element reads and writes, each array once a stage [bytes].

    A stage reads one state and writes one; behind the first one it reads that at the start of the step, too.
    """
    states = 2 * stages(order) + (stages(order) - 1)
    numbers = UNKNOWNS * modes(order) * states + GEOMETRY * stages(order)
    return numbers * number_bytes + SIDES * CODE_BYTES * stages(order)


def elements(mesh: str) -> int:
    """Of a mesh that is made; LARGE for files."""
    if found := re.fullmatch(r"bay:(\d+)", mesh):
        return int(found[1])
    if found := re.match(r"rectangle:(\d+)x(\d+)", mesh):
        return 2 * int(found[1]) * int(found[2])
    return LARGE


def work(parameters: Mapping, ranks: int = 1) -> _roofline.Work:
    """Of a step on one of so many ranks."""
    order, data_type = parameters["order"], parameters["data_type"]
    cells = elements(parameters["mesh"]) / ranks
    return _roofline.Work(
        FLOPS[order] * cells, step_bytes(order, ELEMENT_BYTES[data_type]) * cells, data_type
    )


def fpga_predictions(parameters: Mapping, board: Board, ranks: int) -> list[Prediction]:
    """Cell steps a second of all devices."""
    each = {"edge_count": EDGES, "count": 1}
    stage = kernel_time("shallow_water", "stage", each, parameters, board).seconds
    rate = ranks / (stages(parameters["order"]) * float(stage)) / 1e6
    about = "an edge and then an element a cycle in each stage; no messages"
    return [Prediction("cell_steps", STEPS, rate, "Mcell/s", rate, "frequency", about)]


def predict(
    parameters: Mapping, board: Board, ranks: int, *, measurements=(), network=None,
    bitstream: Bitstream | None = None,
) -> list[Prediction]:  # fmt: skip
    """Cell steps a second of all ranks, and what that is in GB/s and GFLOP/s.

    `parameters`: those of the result file (mesh, order, data_type). Raises MissingValue for one of them, or
    a clock, that is missing.
    """
    if board.device_class == "fpga" and parameters.get("variant") == "dataflow":
        return device.predict(parameters, board, ranks, FLOPS[0], network, bitstream)
    if board.device_class == "fpga":
        return fpga_predictions(parameters, board, ranks)
    own = work(parameters, ranks)
    about = (own, parameters, board, ranks, bitstream)
    bandwidth = _roofline.prediction("bandwidth", STEPS, "GB/s", *about)
    performance = _roofline.prediction("performance", STEPS, "GFLOP/s", *about)
    cells = 1e3 / step_bytes(parameters["order"], ELEMENT_BYTES[parameters["data_type"]])
    value = None if bandwidth.value is None else bandwidth.value * cells
    cell_steps = replace(
        bandwidth, name="cell_steps", value=value, unit="Mcell/s", limit=bandwidth.limit * cells
    )
    return [cell_steps, bandwidth, performance]


def skeleton(parameters: Mapping, board: Board, bitstream: Bitstream | None = None) -> dict[str, float]:
    """Elements a second in each stage of a step, and what a stage takes beside them [s]. The pipelines of
    dataflow kernels do all stages of an element at once."""
    if board.device_class == "fpga" and parameters.get("variant") == "dataflow":
        path = device.path_of(board, bitstream, None)
        return {"updates": path.hz, "stages": 1, "start": path.pipeline / path.hz}
    alone = predict(parameters, board, 1, bitstream=bitstream)[0].value
    times = stages(parameters["order"])
    return {} if alone is None else {"updates": alone * 1e6 * times, "stages": times}


def short_runs(defaults: Mapping) -> list[dict]:
    """Options of the runs that are fitted, the largest last."""
    return [{"mesh": "bay:20000", "steps": 200}, {"mesh": "bay:100000", "steps": 200}]


def fit_parameters(runs: Sequence[Run]) -> dict[str, float]:
    """Efficiency and start of a step from short runs."""
    return _roofline.fit_parameters(
        runs, "bandwidth", [STEPS], "GB/s", lambda run: work(run.parameters, run.ranks)
    )


def given(parameters: Mapping, ranks: int) -> dict[str, float]:
    """What the memory in kernel.toml follows from: elements of a rank, without those that it gets."""
    own = -(-elements(parameters["mesh"]) // ranks)
    return {"own_elements": own, "all_elements": own}

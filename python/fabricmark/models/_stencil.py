"""Steps of a grid of cells by the engine for stencils, for models of the benchmarks on it.

- FPGA (dataflow): a cascade of pipelines through a ring of boards, eq. 3.8 of Mondigo 2020 (_cascade.py).
- FPGA (base kernel): the loops of kernel.toml, once for each step.
- CPU and GPU: the slower of calibrated arithmetic and calibrated memory, through which each number moves once
  in and once out for as many steps as a launch makes in the cache. Of that a kernel reaches the share that
  short runs of it reached. Halos are not in it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from fabricmark.base import kernels
from fabricmark.models import Board, Prediction, Traits, _cascade, _roofline
from fabricmark.models._kernel_time import kernel_time
from fabricmark.models._measured import Run
from fabricmark.models._types import ELEMENT_BYTES
from fabricmark.models.machine import Bitstream, Network

STEPS = {"operation": "steps"}
TRAITS = Traits(("cell_steps", STEPS), exchanges=True, is_shared=True, is_application=True)
INPUTS = (*_roofline.INPUTS, *_cascade.INPUTS, "board.memory.drain")


@dataclass(frozen=True)
class Stencil:
    """A benchmark with so many `numbers` of a cell. `flops`: of a cell's step, as the program counts them.

    `phases`: of a step, each of which moves all numbers. `others`: what is another one, by the name of a
    parameter and its value.
    """

    benchmark: str
    numbers: int
    flops: int
    phases: int = 1
    others: Mapping[tuple[str, str], "Stencil"] = field(default_factory=dict, hash=False)

    def of(self, parameters: Mapping) -> "Stencil":
        """What these parameters choose."""
        chosen = (one for (name, value), one in self.others.items() if parameters.get(name) == value)
        return next(chosen, self)

    def step_bytes(self, data_type: str) -> int:
        """What a step of a cell reads and writes, where nothing is kept for the next one [bytes]."""
        return 2 * self.phases * self.numbers * ELEMENT_BYTES[data_type]

    def work(self, parameters: Mapping, ranks: int = 1) -> _roofline.Work:
        """Of a step on one of so many ranks. A device that is no CPU makes one step a launch."""
        cells = parameters["columns"] * parameters["rows"] / ranks
        at_once = parameters.get("steps_in_cache", 1) if parameters.get("variant") == "throughput" else 1
        data_type = parameters["data_type"]
        return _roofline.Work(self.flops * cells, self.step_bytes(data_type) * cells / at_once, data_type)

    def rates(self, one: Prediction, data_type: str) -> list[Prediction]:
        """Cell steps a second, and what they are in GB/s and GFLOP/s. `one`: cell steps [Mcell/s]."""

        def scaled(name: str, unit: str, of_cell: float) -> Prediction:
            value = None if one.value is None else one.value * of_cell
            limit = None if one.limit is None else one.limit * of_cell
            return replace(one, name=name, unit=unit, value=value, limit=limit)

        return [
            one,
            scaled("bandwidth", "GB/s", self.step_bytes(data_type) * 1e-3),
            scaled("performance", "GFLOP/s", self.flops * 1e-3),
        ]

    def of_base(self, parameters: Mapping, board: Board, ranks: int) -> list[Prediction]:
        """The base kernel on an FPGA. Raises ValueError for several devices: it streams a whole grid."""
        if ranks > 1:
            raise ValueError("the base kernel has the whole grid on one device")
        spent = kernel_time(self.benchmark, "advance", {}, parameters, board)
        cells = parameters["columns"] * parameters["rows"]
        hz = board["clock"]
        rate = cells / (self.phases * float(spent.seconds)) / 1e6
        limit = parameters.get("pipelines", 1) * hz / self.phases / 1e6
        about = "a word of cells a cycle, read and written"
        of_step = {name: self.phases * seconds for name, seconds in spent.phases().items()}
        waits = _roofline.MEMORY if float(spent.of_kernel) == 0 else "frequency"
        one = Prediction("cell_steps", STEPS, rate, "Mcell/s", limit, waits, about, of_step)
        return self.rates(one, parameters["data_type"])

    def predict(
        self, parameters: Mapping, board: Board, ranks: int, *, measurements=(),
        network: Network | None = None, bitstream: Bitstream | None = None,
    ) -> list[Prediction]:  # fmt: skip
        """Cell steps a second of all ranks, and what that is in GB/s and GFLOP/s; of a ring what is lost.

        `parameters`: those of the result file (columns, rows, data_type). Raises MissingValue for one of
        them, or a clock, that is missing.
        """
        if (chosen := self.of(parameters)) is not self:
            return chosen.predict(
                parameters, board, ranks, measurements=measurements, network=network, bitstream=bitstream
            )
        if board.device_class == "fpga" and parameters.get("variant") == "dataflow":
            cells = parameters["columns"] * parameters["rows"]
            words = kernels.kernel(self.benchmark).variants["dataflow"]["phases"]
            return _cascade.predict(parameters, cells, board, ranks, self.flops, network, bitstream, words)
        if board.device_class == "fpga":
            return self.of_base(parameters, board, ranks)
        own = self.work(parameters, ranks)
        performance = _roofline.prediction(
            "performance", STEPS, "GFLOP/s", own, parameters, board, ranks, bitstream
        )
        value = None if performance.value is None else performance.value * 1e3 / self.flops
        limit = None if performance.limit is None else performance.limit * 1e3 / self.flops
        cell_steps = replace(performance, name="cell_steps", unit="Mcell/s", value=value, limit=limit)
        return self.rates(cell_steps, parameters["data_type"])

    def fit_parameters(self, runs: Sequence[Run]) -> dict[str, float]:
        """Efficiency and start of a step from short runs."""
        return _roofline.fit_parameters(
            runs, "performance", [STEPS], "GFLOP/s",
            lambda run: self.of(run.parameters).work(run.parameters, run.ranks),
        )  # fmt: skip


def short_runs(defaults: Mapping) -> list[dict]:
    """Options of the runs that are fitted, the largest last: of as many steps as the usual one, over which
    what a run takes to start is spread, and with rows as long, which decide what lies in caches."""
    rows = defaults["rows"]
    return [{"rows": max(1, rows // 2)}, {"rows": max(1, rows * 3 // 4)}]


def short_runs_of_others(defaults: Mapping) -> list[dict]:
    """Of the base kernel on a CPU, which takes a hundred times as long."""
    return [{"columns": 512, "rows": 512, "steps": 8}, {"columns": 1024, "rows": 512, "steps": 8}]

"""Closed-form models, a module or folder for each benchmark, found by listing this one.

models/<benchmark>.py, or models/<benchmark>/__init__.py, offers

    predict(parameters, board, ranks, *, measurements=(), network=None, bitstream=None) -> list[Prediction]

which `models.predict` calls, and is made of pure functions in SI units (seconds, bytes, hertz in the names).
`parameters`: those of the program and of its kernel, `variant` among them. `board`: of a calibration (this
very machine) or of systems/*.toml. `measurements`: those of the run itself, for a fit of the measured curve,
or for parts of a sum that no calibration knows; the explanation then says so. `network`, `bitstream`: of a
described system (models/machine.py); they hold every value that is not the board's. Where a program derives
metrics from others, the model also offers `derived` (models/_derived.py), so that a report can check them.

`INPUTS` of a module: the full names of the values of a system that it may look up (board.memory.banks);
another one ends in UndeclaredInput. Their units, and what counts where no file says one, are in base/keys.py.
What short runs measured of a kernel (`Bitstream.measured`) is not named.

What more a module may offer, each on its own:

- `TRAITS`: what other code has to know of the benchmark (`Traits`).
- `given(parameters, ranks)`: numbers of kernel.toml's table `given`, from which the memory of a rank follows.
- `synthesis(parameters)`: how what it takes of an FPGA grows (`Synthesis`).
- `skeleton(parameters, board, bitstream)`: parameters of its skeleton.toml that follow from what its kernels
  take on one device; none where nothing says.
- `headline` and `table_elements`: for grids of many points (models/_sweep.py).
- `own_headline` and `own_bottleneck`: the same of this project's program and what it waits for, over
  transports where `predict` is of another one (`Traits.foreign`).
- `short_runs`, `short_runs_of_others`, `fit_parameters`, `processor_curves`, `message_curve`: runs on a
  machine and what they tell of its kernels (models/_measured.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

from fabricmark.base import keys
from fabricmark.models._limits import Limits
from fabricmark.models._missing import MissingValue as MissingValue
from fabricmark.models._missing import Needed as Needed
from fabricmark.models.machine import HasValues
from fabricmark.models.machine import Values as Values

LIMIT_ALONE = "a limit: nothing measured says what the kernel reaches of it"


@dataclass(frozen=True)
class Board(HasValues):
    """What a model needs to know of one device, beside its values (base/keys.py, of boards).

    A CPU or GPU counts as one memory bank, its whole memory. The value `clock`: of the kernels of an FPGA
    design; none where a kernel's clock is no limit (CPU, GPU).
    `updates_per_second`: (table [bytes], random updates of 8 bytes a second of the whole device), ascending.
    `devices`, `hosts`: how many such devices and hosts the run used.
    `limits`: of a calibrated machine, the most that its memory, links and arithmetic ever did; the values
    are for the models. None: the limits follow from these, as on a board that a file describes.
    `memory_kind`, `memory_placement`: for programs, which choose banks [memory.kind, memory.placement].
    """

    name: str
    device_class: str
    updates_per_second: tuple[tuple[float, float], ...] = ()
    devices: int = 1
    hosts: int = 1
    limits: Limits | None = None
    memory_kind: str = ""
    memory_placement: str = ""
    values: Values = field(default=Values("board"), kw_only=True)

    @property
    def memory_bytes_per_second(self) -> float:
        """Sum over the banks of one device: its physical limit for anything that streams."""
        return self["memory.banks"] * self["memory.bank_bandwidth"]

    @property
    def memory_bytes(self) -> float | None:
        """What one device can hold; None where nothing says."""
        of_bank = self.get("memory.bank_capacity")
        return None if of_bank is None else of_bank * self["memory.banks"]

    def flops(self, data_type: str) -> float:
        """Of the whole device on numbers of this type, multiply-adds counted as two.

        Raises MissingValue where it was not calibrated.
        """
        name = f"arithmetic.{data_type}"
        if name not in keys.BOARD:
            raise MissingValue("data_type")
        return self[name]


@dataclass(frozen=True)
class Prediction:
    """One modelled metric, named like the measurement that it belongs to (`name` and `axes`).

    `value` and `limit` are in `unit`; None where no model or no limit is known, and `explanation` says why.
    `phases`: time of each phase [s], where the model tells them apart. `error_bar`: the share of the value
    that 90 % of what is measured stays within, where short runs on the machine told.
    """

    name: str
    axes: Mapping[str, object]
    value: float | None
    unit: str
    limit: float | None
    bottleneck: str
    explanation: str
    phases: Mapping[str, float] = field(default_factory=dict)
    error_bar: float | None = None


@dataclass(frozen=True)
class Synthesis:
    """How resources of an FPGA grow with the parameters: `arithmetic` (DSPs and logic), to any scale, and
    `buffer_bytes` of on-chip memory beyond what each replication has anyway."""

    arithmetic: float
    buffer_bytes: float = 0.0


@dataclass(frozen=True)
class Traits:
    """What a benchmark is like: other code asks this and compares no names.

    The defaults are those of one that works on each device alone.

    `headline`: name and axes of the metric that stands for it in one number; None: the first.
    `exchanges`: ranks send messages, over a transport. `to_itself`: a single rank does, too.
    `on_grid`: ranks form a square grid, so that a range of devices means its squares.
    `is_host_code`: no kernel has a part in it, unless it is over channels.
    `is_shared`: the problem can be one of all devices together (strong scaling).
    `preset`: parameters of a prediction, where no other values are given.
    `by_ranks`: what short runs tell depends on the number of ranks, as where a start wakes a device's cores.
    `foreign`: transports over which the closed form on a described system is that of HPCC FPGA's host
    program, and what this project's does otherwise (docs/simulated-time.md).
    `is_application`: `fabricmark run` takes its options without ` -- `.
    `fields_with`: its runs write a folder of fields where this option is given; empty: never by themselves.
    `illustration`: options of a short run whose fields are worth a picture.
    """

    headline: tuple[str, Mapping] | None = None
    exchanges: bool = False
    to_itself: bool = False
    on_grid: bool = False
    is_host_code: bool = False
    is_shared: bool = False
    preset: Mapping[str, object] = field(default_factory=dict)
    by_ranks: bool = False
    foreign: Mapping[str, str] = field(default_factory=dict)
    is_application: bool = False
    fields_with: str = ""
    illustration: Sequence[str] = ()

    def is_headline(self, entry) -> bool:
        """Whether a prediction or a measurement is of the headline metric."""
        name, axes = self.headline or (None, {})
        return entry.name == name and axes.items() <= dict(entry.axes).items()


def within_limits(predictions: Sequence[Prediction], board: Board) -> list[Prediction]:
    """The same where none is faster than its limit: the efficiencies that models use are measured, too.

    Only on a machine whose limits were measured.
    """
    return list(predictions) if board.limits is None else capped(predictions)


def capped(predictions: Sequence[Prediction]) -> list[Prediction]:
    """The same where no rate is above its limit; the explanation says which was."""
    found = []
    for one in predictions:
        if one.unit.endswith("/s") and one.limit and one.value is not None and one.value > one.limit:
            one = replace(one, value=one.limit, explanation=f"{one.explanation}; at most the limit")
        found.append(one)
    return found


def is_kernel_known(benchmark: str, board: Board, bitstream) -> bool:
    """Whether anything says what a kernel makes of the limits: the design of an FPGA, short runs on a CPU or
    GPU; where no kernel has a part in it nothing has to."""
    if board.device_class == "fpga" or traits(benchmark).is_host_code:
        return True
    return bitstream is not None and bool(bitstream.measured or bitstream.curves)


def limits_alone(predictions: Sequence[Prediction]) -> list[Prediction]:
    """The same of a kernel of which nothing is known: what it cannot exceed, and no prediction."""
    return [replace(one, value=None, explanation=LIMIT_ALONE, phases={}) for one in predictions]


def names() -> list[str]:
    """Benchmarks that have a model."""
    return sorted(filter(find, _modules()))


@cache
def _modules() -> set[str]:
    here = Path(__file__).parent
    folders = {path.parent.name for path in here.glob("*/__init__.py")}
    return folders | {path.stem for path in here.glob("*.py") if not path.stem.startswith("_")}


def skeletons() -> dict[str, Path]:
    """Of benchmarks whose messages and work are described as an application's: the file (application-1)."""
    files = sorted(Path(__file__).parent.glob("*/skeleton.toml"))
    return {file.parent.name: file for file in files}


@cache
def find(benchmark: str) -> ModuleType | None:
    """The model of a benchmark, or None where it has none."""
    if benchmark not in _modules():
        return None
    module = import_module(f"{__name__}.{benchmark}")
    return module if hasattr(module, "predict") else None


def predict(
    model: ModuleType, parameters: Mapping, board: Board, ranks: int, *, network=None, bitstream=None, **more
) -> list[Prediction]:  # fmt: skip
    """What a model says; `more` as its own `predict` takes it.

    Raises MissingValue for a parameter or a value of the system that it needs and nothing says, and whatever
    its arithmetic ends with on values that it cannot use.
    """
    known = parameters if isinstance(parameters, Needed) else Needed(parameters)
    return model.predict(
        known,
        narrowed(model, board),
        ranks,
        network=narrowed(model, network),
        bitstream=narrowed(model, bitstream),
        **more,
    )


def skeleton_rates(benchmark: str, parameters: Mapping, board: Board, bitstream=None) -> dict[str, float]:
    """Parameters of a benchmark's skeleton as its model has them; none where nothing says. Raises as
    `predict`."""
    model = find(benchmark)
    if model is None or not hasattr(model, "skeleton"):
        return {}
    return model.skeleton(Needed(parameters), narrowed(model, board), narrowed(model, bitstream))


def narrowed(model: ModuleType, described: HasValues | None) -> HasValues | None:
    """A board, network or bitstream of which a model may look up what it declares."""
    return None if described is None else described.only(inputs(model))


@cache
def inputs(model: ModuleType) -> frozenset[str]:
    """The values of a system that a model may look up, by their full names."""
    return frozenset(getattr(model, "INPUTS", ()))


def traits(benchmark: str) -> Traits:
    """What the model of a benchmark says of it; the defaults where it says nothing or there is none."""
    return getattr(find(benchmark), "TRAITS", Traits())

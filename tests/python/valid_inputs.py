"""Command lines whose every option has a value of its type and range, made from the declared options.

Whether they mean anything together is for the command to say: a figure, or one line.
"""

import re
from typing import ClassVar

import typer
from fabricmark import cli, models
from fabricmark.base import kernels, keys
from fabricmark.predict import points, settings
from fabricmark.systems import choice

# Options of predict that are drawn each by itself; the others belong to the place that is asked about.
PLACE = {"name", "system", "devices", "transport", "board", "bitstream_id"}
NOT_OF_TIMING = ("ranks", "min-time", "max-time")  # nothing is measured: --timing-only excludes them
# Need files of results or rows, seconds to draw or to try runs.
ELSEWHERE = {"from_files", "plot_file", "calibrate", "next_run", "budget"}
UNITS = {
    "bytes_per_second": ("GB/s", 1e9), "seconds": ("us", 1e-6), "hertz": ("MHz", 1e6), "bytes": ("B", 1.0),
    "flops_per_second": ("GFLOP/s", 1e9),
}  # fmt: skip
# A name, what stands for its value, least and most.
RANGE = re.compile(r"^\s+--([a-z-]+) ([A-Z]+)\s+\S.* \((\S+) to (\S+)\)$", re.MULTILINE)


def near(source, parameter, device_class="fpga"):
    """A value of a parameter as a command line has it: of its list, else the default, half or twice of it."""
    if parameter.values:
        return kernels.text(source.choice(list(parameter.values)))
    if parameter.type == "bool":
        return source.choice(["true", "false"])
    default = parameter.default
    default = (
        default.get(device_class, next(iter(default.values()))) if isinstance(default, dict) else default
    )
    if parameter.type == "string":
        return kernels.text(default)
    least, most = parameter.range or (0, 8)
    if not isinstance(default, int | float) or isinstance(default, bool):
        default = max(least, min(most, 4))
    value = min(max(default * source.choice([0.5, 1, 1, 2]), least), most)
    return str(round(value)) if parameter.type == "int" else f"{value:g}"


def quantity(source, name, value):
    """A value of a system, half or twice what it is, with its unit."""
    dimension = settings.key_of(name).dimension
    value *= source.choice([0.5, 0.9, 2])
    if dimension in keys.PLAIN:
        return str(max(1, round(value))) if dimension == keys.COUNT else f"{min(value, 1.0):.4g}"
    unit, factor = UNITS[dimension]
    return f"{value / factor:.6g} {unit}"


class Prediction:
    """One command line of `fabricmark predict`: where, then some options."""

    def __init__(self, source, row):
        self.source, self.row = source, row
        wanted = choice.Wanted(row.system, row.board, row.bitstream or None, row.transport)
        chosen = choice.choose(row.benchmark, wanted)
        system = chosen.narrowed
        self.request = points.PredictionRequest(row.benchmark, system, chosen.transport, points.WEAK)
        counts = [count for count in (1, 4, 16) if count <= system.most_devices]
        self.devices = source.choice(counts)
        plan, run = points.planned(self.request, [(self.devices, {})])[0]
        network = system.networks.get(chosen.transport)
        read = settings.of_run(row.benchmark, run, plan.board, self.devices, network, plan.bitstream)
        objects = {"board": plan.board, "network": network, "bitstream": plan.bitstream}
        self.known = points_values(read, objects)
        declared = kernels.kernel(row.benchmark).parameters
        self.parameters = [declared[name] for name in sorted(read.parameters & set(declared) - {"transport"})]
        self.every = [one for one in declared.values() if one.name != "transport"]

    def words(self):
        row, source = self.row, self.source
        found = ["predict", row.benchmark, *row.words(), "--devices", str(self.devices)]
        options = [one for one in sorted(self.MAKERS) if one not in PLACE]
        for name in source.sample(options, source.randrange(4)):
            found += self.MAKERS[name](self)
        return found

    def _parameter(self):
        some = self.parameters if self.parameters and self.source.random() < 0.8 else self.every
        return self.source.choice(some)

    def _set(self):
        if self.known and self.source.random() < 0.5:
            name = self.source.choice(sorted(self.known))
            return ["--set", f"{name}={quantity(self.source, name, self.known[name])}"]
        one = self._parameter()
        return ["--set", f"{one.name}={near(self.source, one)}"]

    def _sweep(self):
        if not self.known:
            return []
        name = self.source.choice(sorted(self.known))
        first, last = (quantity(_Fixed(by), name, self.known[name]) for by in (0.5, 1.0))
        return ["--sweep", f"{name}={first}:{last}:x1.5"] if first != last else []

    def _scaling(self):
        shared = models.traits(self.row.benchmark).is_shared
        return ["--scaling", self.source.choice(points.SCALING) if shared else points.WEAK]

    def _mesh(self):
        of_mesh = any(one.name == "mesh" for one in self.every)
        return ["--mesh", "bay:2000"] if of_mesh else []

    def _reach(self):
        return ["--reach", self.source.choice(["1 GB/s", "1 GFLOP/s", "1 MUOP/s"])]

    def _enough(self):
        return ["--enough", self.source.choice(sorted(self.known))] if self.known else []

    # For each option of the command what to write; a test sees to it that none is missing.
    MAKERS: ClassVar = {
        "given_words": _set, "sweep": _sweep, "mesh": _mesh, "scaling": _scaling, "reach": _reach,
        "enough": _enough, "profile": lambda self: ["--profile", self.source.choice(["fitted", "published"])],
        "closed_form": lambda self: ["--closed-form"], "sensitivity": lambda self: ["--sensitivity"],
        "program": lambda self: ["--program", self.source.choice(["hpcc-fpga-2021", "this"])],
        "beyond": lambda self: ["--beyond"], "csv_file": lambda self: ["--csv", "found.csv"],
    }  # fmt: skip


class _Fixed:
    """A source that always draws the same factor."""

    def __init__(self, factor):
        self.factor = factor

    def choice(self, _):
        return self.factor


def points_values(read, objects):
    from fabricmark.predict import view

    return view.above_nothing(read, objects)


def options_of_predict():
    """Names of the parameters of the command, as typer has them."""
    command = typer.main.get_command(cli.app).commands["predict"]
    return {one.name for one in command.params} - {"help"}


def of_program(source, row, help_text):
    """Options of fm_<benchmark> beside those of the place: parameters of its kernel, and numbers within the
    ranges that its --help prints."""
    declared = [one for one in kernels.kernel(row.benchmark).parameters.values() if one.name != "transport"]
    found = []
    for one in source.sample(declared, min(len(declared), source.randrange(3))):
        found += [one.option, near(source, one)]
    ranges = [match for match in RANGE.findall(help_text) if match[0] not in NOT_OF_TIMING]
    for name, kind, least, most in source.sample(ranges, source.randrange(3)):
        value = min(max(source.choice([1, 2, 3]), float(least)), float(most))
        found += [f"--{name}", str(round(value)) if kind in ("N", "MS") else f"{value:g}"]
    return found

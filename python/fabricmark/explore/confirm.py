"""The best designs of a stencil once more, by the modelled clock of emulated boards.

A design is not one of the system's: it gets the exported system with its own depth, links and parameters. A
pass is run, as passes are alike. The clock moves every word of cells over every link, where the equation
has averages; both are modelled.
"""

import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fabricmark import results, systems
from fabricmark.base import ended, paths
from fabricmark.base.errors import ENVIRONMENT, FabricmarkError
from fabricmark.explore.cascades import AXES
from fabricmark.explore.stencils import Answer, Found
from fabricmark.models._cascade import ALONG_X, NO_COMPRESSION
from fabricmark.models.machine import DIRECT
from fabricmark.systems import choice, export

BAR = 0.02  # of the time, or of the rate
LONGEST_SECONDS = 900
MEGA = 1e6


@dataclass(frozen=True)
class Confirmed:
    """A design, in words: by the equation or the model, and by the clock, in `unit`."""

    design: str
    equation: float
    clock: float
    unit: str

    @property
    def apart(self) -> float:
        """Of the equation from the clock, as a share of the clock's value."""
        return self.equation / self.clock - 1

    @property
    def holds(self) -> bool:
        return abs(self.apart) <= BAR


def confirm(answer: Answer, one: Found) -> Confirmed:
    """Runs a pass of a design, with the host's start. Raises FabricmarkError (3) where it cannot."""
    problem, of = answer.asked.problem, answer.exploration
    made = of.one(one.place)
    steps = made.cascaded * made.boards
    across, along = problem.columns, problem.rows
    if one.values["orientation"] != ALONG_X:
        across, along = along, across
    across += -across % made.pipelines  # rows are whole words
    words = ["--bitstream-id", answer.built[0], "--ranks", int(made.boards), "--columns", across]
    words += ["--rows", along, "--steps", int(steps), "--row-cells", max(across, 1)]
    words += _compression(answer, one)
    found = measurements(answer.asked.benchmark, _document(answer, one), words)
    rate = next(row["best"] for row in found if row["name"] == "cell_steps") * MEGA
    equation = made.cycles / made.hz + of.launch
    label = f"{int(made.boards)} x ({int(made.pipelines)}, {int(made.cascaded)})"
    return Confirmed(label, float(equation), float(problem.cells * steps / rate), "s")


def _compression(answer: Answer, one: Found) -> list[Any]:
    """Options of the program, over switches; direct links are as much faster instead."""
    made, network = answer.exploration.one(one.place), answer.system.networks.get(answer.transport)
    if made.boards == 1 or network is None or network.kind == DIRECT:
        return []
    name = one.values["compression"]
    return [] if name == NO_COMPRESSION else ["--compression", name, "--compression-ratio", made.ratio]


def _document(answer: Answer, one: Found) -> dict[str, Any]:
    """The exported system, with this design in place of the one that was built."""
    wanted, made = answer.asked.wanted, answer.exploration.one(one.place)
    said = exported(wanted, lambda kind: answer.asked.moved(kind, answer.transport))
    kind = next(row for row in said["topology"] if row["device"] == answer.system.board_id)
    kind["most_devices"] = max(int(made.boards), kind["most_devices"])
    network = answer.system.networks.get(answer.transport)
    if made.boards > 1 and network is not None:
        links = next(row for row in said["networks"] if row["id"] == kind["networks"][answer.transport])
        if network.kind == DIRECT:
            _set(links, "link_bytes_per_second", made.ratio * made.link)
            _set(links, "latency_seconds", (made.link_cycles + made.codec_cycles) / made.hz)
            _set(links, "start_seconds", 0.0)
            links["values"].pop("width_bytes", None)  # the rate of long streams is what was asked for
            links["values"].pop("clock_hz", None)
        else:
            link = answer.exploration.space.links[one.place[AXES.index("link")]]
            _set(links, "flow_packet_flits", link.packet)
            _set(links, "flow_receive_flits", link.depth)
            _set(links, "flow_update_flits", link.law(int(made.boards)).credit_interval)
    design = next(row for row in said["bitstreams"] if row["id"] == answer.built[0])
    design["parameters"] = {
        **design["parameters"], "pipelines": int(made.pipelines), "cascaded": int(made.cascaded)
    }  # fmt: skip
    _set(design, "pipeline_cycles", made.depth)
    return said


def exported(wanted: choice.Wanted, moved: Callable[[systems.System], systems.System]) -> dict[str, Any]:
    """The system of a question, with the values that designs were explored with."""
    kinds = [moved(kind) for kind in systems.kinds(str(wanted.system), wanted.profile)]
    return dict(json.loads(export.written(export.of_kinds(kinds, wanted.profile))))


def _set(row: Mapping[str, Any], name: str, value: float) -> None:
    row["values"][name] = {"value": float(value), "kind": "fitted"}


def measurements(benchmark: str, system: Mapping[str, Any], words: Sequence[Any]) -> list[dict[str, Any]]:
    """Of one run of its program on an exported system that computes nothing. Raises FabricmarkError (3) where
    it fails."""
    environment = {**os.environ, "FABRICMARK_KERNELS": str(paths.kernels())}
    program = paths.program(benchmark)
    with tempfile.TemporaryDirectory() as folder:
        file, result = Path(folder) / "system.json", Path(folder) / "result.json"
        paths.write_atomically(file, json.dumps(system))
        own = ["--timing-only", "--system", file, "--repetitions", 1, "--warmup", 0, "--json", result]
        try:
            done = subprocess.run(
                [program, *map(str, (*own, *words))], env=environment, capture_output=True, text=True,
                errors="replace", timeout=LONGEST_SECONDS, stdin=subprocess.DEVNULL, check=False,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as error:
            raise FabricmarkError(f"--confirm: {error}", "build with `make build`", ENVIRONMENT) from error
        if done.returncode != 0:
            said = ended.words(done.returncode, done.stderr)
            raise FabricmarkError(
                f"--confirm: {program.name} {said}",
                ended.remedy(done.returncode, done.stderr), ENVIRONMENT,
            )  # fmt: skip
        return list(results.load(result).document["measurements"])

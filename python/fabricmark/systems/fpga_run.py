"""A run on a real FPGA as the files of systems know it: its board, its bitstream and its network.

A result says them itself (run.kernel: board, bitstream, clock_hz, tools, from the sidecar of the bitstream),
else the options of its command line do, --bitstream-id FILE/NAME and --system. An emulator says nothing
about hardware.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import PurePath

from fabricmark import systems
from fabricmark.base import kernels, transports
from fabricmark.base.errors import FabricmarkError
from fabricmark.models import Board
from fabricmark.models.machine import Bitstream
from fabricmark.results import Result
from fabricmark.results.scaling import devices_used
from fabricmark.systems import files
from fabricmark.systems.build import System


@dataclass(frozen=True)
class FpgaRun:
    """What `predict` of a model takes for a run: the board with the bitstream's clock, the bitstream, the
    system."""

    board: Board
    bitstream: Bitstream
    system: System

    def arguments(self, parameters: Mapping) -> dict:
        """`network` and `bitstream`."""
        network = self.system.networks.get(str(parameters.get("transport", transports.NONE)))
        return {"network": network, "bitstream": self.bitstream}


def of_result(result: Result) -> FpgaRun | None:
    """None for other devices, for emulators, and where nothing says which bitstream it was.

    Raises FabricmarkError (2) for a bitstream that no file has.
    """
    device = result.device
    if device["class"] != "fpga" or device["emulated"]:
        return None
    kernel = result.document["run"].get("kernel") or {}
    options = kernels.options(result.document["run"]["command"])
    design = result.document["run"].get("design") or {}
    name = kernel.get("bitstream") or design.get("bitstream") or options.get("--bitstream-id", "")
    if not name:
        return None
    bitstream = _bitstream(name, result.benchmark)
    system = _system(options.get("--system", ""), bitstream.board)
    clock = kernel.get("clock_hz") or design.get("clock_hz")
    if clock:
        bitstream = bitstream.having({"clock": float(clock)})
    placement = result.document["environment"]["ranks"]["placement"]
    hosts = {rank["host"] for rank in placement}
    board = replace(system.board_with(bitstream, devices_used(result)), hosts=len(hosts))
    return FpgaRun(board, bitstream, system)


def _bitstream(name: str, benchmark: str) -> Bitstream:
    """That of FILE/NAME. Raises FabricmarkError (2) for one that is not there or of another benchmark."""
    file, _, own = name.partition("/")
    known = systems.bitstreams(file)
    if own not in known or known[own].benchmark != benchmark:
        fitting = [f"{file}/{other}" for other, one in known.items() if one.benchmark == benchmark]
        remedy = f"{', '.join(fitting)} would be" if fitting else "add it to systems/bitstreams"
        raise FabricmarkError(f"the result's bitstream {name} is none of {benchmark}", remedy)
    return known[own]


def _system(text: str, board: str) -> System:
    """The system that a run named, where it is known and has this board; else the board by itself."""
    name = PurePath(text).stem
    if name in files.listed("system") and board in systems.load(name).boards:
        return systems.load(name, board=board)
    return systems.load(board)

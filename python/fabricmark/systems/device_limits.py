"""What is known of the device of a result: its limits, and what `systems new` wrote of the machine."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

from fabricmark.base.errors import FabricmarkError
from fabricmark.base.kept import kept
from fabricmark.models import Board
from fabricmark.results import Result
from fabricmark.results.scaling import device_of
from fabricmark.systems import calibration, fpga_run, local_machine
from fabricmark.systems.build import System
from fabricmark.systems.fpga_run import FpgaRun


@dataclass(frozen=True)
class DeviceLimits:
    """Limits of the devices of one run. `system`: the file of this machine, None where it has none.

    `faults`: files of systems that could not be read. `fpga`: of a run on a real FPGA, instead of `system`.
    """

    board: Board
    system: System | None = None
    faults: tuple[FabricmarkError, ...] = ()
    fpga: FpgaRun | None = None

    def arguments(self, benchmark: str, parameters: Mapping, ranks: int) -> dict:
        """What else than the board a model's `predict` gets. Raises KeyError for an FPGA without a
        bitstream."""
        if self.fpga is not None:
            return self.fpga.arguments(parameters)
        if self.board.device_class == "fpga":
            raise KeyError("bitstream")
        return local_machine.for_run(self.system, benchmark, parameters, ranks)

    def has_kernel(self, result: Result) -> bool:
        """Whether short runs of the kernel of a result, or files of its bitstream, say what it makes of
        them."""
        if self.fpga is not None:
            return True
        known = () if self.system is None else self.system.bitstreams
        about = (result.benchmark, result.document["run"]["variant"], result.ranks or 1)
        return local_machine.nearest(known, *about) is not None


class Devices:
    """What is known of the devices of many results; each is looked up once."""

    def of(self, result: Result) -> DeviceLimits | None:
        """None for emulators, for devices that were neither measured nor calibrated, and for FPGAs of whose
        bitstream nothing is known."""
        device = result.device
        if device["emulated"]:
            return None
        if device["class"] == "fpga":
            return _of_fpga(result)
        known = self._find(result.document["environment"]["host"]["cpu"], device["name"], device["driver"])
        return None if known is None else dataclasses.replace(known, board=_of_run(result, known.board))

    @kept
    def _find(self, cpu: str, name: str, driver: str) -> DeviceLimits | None:
        found = local_machine.find(cpu, name, driver)
        if found.system is not None:
            system = local_machine.with_limits(found.system)
            return DeviceLimits(system.board, system, found.faults)
        limits = calibration.find(cpu, name, driver)
        return None if limits is None else DeviceLimits(calibration.board(limits), None, found.faults)


def _of_fpga(result: Result) -> DeviceLimits | None:
    """The files of its board and bitstream; one that is not there is a fault that the report names."""
    try:
        found = fpga_run.of_result(result)
    except FabricmarkError as error:
        return DeviceLimits(_unknown_board(result), None, (error,))
    return None if found is None else DeviceLimits(found.board, found.system, (), found)


def _unknown_board(result: Result) -> Board:
    """A board that no model knows anything of."""
    unknown = Board(result.device["name"], "fpga")
    return unknown.having({"memory.banks": 1, "memory.bank_bandwidth": float("inf")})


def _of_run(result: Result, board: Board) -> Board:
    """One board for each of the devices that the ranks used."""
    placement = result.document["environment"]["ranks"]["placement"]
    # Ranks on one host's CPU share its memory, whatever part of the device each has.
    whole_host = result.device["class"] == "cpu"
    used = {rank["host"] if whole_host else device_of(rank) for rank in placement}
    hosts = {rank["host"] for rank in placement}
    return dataclasses.replace(board, devices=len(used), hosts=len(hosts))


def of_result(result: Result) -> DeviceLimits | None:
    """What is known of the device of one result."""
    return Devices().of(result)

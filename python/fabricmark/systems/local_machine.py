"""This machine as a system: which file describes it, and which of its values are for a run.

A measured device is known by the host's processor, its own name and its driver, as a calibration is. The id
of its board begins with a key made of the three, so that a file of another machine is never taken.
"""

import hashlib
import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import log2
from pathlib import Path

from fabricmark import systems
from fabricmark.base import paths, transports
from fabricmark.base.errors import FabricmarkError
from fabricmark.models.machine import Bitstream
from fabricmark.systems import calibration
from fabricmark.systems.build import System

PREFIX = "device-"
REMEDY = "`fabricmark systems new --again` measures this machine again"


@dataclass(frozen=True)
class Found:
    """The system of a device, None where no file describes it; `faults`: files that could not be read."""

    system: System | None = None
    path: Path | None = None
    faults: tuple[FabricmarkError, ...] = ()


def key(cpu: str, device_name: str, driver: str) -> str:
    """How the id of a measured board begins."""
    text = json.dumps([cpu, device_name, driver]).encode("utf-8", "backslashreplace")
    return f"{PREFIX}{hashlib.sha256(text).hexdigest()[:12]}-"


def digest(board_id: str) -> str:
    """The part of a measured board's id that is made of processor, device and driver; "" of another board."""
    return board_id.removeprefix(PREFIX).partition("-")[0] if is_measured(board_id) else ""


def is_measured(board_id: object) -> bool:
    """Whether a board's id is one of `systems new`."""
    return isinstance(board_id, str) and board_id.startswith(PREFIX)


def entries(path: Path) -> list[dict]:
    """The [[devices]] of a system file, unchecked. Raises FabricmarkError (2) for no TOML."""
    try:
        found = tomllib.loads(paths.content(path).decode("utf-8")).get("devices")
    except (OSError, ValueError, RecursionError) as error:
        raise FabricmarkError(f"{path}: cannot be read: {error}", REMEDY) from error
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def find(cpu: str, device_name: str, driver: str) -> Found:
    """The newest file of the user's folder that describes this device."""
    wanted = key(cpu, device_name, driver)
    faults: list[FabricmarkError] = []
    try:
        files = sorted(systems.user_folder().glob("*.toml"), key=lambda file: -file.stat().st_mtime)
    except OSError:
        return Found()
    for file in files:
        try:
            boards = [str(one.get("board")) for one in entries(file)]
            for board in boards:
                if board.startswith(wanted):
                    return Found(systems.load(file, board=board), file, tuple(faults))
        except FabricmarkError as error:
            faults.append(error)
    return Found(faults=tuple(faults))


def nearest(bitstreams: Iterable[Bitstream], benchmark: str, variant: str, ranks: int) -> Bitstream | None:
    """Of these the kernel for a run; of several numbers of ranks the nearest. None where there is none."""
    fitting = [one for one in bitstreams if (one.benchmark, one.variant) == (benchmark, variant)]

    def far(one: Bitstream) -> float:
        known = one.parameters.get("ranks", 1)
        return abs(log2(ranks / known)) if isinstance(known, int) and known > 0 else 0.0

    return min(fitting, key=far, default=None)


def for_run(system: System | None, benchmark: str, parameters: Mapping, ranks: int) -> dict:
    """`network` and `bitstream` for a model's `predict`; empty without a system."""
    if system is None:
        return {}
    transport = parameters.get("transport", transports.USUAL)
    return {
        "network": system.networks.get(str(transport)) or system.networks.get(transports.USUAL),
        "bitstream": nearest(system.bitstreams, benchmark, str(parameters.get("variant", "base")), ranks),
    }


def with_limits(system: System) -> System:
    """A system of `systems new` with the best limits ever measured of its device; others as they are.

    The rates for the models stay those of the time of its short runs.
    """
    own = digest(system.board_id)
    document = calibration.find_digest(own) if own else None
    if document is None:
        return system
    return replace(system, board=replace(system.board, limits=calibration.limits(document)))

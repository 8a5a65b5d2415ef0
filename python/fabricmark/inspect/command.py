"""The command `fabricmark inspect`."""

import json
import tomllib
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Annotated

from fabricmark.base import choices, paths
from fabricmark.base.errors import FabricmarkError
from fabricmark.build.command import Language, Settings, settings
from fabricmark.build.design import HLS, LANGUAGES, OPENCL, SYCL, Design, resolve
from fabricmark.inspect import chips, view
from fabricmark.inspect.inspection import Kernel, inspect_file
from fabricmark.systems import choice, export, files, option_types

FORMAT = "fabricmark-inspection/1"
VARIANT = "base"
COPIES = "REPLICATIONS"  # with it Intel's file has an entry point for each


def inspect(
    name: Annotated[str, choices.benchmark("A benchmark of `fabricmark list`.")],
    system: Annotated[str | None, option_types.system("Board and parameters of this system")] = None,
    board: option_types.Board = None,
    bitstream_id: option_types.BitstreamId = None,
    transport: option_types.Transport = None,
    given: Settings = None,
    vendor: Annotated[
        str | None, choices.one_of(list(chips.VENDORS), "Whose tool (default: the board's, else both).")
    ] = None,
    language: Language = OPENCL,
    json_file: Annotated[
        Path | None, choices.document("--json", "Write it as JSON; -: instead of tables.")
    ] = None,
) -> None:
    """Estimate what a base kernel becomes on an FPGA: cycles between iterations, operations, DSPs, memory."""
    if vendor is not None and vendor not in chips.VENDORS:
        raise FabricmarkError(f"there is no vendor {vendor}", f"use {' or '.join(chips.VENDORS)}")
    if system is not None:
        place = choice.Wanted(system, board, bitstream_id, transport)
        check_variant(system, bitstream_id or choice.bitstream_of(name, place, verb="inspect"))
    design = resolve(name, VARIANT, system, bitstream_id, settings(name, given or []), board, transport)
    if language == SYCL:
        raise FabricmarkError(f"nothing is estimated of {LANGUAGES[SYCL]}", "leave out --language")
    design = design.in_language(language)
    known = chips.vendor_of(design.board, descriptions(design.board)) if system is not None else None
    if language == HLS:
        if (vendor or known or chips.XILINX) != chips.XILINX:
            raise FabricmarkError("HLS C++ is for AMD's tools", f"use --vendor {chips.XILINX}")
        vendor = chips.XILINX
    wanted = [vendor or known] if vendor or known else list(chips.VENDORS)
    found = {one: inspect_design(design, one) for one in wanted if one is not None}
    if json_file is not None:
        text = json.dumps(document(design, found), indent=1) + "\n"
        paths.write_atomically(json_file, text)
    for one, kernels in found.items():
        view.show(design, chips.VENDORS[one], kernels)


def check_variant(system: str | None, bitstream_id: str | None) -> None:
    """Raises FabricmarkError (2) for a bitstream of other kernels than base ones."""
    known = export.document(system)["bitstreams"] if system is not None else []
    for one in known:
        if one["id"] == bitstream_id and one["variant"] != VARIANT:
            cause = f"{bitstream_id} is of the variant {one['variant']}, and inspect reads base kernels"
            of_base = [
                other["id"]
                for other in known
                if other["benchmark"] == one["benchmark"] and other["variant"] == VARIANT
            ]
            remedy = f"use one of {', '.join(of_base)}" if of_base else "leave out --bitstream-id"
            raise FabricmarkError(cause, remedy)


def inspect_design(design: Design, vendor: str) -> list[Kernel]:
    """The kernels of a resolved design, each once. Raises FabricmarkError as `inspect_file` does."""
    definitions = {name: value for name, value in design.definitions.items() if name != COPIES}
    return _inspected(design.source, vendor, tuple(sorted(definitions.items())))


@cache
def _inspected(source: Path, vendor: str, definitions: tuple[tuple[str, str], ...]) -> list[Kernel]:
    """Once: to `explore` cases of several transports and numbers of devices begin with the same design."""
    return inspect_file(source, vendor, dict(definitions))


def descriptions(board: str) -> str:
    """What a board's file and those that it is like say in words."""
    said: list[str] = []
    seen: set[str] = set()
    while board and board not in seen:
        seen.add(board)
        try:
            raw = tomllib.loads(files.text_of(files.find("board", board)))
        except KeyError:
            break
        said += [str(raw.get("name", "")), str(raw.get("summary", ""))]
        board = str(raw.get("like", ""))
    return " ".join(said)


def document(design: Design, found: dict[str, list[Kernel]]) -> dict:
    """What --json writes: estimates, so that its kind is modelled."""
    return {
        "schema": FORMAT,
        "kind": "modelled",
        "benchmark": design.benchmark,
        "variant": design.variant,
        "language": design.language,
        "bitstream": design.bitstream,
        "parameters": dict(design.parameters),
        "vendors": {
            vendor: [_of_kernel(design, one) for one in kernels] for vendor, kernels in found.items()
        },
    }


def _of_kernel(design: Design, kernel: Kernel) -> dict:
    """One kernel; files as the sources include them."""
    found = asdict(kernel) | {"copies": view.copies(design, kernel), "arrays": dict(kernel.arrays)}
    found["by_type"] = dict(kernel.by_type)
    for loop in found["loops"]:
        loop["by_type"] = dict(loop["by_type"])
        for key in ("file", "reason_file"):
            loop[key] = view.shown_file(loop[key])
    return found

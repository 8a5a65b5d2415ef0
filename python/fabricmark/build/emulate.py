"""What `fabricmark run --emulate` needs: a bitstream for the emulated card and AMD's runtime around it."""

import contextlib
import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from fabricmark.base import kernels, xrt
from fabricmark.base.errors import FabricmarkError
from fabricmark.build import card, xclbin
from fabricmark.build import steps as builds
from fabricmark.build.design import REPLICATIONS, resolve
from fabricmark.systems.choice import Wanted

FOLDER = "card"  # beside the results


@dataclass(frozen=True)
class Emulated:
    """`words`: options for the program; `variables`: of its environment. `is_known`: whether the design is
    one of the system's bitstreams, unchanged."""

    words: Sequence[str]
    variables: Mapping[str, str]
    is_known: bool


@contextmanager
def ready(
    name: str,
    wanted: Wanted | None,
    words: Sequence[str],
    output: Path,
    cards: int,
    backend: str,
    language: str,
) -> Iterator[Emulated]:
    """Everything made for a run of a benchmark with these options on so many emulated cards of a board.

    `backend`: of xrt.NAMES, through which the program speaks to the runtime; `language`: of the kernels.
    The bitstream stays beside the results, in `output`. Raises FabricmarkError: 2 without a system, or with
    options that choose another bitstream or device; 3 without XRT or clang.
    """
    if name not in kernels.benchmark_names():
        raise FabricmarkError("--emulate builds a bitstream of one benchmark", "name one")
    if wanted is None:
        raise FabricmarkError("--emulate needs a board", "name a system: --system u280_hbm")
    given = kernels.options(words)
    for option in ("--bitstream", "--platform", "--device", "--kernel-file"):
        if option in given:
            raise FabricmarkError(
                f"{option} with --emulate", "leave one of them out: the bitstream is built for it"
            )
    xrt.require()
    variant = given.get("--variant", "")
    design = resolve(
        name,
        variant,
        wanted.system,
        wanted.bitstream,
        _build_parameters(name, given),
        wanted.board,
        wanted.transport,
    ).in_language(language)
    made = card.steps(design, None, output / FOLDER, [])
    with contextlib.redirect_stdout(io.StringIO()):  # its command lines
        builds.carry_out(made)
    config = xclbin.emulation_config(card.describe(design, None), cards)
    options = ["--bitstream", str(made.bitstream.absolute()), "--platform", xrt.NAMES[backend]]
    with xrt.emulated_cards(config) as variables:
        yield Emulated(options, {**variables, xrt.BACKEND: backend}, bool(design.bitstream))


def _build_parameters(name: str, given: Mapping[str, str]) -> dict[str, str]:
    """Of the options those that the bitstream is built with."""
    return {
        one.name: given[one.option]
        for one in kernels.kernel(name).parameters.values()
        if one.option in given and (one.stage == "build" or one.name == REPLICATIONS)
    }

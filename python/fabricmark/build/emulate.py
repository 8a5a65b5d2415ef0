"""What `fabricmark run --emulate` needs: a bitstream for the emulated card and AMD's runtime around it."""

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fabricmark.base import kernels, xrt
from fabricmark.base.errors import FabricmarkError, refusing
from fabricmark.build import card, xclbin
from fabricmark.build import steps as builds
from fabricmark.build.design import LANGUAGES, OPENCL, REPLICATIONS, SYCL, resolve
from fabricmark.systems.choice import Wanted

FOLDER = "card"  # beside the results
LINKS = "--links="  # before the words of `main`


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
    backend: str | None,
    language: str,
) -> Iterator[Emulated]:
    """Everything made for a run of a benchmark with these options on so many emulated cards of a board.

    `backend`: of xrt.NAMES, through which the program speaks to the runtime, or None: as the program chooses;
    `language`: of the kernels.
    The bitstream stays beside the results, in `output`. Raises FabricmarkError: 2 without a system, or with
    options that choose another bitstream or device; 3 without XRT or clang.
    """
    if name not in kernels.benchmark_names():
        raise FabricmarkError("--emulate builds a bitstream of one benchmark", "name one")
    if wanted is None:
        raise FabricmarkError("--emulate needs a board", "name a system: --system u280_hbm")
    given = kernels.options(words)
    for option in ("--bitstream", "--backend", "--platform", "--device", "--kernel-file"):
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
    options = ["--bitstream", str(made.bitstream.absolute())]
    chosen = {}
    if backend is not None:
        options += ["--platform", xrt.NAMES[backend]]
        chosen = {xrt.BACKEND: backend}
    with xrt.emulated_cards(config) as variables:
        yield Emulated(options, {**variables, **chosen}, bool(design.bitstream))


def _build_parameters(name: str, given: Mapping[str, str]) -> dict[str, str]:
    """Of the options those that the bitstream is built with."""
    return {
        one.name: given[one.option]
        for one in kernels.kernel(name).parameters.values()
        if one.option in given and (one.stage == "build" or one.name == REPLICATIONS)
    }


def check(emulate: bool, backend: str | None, language: str | None, devices: Sequence[str | None]) -> None:
    """Raises FabricmarkError (2) for a backend or language without emulation, and emulation with a named
    device or in SYCL C++, which is for devices of SYCL."""
    if language == SYCL and emulate:
        raise FabricmarkError(
            f"emulated cards take no {LANGUAGES[SYCL]}", "leave out --emulate or --language"
        )
    if language not in (None, SYCL) and not emulate:
        raise FabricmarkError(f"--language {language}", "use it with --emulate, or with `fabricmark build`")
    if backend is not None and (not emulate or backend not in xrt.NAMES):
        remedy = f"use {' or '.join(xrt.NAMES)} with --emulate, or give it to the program"
        raise FabricmarkError(f"--backend {backend}", remedy)
    if emulate and any(one is not None for one in devices):
        remedy = "leave out --runtime, --platform, --device and --both"
        raise FabricmarkError("--emulate chooses the device", remedy)


def run(
    job: Any,
    wanted: Wanted | None,
    words: Sequence[str],
    backend: str | None,
    language: str | None,
    of_system: Callable[..., Sequence[str]],
    do: Callable[[Sequence[Any]], int],
) -> int:
    """Of a job (measure/launch.py) that lacks these options and its variables: it runs on emulated cards; the
    exit code.

    `of_system`: the options that a system gives to programs; `do`: does jobs and shows what they found.
    Raises as `ready`.
    """
    cards = job.mpi or 1  # ranks of one process share a card
    with ready(job.benchmark, wanted, words, job.output, cards, backend, language or OPENCL) as made:
        told = wanted if made.is_known or wanted is None else replace(wanted, bitstream=None)
        names, without = ([job.benchmark], None) if made.is_known else ([], job.benchmark)
        options = [*of_system(told, names, words, job.output, without), *words, *made.words]
        return do([replace(job, extra=tuple(options), variables=tuple(made.variables.items()))])


@contextmanager
def _modelled(links: str) -> Iterator[Mapping[str, str]]:
    """The cards' variables for words in modelled time, over cables as a network of an exported system has
    them, SYSTEM.json or SYSTEM.json:NETWORK; prints how long the kernels took.

    Raises FabricmarkError (2) for a file that cannot be read.
    """
    file, _, network = links.partition(":")
    with refusing(f"cannot read {file}", "write it by `fabricmark systems export`"):
        json.loads(Path(file).read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        yield {
            "FABRICMARK_CARD_SYSTEM": str(Path(file).absolute()), "FABRICMARK_CARD_NETWORK": network,
            "FABRICMARK_CARD_TIMES": folder,
        }  # fmt: skip
        print(_words_of_times([json.loads(one.read_text()) for one in sorted(Path(folder).glob("*.json"))]))


def _words_of_times(cards: Sequence[Mapping[str, Any]]) -> str:
    """Of what the cards have written (src/card/timing.hpp)."""
    ends = [(time, unit, card) for card in cards for unit, time in card["units"].items()]
    if not ends:
        return "modelled: no kernel has ended"
    time, unit, card = max(ends, key=lambda end: end[0])
    return (
        f"modelled: {time * 1e6:.3f} us until {unit} of card {card['card']} has ended (emulated: "
        f"cables as {card['network']}, kernels at {card['kernel_hz'] / 1e6:g} MHz; host and memory take none)"
    )


def main(words: Sequence[str]) -> int:
    """Start a program on emulated cards: CARDS EMCONFIG.json PROGRAM and its words; its exit code.

    `EMCONFIG.json` lies beside the bitstream, `CARDS` is how many there shall be. Before these
    --links=SYSTEM.json[:NETWORK] has words take modelled time. Raises FabricmarkError: 2 for other words, 3
    without XRT.
    """
    with contextlib.ExitStack() as stack:
        modelled: Mapping[str, str] = {}
        if words and words[0].startswith(LINKS):
            modelled = stack.enter_context(_modelled(words[0].removeprefix(LINKS)))
            words = words[1:]
        return _start(words, modelled)


def _start(words: Sequence[str], more: Mapping[str, str]) -> int:
    """The same, with more variables."""
    if len(words) < 3 or not words[0].isdecimal():
        raise FabricmarkError("three words are needed", "name how many cards, emconfig.json and a program")
    with refusing(f"cannot read {words[1]}", "name the emconfig.json beside a bitstream"):
        config = json.loads(Path(words[1]).read_text(encoding="utf-8"))
        config["Platform"]["Boards"][0]["NumBoards"] = words[0]
    started = refusing(f"cannot start {words[2]}", "name a program")
    with xrt.emulated_cards(json.dumps(config)) as variables, started:
        # In a group of its own, which XRT signals as a whole.
        done = subprocess.run(
            list(words[2:]), env={**os.environ, **variables, **more}, start_new_session=True, check=False
        )
    return done.returncode


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except FabricmarkError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)

"""Short runs of every benchmark on one device, and the values of its kernels that they tell.

The models say which runs (`short_runs`), at other sizes than the defaults, and what they tell
(`fit_parameters`). Every run is validated as any run is; one that fails is left out and said.
"""

import itertools
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType

from fabricmark import models, results
from fabricmark.base import kernels
from fabricmark.base.errors import FabricmarkError
from fabricmark.base.kernels import Kernel
from fabricmark.base.progress import Steps
from fabricmark.measure import fitted, launch, left_out
from fabricmark.measure.fitted import RANKS, Finished, Told
from fabricmark.measure.launch import Job
from fabricmark.models import Board
from fabricmark.models._measured import Run
from fabricmark.models.machine import Bitstream, Network

REPETITIONS = 5
# As `make run` asks for: the best of more repetitions is better, and that is what is predicted.
QUICK = ("--repetitions", "5", "--max-time", "1")
PASSES = 2
SINGLE = "single-work-item"


def options(chosen: Mapping[str, object]) -> tuple[str, ...]:
    """Parameters as options of a program."""
    found: list[str] = []
    for name, given in chosen.items():
        found += [kernels.option(name), kernels.text(given)]
    return tuple(found)


def variants(kernel: Kernel, device: Mapping) -> list[str]:
    """Kernels that a CPU or GPU can take, the one that runs by default first; a GPU runs no single work-item
    in reasonable time."""
    (usual,) = kernels.ask([usual_run(kernel.benchmark, device)])
    usable = [name for name in kernel.variants if name in ("base", "throughput")]
    if device["class"] == "gpu":
        several = [name for name in usable if kernel.variants[name]["style"] != SINGLE]
        usable = several or usable
    return sorted(usable, key=lambda name: name != usual["variant"])


def usual_run(name: str, device: Mapping, variant: str = "") -> dict:
    """The request for the defaults on a device, of a variant or the one that runs by default."""
    return kernels.wanted(name, device["class"], {}, device["compute_units"], variant=variant)


def unmeasured(device: Mapping, bitstreams: Sequence[Bitstream]) -> list[str]:
    """Benchmarks with short runs of whose kernel that runs by default on a device nothing was measured."""
    known = {(one.benchmark, one.variant) for one in bitstreams}
    names = [name for name in kernels.benchmark_names() if hasattr(models.find(name), "short_runs")]
    kernels.answers([usual_run(name, device) for name in names])
    return [name for name in names if (name, variants(kernels.kernel(name), device)[0]) not in known]


def plan(model: ModuleType, kernel: Kernel, device: Mapping, variant: str) -> list[tuple[dict, int]]:
    """(options, ranks) of the runs of one kernel: all on one rank, and on two the largest or all.

    The other kernels than the one that runs by default run on one rank only, and only what differs where the
    model says so (`short_runs_of_others`).
    """
    is_first = variant == variants(kernel, device)[0]
    (usual,) = kernels.ask([usual_run(kernel.benchmark, device, variant)])
    asked = model.short_runs if is_first else getattr(model, "short_runs_of_others", model.short_runs)
    runs = asked(usual["parameters"])
    found = [(chosen, 1) for chosen in runs]
    if is_first:
        several = runs if models.traits(kernel.benchmark).by_ranks else runs[-1:]
        found += [(chosen, ranks) for ranks in RANKS[1:] for chosen in several]
    return found


@dataclass(frozen=True)
class ShortRuns:
    """Short runs of one benchmark's variant: its job and (options, ranks) of each run."""

    job: Job
    variant: str
    runs: Sequence[tuple[dict, int]]
    repeating: Sequence[str] = ("--repetitions", str(REPETITIONS))


def measure(
    runtime: str,
    device: Mapping,
    board: Board,
    has_launcher: bool,
    say: Callable[[str], None],
    passes: int = PASSES,
    *,
    quick: bool = False,
    only: Sequence[str] | None = None,
    network: Network | None = None,
) -> Told:
    """Run everything on a device, so many times. Raises FabricmarkError (3) when a program is not built.

    `quick`: only the kernels that run by default, with fewer repetitions. `only`: these benchmarks.
    `network`: what is known of messages, where no run tells.

    A machine that others share is faster in one minute than in the next: the values are those of all passes
    together, and the error bars what passes and sizes that are left out are off by.
    """
    done: dict[tuple[str, str], list[Finished]] = {}
    with tempfile.TemporaryDirectory(prefix="fabricmark-") as place:
        planned = _planned(runtime, device, Path(place), say, quick=quick, only=only)
        with Steps(passes * len(planned)) as steps:
            for number, part in itertools.product(range(1, passes + 1), planned):
                about = f"{part.job.benchmark}, {part.variant} kernel"
                started = time.monotonic()
                steps.begin(about)
                runs = list(_finished(part, board, has_launcher, say, number))
                done.setdefault((part.job.benchmark, part.variant), []).extend(runs)
                steps.end()
                ran = f"{len(runs)} of {len(part.runs)} runs, {time.monotonic() - started:.1f} s"
                with steps.aside():
                    say(f"[{steps.number}/{steps.total}] pass {number}, {about}: {ran}{steps.left()}")
    found = fitted.told(done, device["name"], network)
    bars = left_out.error_bars(done, device["name"], network)
    with_bars = [(replace(one, error_bars=bars.get(one.name, {})), about) for one, about in found.bitstreams]
    return replace(found, bitstreams=tuple(with_bars))


def _planned(
    runtime: str, device: Mapping, place: Path, say: Callable[[str], None], *, quick: bool = False,
    only: Sequence[str] | None = None,
) -> list[ShortRuns]:  # fmt: skip
    """The short runs of every benchmark whose model says some, or of `only` these; others are said."""
    repeating = {"repeating": QUICK} if quick else {}
    found, names = [], []
    for name in kernels.benchmark_names() if only is None else only:
        if hasattr(models.find(name), "short_runs"):
            names.append(name)
        else:
            say(f"left out: {name}: its model has no short runs")
    kernels.answers([usual_run(name, device) for name in names])
    known = {name: variants(kernels.kernel(name), device)[: 1 if quick else None] for name in names}
    kernels.answers([usual_run(name, device, variant) for name in names for variant in known[name]])
    for name in names:
        model, kernel = models.find(name), kernels.kernel(name)
        try:
            for variant in known[name]:
                job = Job(name, runtime, device, 1, None, place, ("--variant", variant))
                runs = plan(model, kernel, device, variant)
                found.append(ShortRuns(job, variant, runs, **repeating))
        except KeyError as error:
            say(f"left out: {name}: its kernel.toml has no parameter {error}")
    return found


def _finished(
    part: ShortRuns, board: Board, has_launcher: bool, say: Callable[[str], None], number: int
) -> Iterator[Finished]:
    """The valid ones of a kernel's runs in a pass, as they come."""
    job = part.job
    for place, (chosen, ranks) in enumerate(part.runs):
        words = (*job.extra, *options(chosen), *part.repeating)
        several = {"mpi": ranks} if has_launcher else {"ranks": ranks}
        one = replace(job, extra=words, **(several if ranks > 1 else {}))
        about = f"fm_{job.benchmark} {' '.join(words)}" + (f" on {ranks} ranks" if ranks > 1 else "")
        target = job.output / f"{job.benchmark}-{words[1]}-{place}.json"
        try:
            code, path = launch.start(one, target, quiet=True)
            if code != 0 or not path.is_file():
                say(f"left out: {about}: exit code {code}")
                continue
            result = results.load(path)
            path.unlink()  # else a later pass that fails would find it
        except FabricmarkError as error:
            say(f"left out: {about}: {error}")
            continue
        measured = [entry for entry in result.measurements if entry.kind == "measured"]
        if not measured:
            say(f"left out: {about}: not measured")
            continue
        parameters = {**result.document["parameters"], "variant": result.document["run"]["variant"]}
        yield Finished(Run(parameters, board, result.ranks, measured), result, about, chosen, number)

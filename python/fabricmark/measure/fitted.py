"""What short runs of a device tell, all together or without some: messages between ranks as curves, and each
kernel's values, as `systems new` writes them.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import ModuleType

from fabricmark import models
from fabricmark.base import kernels, transports
from fabricmark.models._measured import Run
from fabricmark.models.machine import Bitstream, Curve, Network
from fabricmark.results import Result

RANKS = (1, 2)  # of the runs


@dataclass(frozen=True)
class Finished:
    """A short run that was valid, its options in words, what its model chose, and in which pass it was."""

    run: Run
    result: Result
    words: str
    chosen: Mapping[str, object]
    number: int = 1


# By benchmark and variant, a benchmark's first kernel first.
Done = Mapping[tuple[str, str], Sequence[Finished]]


@dataclass(frozen=True)
class Told:
    """What short runs told: each curve and each kernel with its source, which runs and when. `network`: with
    these curves; where there are none, what was known before."""

    curves: tuple[tuple[Curve, str], ...]
    bitstreams: tuple[tuple[Bitstream, str], ...]
    network: Network | None = None


def told(done: Done, device_name: str, network: Network | None = None) -> Told:
    """`network`: what is known of messages, where no run tells."""
    curves = _curves(done)
    if curves:
        network = Network("host", "host", curves=tuple(curve for curve, _ in curves))
    bitstreams: list[tuple[Bitstream, str]] = []
    firsts: dict[str, list[Finished]] = {}  # of each benchmark's first kernel
    for (name, variant), several in done.items():
        model = models.find(name)
        if model is None:
            continue
        members = [replace(one, run=replace(one.run, network=network)) for one in several]
        shared = hasattr(model, "short_runs_of_others") and name in firsts
        others = firsts[name] if shared else []
        bitstreams += _bitstreams(model, name, variant, device_name, members, others)
        firsts.setdefault(name, members)
    return Told(tuple(curves), tuple(bitstreams), network)


def _curves(done: Done) -> list[tuple[Curve, str]]:
    """Messages between the hosts' memories by ranks: of a benchmark whose model makes curves of its runs over
    transport cpu."""
    groups: dict[tuple, list[Finished]] = {}
    for (name, _), several in done.items():
        make = getattr(models.find(name), "message_curve", None)
        for one in several if make else ():
            if transports.between_hosts(str(one.run.parameters.get("transport"))):
                groups.setdefault((make, one.run.ranks), []).append(one)
    known = [(make([one.run for one in same]), source(same)) for (make, _), same in groups.items()]
    return [(curve, about) for curve, about in known if curve is not None]


def source(done: Sequence[Finished]) -> str:
    """When, where and by which runs a value was measured."""
    first = done[0].result.document
    counted = Counter(one.words for one in done)
    runs = "; ".join(f"{count} x {words}" if count > 1 else words for words, count in counted.items())
    return f"measured {first['run']['started'][:16]}Z on {first['environment']['host']['name']}: {runs}"


def _built(name: str, last: Finished) -> dict:
    """What the kernel of a run was built with, but for what its model chose: a later run that takes these
    from the system's file (`--system`) has sizes of its own."""
    known = kernels.kernel(name).parameters.values()
    return {
        one.name: last.run.parameters[one.name]
        for one in known
        if one.stage == "build" and one.name in last.run.parameters and one.name not in last.chosen
    }


def _bitstreams(
    model: ModuleType, name: str, variant: str, device_name: str, done: Sequence[Finished],
    others: Sequence[Finished] = (),
) -> list[tuple[Bitstream, str]]:  # fmt: skip
    """The kernel with its values; one for each number of ranks where these differ. Empty without values.

    `others`: of another kernel, whose curves this one has, too, where it has none of its own.
    """
    groups = {"": list(done)}
    if models.traits(name).by_ranks:
        groups = {f"-{ranks}r": [one for one in done if one.run.ranks == ranks] for ranks in RANKS}
    found = []
    for ending, members in groups.items():
        if not members:
            continue
        runs = [one.run for one in members]
        fitted = {key: float(value) for key, value in model.fit_parameters(runs).items()}
        alike, curves = [], {}
        if hasattr(model, "processor_curves"):
            alike = [one for one in others if one.run.ranks == runs[0].ranks]
            curves = {
                **model.processor_curves([one.run for one in alike]),
                **model.processor_curves(runs),
            }
        if not fitted and not curves:
            continue
        # The largest on the fewest ranks: several ranks on a device have only a part of its cores each.
        last = min(reversed(members), key=lambda one: one.run.ranks)
        parameters = _built(name, last) | ({"ranks": last.run.ranks} if ending else {})
        label = f"{name}-{variant}{ending}"
        one = Bitstream(label, name, device_name, variant, transports.NONE, parameters, curves)
        found.append((one.with_measured(fitted), source([*members, *alike])))
    return found
